/** Health, readiness and metrics, on a port of their own: the port for deliveries is open to the world, this one is not. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HookproofError } from '../../contract/index.ts';
import { errorFields, type ReceiverLogger, silentLogger } from '../logger.ts';
import { answer } from '../stages/stage.ts';
import type { ReceiverMetrics } from './metrics.ts';
import { isOwnHost } from './own-host.ts';
import { createReadiness, type ReadinessCheck } from './readiness.ts';

export interface AdminOptions {
  /** The address to listen on. 127.0.0.1 by default: who can reach it can read the metrics, there is no other check. */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** What has to be there for deliveries to be accepted. */
  readonly checks?: readonly ReadinessCheck[];
  /** How long each check may take, in milliseconds. 1,000 by default. */
  readonly checkMs?: number;
  /** Without it there is no /metrics. */
  readonly metrics?: Pick<ReceiverMetrics, 'scrape'>;
  readonly logger?: ReceiverLogger;
}

/** `starting` and `draining` make /readyz answer 503; /healthz answers 200 in every state. */
type ReceiverState = 'starting' | 'serving' | 'draining';

export interface AdminServer {
  readonly url: string;
  readonly port: number;
  /** `starting` at first. */
  setState(state: ReceiverState): void;
  close(): Promise<void>;
}

/**
 * Serves `GET /healthz` (the process answers), `GET /readyz` (it accepts deliveries) and `GET /metrics` (Prometheus). Throws
 * {@link HookproofError} `RECEIVER_ADMIN_LISTEN`.
 */
export async function startAdminServer(options: AdminOptions = {}): Promise<AdminServer> {
  const { host = '127.0.0.1', port = 0, checks = [], checkMs = 1000, metrics, logger = silentLogger } = options;
  const failedChecks = createReadiness(checks, checkMs, logger);
  let state: ReceiverState = 'starting';

  const readyz = async (res: ServerResponse) => {
    if (state !== 'serving') return answer(res, 503, { status: state });
    const failed = await failedChecks();
    if (failed.length > 0) return answer(res, 503, { status: 'not-ready', failed });
    // A check can take long enough for the state to change.
    answer(res, state === 'serving' ? 200 : 503, { status: state === 'serving' ? 'ready' : state });
  };
  const pages = new Map<string, (res: ServerResponse) => Promise<void> | void>([
    ['/healthz', (res) => answer(res, 200, { status: 'ok' })],
    ['/readyz', readyz],
  ]);
  if (metrics !== undefined) {
    pages.set('/metrics', async (res) => {
      const { contentType, text } = await metrics.scrape();
      res.writeHead(200, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text) });
      res.end(text);
    });
  }

  const respond = async (req: IncomingMessage, res: ServerResponse) => {
    if (!isOwnHost(req.headers.host, host)) return answer(res, 421, { error: 'misdirected-request' });
    const page = pages.get((req.url ?? '').split('?', 1)[0] ?? '');
    if (page === undefined) return answer(res, 404, { error: 'not-found' });
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      return answer(res, 405, { error: 'method-not-allowed' }, { Allow: 'GET, HEAD' });
    }
    await page(res);
  };
  const server = createServer({ headersTimeout: 5000, requestTimeout: 5000 }, (req, res) => {
    respond(req, res).catch((error: unknown) => {
      logger.error({ event: 'admin-error', error: errorFields(error) }, 'admin request failed');
      if (res.headersSent) res.destroy();
      else answer(res, 500, { error: 'internal' });
    });
  });
  server.maxConnections = 100;
  await listen(server, host, port);
  server.on('error', (error) =>
    logger.error({ event: 'admin-error', error: errorFields(error) }, 'admin server error'),
  );

  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/`,
    port: taken,
    setState(next) {
      state = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new HookproofError(
          'RECEIVER_ADMIN_LISTEN',
          `Cannot listen on ${host} port ${port} for health and metrics (${cause.code}).`,
          {
            hint: 'Choose another port, or 0 for a free one, and an address of this machine.',
            cause,
          },
        ),
      );
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}
