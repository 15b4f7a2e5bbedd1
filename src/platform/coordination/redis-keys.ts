/**
 * One hash tag in each sixteenth of a cluster's 16 384 slots: when up to 16 masters share the slots evenly,
 * each of them holds an epoch of its own, and the loss of any one is noticed.
 */
const SHARD_TAGS = [
  ...['e0', 'e22', 'e62', 'e48', 'e1', 'e23', 'e63', 'e49'],
  ...['e2', 'e20', 'e60', 'e59', 'e3', 'e21', 'e61', 'e58'],
];

/**
 * Names of keys and channels. What a key belongs to (an agent, a lane, a plain key) is its hash tag, and its
 * kind comes last, so that no two things share a key whatever characters a caller's key is made of.
 */
export class RedisKeys {
  /** @param prefix first part of every name */
  constructor(private readonly prefix: string) {}

  /** Prefix of a channel's name on the wire. */
  get channelPrefix(): string {
    return `${this.prefix}:news:`;
  }

  value(key: string): string {
    return `${this.prefix}:{${key}}:value`;
  }

  counter(key: string): string {
    return `${this.prefix}:{${key}}:counter`;
  }

  slots(agentKey: string): string {
    return `${this.prefix}:{${agentKey}}:slots`;
  }

  bucket(key: string): string {
    return `${this.prefix}:{${key}}:bucket`;
  }

  inbox(agentKey: string): string {
    return `${this.prefix}:{${agentKey}}:inbox`;
  }

  /** The epoch keys: one for a single server, sixteen for a cluster. */
  epochs(cluster: boolean): string[] {
    return (cluster ? SHARD_TAGS : ['e0']).map((tag) => `${this.prefix}:{${tag}}:epoch`);
  }
}
