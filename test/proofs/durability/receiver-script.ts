/**
 * A receiver with settings for which the command line has no flags: short leases, and faults. It reads its settings
 * from the environment, prints its URL at the start, and its counts at the end.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createApp, createPipeline } from '../../../receiver/create-receiver.ts';
import type { HandlingPolicy } from '../../../receiver/handling/handlers.ts';
import { Handling } from '../../../receiver/handling/handling.ts';
import {
  createLogger,
  effectHandlers,
  fileEffects,
  type Handlers,
  type InboxMeter,
  openInbox,
  startAdminServer,
  startEffectsWindow,
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
  readonly backgroundMs?: number;
  /** The port. 0 selects a free one. */
  readonly port?: number;
}

const { HOOKPROOF_SECRET = '', HOOKPROOF_INBOX = '', HANDLERS = '', SETTINGS = '{}' } = process.env;
const { fault, handling: policy, withHandlers, effects, backgroundMs, port = 0 } = JSON.parse(SETTINGS) as Settings;
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
            await delay(effects?.beforeMs ?? 0);
            const isNew = await record.apply(effect, effects?.ignoresKeys ? `${key} ${process.pid} ${applied}` : key);
            await delay(effects?.afterMs ?? 0);
            // The handler runs again, although its effect has been recorded.
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
const handling = new Handling(config);
const pipeline = faultyPipeline(fault, {
  correct: createPipeline(config, handling),
  inbox,
  handling,
  handlers,
  backgroundMs,
});
const app = createApp(pipeline, config);
const receiver = {
  app,
  settled: () => handling.settled(),
  stop: (ms: number) => handling.stop(ms),
  reloadSecrets: () => {},
};
const server = await serve(receiver, createHttpServer(app, { logger }), { logger, port });
const admin = await startAdminServer({ checks: [{ name: 'inbox', check: () => inbox.ping() }] });
admin.setState('serving');
const window =
  record !== undefined && effects?.windowPort !== undefined
    ? await startEffectsWindow({ record, token: process.env.HOOKPROOF_EFFECTS_TOKEN ?? '', port: effects.windowPort })
    : undefined;
process.once('SIGTERM', async () => {
  await server.close();
  await admin.close();
  await window?.close();
  await inbox.close();
  await record?.close();
  process.stderr.write(`counted ${JSON.stringify(counts)}\n`);
});
process.stderr.write(`health and metrics at ${admin.url}\n`);
process.stderr.write(`listening at ${server.url}\n`);
