import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { requestHeader } from '../stages/request-header.ts';
import { refuse, required } from '../stages/stage.ts';
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
    name: 'second-request-on-connection-cut',
    title: 'The second request on a connection is not answered: the connection is closed instead.',
    seen: 'Servers that close after one answer without saying so, and time limits for idle connections that are shorter than those of the proxy in front.',
    why: 'A sender that keeps connections loses deliveries to resets, apparently at random.',
    fix: {
      rule: 'Say Connection: close when you close, and keep idle connections longer than the proxy in front does.',
      express: 'Set `server.keepAliveTimeout` above the idle limit of the load balancer (65 s for one of 60 s).',
    },
    stage: 'accept',
    replace({ right }) {
      const used = new WeakSet<Socket>();
      return (req, res, next) => {
        if (used.has(req.socket)) return void req.socket.destroy();
        used.add(req.socket);
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
    name: 'requests-share-a-body',
    severity: 'critical',
    title:
      'The body is kept in a variable that all requests share, so of those at the same time the last body is verified for all.',
    seen: 'Variables of the module, fields of a controller or filter that exists once, and globals in a function that serves several requests.',
    why: 'Under load right deliveries are refused, and a forged one can be accepted with the body of another.',
    fix: NO_SHARED_STATE,
    stage: 'readBody',
    replace({ right }) {
      let shared: Buffer | undefined;
      let waiting = 0;
      return (req, res, next) => {
        waiting++;
        return right.readBody(req, res, async (...failed) => {
          shared = res.locals.rawBody;
          // Looking up the partner takes a moment, and meanwhile other requests come.
          await delay(waiting > 8 ? 20 : 0);
          waiting--;
          if (shared !== undefined) res.locals.rawBody = shared;
          next(...failed);
        });
      };
    },
  },
  {
    ...base,
    name: 'fails-beyond-ten-at-once',
    title: 'Of more than ten deliveries at the same time some are answered 500.',
    seen: 'Pools of database connections that give up at once when they are empty, and locks that are tried and not waited for.',
    why: 'Notifications come in bursts. Those beyond the pool are refused, and come again all at once.',
    fix: {
      rule: 'Let requests wait for a free connection for some seconds, store the notification only, and do the work from a queue.',
      express: 'Set the time limit for getting a connection of the pool to some seconds; answer after one insert.',
    },
    stage: 'store',
    replace({ right }) {
      let busy = 0;
      return async (req, res, next) => {
        if (++busy > 10) {
          busy--;
          return next(new Error('the pool is exhausted'));
        }
        // Only when it gets busy, so that deliveries one by one take no longer than they should.
        await delay(busy > 6 ? 30 : 1);
        busy--;
        required(res, 'notification');
        return right.store(req, res, next);
      };
    },
  },
];
