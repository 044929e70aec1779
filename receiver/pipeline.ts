/** The stages in their order: the mirror image of compose, serialise, sign, address, connect, transmit. */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { reportDeliveries } from './delivery-report.ts';
import type { Handling } from './handling/handling.ts';
import { logDelivery } from './log-delivery.ts';
import { errorFields, silentLogger } from './logger.ts';
import type { ReceiverConfig } from './options.ts';
import { accept } from './stages/accept.ts';
import { checkApiKey } from './stages/check-api-key.ts';
import { checkClientCertificate } from './stages/check-client-certificate.ts';
import { checkContentType } from './stages/check-content-type.ts';
import { parse } from './stages/parse.ts';
import { readBody } from './stages/read-body.ts';
import { reply } from './stages/reply.ts';
import { answer, type DeliveryState, type Stage } from './stages/stage.ts';
import { store } from './stages/store.ts';
import { validate } from './stages/validate.ts';
import { verifySignature } from './stages/verify-signature.ts';
import { warnOfOldCredentials } from './warn-of-old-credentials.ts';

/** Every stage by name. The order of the names is the order in which they run. */
const RECEIVING_STAGES = [
  'accept',
  'checkClientCertificate',
  'readBody',
  'checkApiKey',
  'verifySignature',
  'checkContentType',
  'parse',
  'validate',
  'store',
  'reply',
] as const;

/** One function for each stage. */
export type Pipeline = Readonly<Record<(typeof RECEIVING_STAGES)[number], Stage>>;

const pass: Stage = (_req, _res, next) => next();

/** The right stages for a configuration. A check that is not configured lets everything pass. */
export function createPipeline(config: ReceiverConfig, handling: Handling): Pipeline {
  return {
    accept: accept(config.path),
    checkClientCertificate:
      config.clientCertificate === undefined ? pass : checkClientCertificate(config.clientCertificate),
    readBody: readBody(config.bodyLimit),
    checkApiKey: config.apiKey === undefined ? pass : checkApiKey(config.apiKey),
    verifySignature: config.signing === undefined ? pass : verifySignature(config.signing),
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
  // Said and not left to the default, which an application around this one would change: X-Forwarded-* headers are anybody's.
  app.set('trust proxy', false);
  // A report that nobody gets is not written.
  const log = logger === silentLogger ? [] : [logDelivery(logger), warnOfOldCredentials(logger)];
  const told = [...log, ...observers];
  if (told.length > 0) app.use(reportDeliveries(told));
  // What lets everything pass is left out: a layer of the router costs even when it does nothing.
  for (const name of RECEIVING_STAGES) if (pipeline[name] !== pass) app.use(pipeline[name]);

  // The last resort, for what is our own fault. Express's own error page would show a stack trace.
  app.use((error: unknown, _req: Request, res: Response<unknown, DeliveryState>, _next: NextFunction) => {
    logger.error({ event: 'internal-error', error: errorFields(error) }, 'internal error');
    res.locals.reason = 'internal-error';
    if (res.headersSent) res.destroy();
    else answer(res, 500, { error: 'internal' });
  });
  return app;
}
