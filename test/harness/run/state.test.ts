/** Receivers whose answers depend on the connection, on consecutive attempts, or on the previous delivery. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../../../harness/run/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { hmacOf, verifying } from '../../endpoints/verifying.ts';

const SECRET = randomBytes(32).toString('base64');
const valid = verifying((body) => hmacOf(SECRET, body).toString('base64'));

const KEPT = 'delivery/kept-connection';
const IN_A_ROW = 'signature/wrong-in-a-row';
const SOME = ['valid/buy-created', 'valid/buy-pending', 'signature/missing', 'delivery/after-forged', KEPT];

/** Returns the verdicts of a run other than `pass`. */
async function verdictsOf(listener: RequestListener, scenarios: readonly string[]) {
  const { url, close } = await serve(listener);
  onTestFinished(close);
  const { results } = await run({
    partner: { url, signing: { secret: SECRET } },
    selection: { suites: [], scenarios },
    limits: { timeoutMs: 1000, recoveryMs: 1000 },
  });
  return Object.fromEntries(results.flatMap(({ id, verdict }) => (verdict === 'pass' ? [] : [[id, verdict]])));
}

/** Handles the second request of each connection differently. */
function onSecondRequest(then: (request: IncomingMessage, response: ServerResponse) => void): RequestListener {
  const requests = new WeakMap<object, number>();
  return (request, response) => {
    const count = (requests.get(request.socket) ?? 0) + 1;
    requests.set(request.socket, count);
    if (count === 2) then(request, response);
    else valid(request, response);
  };
}

it('reports a second request on a kept connection that is reset, and judges everything else', async () => {
  const listener = onSecondRequest(({ socket }) => socket.destroy());
  expect(await verdictsOf(listener, [...SOME, 'valid/steady'])).toEqual({ [KEPT]: 'fail' });
});

it('reports a second request on a kept connection that is never answered, and judges everything else', async () => {
  const listener = onSecondRequest((request) => request.resume());
  expect(await verdictsOf(listener, SOME)).toEqual({ [KEPT]: 'fail' });
});

it('accepts an endpoint that closes each connection after its answer', async () => {
  const closing: RequestListener = (request, response) => {
    response.once('finish', () => request.socket.end());
    valid(request, response);
  };
  expect(await verdictsOf(closing, SOME)).toEqual({});
});

it('does not count a connection that the endpoint closes after a rejection', async () => {
  const closing: RequestListener = (request, response) => {
    response.once('finish', () => {
      if (response.statusCode !== 200) request.socket.destroy();
    });
    valid(request, response);
  };
  expect(await verdictsOf(closing, [...SOME, 'signature/empty', 'valid/steady'])).toEqual({});
});

/** Rejects everything from one address, or from all addresses, after ten consecutive rejections. */
function lockingOut(keyOf: (request: IncomingMessage) => string): RequestListener {
  const failures = new Map<string, number>();
  return (request, response) => {
    const key = keyOf(request);
    if ((failures.get(key) ?? 0) >= 10) {
      request.resume();
      response.writeHead(403).end();
      return;
    }
    response.once('finish', () => failures.set(key, response.statusCode === 401 ? (failures.get(key) ?? 0) + 1 : 0));
    valid(request, response);
  };
}

it('fails an endpoint that locks out every address', async () => {
  const listener = lockingOut(() => '');
  expect(await verdictsOf(listener, ['signature/missing', IN_A_ROW])).toEqual({ [IN_A_ROW]: 'fail' });
});

it.runIf(process.platform === 'linux')('warns of a lock-out of the address that failed', async () => {
  const listener = lockingOut(({ socket }) => String(socket.remoteAddress));
  expect(await verdictsOf(listener, ['signature/missing', IN_A_ROW])).toEqual({ [IN_A_ROW]: 'warn' });
});
