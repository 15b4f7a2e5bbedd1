import { Suspense, useEffect, useRef } from 'react';
import { NavLink, Outlet, useLocation } from 'react-router';
import { useFeed } from '../api/use-feed.js';
import { useNamespace } from '../api/queries.js';
import { access } from '../api/token.js';
import { useText } from '../i18n/use-text.js';
import { pathOf } from '../lib/paths.js';
import { useStore } from '../lib/store.js';
import { Boundary } from './boundary.js';
import { PAGES } from './pages.js';
import { Palette } from './palette.js';
import { TokenPrompt } from './token-prompt.js';
import { TopBar } from './top-bar.js';

/** What is around every page. */
export function Shell() {
  const t = useText();
  const state = useStore(access);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t('app.skip')}
      </a>
      <Nav />
      <TopBar />
      <main id="content" tabIndex={-1}>
        {state === 'ok' ? <CurrentPage /> : <TokenPrompt wrong={state === 'wrong'} />}
      </main>
      <Palette />
    </div>
  );
}

function CurrentPage() {
  const t = useText();
  const { pathname } = useLocation();
  useFeed(useNamespace());
  useFocusOnChange(pathname);
  return (
    <Boundary key={pathname}>
      <Suspense
        fallback={
          <p className="loading" role="status">
            {t('app.loading')}
          </p>
        }
      >
        <Outlet />
      </Suspense>
    </Boundary>
  );
}

/** Another page begins at its content for whoever uses the keyboard or listens, not in the list of pages. */
function useFocusOnChange(pathname: string): void {
  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else document.getElementById('content')?.focus({ preventScroll: true });
  }, [pathname]);
}

function Nav() {
  const t = useText();
  const namespace = useNamespace();
  return (
    <nav className="nav" aria-label={t('app.nav')}>
      <span className="brand">
        <img src="/mark.svg" alt="" width="20" height="20" /> {t('app.name')}
      </span>
      <ul>
        {PAGES.map(({ path, key, glyph }) => (
          <li key={path}>
            <NavLink to={pathOf(path, namespace)} end={path === '/'}>
              <span className="nav-glyph" aria-hidden="true">
                {glyph}
              </span>
              {t(key)}
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
