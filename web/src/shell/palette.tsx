import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import type { Agent, Capability } from '../api/client.js';
import { useNamespace } from '../api/queries.js';
import { type Translate, useText } from '../i18n/use-text.js';
import { agentPath, pathOf, taskPath } from '../lib/paths.js';
import { Store, useStore } from '../lib/store.js';
import { language, LANGUAGES, next, theme, THEMES } from '../settings.js';
import { PAGES } from './pages.js';

export const paletteOpen = new Store(false);
const SHOWN = 12;
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

interface Choice {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly open: () => void;
}

/** Ctrl-K: everywhere by a few letters. */
export function Palette() {
  const open = useStore(paletteOpen);
  useEffect(() => {
    const byKey = (event: globalThis.KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        paletteOpen.set(!paletteOpen.get());
      }
    };
    window.addEventListener('keydown', byKey);
    return () => window.removeEventListener('keydown', byKey);
  }, []);
  return open ? <PaletteDialog /> : null;
}

function PaletteDialog() {
  const t = useText();
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const choices = useChoices(text);
  const chosen = Math.min(at, choices.length - 1);
  useEffect(() => dialog.current?.showModal(), []);
  const take = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    dialog.current?.close();
    choice.open();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setAt((chosen + step + choices.length) % Math.max(1, choices.length));
    else if (event.key === 'Enter') take(choices[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label={t('palette.title')}
      onClose={() => paletteOpen.set(false)}
    >
      <input
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={choices.length === 0 ? undefined : `${listId}-${chosen}`}
        aria-label={t('palette.placeholder')}
        placeholder={t('palette.placeholder')}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        spellCheck={false}
      />
      <Choices id={listId} choices={choices} chosen={chosen} take={take} />
      <p className="muted">{choices.length === 0 ? t('palette.none') : t('palette.help')}</p>
    </dialog>
  );
}

function Choices(props: {
  id: string;
  choices: readonly Choice[];
  chosen: number;
  take: (choice: Choice) => void;
}) {
  const t = useText();
  return (
    <ul id={props.id} role="listbox" aria-label={t('palette.title')}>
      {props.choices.map((choice, i) => (
        <li
          key={choice.id}
          id={`${props.id}-${i}`}
          role="option"
          aria-selected={i === props.chosen}
          onClick={() => props.take(choice)}
        >
          <span>{choice.text}</span>
          <span className="muted">{choice.kind}</span>
        </li>
      ))}
    </ul>
  );
}

/** What the letters may mean: pages, settings, what the other pages have loaded, and any task by its whole id. */
function useChoices(text: string): Choice[] {
  const t = useText();
  const client = useQueryClient();
  const namespace = useNamespace();
  const navigate = useNavigate();
  const wanted = text.trim().toLowerCase();
  const to = (path: string) => () => void navigate(path);
  if (UUID.test(wanted))
    return [{ id: wanted, kind: t('palette.task'), text: wanted, open: to(taskPath(wanted, namespace)) }];
  const loaded = client.getQueriesData<{ items: Agent[] }>({ queryKey: ['agents', namespace] });
  const agents = new Set(loaded.flatMap(([, data]) => data?.items ?? []).map((agent) => agent.agent_id));
  const offered = client.getQueriesData<{ items: Capability[] }>({ queryKey: ['capabilities', namespace] });
  const names = new Set(offered.flatMap(([, data]) => data?.items ?? []).map((item) => item.capability));
  const all: Choice[] = [
    ...PAGES.map(({ path, key }) => ({
      id: path,
      kind: t('palette.page'),
      text: t(key),
      open: to(pathOf(path, namespace)),
    })),
    ...settingsOf(t),
    ...[...agents].map((id) => ({
      id: `agent ${id}`,
      kind: t('palette.agent'),
      text: id,
      open: to(agentPath(id, namespace)),
    })),
    ...[...names].map((name) => ({
      id: `capability ${name}`,
      kind: t('palette.capability'),
      text: name,
      open: to(pathOf('/tasks', namespace, { capability: name })),
    })),
  ];
  return all.filter((choice) => choice.text.toLowerCase().includes(wanted)).slice(0, SHOWN);
}

function settingsOf(t: Translate): Choice[] {
  const toTheme = next(THEMES, theme.get());
  return [
    {
      id: 'theme',
      kind: t('palette.action'),
      text: t('top.theme', { theme: t(`theme.${toTheme}`) }),
      open: () => theme.set(toTheme),
    },
    {
      id: 'language',
      kind: t('palette.action'),
      text: t('top.language'),
      open: () => language.set(next(LANGUAGES, language.get())),
    },
  ];
}
