import type { ReactNode } from 'react';
import { ApiError } from '../api/client.js';
import { useNamespace } from '../api/queries.js';
import type { MessageKey } from '../i18n/en.js';
import { useText } from '../i18n/use-text.js';

interface Asked<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

/** What a question was answered with; before that that it is under way, or why it failed and what to do. */
export function QueryView<T>({ query, children }: { query: Asked<T>; children: (data: T) => ReactNode }) {
  const t = useText();
  if (query.data === undefined) {
    if (query.error === null)
      return (
        <p className="loading" role="status">
          {t('app.loading')}
        </p>
      );
    return <Failure error={query.error} retry={() => void query.refetch()} />;
  }
  return (
    <>
      {query.error !== null && (
        <p className="note warn" role="status">
          <span aria-hidden="true">▲</span> {t('error.stale', { detail: query.error.message })}
        </p>
      )}
      {children(query.data)}
    </>
  );
}

/** An error with what can be done about it. */
export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  const t = useText();
  const namespace = useNamespace();
  return (
    <div className="empty" role="alert">
      <h2>
        <span aria-hidden="true">✕</span> {t('error.title')}
      </h2>
      <p>{error.message}</p>
      <p className="muted">{t(adviceOf(error), { namespace })}</p>
      {error instanceof ApiError && error.traceId !== undefined && (
        <p className="muted mono">{t('error.trace', { id: error.traceId })}</p>
      )}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          {t('error.retry')}
        </button>
      )}
    </div>
  );
}

function adviceOf(error: Error): MessageKey {
  if (!(error instanceof ApiError)) return 'error.crash';
  if (error.status === 0) return 'error.unreachable';
  if (error.status === 404) return 'error.missing';
  return error.status >= 500 ? 'error.unavailable' : 'error.refused';
}

/** Nothing to show, and what to do about it. */
export function Empty({ title, help, children }: { title: string; help: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p className="muted">{help}</p>
      {children}
    </div>
  );
}
