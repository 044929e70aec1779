/** How long a run waits for answers, when it decides a group of checks early, and what it then reports. */
import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { run } from '../../../harness/run/index.ts';
import { FailureGroups, failureGroupOf, Pace } from '../../../harness/run/pace.ts';
import { CATALOGUE, findScenario } from '../../../scenarios/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { bodyOf, hmacOf, verifying } from '../../endpoints/verifying.ts';

const LIMITS = { timeoutMs: 10_000, concurrency: 8 };

function paceAfter({ answers = [] as readonly number[], silentControls = 0, silentProbes = 0, limits = LIMITS }) {
  const pace = new Pace(limits);
  for (const ms of answers) pace.recordAnswer(ms, true);
  for (let at = 0; at < silentControls; at++) pace.recordSilence('control');
  for (let at = 0; at < silentProbes; at++) pace.recordSilence('probe');
  return pace;
}

const times = (count: number, ms: number) => Array.from({ length: count }, () => ms);

describe('the wait for an answer', () => {
  it.each([
    ['is the full limit before anything was answered', {}, 10_000],
    ['is the full limit after two silences', { answers: times(20, 20), silentProbes: 2 }, 10_000],
    ['is cut short after three', { answers: times(20, 20), silentProbes: 3 }, 300],
    ['follows the usual time of an answer', { answers: times(20, 200), silentProbes: 2, silentControls: 1 }, 2000],
    ['never exceeds the limit', { answers: times(20, 3000), silentProbes: 9 }, 10_000],
    ['is the full limit while few answers are known', { answers: times(4, 20), silentProbes: 9 }, 10_000],
  ])('%s', (_name, seen, wait) => {
    expect(paceAfter(seen).waitMs()).toBe(wait);
  });

  it('is short for the control after a silence', () => {
    const pace = paceAfter({ answers: times(6, 100), silentProbes: 1 });
    expect([pace.waitMs(), pace.waitMs('silence')]).toEqual([10_000, 1000]);
  });

  it('is not extended by a few slow answers', () => {
    expect(paceAfter({ answers: [...times(95, 20), ...times(5, 9000)], silentProbes: 3 }).waitMs()).toBe(300);
  });
});

describe('an endpoint', () => {
  it('is unreliable when it leaves three valid deliveries unanswered, and answers others', () => {
    expect(paceAfter({ answers: times(20, 5), silentControls: 2, silentProbes: 9 }).isUnreliable()).toBe(false);
    expect(paceAfter({ answers: times(20, 5), silentControls: 3 }).isUnreliable()).toBe(true);
    expect(paceAfter({ answers: times(2, 5), silentControls: 3 }).isUnreliable()).toBe(false);
  });

  /**
   * Returns the number of deliveries in flight, step by step, if a single delivery takes `alone` milliseconds, and one
   * under load takes `loaded`.
   */
  function widths(alone: number, loaded: (width: number) => number, limits = LIMITS): number[] {
    const pace = paceAfter({ answers: times(6, alone), limits });
    pace.startConcurrency();
    const seen = [limits.concurrency];
    for (let step = 0; step < 4; step++) {
      for (const ms of times(64, loaded(seen.at(-1) ?? 0))) pace.recordAnswer(ms, true);
      seen.push(pace.width());
    }
    return seen;
  }

  it('that is slow gets up to eight times as many concurrent deliveries', () => {
    expect(widths(3000, () => 3000)).toEqual([8, 32, 64, 64, 64]);
  });

  it('that is slow for rejections only gets more too', () => {
    const pace = paceAfter({ answers: times(6, 3) });
    for (const ms of times(2, 6000)) pace.recordAnswer(ms, false);
    pace.startConcurrency();
    expect(pace.isSlow()).toBe(true);
  });

  it('that handles one delivery at a time does not get more', () => {
    expect(widths(600, (width) => 600 * width)).toEqual([8, 8, 8, 8, 8]);
  });

  it('that is fast does not get more', () => {
    expect(widths(10, () => 10)).toEqual([8, 8, 8, 8, 8]);
  });

  it('that is far away gets twice as many', () => {
    expect(widths(50, () => 50)).toEqual([8, 16, 16, 16, 16]);
  });

  it('that the user protects with a lower concurrency does not get more', () => {
    expect(widths(3000, () => 3000, { ...LIMITS, concurrency: 2 })).toEqual([2, 2, 2, 2, 2]);
  });
});

