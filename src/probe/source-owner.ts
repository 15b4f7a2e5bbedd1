import { Inject, Injectable } from '@nestjs/common';
import { ownerOf } from '../core/ownership.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { Sources } from '../registry/sources/sources.js';
import { Replicas } from './replicas.js';

/** Which replica follows which registry of others: shared out as the targets of probes are. */
@Injectable()
export class SourceOwner {
  constructor(@Inject(CONFIG) config: Config, replicas: Replicas, sources: Sources) {
    sources.connect((source) => ownerOf(`source ${source}`, replicas.live(), undefined) === config.replicaId);
  }
}
