/**
 * A receiver that stores notifications in a broker or, for comparison, in an inbox. Its environment contains the URL.
 */
import { natsSink } from '../../../receiver/examples/nats-sink.ts';
import { rabbitmqSink } from '../../../receiver/examples/rabbitmq-sink.ts';
import {
  createLogger,
  memoryInbox,
  type NotificationSink,
  openInbox,
  type ReceiverOptions,
  startReceiver,
} from '../../../receiver/index.ts';
import { NAME } from './broker.ts';

const { HOOKPROOF_SECRET = '', HOOKPROOF_INBOX = '', SETTINGS = '{}' } = process.env;
const { fault } = JSON.parse(SETTINGS) as { fault?: string };

/** Returns the sink unchanged, or with the fault that it answers before it stores. */
function passOn(sink: NotificationSink): Pick<ReceiverOptions, 'sink'> {
  if (fault === undefined) return { sink };
  return {
    sink: {
      async put(delivery) {
        setTimeout(() => void sink.put(delivery).catch(() => {}), 10);
        return 'unknown';
      },
    },
  };
}

async function openStore(url: string): Promise<[options: Partial<ReceiverOptions>, store: { close(): Promise<void> }]> {
  if (url.startsWith('nats:')) {
    const sink = await natsSink({ servers: url, stream: NAME, subject: NAME });
    return [passOn(sink), sink];
  }
  if (url.startsWith('amqp:')) {
    const sink = await rabbitmqSink(url, NAME);
    return [passOn(sink), sink];
  }
  const inbox = url === 'memory:' ? memoryInbox() : await openInbox(url);
  return [{ inbox }, inbox];
}

const [options, store] = await openStore(HOOKPROOF_INBOX);
const receiver = await startReceiver({ signing: { secrets: [HOOKPROOF_SECRET] }, logger: createLogger(), ...options });
process.once('SIGTERM', async () => {
  await receiver.close();
  await store.close();
});
process.stderr.write(`listening at ${receiver.url}\n`);
