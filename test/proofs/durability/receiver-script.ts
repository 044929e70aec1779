/**
 * A receiver with settings for which the command line has no flags: short leases, and faults. It reads its settings
 * from the environment, prints its URL at the start, and its counts at the end.
 */
import { createApp, createPipeline } from '../../../receiver/create-receiver.ts';
import type { HandlingPolicy } from '../../../receiver/handling/handlers.ts';
import { createHandling } from '../../../receiver/handling/handling.ts';
import {
  createLogger,
  effectHandlers,
  fileEffects,
  type Handlers,
  type InboxMeter,
  openInbox,
  startAdminServer,
} from '../../../receiver/index.ts';
import { resolveOptions } from '../../../receiver/options.ts';
import { createHttpServer } from '../../../receiver/server/http-server.ts';
import { serve } from '../../../receiver/start-receiver.ts';
import { type Fault, faultyInbox, faultyPipeline } from './faulty-receivers.ts';
import type { EffectsSetup, ReceiverCounts } from './receiver-process.ts';

interface Settings {
  readonly fault?: Fault;
  readonly handling?: Partial<HandlingPolicy>;
  readonly withHandlers: boolean;
  readonly effects?: EffectsSetup;
}

const { HOOKPROOF_SECRET = '', HOOKPROOF_INBOX = '', HANDLERS = '', SETTINGS = '{}' } = process.env;
const { fault, handling: policy, withHandlers, effects } = JSON.parse(SETTINGS) as Settings;
const given = withHandlers ? ((await import(HANDLERS)) as { handlers: Handlers }).handlers : {};
const record = effects === undefined ? undefined : await fileEffects(effects.file);

function failAtRandom(): void {
  if (Math.random() < (effects?.failures ?? 0)) throw new Error('fails at random');
}

let applied = 0;
const handlers =
  record === undefined
    ? given
    : effectHandlers(
        {
          async apply(effect, key) {
            failAtRandom();
            applied += 1;
            const isNew = await record.apply(effect, effects?.ignoresKeys ? `${key} ${process.pid} ${applied}` : key);
            // The handler runs again although its effect is recorded.
            failAtRandom();
            return isNew;
          },
        },
        { handlers: given },
      );

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
const inbox = await faultyInbox(fault, opened, HOOKPROOF_INBOX);
const options = { signing: { secrets: [HOOKPROOF_SECRET] }, inbox, handlers, handling: policy ?? {}, meter, logger };
const config = resolveOptions(options);
const handling = createHandling(config);
const pipeline = faultyPipeline(fault, { correct: createPipeline(config, handling), inbox, handling, handlers });
const app = createApp(pipeline, config);
const receiver = { app, settled: () => handling.settled(), stop: (ms: number) => handling.stop(ms) };
const server = await serve(receiver, createHttpServer(app, { logger }), { logger });
const admin = await startAdminServer({ checks: [{ name: 'inbox', check: () => inbox.ping() }] });
admin.setState('serving');
process.once('SIGTERM', async () => {
  await server.close();
  await admin.close();
  await inbox.close();
  await record?.close();
  process.stderr.write(`counted ${JSON.stringify(counts)}\n`);
});
process.stderr.write(`health and metrics at ${admin.url}\n`);
process.stderr.write(`listening at ${server.url}\n`);
