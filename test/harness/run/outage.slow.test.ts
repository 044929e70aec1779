/** Receivers that stop, drop connections, limit the rate or fail occasionally. */
import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stillFailing } from '../../../harness/cli/last-run.ts';
import { failedAfter } from '../../../harness/mcp/run-answers.ts';
import { renderHuman } from '../../../harness/report/index.ts';
import type { RunEvent } from '../../../harness/report/result-document.ts';
import { run } from '../../../harness/run/index.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { hmacOf, verifying } from '../../endpoints/verifying.ts';

type Selection = NonNullable<Parameters<typeof run>[0]['selection']>;

/** What a delivery does to the receiver: nothing, drop every connection, or stop it for a while or for good. */
type Effect = 'none' | 'drop' | 'stop' | 'stop-late' | 'stop-for-good' | 'stop-late-for-good';

const SECRET = randomBytes(32).toString('base64');
const valid = verifying((body) => hmacOf(SECRET, body).toString('base64'));

/** Only this scenario sends a correctly signed empty body. */
const CULPRIT = 'malformed/empty';
/** Every fourth check of the suite: enough for deliveries on all lanes before and after it. */
const MALFORMED = CATALOGUE.flatMap(({ name, scenarios }) => (name === 'malformed' ? scenarios : []))
  .map(({ id }) => id)
  .filter((id, at) => id === CULPRIT || at % 4 === 0);
const onCulprit = (effect: Effect) => (body: Buffer) => (body.length === 0 ? effect : 'none');

async function serveUntilTestEnds(listener: RequestListener): Promise<string> {
  const { url, close } = await serve(listener);
  onTestFinished(close);
  return url;
}

/**
 * Duration of an outage, in milliseconds. It is longer than a busy machine takes from the lost delivery to the two
 * controls after it.
 */
const DOWN_MS = 600;
/**
 * Number of requests after which a delivery that was answered stops the receiver. The requests in between are answered.
 */
const LATE_REQUESTS = 6;

/** The end of a reason that also names earlier deliveries whose work may have stopped the receiver. */
const AFTERWARDS = /; or because of work for (?:the delivery|one of the \d+ deliveries) answered in the second before$/;

/** Starts a valid receiver until the end of the test. `effectOf` sees the body of each correctly signed delivery. */
async function fragileReceiver(effectOf: (body: Buffer) => Effect): Promise<string> {
  let server: Server | null = null;
  let sockets = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;
  let left = 0;
  let isForGood = false;

  const down = () => {
    server?.close();
    for (const socket of sockets) socket.resetAndDestroy();
    sockets = new Set();
  };
  const restart = () => {
    down();
    timer = setTimeout(() => void up(port), DOWN_MS);
  };
  const listener: RequestListener = (request, response) => {
    if (left > 0 && --left === 0) return isForGood ? down() : restart();
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const signed = request.headers['x-service-signature'] === hmacOf(SECRET, body).toString('base64');
      const effect = signed ? effectOf(body) : 'none';
      if (effect === 'none') return;
      isForGood = effect === 'stop-late-for-good';
      if (effect.startsWith('stop-late')) left = LATE_REQUESTS;
      else if (effect === 'drop') for (const socket of sockets) socket.resetAndDestroy();
      else down();
      if (effect === 'stop') timer = setTimeout(() => void up(port), DOWN_MS);
    });
    valid(request, response);
  };
  const up = (at: number) =>
    new Promise<number>((resolve) => {
      server = createServer(listener);
      server.on('connection', (socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => sockets.delete(socket));
      });
      const listening = server;
      listening.listen(at, '127.0.0.1', () => resolve((listening.address() as AddressInfo).port));
    });
  const port: number = await up(0);
  onTestFinished(() => {
    clearTimeout(timer);
    down();
  });
  return `http://127.0.0.1:${port}/hooks`;
}

/** Limits for receivers that recover: on a busy machine, a restart takes seconds. */
const PATIENT = { timeoutMs: 20_000, recoveryMs: 30_000 };

async function runAgainst(
  url: string,
  concurrency: number,
  selection: Selection = { scenarios: MALFORMED },
  limits = { timeoutMs: 2000, recoveryMs: 600 },
) {
  const events: RunEvent[] = [];
  const document = await run({
    partner: { url, signing: { secret: SECRET } },
    selection,
    limits: { concurrency, backoffMs: 5, ...limits },
    listener: (event) => events.push(event),
  });
  const of = (...verdicts: string[]) => document.results.filter(({ verdict }) => verdicts.includes(verdict));
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []));
  return { document, of, notices };
}

