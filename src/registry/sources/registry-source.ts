import type { z } from 'zod';

/** One instance of a service, as a source knows it. */
export interface SourceInstance {
  service: string;
  /** Names it in messages. */
  id: string;
  host: string;
  port: number;
  healthy: boolean;
  tags: readonly string[];
  meta: Readonly<Record<string, string>>;
  /** Why it cannot be read at all; what else it has is worth nothing then. */
  unreadable?: string;
}

/** An entry that is not what it should be: it alone is left out. */
export function unreadable(service: string, at: number, why: string): SourceInstance {
  const id = `entry ${at} of ${service}`;
  return { service, id, host: '', port: 0, healthy: false, tags: [], meta: {}, unreadable: why };
}

/** Who is told what a source says. */
export interface SourceListener {
  /**
   * Everything that is there now.
   * @param isComplete false: services are left out that could not be read yet
   */
  instances(list: readonly SourceInstance[], isComplete: boolean): void;
  /** It could not be read; what was said before stands. The message names the place and the reason, and no secret. */
  failed(error: Error): void;
}

/** A registry of others that agents are taken over from. A new one is one file, and its line in `sources.ts`. */
export interface RegistrySource {
  /** Marks the agents that came from it. */
  readonly name: string;
  /** Follows it and tells the listener, until `signal` aborts. Survives every failure; never rejects. */
  watch(listener: SourceListener, signal: AbortSignal): Promise<void>;
}

/** Most services that are followed, and most instances that are taken over. */
export const MOST_SERVICES = 100;
export const MOST_INSTANCES = 10_000;

/** A source said something that cannot be used, or nothing. */
export class SourceError extends Error {
  /** @param status of the HTTP answer, where there was one */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'SourceError';
  }
}

/** The first place that is wrong, and what is wrong there. */
export function wrongIn(error: z.ZodError): string {
  const [issue] = error.issues;
  return `/${issue?.path.join('/') ?? ''}: ${issue?.message ?? 'not what it should be'}`;
}
