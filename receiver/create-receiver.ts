/**
 * Assembles the stages of a receiver. They reverse the stages of the sender: compose, serialise, sign, address,
 * connect, transmit.
 */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { type DeliveryObserver, type DeliveryReport, logDelivery, warnAboutOldCredentials } from './delivery-report.ts';
import { Handling } from './handling/handling.ts';
import { errorFields, silentLogger } from './logger.ts';
import { type ReceiverConfig, type ReceiverOptions, replaceSecrets, resolveOptions } from './options.ts';
import { checkHead, requireApiKey, requireClientCertificate, requireSignature } from './stages/credentials.ts';
import { checkContentType, parse, validate } from './stages/payload.ts';
import { accept, readBody } from './stages/request.ts';
import { acknowledge, isForeign, parseJsonTypes, requireSchemeSignature, type SchemeSigning } from './stages/scheme.ts';
import { answer, type DeliveryState, type Stage, setReason } from './stages/stage.ts';
import { reply, store, storeInSink } from './stages/store.ts';

/** A receiver that is not listening yet. */
export interface Receiver {
  /** The Express app. Mount it in your own app before any body parser, or serve it. */
  readonly app: Express;
  /**
   * Replaces the accepted secrets, for a rotation without a restart. The next check uses them. Throws `HookproofError`
   * (`RECEIVER_SECRET_MISSING`) when one is empty; the old secrets then stay valid. An inspector keeps the secrets with
   * which it was started, so restart it as well.
   */
  reloadSecrets(secrets: readonly string[]): void;
  /** Resolves when no handler is running and no notification is due. */
  settled(): Promise<void>;
  /**
   * Stops handling. Waits at most `timeoutMs` milliseconds for running handlers and, with an inbox in memory, for
   * notifications that are due.
   */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * Creates a receiver. Throws `HookproofError` (`RECEIVER_*`) when the configuration is incomplete: a check with a
 * missing or empty secret is an error, not disabled. Specification: Delivery endpoint; Authentication.
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
    ...(signing && isForeign(signing) && schemeStages(signing, config.maxDepth)),
  };
}

/** The stages that differ for deliveries of another service. Nothing reads or stores them as notifications. */
function schemeStages(signing: SchemeSigning, maxDepth: number) {
  return {
    requireSignature: requireSchemeSignature(signing),
    checkContentType: pass,
    parse: parseJsonTypes(signing, maxDepth),
    validate: pass,
    store: pass,
    reply: acknowledge,
  };
}

/** Creates the Express app that runs the stages. */
export function createApp(
  pipeline: Pipeline,
  { logger, observers }: Pick<ReceiverConfig, 'logger' | 'observers'>,
): Express {
  const app = express();
  app.disable('x-powered-by');
  // Set explicitly, because the app may be mounted in one with another setting. Anyone can send X-Forwarded-* headers.
  app.set('trust proxy', false);
  // Without a logger, the observers that write log lines are omitted.
  const loggers = logger === silentLogger ? [] : [logDelivery(logger), warnAboutOldCredentials(logger)];
  const everyObserver = [...loggers, ...observers];
  if (everyObserver.length > 0) app.use(reportDeliveries(everyObserver));
  // Stages that always pass are omitted, because every layer of the router takes time.
  for (const name of RECEIVING_STAGES) if (pipeline[name] !== pass) app.use(pipeline[name]);

  // A last resort for internal errors. The default error page of Express would show a stack trace.
  app.use((error: unknown, _req: Request, res: Response<unknown, DeliveryState>, _next: NextFunction) => {
    logger.error({ event: 'internal-error', error: errorFields(error) }, 'internal error');
    setReason(res, 'internal-error');
    if (res.headersSent) res.destroy();
    else answer(res, 500, { error: 'internal' });
  });
  return app;
}

/** Creates the middleware that runs before the stages, and calls every observer when the delivery has ended. */
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
      // An open connection keeps its last answer in memory, and `locals` would keep the body.
      if (res.writableFinished) res.locals = {};
    });
    next();
  };
}

/**
 * Returns the reason as one line. Two codes have no hyphen in the log, because existing log queries rely on this form.
 */
function reasonText(code: string, detail: string | undefined): string {
  if (code === 'connection-closed') return 'connection closed';
  if (code === 'inbox-failed') return `inbox failed: ${detail}`;
  return detail === undefined ? code : `${code} (${detail})`;
}