describe('a receiver that one delivery stops, and that restarts', () => {
  it.each([[1], [4], [16]])('fails that delivery and no other, with %d in flight', async (concurrency) => {
    const url = await fragileReceiver(onCulprit('stop'));
    const { document, of } = await runAgainst(url, concurrency, undefined, PATIENT);
    expect(of('fail', 'warn').map(({ id, reason }) => [id, reason.split(':')[0]])).toEqual([
      [CULPRIT, 'the receiver stopped answering after this delivery'],
    ]);
    expect(of('inconclusive', 'harness-error')).toEqual([]);
    expect(document.judged).toBe(document.planned);
    const [first] = document.diagnosis;
    expect([first?.fault, first?.why.includes(`after: ${CULPRIT}.`)]).toEqual(['dies-and-is-restarted', true]);
  });

  it.each([[1], [4]])(
    'fails that delivery, with %d in flight, if the receiver stops after its answer',
    async (width) => {
      const url = await fragileReceiver(onCulprit('stop-late'));
      const { document, of } = await runAgainst(url, width, undefined, PATIENT);
      expect(of('fail', 'warn').map(({ id, decidedBy }) => [id, decidedBy])).toEqual([[CULPRIT, 'receiver-stopped']]);
      expect(of('inconclusive', 'harness-error')).toEqual([]);
      expect(document.diagnosis[0]?.why).toContain(`after: ${CULPRIT}.`);
    },
  );

  it('reports the delivery during the run', async () => {
    const url = await fragileReceiver(onCulprit('stop'));
    const { notices } = await runAgainst(url, 4, undefined, PATIENT);
    expect(notices.filter((notice) => notice.includes('confirmed by repeating it alone'))).toEqual([
      `${CULPRIT} stops the receiver: confirmed by repeating it alone`,
    ]);
  });
});

