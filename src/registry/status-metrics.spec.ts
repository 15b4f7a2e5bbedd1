import type { Config } from '../platform/config/config.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import type { AgentRow } from './agent-row.js';
import { ReachTable } from './reach-table.js';
import { RegistryEvents } from './registry.events.js';
import { StatusMetrics } from './status-metrics.js';

const config = { warmUpProbes: 0, statusMetricAgents: 2 } as Config;
const row = (agent_id: string, state: string, rev: number, hold_reason: string | null = null): AgentRow =>
  ({
    namespace: 'default',
    agent_id,
    name: agent_id,
    capabilities: [],
    state,
    metadata: {},
    dependencies: [],
    facts: {},
    hold_reason,
    removed_at: null,
    rev,
  }) as unknown as AgentRow;

test('agents beyond the limit are counted together, and held ones left out', async () => {
  const table = new ReachTable(config);
  const events = new RegistryEvents();
  const metrics = new Metrics();
  new StatusMetrics(config, table, events, metrics).onApplicationBootstrap();
  const series = async () =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith('reach_status{'))
      .sort();
  table.apply(row('held', 'offline', 1, ''));
  table.apply(row('a', 'online', 2));
  table.apply(row('b', 'degraded', 3));
  for (let i = 0; i < 30; i++) table.apply(row(`more${i}`, i < 10 ? 'suspicious' : 'online', 10 + i));
  expect(await series()).toEqual([
    'reach_status{namespace="(others)",agent="(others)",state="online"} 20',
    'reach_status{namespace="(others)",agent="(others)",state="suspicious"} 10',
    'reach_status{namespace="default",agent="a",state="online"} 1',
    'reach_status{namespace="default",agent="b",state="degraded"} 1',
  ]);
  // The state before leaves no series behind.
  table.apply(row('a', 'suspicious', 99));
  expect(await series()).toContain('reach_status{namespace="default",agent="a",state="suspicious"} 1');
  expect(await series()).toHaveLength(4);
});

test('changes are counted by where from and where to', async () => {
  const events = new RegistryEvents();
  const metrics = new Metrics();
  new StatusMetrics(config, new ReachTable(config), events, metrics).onApplicationBootstrap();
  const change = {
    namespace: 'n',
    agentId: 'a',
    reason: 'so',
    at: new Date(),
    held: false,
    evidence: {},
    here: true,
  };
  events.emit('transition', { ...change, from: null, to: 'online' });
  // Another replica counts what it commits.
  events.emit('transition', { ...change, from: 'online', to: 'degraded', here: false });
  events.emit('transition', { ...change, from: 'online', to: 'suspicious' });
  const text = await metrics.text();
  expect(text).toContain('reach_status_changes_total{from="unknown",to="online"} 1');
  expect(text).toContain('reach_status_changes_total{from="online",to="suspicious"} 1');
});
