import { Link } from 'react-router';
import type { Attribution } from '../../api/client.js';
import { useNamespace } from '../../api/queries.js';
import { useText } from '../../i18n/use-text.js';
import { clock } from '../../lib/format.js';
import { agentPath, pathOf } from '../../lib/paths.js';
import { JsonBlock } from '../../ui/json-block.js';
import { Section } from '../../ui/section.js';
import { Badge } from '../../ui/badge.js';

/** Why attempts failed: code, who is to blame, one sentence, and the evidence. */
export function Attributions({ attributions }: { attributions: readonly Attribution[] }) {
  const t = useText();
  return (
    <Section title={t('task.attributions')}>
      <ol className="cards">
        {attributions.map((one) => (
          <li key={one.attribution_id}>
            <One attribution={one} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function One({ attribution: one }: { attribution: Attribution }) {
  const t = useText();
  const namespace = useNamespace();
  return (
    <>
      <p className="card-head">
        <time dateTime={one.at}>{clock(one.at)}</time>
        <Badge tone={one.final ? 'bad' : 'warn'} glyph={one.final ? '✕' : '↻'}>
          {one.final ? t('why.final') : `${t('col.attempt')} ${one.attempt}`}
        </Badge>
        <Link className="mono" to={pathOf('/why', namespace, { code: one.code })}>
          {one.code}
        </Link>
        <span>
          {t('col.blame')}: <strong>{t(`blame.${one.blame}`)}</strong>
        </span>
        {one.agent_id !== undefined && (
          <Link className="mono" to={agentPath(one.agent_id, namespace)}>
            {one.agent_id}
          </Link>
        )}
        {one.dependency !== undefined && (
          <Link to={pathOf('/why', namespace, { dependency: one.dependency })}>
            {t('col.dependency')} {one.dependency}
          </Link>
        )}
        <span className="muted">{one.stage}</span>
      </p>
      <p className="said">{one.message}</p>
      {Object.keys(one.evidence).length > 0 && (
        <details>
          <summary>{t('task.evidence')}</summary>
          <JsonBlock label={t('task.evidence')} value={one.evidence} />
        </details>
      )}
    </>
  );
}
