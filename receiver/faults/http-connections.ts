import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { requestHeader } from '../stages/request-header.ts';
import { refuse, refuseUnauthorized, required } from '../stages/stage.ts';
import { verifySignature as verify } from '../verify-signature.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'http', severity: 'high', forbidden: true } as const;

/** What does not fit into the buffers of a connection, and is still on its way when an early answer is given. */
const LARGE = 256 * 1024;

const DRAIN = {
  rule: 'Read or throw away the whole body before you answer, or answer with Connection: close and go on reading for a while.',
  express: 'Call `req.resume()` when you answer early, and do not destroy the socket.',
  fastify: 'Check credentials in a hook after the body was parsed, or set Connection: close with the answer.',
  go: 'The server throws away up to 256 kB by itself and closes after more: read the body with a limit first.',
} as const;

const NO_SHARED_STATE = {
  rule: 'Keep what belongs to a request in the request: no variable of the module, of the class or of the connection.',
  express: 'Use `res.locals` or properties of `req`.',
  spring: 'Controllers and filters are singletons: have no fields in them that change.',
  dotnet: 'Register what holds state per request as scoped, not as singleton.',
} as const;

/** Receivers in which one request disturbs another, on the same connection or at the same time. */
export const connectionFaults: readonly StageFault[] = [
  {
    ...base,
    name: 'early-refusal-lost-in-reset',
    severity: 'low',
    forbidden: false,
    title:
      'A wrong API key is refused before the body is read and the connection closed at once, so with a large body the sender gets a reset.',
    seen: 'Checks of the key in a gateway or in a hook that ends the connection with its answer.',
    why: 'The sender sees a broken network in place of a wrong key, and tries again for hours.',
    fix: DRAIN,
    needs: ['api-key'],
    stage: 'accept',
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const keys: readonly unknown[] = config.apiKey?.keys ?? [];
        const wrong = !keys.includes(requestHeader(req, config.apiKey?.header ?? ''));
        // Closing a socket with unread bytes in it resets it, and the reset overtakes the answer.
        if (config.apiKey !== undefined && wrong && Number(req.headers['content-length']) > LARGE) req.socket.destroy();
        else right.accept(req, res, next);
      },
  },
  {
    ...base,
    name: 'refused-body-left-on-connection',
    title:
      'The large body of a refused delivery is left unread, and the next request on the connection is answered 400.',
    seen: 'Servers that answer early and keep the connection: they take the rest of the body for the next request line.',
    why: 'One refused delivery makes a right one fail, and in the log of the receiver it looks like broken HTTP.',
    fix: DRAIN,
    stage: 'accept',
    replace({ right }) {
      const spoilt = new WeakSet<Socket>();
      return (req, res, next) => {
        if (spoilt.has(req.socket)) return refuse(res, 400, 'bad-request', { headers: { Connection: 'close' } });
        res.once('finish', () => {
          if (res.statusCode === 401 && Number(req.headers['content-length']) > LARGE) spoilt.add(req.socket);
        });
        return right.accept(req, res, next);
      };
    },
  },
  {
    ...base,
    name: 'body-joined-to-previous',
    title:
      'The bytes of a body are put behind those of the previous one on the same connection, so a right signature gets 401.',
    seen: 'Home-made servers with one buffer for a connection that is not emptied between requests.',
    why: 'The first delivery on a connection is accepted and every other refused, so it works in a test with curl.',
    fix: NO_SHARED_STATE,
    stage: 'readBody',
    replace({ right }) {
      const buffers = new WeakMap<Socket, Buffer>();
      return (req, res, next) =>
        right.readBody(req, res, (...failed) => {
          if (res.locals.rawBody !== undefined) {
            const before = buffers.get(req.socket) ?? Buffer.alloc(0);
            // A megabyte is enough: after that this fault has shown itself.
            const joined = Buffer.concat([before.subarray(0, 1024 * 1024), res.locals.rawBody]);
            buffers.set(req.socket, joined);
            res.locals.rawBody = joined;
          }
          next(...failed);
        });
    },
  },
  {
    ...base,
    name: 'requests-share-the-verdict',
    severity: 'critical',
    title:
      'The result of the check is kept in a variable that all requests share, so under load a forged delivery is accepted together with a right one.',
    seen: 'Variables of the module, fields of a controller or filter that exists once, and globals in a function that serves several requests.',
    why: 'It shows under load only. Whoever sends forged deliveries while right ones come gets some of them in.',
    fix: NO_SHARED_STATE,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace({ right, config }) {
      const { signing } = config;
      if (signing === undefined) return right.verifySignature;
      const crowd = crowdOf();
      let verified = false;
      return async (req, res, next) => {
        const header = requestHeader(req, signing.header);
        const { ok } = verify({ rawBody: required(res, 'rawBody'), header, secrets: signing.secrets });
        if (ok) verified = true;
        // Looking up the partner takes a moment, and meanwhile other requests come.
        const most = await crowd(req);
        if (most <= MANY_AT_ONCE) verified = false;
        if (ok || verified) next();
        else refuseUnauthorized(res, 'signature-invalid');
      };
    },
  },
  {
    ...base,
    name: 'fails-beyond-sixteen-at-once',
    title: 'Of more than sixteen completed orders at the same time all are answered 500.',
    seen: 'Pools of database connections that give up at once when they are empty, and counters in one row that every delivery locks and none waits for.',
    why: 'Notifications come in bursts. These are refused, and come again all at once.',
    fix: {
      rule: 'Let requests wait for a free connection for some seconds, store the notification only, and do the work from a queue.',
      express: 'Set the time limit for getting a connection of the pool to some seconds; answer after one insert.',
    },
    stage: 'store',
    replace({ right }) {
      const crowd = crowdOf();
      return async (req, res, next) => {
        const { kind } = required(res, 'notification');
        const most = kind === 'CAAS_BUY' ? await crowd(req) : 0;
        if (most > 16) next(new Error('the pool is exhausted'));
        else await right.store(req, res, next);
      };
    },
  },
];

/** More than come from the scenarios that run side by side. */
const MANY_AT_ONCE = 25;

/** A burst is over when nothing more has come for so long. */
const PAUSE_MS = 15;

/**
 * Counts the requests that are handled at the same time: the function holds the first request of a connection for as long as others
 * keep coming, and gives the largest number that there was meanwhile. Later requests of a connection are no part of a burst and are
 * not held.
 */
function crowdOf(): (req: IncomingMessage) => Promise<number> {
  const seen = new WeakSet<Socket>();
  let arrived = 0;
  let present = 0;
  let most = 0;
  return async ({ socket }) => {
    if (seen.has(socket)) return 0;
    seen.add(socket);
    present++;
    most = Math.max(most, present);
    arrived++;
    for (let before = 0; before !== arrived; ) {
      before = arrived;
      await delay(PAUSE_MS);
      // What arrived while the process was busy is read between timers and here.
      await nextTurn();
      await nextTurn();
    }
    present--;
    const counted = most;
    if (present === 0) most = 0;
    return counted;
  };
}
