/* The picture of who depends on what. Pure: agents in, places and lines out. */

export type Standing = 'unknown' | 'good' | 'suspect' | 'bad';
const WORST: readonly Standing[] = ['unknown', 'good', 'suspect', 'bad'];

export interface Source {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly dependencies: readonly { name: string; type: string; standing: Standing; detail?: string }[];
}

export interface Node {
  readonly id: string;
  readonly kind: 'agent' | 'dependency';
  readonly label: string;
  readonly x: number;
  readonly y: number;
  /** The agents that it stands for. */
  readonly agents: readonly string[];
  /** Of a dependency the worst that probes say, of an agent its state (the most frequent of a group). */
  readonly standing: string;
}

export interface Line {
  readonly from: Node;
  readonly to: Node;
  readonly standing: Standing;
}

export interface Picture {
  readonly nodes: readonly Node[];
  readonly lines: readonly Line[];
  /** Agents of one name were drawn as one. */
  readonly folded: boolean;
  /** Half the side of the square that everything lies in. */
  readonly radius: number;
}

/** More nodes than this are not told apart any more. */
export const FOLD_ABOVE = 300;
const GAP = 46;
const INNER = 110;
const RING = 150;

/**
 * Dependencies on an inner circle, agents on an outer one, each agent near what it needs, so that few lines cross.
 * Above 300 nodes the agents of one name are one node.
 */
export function pictureOf(sources: readonly Source[]): Picture {
  const names = [...new Set(sources.flatMap((s) => s.dependencies.map((d) => d.name)))].sort();
  const folded = sources.length + names.length > FOLD_ABOVE;
  const groups = groupsOf(sources, folded);
  const inner = names.length < 2 ? 0 : Math.max(INNER, (names.length * GAP) / (2 * Math.PI));
  const outer = Math.max(inner + RING, (groups.length * GAP) / (2 * Math.PI));
  const rank = new Map(names.map((name, i) => [name, i]));
  const firstOf = (group: Group) =>
    Math.min(names.length, ...group.members.flatMap((m) => m.dependencies.map((d) => rank.get(d.name) ?? 0)));
  const ordered = [...groups].sort(
    (a, b) => firstOf(a) - firstOf(b) || a.label.localeCompare(b.label, 'en', { numeric: true }),
  );
  const agents = ordered.map((group, i): Node => ({
    id: `agent ${group.label}`,
    kind: 'agent',
    label: group.label,
    ...place(i, ordered.length, outer),
    agents: group.members.map((m) => m.id),
    standing: mostFrequent(group.members.map((m) => m.state)),
  }));
  const dependencies = names.map((name, i): Node => {
    const uses = sources.flatMap((s) =>
      s.dependencies.filter((d) => d.name === name).map((d) => ({ id: s.id, standing: d.standing })),
    );
    return {
      id: `dependency ${name}`,
      kind: 'dependency',
      label: name,
      ...place(i, names.length, inner),
      agents: uses.map((use) => use.id),
      standing: worst(uses.map((use) => use.standing)),
    };
  });
  return {
    nodes: [...dependencies, ...agents],
    lines: linesOf(ordered, agents, dependencies),
    folded,
    radius: outer + 80,
  };
}

interface Group {
  readonly label: string;
  readonly members: readonly Source[];
}

function groupsOf(sources: readonly Source[], folded: boolean): Group[] {
  const byLabel = groupBy(sources, (s) => (folded ? s.name : s.id));
  return [...byLabel].map(([label, members]) => ({ label, members }));
}

function linesOf(groups: readonly Group[], agents: readonly Node[], dependencies: readonly Node[]): Line[] {
  return groups.flatMap((group, i) => {
    const from = agents[i];
    const uses = groupBy(
      group.members.flatMap((m) => m.dependencies),
      (d) => d.name,
    );
    return dependencies.flatMap((to) => {
      const found = uses.get(to.label);
      if (from === undefined || found === undefined) return [];
      return [{ from, to, standing: worst(found.map((d) => d.standing)) }];
    });
  });
}

function place(i: number, n: number, radius: number): { x: number; y: number } {
  const angle = (i / Math.max(1, n)) * 2 * Math.PI - Math.PI / 2;
  return { x: Math.cos(angle) * radius, y: Math.sin(angle) * radius };
}

function worst(standings: readonly Standing[]): Standing {
  return WORST[Math.max(0, ...standings.map((s) => WORST.indexOf(s)))] ?? 'unknown';
}

function mostFrequent(states: readonly string[]): string {
  const counted = [...groupBy(states, (s) => s)].sort(([, a], [, b]) => b.length - a.length);
  return counted[0]?.[0] ?? '';
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
