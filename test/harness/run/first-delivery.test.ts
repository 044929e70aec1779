import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../harness/run/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { hmacOf, verifying } from '../../endpoints/verifying.ts';

const SECRET = randomBytes(32).toString('base64');
const right = verifying((body) => hmacOf(SECRET, body).toString('base64'));
const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

/** What a run says of `valid/steady` when the endpoint answers 500 as long as `isCold` says of the number of the request, from 1. */
async function steadiness(isCold: (request: number) => boolean) {
  let requests = 0;
  const endpoint = await serve((request, response) => {
    requests += 1;
    if (!isCold(requests)) return right(request, response);
    request.resume();
    response.writeHead(500).end();
  });
  open.push(endpoint);
  const { results } = await run({
    partner: { url: endpoint.url, signing: { secret: SECRET } },
    selection: { scenarios: ['valid/plain', 'valid/steady'] },
  });
  return results.map(({ id, verdict, reason }) => [id, verdict, reason.split(';')[1]?.trim() ?? '']);
}

describe('the first delivery', () => {
  it('is a warning when it failed and the second one did not', async () => {
    expect(await steadiness((request) => request === 1)).toEqual([
      ['valid/plain', 'pass', ''],
      ['valid/steady', 'warn', 'seen in valid/plain'],
    ]);
  });

  it('is no warning when it was accepted', async () => {
    expect(await steadiness(() => false)).toEqual([
      ['valid/plain', 'pass', ''],
      ['valid/steady', 'pass', ''],
    ]);
  });
});

describe('the control after a delivery that was cut off', () => {
  it('waits until the endpoint knows, so that an endpoint that does not outlive it is found out', async () => {
    let isDown = false;
    const endpoint = await serve((request, response) => {
      request.on('error', () => {});
      request.once('close', () => {
        if (!request.complete) isDown = true;
      });
      if (isDown) response.writeHead(500).end();
      else right(request, response);
    });
    open.push(endpoint);
    const { results } = await run({
      partner: { url: endpoint.url, signing: { secret: SECRET } },
      selection: { scenarios: ['malformed/cut-off'] },
      limits: { recoveryMs: 100 },
    });
    expect(results.map(({ verdict, reason }) => [verdict, reason.split(':')[0]])).toEqual([
      ['fail', 'the receiver stopped answering after this delivery'],
    ]);
  });
});
