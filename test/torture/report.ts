import type { Finding } from './check/run-checks.js';
import { type History, Indexed } from './check/history.js';
import { type Recovery, recoveriesOf } from './check/recovery.js';
import type { Options } from './options.js';

export interface Report {
  seed: number;
  mode: string;
  replay: string;
  seconds: number;
  tasks: number;
  ends: Record<string, number>;
  deliveries: number;
  executions: number;
  faults: Record<string, number>;
  /** Named places at which a dispatcher died, and how often. */
  failpoints: Record<string, number>;
  not_healed: string[];
  recoveries: Recovery[];
  findings: Finding[];
  violations: number;
  /** With 95 % confidence a task is struck by a fault of the kinds looked for at most this often (rule of three). */
  bound: number | null;
}

/** What a run comes to. */
export function reportOf(options: Options, history: History, findings: Finding[], seconds: number): Report {
  const violations = findings.reduce((sum, f) => sum + f.violations.length, 0);
  const notHealed = history.faults.flatMap((f) =>
    f.event === 'not_healed' ? [`${f.kind} ${f.target}: ${f.error}`] : [],
  );
  const tasks = history.tasks.length;
  return {
    seed: options.seed,
    mode: options.mode,
    replay: replayOf(options),
    seconds: Math.round(seconds),
    tasks,
    ends: countBy(history.tasks, (t) => t.state),
    deliveries: history.deliveries.length,
    executions: history.agents.filter((a) => a.event === 'begin').length,
    faults: countBy(
      history.faults.filter((f) => f.event === 'start'),
      (f) => f.kind,
    ),
    failpoints: countBy(
      history.faults.flatMap((f) => (f.event === 'failpoint' && f.hit ? [f.armed.replace(/:.*/, '')] : [])),
      (name) => name,
    ),
    not_healed: notHealed,
    recoveries: recoveriesOf(new Indexed(history)),
    findings,
    violations: violations + notHealed.length,
    bound: violations === 0 && tasks > 0 ? 3 / tasks : null,
  };
}

/** The command that does the same again. */
export function replayOf(options: Options): string {
  const { seed, mode, tasks, minutes, perSecond, faultEveryMs, kinds, dispatchers, groups, agentsPerGroup } =
    options;
  return [
    `npm run torture -- --seed ${seed} --mode ${mode} --minutes ${minutes} --rate ${perSecond}`,
    ...(Number.isFinite(tasks) ? [`--tasks ${tasks}`] : []),
    `--fault-every ${faultEveryMs} --groups ${groups} --agents ${agentsPerGroup}`,
    ...(mode === 'distributed' ? [`--dispatchers ${dispatchers}`] : []),
    ...(kinds === undefined ? [] : [`--faults ${kinds.join(',')}`]),
  ].join(' ');
}

const SHOWN = 10;

/** The report for people. */
export function toMarkdown(report: Report): string {
  const table = (of: Record<string, number>) =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none';
  const bound =
    report.bound === null
      ? ''
      : `\nWith 95 % confidence fewer than ${report.bound.toExponential(1)} of all tasks break one of them (3/n).`;
  const details = report.findings
    .filter((f) => f.violations.length > 0)
    .map(
      (f) =>
        `### ${f.check}: ${f.violations.length}\n\n${f.violations
          .slice(0, SHOWN)
          .map((v) => `- ${v.task === undefined ? '' : `task ${v.task}: `}${v.what}`)
          .join('\n')}\n`,
    );
  return `# Torture, seed ${report.seed}: ${report.violations === 0 ? 'nothing broke' : `${report.violations} violations`}

${report.tasks} tasks in ${report.seconds} s, ${report.mode} mode: ${table(report.ends)}.
${report.deliveries} deliveries, ${report.executions} executions.
Faults: ${table(report.faults)}.
Died at failpoints: ${table(report.failpoints)}.${bound}

Replay: \`${report.replay}\`

| recovery, undisturbed | n | p50 ms | p99 ms |
| --- | ---: | ---: | ---: |
${report.recoveries.map((r) => `| ${r.what} | ${r.n} | ${r.p50Ms ?? ''} | ${r.p99Ms ?? ''} |`).join('\n')}

| invariant | violations | says |
| --- | ---: | --- |
${report.findings.map((f) => `| ${f.check} | ${f.violations.length} | ${f.says} |`).join('\n')}

${[...report.not_healed.map((what) => `- not healed: ${what}`), ...details].join('\n')}`;
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1;
  return counts;
}
