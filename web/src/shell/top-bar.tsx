import { useId, useState } from 'react';
import { useNavigate } from 'react-router';
import { useNamespace } from '../api/queries.js';
import { feedStatus } from '../api/use-feed.js';
import { useText } from '../i18n/use-text.js';
import { pathOf } from '../lib/paths.js';
import { useStore } from '../lib/store.js';
import { language, LANGUAGES, next, theme, THEMES } from '../settings.js';
import { paletteOpen } from './palette.js';

/** Namespace, search, whether events arrive, language and theme. */
export function TopBar() {
  const t = useText();
  const chosen = useStore(theme);
  return (
    <div className="top">
      <NamespaceField />
      <button type="button" className="search" onClick={() => paletteOpen.set(true)}>
        <span>{t('app.menu')}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <span className="top-end">
        <FeedStatus />
        <button type="button" className="quiet" onClick={() => theme.set(next(THEMES, chosen))}>
          {t('top.theme', { theme: t(`theme.${chosen}`) })}
        </button>
        <button
          type="button"
          className="quiet"
          aria-label={`${t('top.language')}: ${t('top.language.label')}`}
          onClick={() => language.set(next(LANGUAGES, language.get()))}
        >
          {t('top.language')}
        </button>
      </span>
    </div>
  );
}

function FeedStatus() {
  const t = useText();
  const status = useStore(feedStatus);
  const glyph = status === 'live' ? '●' : status === 'connecting' ? '◌' : '▲';
  const tone = status === 'live' ? 'good' : status === 'connecting' ? 'quiet' : 'warn';
  return (
    <span className={`badge ${tone}`} title={t('live.help')}>
      <span aria-hidden="true">{glyph}</span> {t(`live.${status}`)}
    </span>
  );
}

function NamespaceField() {
  const t = useText();
  const id = useId();
  const namespace = useNamespace();
  const navigate = useNavigate();
  const [typed, setTyped] = useState<string>();
  const go = () => {
    const wanted = typed?.trim();
    setTyped(undefined);
    // What an id names in one namespace it does not in another: begin with the list.
    if (wanted !== undefined && wanted !== '' && wanted !== namespace) void navigate(pathOf('/', wanted));
  };
  return (
    <form
      className="field"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <label htmlFor={id}>{t('top.namespace')}</label>
      <input
        id={id}
        value={typed ?? namespace}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={go}
        spellCheck={false}
        autoComplete="off"
      />
    </form>
  );
}
