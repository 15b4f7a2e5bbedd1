/** Publishes to a JetStream work queue on files and awaits each ack. Options: queue, nats (server), callers, ... */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Flow } from '../roles/flow.mjs';
import { options, payloadOf, serveRole } from '../roles/role.mjs';
import { ensureStream } from './nats-stream.mjs';

const body = JSON.stringify(payloadOf(options.payloadBytes));
let connection;
let js;

const flow = new Flow(() => js.publish(`${options.queue}.task`, body), options);
serveRole({
  ready: async () => {
    connection = await connect({ servers: options.nats });
    await ensureStream(await jetstreamManager(connection), options.queue);
    js = jetstream(connection);
  },
  saturate: () => flow.saturate(),
  done: (done) => flow.setDone(done),
  stop: () => flow.stop(),
  obliterate: async () => {
    await (await jetstreamManager(connection)).streams.delete(options.queue);
    await connection.close();
  },
});