describe('a receiver that one delivery stops for good', () => {
  it('fails the delivery when no other was in flight', async () => {
    const url = await fragileReceiver(onCulprit('stop-for-good'));
    const { document, of } = await runAgainst(url, 1);
    expect(of('fail').map(({ id }) => id)).toEqual([CULPRIT]);
    const rest = new Set(of('inconclusive').map(({ reason }) => reason.replace(/ \(.*/, '')));
    expect([...rest]).toEqual([`the receiver has been down since ${CULPRIT}`]);
    expect(document.diagnosis[0]?.fault).toBe('dies-and-stays-down');
    expect(document.judged).toBe(document.planned);
  });

  it.each([[1], [4]])('is a suspect, with %d in flight, if the receiver stops after its answer', async (width) => {
    const url = await fragileReceiver(onCulprit('stop-late-for-good'));
    const { document, of } = await runAgainst(url, width, { scenarios: [...MALFORMED, 'delivery/stays-up'] });
    const stopped = document.results.find(({ id }) => id === 'delivery/stays-up');
    expect(stopped).toMatchObject({ verdict: 'fail', repeats: expect.arrayContaining([CULPRIT]) });
    expect(stopped?.reason).toMatch(AFTERWARDS);
    // A single delivery in flight fails, and is named as the cause with the mistake that it shows.
    if (width > 1) expect(document.diagnosis[0]?.fix).toContain('If work continues after an answer');
    else expect(of('fail')[0]?.reason).toMatch(/; work for one of the deliveries before it may also be the cause$/);
  });

  it('fails none of several in flight, and names them all', async () => {
    const url = await fragileReceiver(onCulprit('stop-for-good'));
    const { document, of } = await runAgainst(url, 4);
    expect(of('fail')).toEqual([]);
    const reasons = of('inconclusive').map(({ reason }) => reason.replace(/ \(.*/, ''));
    const down = expect.stringMatching(/^the receiver is down: one of \d+ deliveries in flight stopped it/);
    expect(new Set(reasons)).toEqual(new Set([down]));
    expect(document.diagnosis[0]?.title).toMatch(/does not recover.*: one of .*malformed\/empty/);
    expect(document.judged).toBe(document.planned);
    expect({ verdict: document.verdict, fault: document.diagnosis[0]?.fault }).toEqual({
      verdict: 'inconclusive',
      fault: 'dies-and-stays-down',
    });
  });
});

describe('the check that the receiver stays up', () => {
  const STAYS_UP = 'delivery/stays-up';

  it('is repeated together with the deliveries that were in flight', async () => {
    const selection = { scenarios: [...MALFORMED, STAYS_UP] };
    const { document, of } = await runAgainst(await fragileReceiver(onCulprit('stop-for-good')), 4, selection);
    expect(of('fail').map(({ id }) => id)).toEqual([STAYS_UP]);
    expect(of('fail')[0]?.reason).toMatch(AFTERWARDS);
    const repeated = stillFailing([], document);
    expect(repeated).toEqual(expect.arrayContaining([CULPRIT, STAYS_UP]));
    expect(failedAfter([], document)).toEqual(repeated);
    const report = renderHuman(document, { columns: 100, color: false, unicode: true });
    expect(report.split('To do')[1]).toContain(`--scenario ${CULPRIT}`);
    const again = await runAgainst(await fragileReceiver(onCulprit('stop-for-good')), 4, { scenarios: repeated });
    expect(again.document.verdict).not.toBe('conformant');
    const fixed = await runAgainst(await fragileReceiver(onCulprit('none')), 4, { scenarios: repeated });
    expect(fixed.of('pass').map(({ id }) => id)).toContain(STAYS_UP);
  });

  it.each([STAYS_UP, 'leaks/nowhere', 'valid/steady'])('%s has no verdict without other checks', async (id) => {
    const { document } = await runAgainst(await fragileReceiver(onCulprit('none')), 4, { scenarios: [id] });
    expect(document.results).toMatchObject([
      { id, verdict: 'inconclusive', reason: expect.stringContaining('run all') },
    ]);
  });
});

describe('a delivery on which every connection is reset', () => {
  it('fails, and the other deliveries are repeated alone and pass', async () => {
    const url = await fragileReceiver(onCulprit('drop'));
    const { of } = await runAgainst(url, 8);
    expect(of('fail').map(({ id }) => id)).toEqual([CULPRIT]);
    expect(of('inconclusive', 'warn', 'harness-error')).toEqual([]);
  });
});

describe('an endpoint that limits the rate', () => {
  it.each([429, 503])('with %i gets one delivery at a time, and a verdict', async (status) => {
    let count = 0;
    let inFlight = 0;
    let most = 0;
    const url = await serveUntilTestEnds((request, response) => {
      if (++count % 9 === 0) return void request.resume().on('end', () => response.writeHead(status).end());
      inFlight++;
      response.on('close', () => void inFlight--);
      if (count > 30) most = Math.max(most, inFlight);
      return valid(request, response);
    });
    const { of, notices, document } = await runAgainst(url, 4, { suites: ['signature'] });
    expect(of('fail', 'inconclusive', 'harness-error').filter(({ requirements }) => requirements.length > 0)).toEqual(
      [],
    );
    expect(notices).toEqual([`the endpoint answered ${status}: continuing with one delivery at a time`]);
    expect({ most, verdict: document.verdict }).toEqual({ most: 1, verdict: 'conformant' });
  });

  it('gets the identical request again, with its random parts', async () => {
    const trailers: unknown[] = [];
    const url = await serveUntilTestEnds((request, response) => {
      if (request.headers.trailer === undefined) return valid(request, response);
      request.resume().on('end', () => {
        trailers.push(request.trailers['x-service-signature']);
        response.writeHead(trailers.length === 1 ? 503 : 401).end();
      });
    });
    const { of } = await runAgainst(url, 1, { scenarios: ['signature/unsigned-chunked'] });
    expect(of('pass').map(({ id }) => id)).toContain('signature/unsigned-chunked');
    expect(trailers).toEqual([expect.any(String), trailers[0]]);
  });
});

describe('an endpoint that answers 429 or 503 to everything after some deliveries', () => {
  const refusing = (status: number, headers: Record<string, string> = {}) => {
    let count = 0;
    return serveUntilTestEnds((request, response) => {
      if (++count <= 30) return valid(request, response);
      request.resume().on('end', () => response.writeHead(status, headers).end());
    });
  };

  it.skipIf(process.platform !== 'linux').each([429, 503])('fails with %i', async (status) => {
    const limits = { timeoutMs: 2000, recoveryMs: 200 };
    const selection = { suites: ['malformed', 'delivery'] };
    const { document, of } = await runAgainst(await refusing(status), 4, selection, limits);
    expect(of('fail').map(({ id, outcome }) => [id, outcome])).toEqual([['delivery/stays-up', `${status}`]]);
    expect(document.verdict).toBe('nonconformant');
  });

  it('is waited for when the limit that it names ends soon', async () => {
    let count = 0;
    const url = await serveUntilTestEnds((request, response) => {
      if (++count % 30 !== 0) return valid(request, response);
      request.resume().on('end', () => response.writeHead(429, { RateLimit: '"a";r=0;t=0' }).end());
    });
    const { document, of } = await runAgainst(url, 4, { suites: ['raw-body'] });
    expect({ failed: of('fail', 'inconclusive'), again: document.turnedAway?.[429] }).toEqual({
      failed: [],
      again: Math.floor(count / 30),
    });
  });

  it('has no verdict when it names a later time', async () => {
    const express = { 'X-Powered-By': 'Express', 'RateLimit-Policy': '100;w=900', 'RateLimit-Limit': '100' };
    const url = await refusing(429, { 'Retry-After': 'Thu, 31 Dec 2099 23:59:59 GMT', ...express });
    const { document, of } = await runAgainst(url, 4, { suites: ['malformed', 'delivery'] });
    expect({ failed: of('fail'), verdict: document.verdict }).toEqual({ failed: [], verdict: 'inconclusive' });
    expect(document.diagnosis).toMatchObject([
      {
        fault: 'rate-limits',
        title:
          'The endpoint limits deliveries: about 30 were answered, then 429; ' +
          'Retry-After: Thu, 31 Dec 2099 23:59:59 GMT, RateLimit-Policy: 100;w=900',
        fix: expect.stringMatching(/^Exempt this route.*`--max-rate 6\/m`.*rateLimit\(\)/),
      },
    ]);
  });
});

describe('an endpoint that answers 503 to one delivery at every attempt', () => {
  it('fails, and the other checks still run concurrently', async () => {
    const url = await serveUntilTestEnds(async (request, response) => {
      const signature = request.headers['x-service-signature'];
      if (signature !== undefined) return valid(request, response);
      request.resume().on('end', () => response.writeHead(503).end());
    });
    const { of, notices } = await runAgainst(url, 4, { scenarios: ['signature/missing', 'signature/empty'] });
    expect(of('fail').map(({ id, decidedBy }) => [id, decidedBy])).toEqual([['signature/missing', 'crash']]);
    expect(of('inconclusive', 'harness-error')).toEqual([]);
    expect(notices).toEqual([]);
  });
});

describe('an endpoint whose valid deliveries fail occasionally', () => {
  /** Returns the results against an endpoint that answers 500 to requests with these numbers, counted from 1. */
  async function resultsWith(failing: number, selection: Selection) {
    let count = 0;
    const url = await serveUntilTestEnds((request, response) => {
      if (++count !== failing) return valid(request, response);
      request.resume().on('end', () => response.writeHead(500).end());
    });
    const { document } = await runAgainst(url, 1, selection);
    expect(document.counts.fail).toBe(0);
    return new Map(document.results.map(({ id, verdict, reason }) => [id, [verdict, reason.split('; ')[1]]]));
  }

  it('gets a second delivery, and a warning', async () => {
    const results = await resultsWith(5, { greps: ['signature/missing', 'signature/blank', 'valid/'] });
    expect(results.get('valid/steady')?.[0]).toBe('warn');
  });

  it.each([
    ['gets a warning when only its first delivery fails', 1, ['warn', 'seen in valid/plain']],
    ['gets no warning when none fails', 0, ['pass', undefined]],
  ] as const)('%s', async (_, failing, expected) => {
    const results = await resultsWith(failing, { scenarios: ['valid/plain', 'valid/steady'] });
    expect(results.get('valid/plain')?.[0]).toBe('pass');
    expect(results.get('valid/steady')).toEqual(expected);
  });
});

describe('the control after a truncated delivery', () => {
  it('waits until the endpoint has noticed, and detects an endpoint that stops', async () => {
    let isDown = false;
    const url = await serveUntilTestEnds((request, response) => {
      request.on('error', () => {});
      request.once('close', () => {
        if (!request.complete) isDown = true;
      });
      if (isDown) response.writeHead(500).end();
      else valid(request, response);
    });
    const { document } = await runAgainst(url, 1, { scenarios: ['malformed/cut-off'] });
    expect(document.results.map(({ verdict, reason }) => [verdict, reason.split(':')[0]])).toEqual([
      ['fail', 'the receiver stopped answering after this delivery'],
    ]);
  });
});

describe('the field `retried`', () => {
  /**
   * Performs a run against a receiver on which the first signed body with a line break has this effect. No control
   * contains a line break.
   */
  async function runWith(effect: Effect) {
    let found = 0;
    const url = await fragileReceiver((body) => (body.includes('\n') && ++found === 1 ? effect : 'none'));
    return (await runAgainst(url, 4, { suites: ['raw-body'] }, PATIENT)).document;
  }

  it('is absent without second deliveries', async () => {
    expect(await runWith('none')).not.toHaveProperty('retried');
  });

  it('names the checks that passed only with the second delivery', async () => {
    const { counts, retried = [], results } = await runWith('stop');
    expect({ fail: counts.fail, inconclusive: counts.inconclusive }).toEqual({ fail: 0, inconclusive: 0 });
    expect(retried.length).toBeGreaterThan(0);
    const verdicts = results.filter(({ id }) => retried.includes(id)).map(({ verdict }) => verdict);
    expect(new Set(verdicts)).toEqual(new Set(['pass']));
  });
});
