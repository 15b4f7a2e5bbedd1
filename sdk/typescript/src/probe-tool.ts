/**
 * Checks whether the agent could work now: its model answers, its cache is warm, its disk is not full. Returns (or
 * resolves with) `false`, or throws, when it could not; anything else means that it could.
 */
export type ProbeTool = () => unknown;

/** What the centre is told. */
export interface ProbeAnswer {
  ok: boolean;
  echo?: 'reachable';
  detail?: string;
}

export const REACHABLE: ProbeAnswer = { ok: true, echo: 'reachable' };

const DETAIL_LIMIT = 500;

/** Runs the tool for the centre's deep ping. Without a tool of its own, an agent that gets here is reachable. */
export async function runProbe(tool: ProbeTool | undefined): Promise<ProbeAnswer> {
  try {
    if (tool === undefined || (await tool()) !== false) return REACHABLE;
    return { ok: false, detail: 'the probe tool returned false' };
  } catch (error) {
    return { ok: false, detail: String(error).slice(0, DETAIL_LIMIT) };
  }
}
