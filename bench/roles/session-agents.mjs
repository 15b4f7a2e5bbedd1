/** Agents of the SDK over sessions, all in this process. Options: sdk, url, capability, agents, concurrency. */
import { options, reportDone, serveRole, sharedClockUs } from './role.mjs';

const { Agent } = await import(options.sdk);
const outputs = { ok: true, summary: 'no issues found' };
let done = 0;
let latenciesUs = [];

function handle({ payload }) {
  done++;
  if (payload.stampUs !== undefined) latenciesUs.push(sharedClockUs() - payload.stampUs);
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

serveRole({
  ready: () =>
    Promise.all(agents.map((agent) => agent.start({ startTimeoutMs: 20_000 }))).then(() => undefined),
  takeLatencies: () => latenciesUs.splice(0),
  stop: () => Promise.all(agents.map((agent) => agent.stop({ drainMs: 2000 }))).then(() => undefined),
});
reportDone(() => done);
