import { useState } from 'react';
import { ApiError, within } from '../api/client.js';
import { authorization, hasToken, refused } from '../api/token.js';

/**
 * A document of this server that is no page of the console. A link of the browser sends no token: where one is needed, the
 * document is fetched with it and saved.
 * @param open what is linked to where no token is needed
 */
export function GuardedFile({ path, open = path }: { path: string; open?: string }) {
  const [failed, setFailed] = useState('');
  if (!hasToken()) return <a href={open}>{open}</a>;
  const fetchIt = () => {
    setFailed('');
    save(path).catch((error: unknown) => setFailed((error as Error).message));
  };
  return (
    <>
      <button type="button" onClick={fetchIt}>
        <span aria-hidden="true">↓</span> {path}
      </button>
      {failed !== '' && (
        <p className="note bad" role="alert">
          <span aria-hidden="true">✕</span> {failed}
        </p>
      )}
    </>
  );
}

async function save(path: string): Promise<void> {
  const headers = authorization();
  const answer = await fetch(path, { headers, signal: within() });
  if (answer.status === 401) refused(headers['authorization'] ?? null);
  if (!answer.ok) throw new ApiError(`The server answered ${answer.status}`, answer.status, 'UNKNOWN');
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = path.slice(path.lastIndexOf('/') + 1);
  link.click();
  URL.revokeObjectURL(url);
}
