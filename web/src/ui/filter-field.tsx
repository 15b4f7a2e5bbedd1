import { useId } from 'react';
import { useSearchParams } from 'react-router';

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
  const get = (name: string) => params.get(name) ?? '';
  return { get, set, clear };
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
