import { Client } from '@agent-reach/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import { Output } from '../output/output.js';
import { bringServiceBack, killInMidTask, takeServiceAway } from './accidents.js';
import { printClosing, printCommands } from './closing.js';
import { Journal } from './journal.js';
import { Pipeline, STEPS } from './pipeline.js';
import { Stage } from './stage.js';
import { brokenPromises, gather } from './verdict.js';

export interface DemoOptions {
  dataDir?: string;
  /** Leave everything running until Ctrl-C. */
  keep: boolean;
}

const MOST_DOCUMENTS = 18;
const PROGRESS_EVERY_MS = 1500;
const AGENTS_WITHIN_MS = 30_000;
const INTERRUPTED = 130;

/** Runs the demo. @returns the exit code: 0, or 1 when a promise was broken or something did not start */
export async function runDemo(options: DemoOptions): Promise<number> {
  const journal = new Journal(new Output(false));
  const stage = new Stage(options.dataDir);
  const interrupted = interruption();
  try {
    const verdict = await Promise.race([play(stage, journal, options), interrupted.happened]);
    if (!options.keep || verdict === INTERRUPTED) return verdict;
    printKept(stage, journal);
    // Ctrl-C is now the ordinary end, and the verdict stands.
    await Promise.race([stage.centreEnded(), interrupted.happened]);
    return verdict;
  } finally {
    if (interrupted.yet()) journal.say('stopping', 'all processes end');
    await stage.close();
    interrupted.release();
  }
}

async function play(stage: Stage, journal: Journal, options: DemoOptions): Promise<number> {
  const { out } = journal;
  journal.say('centre', `starting, with an embedded PostgreSQL in ${stage.dataDir}`);
  await stage.startCentre();
  journal.say('centre', `listens at ${stage.centreUrl}`);
  const client = new Client({ url: stage.centreUrl });
  await stage.startService();
  const agents = stage.startAgents();
  await untilReachable(client, agents.length);
  journal.say('agents', `${agents.join(', ')}, each a process of its own`);

  const pipeline = new Pipeline(client);
  const { report, orphan } = await work(client, stage, pipeline, journal);
  const elapsedMs = journal.elapsedMs;
  const evidence = await gather(client, report, orphan);
  printClosing(out, evidence, pipeline, elapsedMs);
  const broken = brokenPromises(evidence, pipeline);
  for (const promise of broken) out.line(out.paint('red', `  BROKEN: ${promise}`));
  out.line();
  if (broken.length === 0)
    out.line(out.paint('green', 'Every task reached its one end, and every failure has its reason.'));
  printCommands(out, stage.centreUrl, orphan, options.keep);
  return broken.length === 0 ? 0 : 1;
}

/** The pipeline, with its accidents. */
async function work(
  client: Client,
  stage: Stage,
  pipeline: Pipeline,
  journal: Journal,
): Promise<{ report: string | undefined; orphan: string }> {
  const names = (await stage.documents()).slice(0, MOST_DOCUMENTS);
  const half = Math.ceil(names.length / 2);
  journal.say('pipeline', `${names.length} documents: fetch -> summarize, keywords, translate -> report`);
  const stopProgress = showProgress(pipeline, names.length, journal);
  try {
    const killed = killInMidTask(client, stage, pipeline, journal);
    const first = guarded(pipeline.documents(names.slice(0, half)));
    const [orphan] = await Promise.all([killed, untilDone(pipeline, half)]);
    await takeServiceAway(stage, journal);
    const back = guarded(bringServiceBack(client, stage, journal));
    const second = guarded(pipeline.documents(names.slice(half)));
    const summarized = [...(await first), ...(await second)];
    await back;
    journal.say('pipeline', `${summarized.length} documents are summarized; the report is written`);
    return { report: await pipeline.report(summarized), orphan };
  } finally {
    stopProgress();
  }
}

/** It is awaited, but later; a failure before that is no unhandled one. */
function guarded<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

async function untilReachable(client: Client, count: number): Promise<void> {
  const until = performance.now() + AGENTS_WITHIN_MS;
  let online = 0;
  while (performance.now() < until) {
    online = 0;
    for await (const agent of client.agents({ state: 'online' })) if (agent.state === 'online') online += 1;
    if (online >= count) return;
    await sleep(100);
  }
  throw new Error(`only ${online} of ${count} agents came online within ${AGENTS_WITHIN_MS} ms`);
}

async function untilDone(pipeline: Pipeline, fetched: number): Promise<void> {
  while (pipeline.doneOf('fetch') < fetched) await sleep(50);
}

function showProgress(pipeline: Pipeline, total: number, journal: Journal): () => void {
  let shown = '';
  const timer = setInterval(() => {
    const text = STEPS.map((step) => `${step} ${pipeline.doneOf(step)}/${total}`).join('  ');
    if (text !== shown) journal.say('progress', text);
    shown = text;
  }, PROGRESS_EVERY_MS);
  return () => clearInterval(timer);
}

function printKept(stage: Stage, journal: Journal): void {
  journal.out.line();
  journal.out.line(`  logs and data: ${stage.dataDir}`);
  journal.out.line('  Ctrl-C ends it.');
}

/** Ctrl-C or SIGTERM: the demo ends in an orderly way; more of them change nothing. */
function interruption(): { happened: Promise<number>; yet: () => boolean; release: () => void } {
  let yet = false;
  let interrupt: () => void = () => undefined;
  const happened = new Promise<number>((resolve) => {
    interrupt = () => {
      yet = true;
      resolve(INTERRUPTED);
    };
  });
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return {
    happened,
    yet: () => yet,
    release: () => {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
    },
  };
}
