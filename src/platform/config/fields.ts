import { outboundFields } from './outbound-fields.js';
import { probeFields } from './probe-fields.js';
import { registryFields, schedulerFields } from './scheduler-fields.js';
import { sourceFields } from './source-fields.js';
import { serverFields, storageFields } from './server-fields.js';

/**
 * Every setting, once: variable, type, bounds, default, meaning. `Config`, `.env.example` and `reach config`
 * come from this table. A figure that the specification gives is the default here.
 */
export const fields = {
  ...serverFields,
  ...storageFields,
  ...registryFields,
  ...sourceFields,
  ...probeFields,
  ...schedulerFields,
  ...outboundFields,
};
