/** Publishes to a durable queue of RabbitMQ and awaits each confirm. Options: queue, rabbitmq (url), callers, ... */
import amqp from 'amqplib';
import { Flow } from '../roles/flow.mjs';
import { options, payloadOf, serveRole } from '../roles/role.mjs';

const body = Buffer.from(JSON.stringify(payloadOf(options.payloadBytes)));
let connection;
let channel;

function publish() {
  return new Promise((resolve, reject) => {
    channel.sendToQueue(options.queue, body, { persistent: true }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
}

const flow = new Flow(publish, options);
serveRole({
  ready: async () => {
    connection = await amqp.connect(options.rabbitmq);
    channel = await connection.createConfirmChannel();
    await channel.assertQueue(options.queue, { durable: true });
  },
  saturate: () => flow.saturate(),
  done: (done) => flow.setDone(done),
  stop: () => flow.stop(),
  obliterate: async () => {
    await channel.deleteQueue(options.queue);
    await connection.close();
  },
});
