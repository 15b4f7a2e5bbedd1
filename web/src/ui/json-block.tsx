import { useText } from '../i18n/use-text.js';
import { preview, size } from '../lib/format.js';

/** JSON that somebody sent, 4 KiB of it at most, as text. */
export function JsonBlock({ label, value }: { label: string; value: unknown }) {
  const t = useText();
  const { text, bytes, cut } = preview(value);
  return (
    <figure className="json">
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      {cut && <figcaption className="muted">{t('task.cut', { size: size(bytes) })}</figcaption>}
    </figure>
  );
}