describe('the answers that an estimate follows', () => {
  const answersOf = (alone: number, loaded: number, limits = LIMITS) => {
    const pace = paceAfter({ answers: times(6, alone), limits });
    pace.startConcurrency();
    for (let step = 0; step < 4; step++) {
      for (const ms of times(64, loaded)) pace.recordAnswer(ms, true);
      pace.width();
    }
    return pace.estimateAnswers();
  };

  it('are none before the first', () => {
    expect(new Pace(LIMITS).estimateAnswers()).toBeNull();
  });

  it('of a slow endpoint come from all lanes that it will have', () => {
    expect(paceAfter({ answers: [2000] }).estimateAnswers()).toEqual({ ms: 2000, aloneMs: 2000, width: 64 });
    expect(answersOf(2000, 2000)).toEqual({ ms: 2000, aloneMs: 2000, width: 64 });
  });

  it('of an endpoint that handles one delivery at a time are faster alone', () => {
    expect(answersOf(600, 4800)).toEqual({ ms: 4800, aloneMs: 600, width: 8 });
  });
});

describe('a group', () => {
  const group = (id: string) => failureGroupOf(findScenario(id)!);

  it('contains checks that fail together', () => {
    expect(group('signature/missing')).toBe(group('signature/other-secret'));
    expect(group('signature/missing')).not.toBe(group('api-key/missing'));
    expect(group('malformed/truncated')).toBe(group('malformed/null'));
    expect(group('malformed/truncated')).not.toBe(group('valid/plain'));
  });

  it('is decided by three silences', () => {
    const failureGroups = new FailureGroups();
    const missing = ['a', 'b', 'c'].map((id) => {
      failureGroups.recordSilence(id, 'forged');
      return failureGroups.missingSilences('forged');
    });
    expect(missing).toEqual([2, 1, 0]);
    expect(failureGroups.missingSilences('other')).toBe(3);
    expect(failureGroups.reasonNotToRepeat('forged')).toContain('a, b, c');
  });

  it('is not decided when one of its answers was late', () => {
    const failureGroups = new FailureGroups();
    for (const id of ['a', 'b', 'c']) failureGroups.recordSilence(id, 'forged');
    failureGroups.recordLateAnswer('forged');
    expect(failureGroups.missingSilences('forged')).toBe(Number.POSITIVE_INFINITY);
  });

  it('is decided for a suite by five seconds of outages, and for the run by twenty', () => {
    const failureGroups = new FailureGroups();
    failureGroups.recordStop('malformed/a', 'malformed', 'payloads', 4000);
    expect(failureGroups.reasonToSkip('malformed', 'payloads')).toBeNull();
    failureGroups.recordStop('malformed/b', 'malformed', 'payloads', 1500);
    expect(failureGroups.reasonToSkip('malformed', 'payloads')).toContain(
      'malformed/a, malformed/b stopped the receiver, for 6 s',
    );
    expect([failureGroups.reasonToSkip('malformed', 'forged'), failureGroups.reasonToSkip('http', 'payloads')]).toEqual(
      [null, null],
    );
    failureGroups.recordStop('malformed/c', 'malformed', 'payloads', 30_000);
    expect(failureGroups.reasonToSkip('http', 'payloads')).not.toBeNull();
  });
});

const SECRET = randomBytes(32).toString('base64');
const endpoints: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(endpoints.map((close) => close())));

const correct = verifying((body) => hmacOf(SECRET, body).toString('base64'));

