/** Consumes a JetStream work queue with explicit acks. Options: queue, nats (server), prefetch. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { options, reportDone, serveRole } from '../roles/role.mjs';
import { ensureStream } from './nats-stream.mjs';

let done = 0;
let connection;

async function consume(messages) {
  for await (const message of messages) {
    message.json();
    message.ack();
    done++;
  }
}

serveRole({
  ready: async () => {
    connection = await connect({ servers: options.nats });
    const manager = await jetstreamManager(connection);
    await ensureStream(manager, options.queue);
    await manager.consumers.add(options.queue, {
      durable_name: 'worker',
      ack_policy: 'explicit',
      max_ack_pending: 1000,
    });
    const consumer = await jetstream(connection).consumers.get(options.queue, 'worker');
    void consume(await consumer.consume({ max_messages: options.prefetch }));
  },
  count: () => done,
  stop: () => connection.close(),
});
reportDone(() => done);
