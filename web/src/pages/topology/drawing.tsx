import { memo } from 'react';
import { useText } from '../../i18n/use-text.js';
import type { Node, Picture } from '../../lib/topology.js';
import { isAgentState } from '../../ui/state-badge.js';

const SHOWN_LABEL = 18;

/** The picture itself; each node is a button. */
export const Drawing = memo(function Drawing(props: {
  picture: Picture;
  chosen: string | undefined;
  choose: (id: string) => void;
}) {
  const t = useText();
  const { nodes, lines, radius } = props.picture;
  return (
    <svg
      className="drawing"
      viewBox={`${-radius - 60} ${-radius} ${2 * radius + 120} ${2 * radius}`}
      role="group"
      aria-label={t('topology.title')}
    >
      {lines.map(({ from, to, standing }) => (
        <line
          key={`${from.id} ${to.id}`}
          x1={from.x}
          y1={from.y}
          x2={to.x}
          y2={to.y}
          className={`line ${standing} ${props.chosen === from.id || props.chosen === to.id ? 'chosen' : ''}`}
        />
      ))}
      {nodes.map((node) => (
        <NodeMark key={node.id} node={node} chosen={node.id === props.chosen} choose={props.choose} />
      ))}
    </svg>
  );
});

function NodeMark({ node, chosen, choose }: { node: Node; chosen: boolean; choose: (id: string) => void }) {
  const t = useText();
  const { standing, label, kind } = node;
  const word =
    kind === 'agent'
      ? isAgentState(standing)
        ? t(`state.${standing}`)
        : standing
      : t(`agent.standing.${standing as 'good'}`);
  const text = label.length > SHOWN_LABEL ? `${label.slice(0, SHOWN_LABEL - 1)}…` : label;
  const shown =
    node.kind === 'agent' && node.agents.length > 1
      ? t('topology.group', { name: text, n: node.agents.length })
      : text;
  return (
    <g
      className={`node ${kind} is-${standing} ${chosen ? 'chosen' : ''}`}
      transform={`translate(${node.x} ${node.y})`}
      role="button"
      tabIndex={0}
      aria-pressed={chosen}
      aria-label={`${label}: ${word}`}
      onClick={() => choose(node.id)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        choose(node.id);
      }}
    >
      <title>{`${label}: ${word}`}</title>
      {kind === 'agent' ? <circle r="13" /> : <rect x="-13" y="-13" width="26" height="26" rx="4" />}
      <text y="4.5" className="sign">
        {SIGNS[standing] ?? ''}
      </text>
      <text y="29">{shown}</text>
    </g>
  );
}

/** As on the badges: the sign tells what the colour tells. */
const SIGNS: Readonly<Record<string, string>> = {
  online: '●',
  degraded: '◐',
  suspicious: '▲',
  offline: '✕',
  removing: '○',
  good: '●',
  suspect: '▲',
  bad: '✕',
  unknown: '○',
};
