/** Consumes from RabbitMQ with manual acks. Options: queue, rabbitmq (url), prefetch. */
import amqp from 'amqplib';
import { options, reportDone, serveRole } from '../roles/role.mjs';

let done = 0;
let connection;

serveRole({
  ready: async () => {
    connection = await amqp.connect(options.rabbitmq);
    const channel = await connection.createChannel();
    await channel.assertQueue(options.queue, { durable: true });
    await channel.prefetch(options.prefetch);
    await channel.consume(options.queue, (message) => {
      if (message === null) return;
      JSON.parse(message.content);
      channel.ack(message);
      done++;
    });
  },
  count: () => done,
  stop: () => connection.close().catch(() => undefined),
});
reportDone(() => done);
