import { useState } from 'react';
import { authorization } from '../api/token.js';
import { useText } from '../i18n/use-text.js';
import { curl } from '../lib/curl.js';

/** A button that copies the call behind what is shown. */
export function CopyCurl({ path, method = 'GET', body }: { path: string; method?: string; body?: unknown }) {
  const t = useText();
  const [said, setSaid] = useState('');
  const copy = async () => {
    const text = curl(location.origin, { method, path, body, token: 'authorization' in authorization() });
    const done = await navigator.clipboard.writeText(text).then(
      () => t('copy.done'),
      () => t('copy.failed', { text }),
    );
    setSaid(done);
    setTimeout(() => setSaid(''), 4000);
  };
  return (
    <span className="copy">
      <button type="button" className="quiet" onClick={() => void copy()}>
        {t('copy.curl')}
      </button>
      <span role="status">{said}</span>
    </span>
  );
}
