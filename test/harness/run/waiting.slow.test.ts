/** What a run waits for: an endpoint that is starting, and a maximum rate. It also estimates how long it takes. */
import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunEvent } from '../../../harness/report/result-document.ts';
import { run } from '../../../harness/run/index.ts';
import { Spacing } from '../../../harness/run/pace.ts';
import { startFaultyReceiver } from '../../../mutants/index.ts';
import { type EffectsRecord, memoryEffects, startEffectsWindow } from '../../../receiver/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { hmacOf, verifying } from '../../endpoints/verifying.ts';

const SECRET = randomBytes(32).toString('base64');
const valid = verifying((body) => hmacOf(SECRET, body).toString('base64'));

async function runAgainst(url: string, scenarios: readonly string[], limits: Parameters<typeof run>[0]['limits']) {
  const events: RunEvent[] = [];
  const document = await run({
    partner: { url, signing: { secret: SECRET } },
    selection: { scenarios },
    limits: { timeoutMs: 20_000, recoveryMs: 100, ...limits },
    listener: (event) => events.push(event),
  });
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []));
  return { document, notices };
}

async function served(listener: RequestListener): Promise<string> {
  const { url, close } = await serve(listener);
  onTestFinished(close);
  return url;
}

describe('an endpoint that is starting', () => {
  it.each([502, 503, 504])('is waited for while a gateway answers %i', async (status) => {
    let count = 0;
    const url = await served((request, response) => {
      if (++count > 4) return valid(request, response);
      request.resume().on('end', () => response.writeHead(status).end());
    });
    const { document, notices } = await runAgainst(url, ['valid/plain'], { waitMs: 60_000 });
    expect(document.counts).toMatchObject({ pass: 1, fail: 0, inconclusive: 0 });
    expect(notices).toEqual([expect.stringMatching(/^waiting up to 60 s for the endpoint/)]);
  });

  it('is waited for while its port is closed', async () => {
    const server = createServer(valid);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    const running = runAgainst(`http://127.0.0.1:${port}/hooks`, ['valid/plain'], { waitMs: 60_000 });
    setTimeout(() => server.listen(port, '127.0.0.1'), 300);
    onTestFinished(() => void server.close());
    expect((await running).document.counts).toMatchObject({ pass: 1, inconclusive: 0 });
  });

  it('that does not start gives no verdict, and what was seen last', async () => {
    const url = await served((request, response) => {
      request.resume().on('end', () => response.writeHead(503).end());
    });
    const { document } = await runAgainst(url, ['valid/plain'], { waitMs: 200 });
    expect(document.results).toMatchObject([
      {
        verdict: 'inconclusive',
        decidedBy: 'not-up',
        reason: expect.stringMatching(/did not start.*last attempt: .*503/),
      },
    ]);
    expect([document.verdict, document.diagnosis[0]?.fault]).toEqual(['inconclusive', 'fails-on-valid-delivery']);
  });
});

it('a refused connection after closed ones proves that the first delivery ended the process', async () => {
  let left = 3;
  const server = createServer((request) => {
    if (--left === 0) server.close();
    request.socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { document } = await runAgainst(`http://127.0.0.1:${port}/hooks`, ['valid/plain'], {});
  expect(document.diagnosis.map(({ fault }) => fault)).toEqual(['dies-and-stays-down']);
});

it('a delivery that was sent to wait is handled later without being a surprise', async () => {
  const record = memoryEffects();
  const held: (() => Promise<unknown>)[] = [];
  let isAsked = false;
  // Notifications that were accepted before the first query are handled after it.
  const late: EffectsRecord = {
    ...record,
    apply: async (effect, key) => {
      if (isAsked) return record.apply(effect, key);
      held.push(() => record.apply(effect, key));
      return true;
    },
  };
  const asked: EffectsRecord = {
    ...record,
    answer: async (query) => {
      const answer = await record.answer(query);
      isAsked = true;
      for (const apply of held.splice(0)) await apply();
      return answer;
    },
  };
  const token = 'a-token-of-this-test';
  const receiver = await startFaultyReceiver(null, { signing: { secrets: [SECRET] }, effects: late });
  const window = await startEffectsWindow({ record: asked, token });
  onTestFinished(async () => {
    await receiver.close();
    await window.close();
  });
  const { results } = await run({
    partner: { url: receiver.url, signing: { secret: SECRET } },
    evidenceSources: { effects: { url: window.url, token, deadlineMs: 2000 } },
    selection: { scenarios: ['valid/plain', 'effects/nothing-else'] },
    limits: { waitMs: 60_000 },
  });
  expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'pass']);
});

it('a limit whose stated end is past is waited for with growing pauses', async () => {
  const times: number[] = [];
  const url = await served((request, response) => {
    times.push(performance.now());
    if (times.length < 2 || times.length > 4) return valid(request, response);
    request.resume().on('end', () => response.writeHead(429, { 'Retry-After': '0' }).end());
  });
  await runAgainst(url, ['valid/buy-created'], { backoffMs: 40 });
  const pauses = [3, 4].map((at) => (times[at] ?? 0) - (times[at - 1] ?? 0));
  // A timer may end a millisecond early.
  expect(pauses[0]).toBeGreaterThanOrEqual(79);
  expect(pauses[1]).toBeGreaterThanOrEqual(159);
});

describe('a maximum rate', () => {
  it('keeps deliveries apart, and makes up for those that are sent at once', () => {
    let ms = 0;
    const spacing = new Spacing(100, () => ms);
    expect([spacing.takeMs(), spacing.takeMs(), spacing.takeMs()]).toEqual([0, 100, 200]);
    ms = 1000;
    expect(spacing.freeInMs()).toBe(0);
    for (let at = 0; at < 3; at++) spacing.takeMs();
    expect(spacing.freeInMs()).toBe(300);
  });

  it('holds for all lanes, controls and follow-ups, on average', async () => {
    const times: number[] = [];
    const url = await served((request, response) => {
      times.push(performance.now());
      return valid(request, response);
    });
    const scenarios = ['signature/missing', 'valid/buy-created', 'valid/chains', 'malformed/truncated'];
    const { document } = await runAgainst(url, scenarios, { intervalMs: 20 });
    expect(document.counts).toMatchObject({ fail: 0, inconclusive: 0 });
    // Six deliveries of one check are sent at once, so the last one may be that many places early.
    const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
    expect(spanMs).toBeGreaterThanOrEqual((times.length - 1 - 6) * 20 - 5);
  });

  it('is announced with the time that the run takes', async () => {
    const url = await served(valid);
    const limits = { intervalMs: 600_000, maxMs: 1000 };
    const { notices, document } = await runAgainst(url, ['valid/plain', 'valid/buy-created'], limits);
    expect(notices).toEqual([expect.stringMatching(/^`--max-rate`: the run will take about \d+ min/)]);
    expect(document.partialReasons).toContain('time-limit');
  });
});
