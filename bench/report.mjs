import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, least: sorted[0], most: sorted.at(-1) };
}

/** Medians with their spread; a ratio is taken within a round, to the peer's turn of the same round. */
export function summary(contestants, turns) {
  return contestants
    .map((contestant) => {
      const own = turns.filter((turn) => turn.contestant === contestant.name);
      const ratios = own.flatMap(({ round, rate }) => {
        const peer = turns.find((turn) => turn.contestant === contestant.peer && turn.round === round);
        return peer ? [Math.round((rate / peer.rate) * 1000) / 1000] : [];
      });
      const costRatios = own.flatMap(({ round, usPerTask }) => {
        const peer = turns.find((turn) => turn.contestant === contestant.peer && turn.round === round);
        return peer ? [Math.round((total(peer.usPerTask) / total(usPerTask)) * 1000) / 1000] : [];
      });
      const processes = [...new Set(own.flatMap(({ usPerTask }) => Object.keys(usPerTask)))];
      const usPerTask = Object.fromEntries(
        processes.map((name) => [name, Math.round(spread(own.map((turn) => turn.usPerTask[name])).median)]),
      );
      return {
        name: contestant.name,
        rounds: own.length,
        rate: own.length ? spread(own.map(({ rate }) => rate)) : undefined,
        ...(ratios.length
          ? {
              peer: contestant.peer,
              ratio: spread(ratios),
              costRatio: spread(costRatios),
              target: contestant.target,
            }
          : {}),
        ...(contestant.beside ? { beside: ratiosBeside(contestant, own, turns) } : {}),
        usPerTask,
        othersCores: own.length ? spread(own.map(({ othersCores }) => othersCores)) : undefined,
      };
    })
    .filter(({ rounds }) => rounds > 0);
}

/** Ratios to other tools, each to its turn of the same round. */
function ratiosBeside({ beside }, own, turns) {
  return Object.entries(beside).flatMap(([name, target]) => {
    const ratios = own.flatMap(({ round, rate }) => {
      const other = turns.find((turn) => turn.contestant === name && turn.round === round);
      return other ? [Math.round((rate / other.rate) * 1000) / 1000] : [];
    });
    return ratios.length ? [{ name, target, ratio: spread(ratios) }] : [];
  });
}

function total(usPerTask) {
  return Object.values(usPerTask).reduce((sum, us) => sum + us, 0);
}

const PROCESSES = ['dispatcher', 'postgres', 'redis', 'rabbitmq', 'nats', 'working', 'submitting'];

/** The results for people. */
export function markdown({ machine, options, summary: table, latencies }) {
  const number = (value) => Math.round(value).toLocaleString('en');
  const lines = [
    '# Benchmark: dispatch',
    '',
    `${machine.at}, commit ${machine.commit}: ${machine.cores} cores (${machine.cpu}), ${machine.memoryGib} GiB, ` +
      `Node ${machine.node}; everything on this machine.`,
    `Postgres ${Object.entries(machine.postgres)
      .map(([name, value]) => (name === 'server_version' ? value : `${name}=${value}`))
      .join(', ')}; Redis ${machine.redis}; BullMQ ${machine.bullmq}.`,
    `${options.rounds} rounds, ${options.seconds} s each after ${options.warmUpSeconds} s of warm-up; ` +
      `${options.agents} agents in one process, ${options.callers} callers, ${options.payloadBytes} B of payload.`,
    '',
    'Tasks per second from enqueue to the committed result: median (least to most). The ratio is to the peer in ' +
      'the same round; "by CPU" is the same ratio if the CPU time of all processes decided alone, which a busy machine ' +
      'disturbs less. CPU in microseconds per task; "others" are cores that strangers to the measurement used.',
    '',
    `| | tasks/s | peer | ratio | by CPU | target | ${PROCESSES.join(' | ')} | others |`,
    `|---|---|---|---|---|---|${PROCESSES.map(() => '---|').join('')}---|`,
  ];
  for (const row of table) {
    const { rate, ratio } = row;
    lines.push(
      `| ${row.name} | ${number(rate.median)} (${number(rate.least)} to ${number(rate.most)}) | ${row.peer ?? ''} | ` +
        `${ratio ? `**${ratio.median.toFixed(2)}** (${ratio.least.toFixed(2)} to ${ratio.most.toFixed(2)})` : ''} | ` +
        `${row.costRatio ? row.costRatio.median.toFixed(2) : ''} | ${row.target ?? ''} | ${PROCESSES.map((name) => row.usPerTask[name] ?? '').join(' | ')} | ` +
        `${row.othersCores.median} |`,
    );
  }
  lines.push(...besideTable(table));
  if (latencies.length > 0) lines.push('', ...latencyTable(latencies));
  return `${lines.join('\n')}\n`;
}

function besideTable(table) {
  const rows = table.flatMap(({ name, beside = [] }) => beside.map((other) => ({ ours: name, ...other })));
  if (rows.length === 0) return [];
  return [
    '',
    'Beside other tools, in the same rounds (pg-boss fetches and completes one job at a time, graphile-worker runs ' +
      'without its local queue, RabbitMQ has a durable queue with confirms and manual acks, NATS JetStream a work queue ' +
      'on files with explicit acks; none of them keeps a history):',
    '',
    '| | to | ratio | target |',
    '|---|---|---|---|',
    ...rows.map(
      (other) =>
        `| ${other.ours} | ${other.name} | **${other.ratio.median.toFixed(2)}** (${other.ratio.least.toFixed(2)} to ` +
        `${other.ratio.most.toFixed(2)}) | ${other.target} |`,
    ),
  ];
}

const MOMENTS = { received: 'receipt by the agent', begun: 'start of the work, its ACK committed' };

function latencyTable(latencies) {
  const lines = [
    'From the moment a single enqueue was due (open loop, half of the saturation load):',
    '',
    '| | tasks/s | to | p50 ms | p99 ms | max ms |',
    '|---|---|---|---|---|---|',
  ];
  for (const name of new Set(latencies.map(({ contestant }) => contestant))) {
    const own = latencies.filter(({ contestant }) => contestant === name);
    for (const [moment, meaning] of Object.entries(MOMENTS)) {
      const cells = ['p50Ms', 'p99Ms', 'maxMs'].map((key) => {
        const { median, least, most } = spread(own.map((turn) => turn[moment][key]));
        return `${median.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})`;
      });
      lines.push(`| ${name} | ${own[0].offeredRate} | ${meaning} | ${cells.join(' | ')} |`);
    }
  }
  return lines;
}

/** Prints the table and, unless `out` is "-", writes it beside the raw figures. */
export async function writeReport(results, out) {
  const text = markdown(results);
  process.stdout.write(`\n${text}`);
  if (out === '-') return;
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'RESULTS.md'), text);
  await writeFile(join(out, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
}
