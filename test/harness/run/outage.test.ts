import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../harness/report/result-document.ts';
import { run } from '../../../harness/run/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { hmacOf, verifying } from '../../endpoints/verifying.ts';
import { type Blow, type Fragile, fragile } from './fragile.ts';

const SECRET = randomBytes(32).toString('base64');
const right = verifying((body) => hmacOf(SECRET, body).toString('base64'));
const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

/** An empty body that is rightly signed is the blow: one scenario alone sends it. */
const CULPRIT = 'malformed/empty';
const onEmpty = (blow: Blow) => (body: Buffer) => (body.length === 0 ? blow : 'none');

async function hurt(blow: Blow): Promise<Fragile> {
  const endpoint = await fragile(SECRET, onEmpty(blow));
  open.push(endpoint);
  return endpoint;
}

async function runAgainst(url: string, concurrency: number, suite = 'malformed') {
  const events: RunEvent[] = [];
  const document = await run({
    partner: { url, signing: { secret: SECRET } },
    selection: { suites: [suite] },
    limits: { concurrency, timeoutMs: 2000, recoveryMs: 600, backoffMs: 5 },
    listener: (event) => events.push(event),
  });
  const of = (...verdicts: string[]) => document.results.filter(({ verdict }) => verdicts.includes(verdict));
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []));
  return { document, of, notices, events };
}

describe('a receiver that one delivery stops, and that comes back', () => {
  it.each([[1], [4], [16]])('blames that delivery and no neighbour, with %d in flight', async (concurrency) => {
    const { url } = await hurt('stop');
    const { document, of } = await runAgainst(url, concurrency);
    expect(of('fail', 'warn').map(({ id, reason }) => [id, reason.split(':')[0]])).toEqual([
      [CULPRIT, 'the receiver stopped answering after this delivery'],
    ]);
    expect(of('inconclusive', 'harness-error')).toEqual([]);
    expect(document.judged).toBe(document.planned);
    const [first] = document.diagnosis;
    expect([first?.fault, first?.why.includes(`after: ${CULPRIT}.`)]).toEqual(['dies-and-is-restarted', true]);
  });

  it('says while it goes on who did it', async () => {
    const { url } = await hurt('stop');
    const { notices } = await runAgainst(url, 4);
    expect(notices.filter((notice) => notice.includes('confirmed by repeating it alone'))).toEqual([
      `${CULPRIT} stops the receiver: confirmed by repeating it alone`,
    ]);
  });
});

describe('a receiver that one delivery stops for good', () => {
  it('blames it when it was alone in flight', async () => {
    const { url } = await hurt('stop-for-good');
    const { document, of } = await runAgainst(url, 1);
    expect(of('fail').map(({ id }) => id)).toEqual([CULPRIT]);
    const rest = new Set(of('inconclusive').map(({ reason }) => reason.replace(/ \(.*/, '')));
    expect([...rest]).toEqual([`the receiver is down since ${CULPRIT}`]);
    expect(document.diagnosis[0]?.fault).toBe('dies-and-stays-down');
    expect(document.judged).toBe(document.planned);
  });

  it('blames nobody when there were several, and names them all', async () => {
    const { url } = await hurt('stop-for-good');
    const { document, of } = await runAgainst(url, 4);
    expect(of('fail')).toEqual([]);
    const { reason } = of('inconclusive').at(-1)!;
    expect(reason).toMatch(/^the receiver is down since .*malformed\/empty/);
    expect(document.judged).toBe(document.planned);
    expect({ verdict: document.verdict, fault: document.diagnosis[0]?.fault }).toEqual({
      verdict: 'inconclusive',
      fault: 'dies-and-stays-down',
    });
  });
});

describe('a delivery on which every connection is reset', () => {
  it('fails, and its neighbours are tried again alone and pass', async () => {
    const { url } = await hurt('drop');
    const { of } = await runAgainst(url, 8);
    expect(of('fail').map(({ id }) => id)).toEqual([CULPRIT]);
    expect(of('inconclusive', 'warn', 'harness-error')).toEqual([]);
  });
});

describe('an endpoint that limits the rate', () => {
  it('is waited for, one delivery at a time, and judged', async () => {
    let count = 0;
    let inFlight = 0;
    let most = 0;
    const endpoint = await serve((request, response) => {
      if (++count % 9 === 0) return void request.resume().on('end', () => response.writeHead(429).end());
      inFlight++;
      response.on('close', () => void inFlight--);
      // By then the first 429 is long past.
      if (count > 30) most = Math.max(most, inFlight);
      return right(request, response);
    });
    open.push(endpoint);
    const { of, notices, document } = await runAgainst(endpoint.url, 4, 'signature');
    expect(of('fail', 'inconclusive', 'harness-error').filter(({ requirements }) => requirements.length > 0)).toEqual(
      [],
    );
    expect(notices).toEqual(['the endpoint answered 429: continuing with one delivery at a time']);
    expect({ most, verdict: document.verdict }).toEqual({ most: 1, verdict: 'conformant' });
  });
});

describe('an endpoint whose valid deliveries fail now and then', () => {
  it('gets a second try, and the failure is remembered', async () => {
    let count = 0;
    const endpoint = await serve((request, response) => {
      if (++count === 6) return void request.resume().on('end', () => response.writeHead(500).end());
      return right(request, response);
    });
    open.push(endpoint);
    const document = await run({
      partner: { url: endpoint.url, signing: { secret: SECRET } },
      selection: { greps: ['^signature/(missing|empty|blank)$', '^valid/'] },
      limits: { concurrency: 1 },
    });
    const flaky = document.results.filter(({ id }) => id === 'valid/steady');
    expect({ flaky: flaky.map(({ verdict }) => verdict), fail: document.counts.fail }).toEqual({
      flaky: ['warn'],
      fail: 0,
    });
  });
});
