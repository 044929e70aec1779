/** Assembles the stages in their order, the mirror image of compose, serialise, sign, address, connect, transmit. */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { type DeliveryObserver, type DeliveryReport, logDelivery, warnAboutOldCredentials } from './delivery-report.ts';
import { Handling } from './handling/handling.ts';
import { errorFields, silentLogger } from './logger.ts';
import { type ReceiverConfig, type ReceiverOptions, replaceSecrets, resolveOptions } from './options.ts';
import { checkHead, requireApiKey, requireClientCertificate, requireSignature } from './stages/credentials.ts';
import { checkContentType, parse, validate } from './stages/payload.ts';
import { accept, readBody } from './stages/request.ts';
import { answer, type DeliveryState, type Stage, setReason } from './stages/stage.ts';
import { reply, store, storeInSink } from './stages/store.ts';

/** A receiver that is not listening yet. */
export interface Receiver {
  /** The Express app. Mount it in your own app before any body parser, or serve it. */
  readonly app: Express;
  /**
   * Replaces the accepted secrets from the next check on, for a rotation without a restart. Throws `HookproofError`
   * (`RECEIVER_SECRET_MISSING`) when one is empty; the old secrets then stay valid. An inspector keeps the secrets with
   * which it was started: restart it.
   */
  reloadSecrets(secrets: readonly string[]): void;
  /** Resolves when no handler is running or due. */
  settled(): Promise<void>;
  /** Starts no more handlers, and waits at most `timeoutMs` milliseconds for the running ones. */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * Creates a receiver. Throws `HookproofError` (`RECEIVER_*`) when the configuration is incomplete: a missing or empty
 * secret does not disable its check. Specification: Delivery endpoint; Authentication.
 *
 * @example
 * const receiver = createReceiver({ signing: { secrets: [secret] }, handlers: { CAAS_BUY: recordPurchase } });
 * app.use('/webhooks', receiver.app); // before express.json()
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const config = resolveOptions(options);
  for (const warning of config.warnings) config.logger.warn({ event: 'configuration' }, warning);
  const handling = new Handling(config);
  return {
    app: createApp(createPipeline(config, handling), config),
    reloadSecrets: (secrets) => replaceSecrets(config, secrets),
    settled: () => handling.settled(),
    stop: (timeoutMs) => handling.stop(timeoutMs),
  };
}

/** Names of the stages, in the order in which they run. */
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

/** Creates the stages for a configuration. A check that is not configured is replaced by one that always passes. */
export function createPipeline(config: ReceiverConfig, handling: Handling): Pipeline {
  const { clientCertificate, apiKey, signing, budget, inbox, sink, meter } = config;
  return {
    accept: accept(config.path, budget),
    requireClientCertificate: clientCertificate ? requireClientCertificate(clientCertificate, budget) : pass,
    readBody: readBody(config.bodyLimit, budget, config.keepsRejectedBodies ? undefined : checkHead(config)),
    requireApiKey: apiKey === undefined ? pass : requireApiKey(apiKey),
    requireSignature: signing === undefined ? pass : requireSignature(signing),
    checkContentType,
    parse: parse(config.maxDepth),
    validate,
    store: sink === undefined ? store(inbox, handling, meter) : storeInSink(sink, config.sinkTimeLimitMs, meter),
    reply: reply(handling),
  };
}

/** Creates the Express app that runs the stages. */
export function createApp(
  pipeline: Pipeline,
  { logger, observers }: Pick<ReceiverConfig, 'logger' | 'observers'>,
): Express {
  const app = express();
  app.disable('x-powered-by');
  // This is explicit because an enclosing application could change the default: anyone can send X-Forwarded-* headers.
  app.set('trust proxy', false);
  // Without a logger or an observer there is nothing to report to.
  const loggers = logger === silentLogger ? [] : [logDelivery(logger), warnAboutOldCredentials(logger)];
  const everyObserver = [...loggers, ...observers];
  if (everyObserver.length > 0) app.use(reportDeliveries(everyObserver));
  // Stages that always pass are omitted, because each layer of the router costs time even when it does nothing.
  for (const name of RECEIVING_STAGES) if (pipeline[name] !== pass) app.use(pipeline[name]);

  // Handles our own errors as a last resort. Express's default error page would show a stack trace.
  app.use((error: unknown, _req: Request, res: Response<unknown, DeliveryState>, _next: NextFunction) => {
    logger.error({ event: 'internal-error', error: errorFields(error) }, 'internal error');
    setReason(res, 'internal-error');
    if (res.headersSent) res.destroy();
    else answer(res, 500, { error: 'internal' });
  });
  return app;
}

/** Creates the middleware in front of the stages. It calls every observer when the delivery has ended. */
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
      // The connection keeps its last answer while it is open, and the answer would keep the body.
      if (res.writableFinished) res.locals = {};
    });
    next();
  };
}

/** Returns the reason as one line. Two codes are written without their hyphen, because log queries rely on that. */
function reasonText(code: string, detail: string | undefined): string {
  if (code === 'connection-closed') return 'connection closed';
  if (code === 'inbox-failed') return `inbox failed: ${detail}`;
  return detail === undefined ? code : `${code} (${detail})`;
}
