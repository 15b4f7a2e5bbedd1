import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import type { ReachEntry } from './reach-table.js';

interface RegistryEventMap {
  /** The entry is new, changed or gone, whoever changed it; `entry` is as it is now. */
  changed: [entry: ReachEntry];
  /** This replica ended or superseded a lease, or began a removal: what the agent holds needs a look. */
  lost: [agent: { namespace: string; agentId: string }];
  /** A capability was paused or resumed, on any replica. */
  switched: [];
}

/** News of the registry for the parts above it. */
@Injectable()
export class RegistryEvents extends EventEmitter<RegistryEventMap> {}
