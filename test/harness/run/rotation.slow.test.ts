/** A run that rotates the secret: the steps, who switches them, and receivers that are not switched. */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RotationSource } from '../../../harness/effects/index.ts';
import { exitCodeOf } from '../../../harness/report/verdict.ts';
import { type RunOptions, run } from '../../../harness/run/index.ts';
import { FAULTS, startFaultyReceiver } from '../../../mutants/index.ts';
import type { RotationStep } from '../../../scenarios/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { bodyOf, hmacOf } from '../../endpoints/verifying.ts';

const [OLD = '', NEXT = ''] = Array.from({ length: 2 }, () => randomBytes(32).toString('base64'));
const SECRETS: Readonly<Record<RotationStep, readonly string[]>> = { old: [OLD], both: [NEXT, OLD], new: [NEXT] };
/** Time, in milliseconds, that the run waits for a receiver that is not switched, and for one that is. */
const SHORT_MS = 100;
const LONG_MS = 10_000;

let receiver: Awaited<ReturnType<typeof startFaultyReceiver>>;
afterEach(() => receiver.close());

/** Runs the suite against a receiver, with the given source or one that switches the receiver. */
async function rotated(
  fault: string | null = null,
  given?: Partial<RotationSource>,
  recoveryMs = SHORT_MS,
  { signal, maxMs = null }: Pick<RunOptions, 'signal'> & { readonly maxMs?: number | null } = {},
) {
  const found = FAULTS.find(({ name }) => name === fault) ?? null;
  receiver = await startFaultyReceiver(found, { signing: { secrets: SECRETS.old } });
  const steps: RotationStep[] = [];
  const switchTo = async (step: RotationStep) => {
    steps.push(step);
    receiver.reloadSecrets(SECRETS[step]);
  };
  const document = await run({
    partner: { url: receiver.url, signing: { secret: OLD } },
    evidenceSources: { rotation: { nextSecret: NEXT, ...(given ?? { switchTo }) } },
    selection: { suites: ['rotation'] },
    limits: { recoveryMs, maxMs },
    ...(signal && { signal }),
  });
  const not = (...verdicts: string[]) => document.results.filter(({ verdict }) => !verdicts.includes(verdict));
  const named = (id: string) => document.results.find((result) => result.id === id);
  return { document, steps, not, named, code: exitCodeOf(document) };
}

describe('a rotation of the secret', () => {
  it('passes at a receiver that accepts the secrets of each step, and leaves it as it was', async () => {
    const { document, steps, not, code } = await rotated(null, undefined, LONG_MS);
    expect({ code, others: not('pass') }).toEqual({ code: 0, others: [] });
    expect(document.rotation).toEqual({ steps: ['old', 'both', 'new'], switchedBy: 'command' });
    expect(steps).toEqual(['old', 'both', 'new', 'old']);
  });

  it('is not part of a run without a next secret', async () => {
    receiver = await startFaultyReceiver(null, { signing: { secrets: [OLD] } });
    const { results } = await run({
      partner: { url: receiver.url, signing: { secret: OLD } },
      selection: { scenarios: ['rotation/both-next', 'valid/plain'] },
    });
    expect(results.map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ['pass', ''],
      ['not-applicable', 'no next secret, see --next-secret-file'],
    ]);
  });

  it('asks a person for each step after the first, where no command switches the receiver', async () => {
    const requests: string[] = [];
    const { document, not } = await rotated(null, {
      ask: async (request) => {
        requests.push(request);
        receiver.reloadSecrets(SECRETS[requests.length === 1 ? 'both' : 'new']);
        return true;
      },
    });
    expect(not('pass')).toEqual([]);
    expect(document.rotation?.switchedBy).toBe('person');
    expect(document.advice).toEqual(['let the receiver accept only the old secret again, before the next run']);
    expect(requests).toEqual([
      'Let the receiver accept both secrets now, then press Enter',
      'Let the receiver accept only the new secret now, then press Enter',
    ]);
  });

  it('reports deliveries that are lost during the switch, and no others', async () => {
    const { not, code } = await rotated('rejects-after-a-switch', undefined, LONG_MS);
    const found = not('pass').map(({ id, verdict, reason }) => [id, verdict, reason]);
    const lost = expect.stringMatching(/^\d+ of \d+ deliveries rejected during the switch: answered 401$/);
    expect(found).toEqual([
      ['rotation/switch-to-both', 'warn', lost],
      ['rotation/switch-to-new', 'warn', lost],
    ]);
    expect(code).toBe(0);
  });
});

describe('a switch that does not end', () => {
  const hanging = () => new Promise<never>(() => {});

  it('by a person ends with the run', async () => {
    const { document } = await rotated(null, { ask: hanging }, SHORT_MS, { maxMs: 3000 });
    expect(document.partialReasons).toContain('time-limit');
  });

  it('by a function ends with the run', async () => {
    const switchTo = (step: RotationStep) => (step === 'old' ? Promise.resolve() : hanging());
    const { document } = await rotated(null, { switchTo }, SHORT_MS, { maxMs: 3000 });
    expect(document.partialReasons).toContain('time-limit');
  });

  it('keeps the results of the steps before it', async () => {
    const interruption = new AbortController();
    const switchTo = async (step: RotationStep) => {
      if (step === 'new') interruption.abort();
      receiver.reloadSecrets(SECRETS[step]);
    };
    const { document, named } = await rotated(null, { switchTo }, LONG_MS, { signal: interruption.signal });
    expect(document.interrupted).toBe(true);
    expect(document.rotation?.steps).toEqual(['old', 'both']);
    expect(named('rotation/both-next')?.verdict).toBe('pass');
  });
});

