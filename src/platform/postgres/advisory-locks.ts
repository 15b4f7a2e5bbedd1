/** First key of our two-key advisory locks ("REAC"), so that they meet nobody else's in a shared database. */
export const LOCK_SPACE = 0x52454143;

/** Second key: what the lock is for. */
export const LOCKS = {
  migrations: 1,
  singleReplica: 2,
  partitions: 3,
  tokenKeys: 4,
} as const;

/** First key ("REAL") of the locks of lanes; the second one is a hash of the lane, so two of them may share one. */
export const LANE_LOCK_SPACE = 0x5245414c;
