/**
 * Serves the effects window: a separate server that reports what was done with notifications. For test environments
 * only, and never on the port for deliveries.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MIN_EFFECTS_TOKEN, readEffectsQuery } from '../../contract/effects.ts';
import { isOwnHost } from '../../contract/hosts.ts';
import { HookproofError } from '../../contract/index.ts';
import { checkApiKey } from '../check-api-key.ts';
import { errorFields, type ReceiverLogger, silentLogger } from '../logger.ts';
import { listen } from '../server/http-server.ts';
import { answer, requestHeader } from '../stages/stage.ts';
import type { EffectsRecord } from './effects-record.ts';

export interface EffectsWindowOptions {
  readonly record: Pick<EffectsRecord, 'answer'>;
  /** Token that clients send as `Authorization: Bearer TOKEN`: at least 16 visible ASCII characters. */
  readonly token: string;
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on. Default: 0, which picks a free port. */
  readonly port?: number;
  readonly logger?: ReceiverLogger;
}

export interface EffectsWindow {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const PATH = '/effects';
/** Maximum length of a URL. It allows 50 ids of 200 characters in percent-encoded UTF-8. */
const MAX_URL_LENGTH = 100_000;
const MAX_CONNECTIONS = 100;
const MAX_MS = 5000;

/**
 * Serves `GET /effects` as described in `contract/effects.ts`. Throws `HookproofError` (`EFFECTS_TOKEN`,
 * `EFFECTS_LISTEN`).
 *
 * @example
 * const record = memoryEffects();
 * const receiver = await startReceiver({ signing, handlers: effectHandlers(record, { handlers }) });
 * const window = await startEffectsWindow({ record, token: process.env.EFFECTS_TOKEN ?? '' });
 */
export async function startEffectsWindow(options: EffectsWindowOptions): Promise<EffectsWindow> {
  const { record, token, host = '127.0.0.1', port = 0, logger = silentLogger } = options;
  if (token.length < MIN_EFFECTS_TOKEN || !/^[!-~]+$/.test(token)) {
    throw new HookproofError('EFFECTS_TOKEN', 'The token of the effects window is too short, or not plain text.', {
      hint: `Use at least ${MIN_EFFECTS_TOKEN} random letters and digits, for example from \`openssl rand -hex 24\`.`,
    });
  }
  const respond = async (req: IncomingMessage, res: ServerResponse) => {
    if (!isOwnHost(req.headers.host, [host])) return reply(res, 421, { error: 'misdirected-request' });
    if (!isAuthorized(req, token)) {
      return reply(res, 401, { error: 'unauthorized' }, { 'WWW-Authenticate': 'Bearer' });
    }
    const url = req.url ?? '';
    if (url.length > MAX_URL_LENGTH) return reply(res, 414, { error: 'uri-too-long' });
    const [path, ...query] = url.split('?');
    if (path !== PATH) return reply(res, 404, { error: 'not-found' });
    if (req.method !== 'GET') return reply(res, 405, { error: 'method-not-allowed' }, { Allow: 'GET' });
    const asked = readEffectsQuery(query.join('?'));
    if (asked === undefined) return reply(res, 400, { error: 'bad-query' });
    reply(res, 200, await record.answer(asked));
  };
  const server = createServer(
    {
      headersTimeout: MAX_MS,
      requestTimeout: MAX_MS,
      keepAliveTimeout: MAX_MS,
      connectionsCheckingInterval: 500,
      maxHeaderSize: MAX_URL_LENGTH + 16_384,
    },
    (req, res) => {
      // A request body has no meaning here, and must not be parsed as the next request.
      if (req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) !== 0) {
        res.shouldKeepAlive = false;
      }
      respond(req, res).catch((error: unknown) => {
        logger.error({ event: 'effects-error', error: errorFields(error) }, 'the effects record cannot be read');
        if (res.headersSent) res.destroy();
        else reply(res, 500, { error: 'internal' });
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  // Node would silently drop header lines beyond its own limit, and with them a second Authorization header.
  server.maxHeadersCount = 0;
  // Closes connections of clients that do not read their answer.
  server.setTimeout(2 * MAX_MS);
  await listen(server, { host, port }, { code: 'EFFECTS_LISTEN', purpose: ' for the effects window' });
  server.on('error', (error) =>
    logger.error({ event: 'effects-error', error: errorFields(error) }, 'effects window server error'),
  );

  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}${PATH}`,
    port: taken,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Requires exactly one header line `Authorization: Bearer TOKEN`. The name of the scheme is not case-sensitive. */
function isAuthorized(req: IncomingMessage, token: string): boolean {
  const header = requestHeader(req, 'authorization');
  if (typeof header !== 'string' || !/^bearer /i.test(header)) return false;
  return checkApiKey({ header: header.slice('bearer '.length), keys: [token] }).ok;
}

function reply(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  answer(res, status, body, { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ...headers });
}