async function runAgainst(
  listener: RequestListener,
  selection: readonly string[] | { readonly scenarios: readonly string[] },
  limits: { timeoutMs: number; concurrency?: number },
) {
  const { url, close } = await serve(listener);
  endpoints.push(close);
  const document = await run({
    partner: { url, signing: { secret: SECRET } },
    selection: 'scenarios' in selection ? selection : { suites: selection },
    limits: { recoveryMs: 3000, ...limits },
  });
  const of = (verdict: string) => document.results.filter((result) => result.verdict === verdict);
  return { document, of };
}

describe.concurrent('a receiver that never answers one request in seven', () => {
  it('fails for that, and its other checks are judged by the deliveries that it answers', async () => {
    let requests = 0;
    const { document, of } = await runAgainst(
      (request, response) => (++requests % 7 === 0 ? void request.resume() : correct(request, response)),
      ['valid'],
      { timeoutMs: 1000 },
    );
    expect(of('fail').map(({ id, outcome }) => [id, outcome])).toEqual([['valid/steady', 'silence']]);
    // How far the run gets before it has waited too long depends on the order in which requests arrive.
    const reached = document.results.filter(({ reason }) => !reason.startsWith('deliveries waited'));
    expect(of('pass').length).toBeGreaterThan(reached.length * 0.8);
    expect(reached.length).toBeGreaterThan(of('fail').length);
    expect(document.judged).toBe(document.planned);
  });
});

describe.concurrent('a receiver that never answers forged deliveries', () => {
  it('fails a few of them; the others count as not run, and no check passes because of silence', async () => {
    const { scenarios } = CATALOGUE.find(({ name }) => name === 'signature')!;
    const { of } = await runAgainst(
      (request, response) => {
        const answer = response.writeHead.bind(response);
        response.writeHead = ((status: number, headers: Record<string, string>) =>
          status === 401 ? Object.assign(response, { end: () => response }) : answer(status, headers)) as typeof answer;
        correct(request, response);
      },
      // Few enough that the run repeats the first, even if each waits for the whole time limit on a busy machine.
      { scenarios: scenarios.slice(0, 14).map(({ id }) => id) },
      // Within this time limit, valid deliveries are answered even on a busy machine.
      { timeoutMs: 4000, concurrency: 4 },
    );
    const failed = of('fail');
    const reasons = [...new Set(of('inconclusive').map(({ reason }) => reason))];
    expect(failed.length, reasons.slice(0, 5).join('\n')).toBeGreaterThan(0);
    expect(new Set(failed.map(({ outcome }) => outcome))).toEqual(new Set(['silence']));
    const early = of('inconclusive').filter(({ decidedBy }) => decidedBy === 'decided-early');
    expect(early.length).toBeGreaterThan(failed.length);
    expect(early[0]?.reason).toMatch(/^not repeated: no answer within a short wait, like signature\//);
    expect(of('pass').every(({ answered }) => answered?.class !== 'silent')).toBe(true);
  });
});

describe.concurrent('a receiver that blocks on malformed JSON', () => {
  it('fails for the first such payloads; others of the same kind are not sent', async () => {
    let busyUntil = 0;
    const { of } = await runAgainst(
      (request, response) => {
        void bodyOf(request).then(
          (body) => {
            const isSigned = request.headers['x-service-signature'] === hmacOf(SECRET, body).toString('base64');
            if (isSigned && body.toString().startsWith('{') && !body.toString().trimEnd().endsWith('}')) {
              busyUntil = performance.now() + 7000;
            }
            const answer = () => response.writeHead(isSigned ? 200 : 401).end();
            setTimeout(answer, Math.max(0, busyUntil - performance.now()));
          },
          () => request.destroy(),
        );
      },
      ['malformed'],
      { timeoutMs: 1000 },
    );
    expect(of('fail').map(({ id, decidedBy }) => [id, decidedBy])).toEqual([
      ['malformed/truncated', 'receiver-stopped'],
    ]);
    const early = of('inconclusive').filter(({ decidedBy }) => decidedBy === 'decided-early');
    expect(early.length).toBeGreaterThan(50);
    expect(early[0]?.reason).toContain('not run: malformed/truncated stopped the receiver');
  });
});
