/**
 * The receiver in a process of its own, with what the command line has no flags for: short leases, and ways to be
 * wrong. What it is told stands in the environment, as for `hookproof receiver`; it says where it listens, and at its
 * end what it has counted.
 */

import { createApp, createPipeline } from '../../../receiver/create-receiver.ts';
import type { HandlingPolicy } from '../../../receiver/handling/handlers.ts';
import { createHandling } from '../../../receiver/handling/handling.ts';
import { createLogger, type Handlers, type InboxMeter, openInbox } from '../../../receiver/index.ts';
import { resolveOptions } from '../../../receiver/options.ts';
import { createHttpServer } from '../../../receiver/server/http-server.ts';
import { serve } from '../../../receiver/start-receiver.ts';
import type { ReceiverCounts } from './receiver-process.ts';
import { type WrongWay, wrongInbox, wrongPipeline } from './wrong-receivers.ts';

interface Settings {
  readonly wrong?: WrongWay;
  readonly handling?: Partial<HandlingPolicy>;
  readonly withHandlers: boolean;
}

const { HOOKPROOF_SECRET = '', HOOKPROOF_INBOX = '', HANDLERS = '', SETTINGS = '{}' } = process.env;
const { wrong, handling: policy, withHandlers } = JSON.parse(SETTINGS) as Settings;
const handlers = withHandlers ? ((await import(HANDLERS)) as { handlers: Handlers }).handlers : {};

const counts: ReceiverCounts = { commits: 0, writes: 0 };
const meter: InboxMeter = {
  stored() {},
  committed(writes) {
    counts.commits += 1;
    counts.writes += writes;
  },
  handled() {},
};
const logger = createLogger();
const opened = await openInbox(HOOKPROOF_INBOX, { logger, meter });
const inbox = await wrongInbox(wrong, opened, HOOKPROOF_INBOX);
const options = { signing: { secrets: [HOOKPROOF_SECRET] }, inbox, handlers, handling: policy ?? {}, meter, logger };
const config = resolveOptions(options);
const handling = createHandling(config);
const pipeline = wrongPipeline(wrong, { right: createPipeline(config, handling), inbox, handling, handlers });
const app = createApp(pipeline, config);
const receiver = { app, settled: () => handling.settled(), stop: (ms: number) => handling.stop(ms) };
const server = await serve(receiver, createHttpServer(app, { logger }), { logger });
process.once('SIGTERM', async () => {
  await server.close();
  await inbox.close();
  process.stderr.write(`counted ${JSON.stringify(counts)}\n`);
});
process.stderr.write(`listening at ${server.url}\n`);
