import { readFileSync } from 'node:fs';
import { type Cluster, type Redis, type Result } from 'ioredis';

/** What the scripts take and give back, as ioredis sees it; each file's header says what it means. */
declare module 'ioredis' {
  interface RedisCommander<Context> {
    reachSetIfAbsent(key: string, value: string, ttlMs: number): Result<string | null, Context>;
    reachRemoveIf(key: string, expected: string): Result<number, Context>;
    reachCounterReserve(
      key: string,
      wanted: number,
      limit: number,
      ttlMs: number,
    ): Result<[granted: number, value: number] | null, Context>;
    reachCounterAdd(key: string, delta: number, ttlMs: number): Result<number, Context>;
    reachCounterSeed(key: string, value: number, ttlMs: number): Result<number, Context>;
    reachCounterCorrect(key: string, value: number, version: number, ttlMs: number): Result<number, Context>;
    reachSlotsReserve(
      key: string,
      limit: number,
      ttlMs: number,
      ...deliveryIds: string[]
    ): Result<number | null, Context>;
    reachSlotsRelease(key: string, ttlMs: number, ...deliveryIds: string[]): Result<number, Context>;
    reachSlotsSeed(key: string, ttlMs: number, ...deliveryIds: string[]): Result<number, Context>;
    reachSlotsList(key: string): Result<(string | number)[] | null, Context>;
    reachInboxPush(key: string, limit: number, ttlMs: number, ...items: string[]): Result<number, Context>;
    reachInboxPop(key: string, max: number): Result<string[], Context>;
    reachInboxRemove(key: string, ...items: string[]): Result<number, Context>;
    reachBucketTake(
      key: string,
      wanted: number,
      capacity: number,
      perSecond: number,
      overdraft: number,
    ): Result<[granted: number, owed: number], Context>;
    reachEpoch(key: string, candidate: string): Result<string, Context>;
  }
}

const SCRIPT_FILES = {
  reachSetIfAbsent: 'set_if_absent',
  reachRemoveIf: 'remove_if',
  reachCounterReserve: 'counter_reserve',
  reachCounterAdd: 'counter_add',
  reachCounterSeed: 'counter_seed',
  reachCounterCorrect: 'counter_correct',
  reachSlotsReserve: 'slots_reserve',
  reachSlotsRelease: 'slots_release',
  reachSlotsSeed: 'slots_seed',
  reachSlotsList: 'slots_list',
  reachInboxPush: 'inbox_push',
  reachInboxPop: 'inbox_pop',
  reachInboxRemove: 'inbox_remove',
  reachBucketTake: 'bucket_take',
  reachEpoch: 'epoch',
};

/** Teaches a connection the scripts of `lua/`; each takes exactly one key, so it touches one cluster slot. */
export function defineScripts(client: Redis | Cluster): void {
  for (const [name, file] of Object.entries(SCRIPT_FILES)) {
    const lua = readFileSync(new URL(`./lua/${file}.lua`, import.meta.url), 'utf8');
    client.defineCommand(name, { numberOfKeys: 1, lua });
  }
}
