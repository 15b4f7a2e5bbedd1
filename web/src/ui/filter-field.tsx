import { useId } from 'react';
import { useSearchParams } from 'react-router';
import { useText } from '../i18n/use-text.js';
import { LAST } from '../lib/last.js';

/** Values of the address's query, which filters are kept in, so that a link shows the same. */
export function useFilters() {
  const [params, setParams] = useSearchParams();
  const set = (name: string, value: string) =>
    setParams(
      (now) => {
        const changed = new URLSearchParams(now);
        if (value === '') changed.delete(name);
        else changed.set(name, value);
        return changed;
      },
      { replace: true },
    );
  const clear = () =>
    setParams((now) => {
      const ns = now.get('ns');
      return new URLSearchParams(ns === null ? {} : { ns });
    });
  /** Sets all at once; what is left out is removed. */
  const replace = (values: Readonly<Record<string, string>>) =>
    setParams((now) => {
      const ns = now.get('ns');
      const given = Object.entries(values).filter(([, value]) => value.trim() !== '');
      return new URLSearchParams([...(ns === null ? [] : [['ns', ns]]), ...given]);
    });
  const get = (name: string) => params.get(name) ?? '';
  return { get, set, clear, replace };
}

type Filters = ReturnType<typeof useFilters>;

/** A text that is filtered by. */
export function FilterField(props: { filters: Filters; name: string; label: string }) {
  const id = useId();
  return (
    <span className="field">
      <label htmlFor={id}>{props.label}</label>
      <input
        id={id}
        value={props.filters.get(props.name)}
        onChange={(event) => props.filters.set(props.name, event.target.value)}
        spellCheck={false}
        autoComplete="off"
      />
    </span>
  );
}

/** One of a few values that is filtered by; the first stands for all. */
export function FilterSelect(props: {
  filters: Filters;
  name: string;
  label: string;
  options: readonly { value: string; text: string }[];
}) {
  const id = useId();
  return (
    <span className="field">
      <label htmlFor={id}>{props.label}</label>
      <select
        id={id}
        value={props.filters.get(props.name)}
        onChange={(event) => props.filters.set(props.name, event.target.value)}
      >
        {props.options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
}

/** How far back a list goes. */
export function LastSelect({ filters }: { filters: Filters }) {
  const t = useText();
  const names = Object.keys(LAST) as (keyof typeof LAST)[];
  const options = names.map((name) => ({ value: name, text: t(`tasks.time.${name}`) }));
  return (
    <FilterSelect
      filters={filters}
      name="last"
      label={t('tasks.time')}
      options={[{ value: '', text: t('tasks.time.all') }, ...options]}
    />
  );
}
