import type { Socket } from 'node:net';
import { requestHeader } from '../stages/request-header.ts';
import { refuse } from '../stages/stage.ts';
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
];
