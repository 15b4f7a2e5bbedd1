/**
 * A point of priority is a head start of so many turns. So a task is passed by no more than that for each point by which others
 * are above it, however many of them come: priorities cannot starve. Known to admit.sql.
 */
export const TURNS_PER_PRIORITY = 100;

/** Lanes, and callers of one, that are remembered. A forgotten caller takes his turns anew: he gets a little more. */
const MOST_LANES = 10_000;
const MOST_STREAMS = 1000;

/** A task that is to get a turn. */
export interface TurnSeeker {
  lane: string;
  priority: number;
  /** Who submitted it; empty: nobody in particular. */
  caller: string;
}

/** Why a task gets a turn: it is new, its time has come (a delay, a retry), or it comes from another lane. */
export type TurnCause = 'new' | 'due' | 'moved';

/** What takes turns: a caller, with each priority of his own, and what is new apart from what has waited elsewhere. */
export function streamOf({ priority, caller }: Omit<TurnSeeker, 'lane'>, cause: TurnCause = 'new'): string {
  return `${cause} ${priority} ${caller}`;
}

/**
 * Start-time fair queueing (Goyal, Vin, Cheng 1996): each task of a caller gets the turn after that of his last one, or after
 * the one that is being served where his have all been. So callers of a lane take turns, whoever has how many waiting. The turn
 * that is served is that of the head of the lane, which the ledger knows; here is what a caller took last.
 */
export class Turns {
  private readonly lanes = new Map<string, Map<string, number>>();

  /** The last turn of this caller in this lane; 0 where he has none. */
  last(lane: string, stream: string): number {
    return this.lanes.get(lane)?.get(stream) ?? 0;
  }

  /** The last turn of the caller of each, and its place among those of his here. */
  columnsOf(tasks: readonly TurnSeeker[], cause: TurnCause = 'new'): [last: number[], place: number[]] {
    const places = new Map<string, number>();
    const columns: [number[], number[]] = [[], []];
    for (const task of tasks) {
      const stream = streamOf(task, cause);
      const key = `${stream} ${task.lane}`;
      const place = (places.get(key) ?? 0) + 1;
      places.set(key, place);
      columns[0].push(this.last(task.lane, stream));
      columns[1].push(place);
    }
    return columns;
  }

  /** Every stream of a lane, and its last turn. */
  in(lane: string): [streams: string[], turns: number[]] {
    const streams = this.lanes.get(lane) ?? new Map<string, number>();
    return [[...streams.keys()], [...streams.values()]];
  }

  note(lane: string, stream: string, turn: number): void {
    let streams = this.lanes.get(lane);
    if (streams === undefined) {
      if (this.lanes.size >= MOST_LANES) this.lanes.clear();
      this.lanes.set(lane, (streams = new Map<string, number>()));
    }
    if (streams.size >= MOST_STREAMS) streams.clear();
    streams.set(stream, Math.max(turn, streams.get(stream) ?? 0));
  }
}
