/**
 * Puts the stages together, in their order: the mirror image of compose, serialise, sign, address, connect, transmit.
 */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { type DeliveryObserver, type DeliveryReport, logDelivery, warnAboutOldCredentials } from './delivery-report.ts';
import { createHandling, type Handling } from './handling/handling.ts';
import { errorFields, silentLogger } from './logger.ts';
import { type ReceiverConfig, type ReceiverOptions, resolveOptions } from './options.ts';
import { checkHead, requireApiKey, requireClientCertificate, requireSignature } from './stages/credentials.ts';
import { checkContentType, parse, validate } from './stages/payload.ts';
import { accept, readBody } from './stages/request.ts';
import { answer, type DeliveryState, type Stage, setReason } from './stages/stage.ts';
import { reply, store } from './stages/store.ts';

/** A receiver that is not listening yet. */
export interface Receiver {
  /** The Express app. Mount it in your own app, before any body parser, or serve it. */
  readonly app: Express;
  /** Resolves when no handler runs and none is due. */
  settled(): Promise<void>;
  /** Starts no more handlers, and waits at most `timeoutMs` milliseconds for those that run. */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * Creates a receiver. Throws `HookproofError` (`RECEIVER_*`) when the configuration is incomplete: a secret that is
 * missing or empty does not disable its check. Specification: Delivery endpoint; Authentication.
 *
 * @example
 * const receiver = createReceiver({ signing: { secrets: [secret] }, handlers: { CAAS_BUY: recordPurchase } });
 * app.use('/webhooks', receiver.app); // before express.json()
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const config = resolveOptions(options);
  for (const warning of config.warnings) config.logger.warn({ event: 'configuration' }, warning);
  const handling = createHandling(config);
  return {
    app: createApp(createPipeline(config, handling), config),
    settled: () => handling.settled(),
    stop: (timeoutMs) => handling.stop(timeoutMs),
  };
}

/** Every stage by name. The order of the names is the order in which they run. */
const RECEIVING_STAGES = [
  'accept',
  'requireClientCertificate',
  'readBody',
  'requireApiKey',
  'requireSignature',
  'checkContentType',
  'parse',
  'validate',
  'store',
  'reply',
] as const;

/** One function for each stage. */
export type Pipeline = Readonly<Record<(typeof RECEIVING_STAGES)[number], Stage>>;

const pass: Stage = (_req, _res, next) => next();

/** The stages for a configuration. A check that is not configured is replaced by one that lets everything pass. */
export function createPipeline(config: ReceiverConfig, handling: Handling): Pipeline {
  const { clientCertificate, apiKey, signing, budget } = config;
  return {
    accept: accept(config.path, budget),
    requireClientCertificate: clientCertificate ? requireClientCertificate(clientCertificate, budget) : pass,
    readBody: readBody(config.bodyLimit, budget, config.keepsRejectedBodies ? undefined : checkHead(config)),
    requireApiKey: apiKey === undefined ? pass : requireApiKey(apiKey),
    requireSignature: signing === undefined ? pass : requireSignature(signing),
    checkContentType,
    parse: parse(config.maxDepth),
    validate,
    store: store(config.inbox, handling, config.meter),
    reply: reply(handling),
  };
}

/** The Express app that runs the stages. */
export function createApp(
  pipeline: Pipeline,
  { logger, observers }: Pick<ReceiverConfig, 'logger' | 'observers'>,
): Express {
  const app = express();
  app.disable('x-powered-by');
  // Explicit, because an enclosing application could change the default: anyone can send X-Forwarded-* headers.
  app.set('trust proxy', false);
  // Without a logger or observer there is nothing to report to.
  const loggers = logger === silentLogger ? [] : [logDelivery(logger), warnAboutOldCredentials(logger)];
  const everyObserver = [...loggers, ...observers];
  if (everyObserver.length > 0) app.use(reportDeliveries(everyObserver));
  // Stages that let everything pass are left out: each layer of the router costs time even when it does nothing.
  for (const name of RECEIVING_STAGES) if (pipeline[name] !== pass) app.use(pipeline[name]);

  // The last resort, for errors of our own. Express's own error page would show a stack trace.
  app.use((error: unknown, _req: Request, res: Response<unknown, DeliveryState>, _next: NextFunction) => {
    logger.error({ event: 'internal-error', error: errorFields(error) }, 'internal error');
    setReason(res, 'internal-error');
    if (res.headersSent) res.destroy();
    else answer(res, 500, { error: 'internal' });
  });
  return app;
}

/** The middleware in front of the stages. It notifies every observer when the delivery is over. */
function reportDeliveries(observers: readonly DeliveryObserver[]): Stage {
  return (req, res, next) => {
    const startedAt = performance.now();
    const receivedAt = new Date();
    res.on('close', () => {
      const { notification, stored, secretIndex, keyIndex, rawBody, reason, reasonDetail } = res.locals;
      const answered = res.headersSent;
      const outcome = !answered ? 'aborted' : res.statusCode !== 200 ? 'refused' : 'accepted';
      const reasonCode = outcome === 'accepted' ? undefined : (reason ?? 'connection-closed');
      const report: DeliveryReport = {
        outcome,
        status: answered ? res.statusCode : undefined,
        reason: reasonCode === undefined ? undefined : reasonText(reasonCode, reasonDetail),
        reasonCode,
        reasonDetail: reasonCode === undefined ? undefined : reasonDetail,
        duplicate: stored === 'duplicate',
        notification,
        secretIndex,
        keyIndex,
        receivedAt,
        durationMs: performance.now() - startedAt,
        request: req,
        rawBody,
      };
      for (const observe of observers) observe(report);
      // The connection holds its last answer for as long as it is open, and that would hold the body.
      if (res.writableFinished) res.locals = {};
    });
    next();
  };
}

/** The reason in one line. Two codes are written without their hyphen, which log queries rely on. */
function reasonText(code: string, detail: string | undefined): string {
  if (code === 'connection-closed') return 'connection closed';
  if (code === 'inbox-failed') return `inbox failed: ${detail}`;
  return detail === undefined ? code : `${code} (${detail})`;
}
