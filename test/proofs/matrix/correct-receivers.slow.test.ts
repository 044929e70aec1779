/** Plays the catalogue against correct receivers in other styles, one test each. */
import { describe, expect, it } from 'vitest';
import { CORRECT_RECEIVERS, type CorrectReceiver } from './correct/index.ts';
import { findSubject, makeMaterial, missingPrograms, runAgainst } from './play.ts';

/** Programs that are too large to install for one receiver. Without them, the receiver is left out and reported. */
const LARGE = ['java', 'go'];

const material = makeMaterial();

/** Returns the alarms of a run against a receiver: every result other than a pass or not applicable. */
async function alarmsAgainst(name: string, scenarios: readonly string[] = []): Promise<readonly string[]> {
  const document = await runAgainst(findSubject(name), await material, scenarios);
  const alarms = document.results
    .filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable')
    .map(({ id, verdict, reason }) => `${verdict} ${id}: ${reason}`);
  if (document.judged !== document.planned) alarms.push(`${document.judged} of ${document.planned} judged`);
  if (document.verdict !== 'conformant') alarms.push(document.verdict);
  return alarms;
}

/**
 * Returns whether a receiver mostly waits for other processes or for time, so that several can run at the same time.
 */
function waits({ name, needs }: CorrectReceiver): boolean {
  return needs !== undefined || name === 'processes' || name === 'slow';
}

/** Registers a test for each wanted receiver. */
function noAlarms(wanted: (receiver: CorrectReceiver) => boolean): void {
  // Slow receivers are left to the matrix.
  for (const receiver of CORRECT_RECEIVERS.filter((one) => wanted(one) && one.name !== 'slow')) {
    const { name, title } = receiver;
    const missing = missingPrograms(findSubject(`correct:${name}`));
    if (missing.length > 0) process.stderr.write(`skipped: the receiver ${name} needs ${missing.join(', ')}\n`);
    if (missing.some((program) => LARGE.includes(program))) continue;
    const test = waits(receiver) ? it.concurrent : it;
    // The timeout is for a busy machine. No receiver takes more than a few seconds of work.
    (missing.length > 0 ? it.skip : test)(`${name}: ${title}`, { timeout: 300_000 }, async () => {
      expect(await alarmsAgainst(`correct:${name}`)).toEqual([]);
    });
  }
}

const EFFECTS = ['valid/plain', 'effects/hash-follows', 'effects/copies-in-turn', 'effects/amount-18-decimals'];

describe('correct receivers raise no alarm', () => {
  // `npm run matrix` plays all of them. This test plays one that answers every URL.
  noAlarms(({ name }) => name === 'catch-all-page');

  it('where their window states ids in another letter case, late, or without values', {
    timeout: 300_000,
  }, async () => {
    for (const name of ['effects-ids-in-upper-case', 'effects-batched', 'effects-without-values']) {
      expect(await alarmsAgainst(`correct:${name}`, EFFECTS)).toEqual([]);
    }
  });
});

describe('the list of correct receivers', () => {
  it('has unique names in kebab-case and a sentence for each', () => {
    const names = CORRECT_RECEIVERS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
    expect(CORRECT_RECEIVERS.filter(({ title }) => !/^[A-Z].*[^.]\.$/.test(title.replace(/^node:/, 'N')))).toEqual([]);
  });

  it('is checked by a test that reports alarms of a faulty receiver', { timeout: 300_000 }, async () => {
    expect(await alarmsAgainst('api-key-any-accepted', ['valid/plain', 'api-key/asterisk'])).toEqual([
      expect.stringMatching(/^fail api-key\/asterisk: /),
      'nonconformant',
    ]);
  });
});

// `npm run matrix` plays all of them. This test plays a program in another language, and one behind a proxy.
const HERE = ['python-http-server', 'behind-nginx'];

describe('correct receivers that are separate programs raise no alarm', () => {
  noAlarms((receiver) => waits(receiver) && HERE.includes(receiver.name));
});
