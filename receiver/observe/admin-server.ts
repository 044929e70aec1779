/** Health, readiness and metrics, on a port of their own: the port for deliveries is open to the world, this one is not. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { HookproofError } from '../../contract/index.ts';
import { errorFields, type ReceiverLogger, silentLogger } from '../logger.ts';
import { answer } from '../stages/stage.ts';
import type { ReceiverMetrics } from './metrics.ts';
import { withTimeout } from './with-timeout.ts';

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

/** Something that the receiver needs in order to accept deliveries. */
export interface ReadinessCheck {
  /** A short word of ours: it stands in the answer. */
  readonly name: string;
  /** Rejects when it is not there. Why goes to the log only: it may name a database and its user. */
  readonly check: () => Promise<void>;
}

/**
 * Asks all checks at the same time, each for at most `limitMs` milliseconds, and gives the names of those that failed. What fails is logged when
 * it begins and when it ends, and not at every probe.
 */
function createReadiness(
  checks: readonly ReadinessCheck[],
  limitMs: number,
  logger: ReceiverLogger,
): () => Promise<string[]> {
  const failing = new Set<string>();

  async function fails({ name, check }: ReadinessCheck): Promise<boolean> {
    try {
      await withTimeout(check, limitMs);
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
    const failed = await Promise.all(checks.map(fails));
    return checks.filter((_check, index) => failed[index]).map(({ name }) => name);
  };
}

/**
 * Whether a `Host` header names this machine: by an IP address, as localhost, or as `hostName`. A web page whose name was pointed at a loopback
 * address (DNS rebinding) makes the browser send its own name. Without the header no browser is asking.
 */
function isOwnHost(header: string | undefined, hostName: string): boolean {
  if (header === undefined) return true;
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(header.toLowerCase()) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6;
  return isIP(plain) === 4 || plain === 'localhost' || (plain !== '' && plain === hostName.toLowerCase());
}