describe('a receiver that is away', () => {
  it.each([502, 0])('is not one that rejects a secret (%i)', async (status) => {
    let step: RotationStep = 'old';
    const endpoint = await serve(async (request, response) => {
      const body = await bodyOf(request);
      if (step === 'new') return status === 0 ? request.socket.destroy() : response.writeHead(status).end();
      const given = request.headers['x-service-signature'];
      const isValid = SECRETS[step].some((secret) => hmacOf(secret, body).toString('base64') === given);
      return response.writeHead(isValid ? 200 : 401).end();
    });
    onTestFinished(endpoint.close);
    receiver = await startFaultyReceiver(null, { signing: { secrets: SECRETS.old } });
    const switchTo = async (next: RotationStep) => {
      step = next;
    };
    const { results } = await run({
      partner: { url: endpoint.url, signing: { secret: OLD } },
      evidenceSources: { rotation: { nextSecret: NEXT, switchTo } },
      selection: { scenarios: ['rotation/after-next', 'rotation/both-next', 'rotation/switch-to-new'] },
      limits: { recoveryMs: SHORT_MS },
    });
    const verdicts = Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]));
    expect(verdicts).toEqual({
      'rotation/both-next': 'pass',
      'rotation/after-next': 'inconclusive',
      'rotation/switch-to-new': 'not-applicable',
    });
  });
});

describe('a command that does not switch the receiver back', () => {
  it('is advice in the report', async () => {
    const steps: RotationStep[] = [];
    const switchTo = async (step: RotationStep) => {
      if (steps.push(step) === 4) throw new Error('the file is read-only');
      receiver.reloadSecrets(SECRETS[step]);
    };
    const { document } = await rotated(null, { switchTo }, LONG_MS);
    expect(document.advice).toEqual(['step old of the rotation: it failed: the file is read-only']);
  });
});

describe('a receiver that is not switched leads to no conclusion', () => {
  const STAYS = /^the receiver was not switched: `--rotate-command` ended with exit code 0, and in every step it/;

  it('when it accepts the same in every step', async () => {
    const { document, not, named, code } = await rotated(null, { switchTo: async () => {} });
    expect(code).toBe(3);
    expect(document.rotation?.steps).toEqual(['old']);
    expect(named('rotation/before-next')?.verdict).toBe('pass');
    const others = not('pass').filter(({ id }) => !id.includes('/switch-to-'));
    expect(new Set(others.map(({ verdict }) => verdict))).toEqual(new Set(['inconclusive']));
    expect(others).toHaveLength(16);
    for (const { reason } of others) expect(reason).toMatch(STAYS);
    expect(named('rotation/switch-to-new')?.verdict).toBe('inconclusive');
  });

  it('when there is neither a command nor a terminal', async () => {
    const { named, document, code } = await rotated(null, {});
    expect(code).toBe(3);
    // Nothing was switched, so nothing needs to be switched back.
    expect([document.rotation, document.advice]).toEqual([undefined, []]);
    expect(named('rotation/after-old')?.reason).toContain('no `--rotate-command`, and no terminal for a prompt');
  });

  it('about what is sent again, when nothing was accepted before', async () => {
    const third = randomBytes(32).toString('base64');
    const switchTo = async (step: RotationStep) => receiver.reloadSecrets(step === 'old' ? [third] : SECRETS[step]);
    const { named } = await rotated(null, { switchTo });
    expect(named('rotation/after-old')?.verdict).toBe('pass');
    expect(named('rotation/after-replay')).toMatchObject({
      verdict: 'inconclusive',
      reason: 'no delivery was accepted in step old of the rotation',
    });
  });

  it.each<[string, Partial<RotationSource>, string]>([
    ['a person does not confirm it', { ask: async () => false }, 'step both of the rotation was not confirmed'],
    [
      'the command fails',
      { command: 'echo a-line-of-the-command; exit 7' },
      'step old of the rotation: `--rotate-command` ended with exit code 7, expected 0',
    ],
  ])('when %s', async (_, source, reason) => {
    const { document, named, code } = await rotated(null, source);
    expect(code).toBe(3);
    expect(named('rotation/both-next')).toMatchObject({ verdict: 'inconclusive', decidedBy: 'not-switched' });
    expect(named('rotation/both-next')?.reason).toContain(reason);
    expect(JSON.stringify(document)).not.toContain('a-line-of-the-command');
  });
});

describe('a receiver that was switched once answers for the rest', () => {
  it.each([
    ['next-secret-ignored', 'rotation/both-next', 'warn'],
    ['old-secret-dropped', 'rotation/both-old', 'warn'],
    ['old-secret-accepted-forever', 'rotation/after-old', 'fail'],
    ['new-secret-in-second-place', 'rotation/after-next', 'fail'],
  ])('%s', async (fault, id, verdict) => {
    const { named, code } = await rotated(fault);
    expect(named(id)?.verdict).toBe(verdict);
    expect(code).toBe(verdict === 'fail' ? 1 : 0);
  });
});
