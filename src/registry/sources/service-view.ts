import { MOST_INSTANCES, type SourceInstance, type SourceListener } from './registry-source.js';

/** Puts together what is heard service by service. A service that cannot be read keeps what it had. */
export class ServiceView {
  private readonly services = new Map<string, readonly SourceInstance[] | undefined>();

  constructor(private readonly listener: SourceListener) {}

  /** These services are there, and no others. */
  setServices(names: Iterable<string>): void {
    const wanted = new Set(names);
    for (const name of this.services.keys()) if (!wanted.has(name)) this.services.delete(name);
    for (const name of wanted) if (!this.services.has(name)) this.services.set(name, undefined);
  }

  /** The instances of one service; of a service that is not there any more they are ignored. */
  setInstances(service: string, instances: readonly SourceInstance[]): void {
    if (this.services.has(service)) this.services.set(service, instances);
  }

  /** Tells what is known. More instances than can be taken are as if they could not be read. */
  tell(): void {
    const lists = [...this.services.values()];
    const all = lists.flatMap((list) => list ?? []);
    if (all.length > MOST_INSTANCES)
      this.listener.failed(
        new Error(`${all.length} instances, of which ${MOST_INSTANCES} can be taken over`),
      );
    const isComplete = all.length <= MOST_INSTANCES && !lists.includes(undefined);
    this.listener.instances(all.slice(0, MOST_INSTANCES), isComplete);
  }
}
