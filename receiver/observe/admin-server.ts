/** Serves health, readiness and metrics on a separate port, because the port for deliveries may be public. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isOwnHost } from '../../contract/hosts.ts';
import { errorFields, type ReceiverLogger, silentLogger } from '../logger.ts';
import { listen } from '../server/http-server.ts';
import { answer } from '../stages/stage.ts';
import { withTimeout } from '../with-timeout.ts';
import type { ReceiverMetrics } from './metrics.ts';

export interface AdminOptions {
  /** Address to listen on. Default: 127.0.0.1, because anyone who can reach the port can read the metrics. */
  readonly host?: string;
  /** Port to listen on. Default: 0, which picks a free port. */
  readonly port?: number;
  /** Checks of the resources that the receiver needs in order to accept deliveries. */
  readonly checks?: readonly ReadinessCheck[];
  /** Time limit of each check, in milliseconds. Default: 1,000. */
  readonly checkMs?: number;
  /** Source of the metrics. Without it, /metrics is not served. */
  readonly metrics?: Pick<ReceiverMetrics, 'scrape'>;
  readonly logger?: ReceiverLogger;
}

/** With `starting` and `draining`, /readyz answers 503. /healthz answers 200 in every state. */
type ReceiverState = 'starting' | 'serving' | 'draining';

export interface AdminServer {
  readonly url: string;
  readonly port: number;
  /** Sets the state. The initial state is `starting`. */
  setState(state: ReceiverState): void;
  close(): Promise<void>;
}

/**
 * Serves `GET /healthz` (the process responds), `GET /readyz` (the receiver accepts deliveries) and `GET /metrics`
 * (Prometheus format). Throws `HookproofError` `RECEIVER_ADMIN_LISTEN`.
 */
export async function startAdminServer(options: AdminOptions = {}): Promise<AdminServer> {
  const { host = '127.0.0.1', port = 0, checks = [], checkMs = 1000, metrics, logger = silentLogger } = options;
  const failedChecks = createReadiness(checks, checkMs, logger);
  let state: ReceiverState = 'starting';

  const readyz = async (res: ServerResponse) => {
    if (state !== 'serving') return answer(res, 503, { status: state });
    const failed = await failedChecks();
    if (failed.length > 0) return answer(res, 503, { status: 'not-ready', failed });
    // The state is read again, because it may have changed during the checks.
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
    if (!isOwnHost(req.headers.host, [host])) return answer(res, 421, { error: 'misdirected-request' });
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
  await listen(server, { host, port }, { code: 'RECEIVER_ADMIN_LISTEN', purpose: ' for health and metrics' });
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

/** A check of a resource that the receiver needs in order to accept deliveries. */
export interface ReadinessCheck {
  /** A short fixed word, which is included in the answer. */
  readonly name: string;
  /**
   * Rejects when the resource is unavailable. The reason is only logged, because it can contain the name of a database
   * and its user.
   */
  readonly check: () => Promise<void>;
}

/**
 * Creates a function that runs all checks concurrently, each for at most `limitMs` milliseconds, and resolves with the
 * names of the checks that failed. A failure is logged when it begins and when it ends, not at every run.
 */
function createReadiness(
  checks: readonly ReadinessCheck[],
  limitMs: number,
  logger: ReceiverLogger,
): () => Promise<string[]> {
  const failing = new Set<string>();

  async function isFailing({ name, check }: ReadinessCheck): Promise<boolean> {
    try {
      await withTimeout(check, limitMs, () => {
        throw new Error(`did not finish within ${limitMs} ms`);
      });
      if (failing.delete(name)) logger.info({ event: 'ready-check', check: name }, `${name} is ready again`);
      return false;
    } catch (error) {
      if (!failing.has(name)) {
        failing.add(name);
        logger.warn({ event: 'ready-check', check: name, error: errorFields(error) }, `${name} is not ready`);
      }
      return true;
    }
  }

  return async () => {
    const failed = await Promise.all(checks.map(isFailing));
    return checks.filter((_check, index) => failed[index]).map(({ name }) => name);
  };
}
