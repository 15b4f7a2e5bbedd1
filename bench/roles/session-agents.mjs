/** Agents of the SDK over sessions, all in this process. Options: sdk, url, capability, agents, concurrency. */
import { options, reportDone, serveRole, sharedClockUs } from './role.mjs';

const { Agent } = await import(options.sdk);
const outputs = { ok: true, summary: 'no issues found' };
let done = 0;
const latenciesUs = { received: [], begun: [] };

function stamp(kind, { stampUs }) {
  if (stampUs !== undefined) latenciesUs[kind].push(sharedClockUs() - stampUs);
}

function handle({ payload }) {
  done++;
  stamp('begun', payload);
  return outputs;
}

const agents = Array.from(
  { length: options.agents },
  (_, n) =>
    new Agent({
      url: options.url,
      agentId: `${options.capability}-${n}`,
      name: options.capability,
      capabilities: { [options.capability]: handle },
      maxConcurrency: options.concurrency,
    }),
);

for (const agent of agents) agent.on('offered', ({ offer }) => stamp('received', offer.payload));

serveRole({
  ready: () =>
    Promise.all(agents.map((agent) => agent.start({ startTimeoutMs: 20_000 }))).then(() => undefined),
  takeLatencies: () => ({ received: latenciesUs.received.splice(0), begun: latenciesUs.begun.splice(0) }),
  stop: () => Promise.all(agents.map((agent) => agent.stop({ drainMs: 2000 }))).then(() => undefined),
});
reportDone(() => done);
