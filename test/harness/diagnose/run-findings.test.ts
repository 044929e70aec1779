import { describe, expect, it } from 'vitest';
import { explainMistake, MISTAKES } from '../../../contract/mistakes/index.ts';
import { diagnose, loadDictionary } from '../../../harness/diagnose/index.ts';
import { observationOf } from '../../../harness/diagnose/run-findings.ts';
import { faultOfMistake, signingTrials } from '../../../harness/diagnose/signing-trials.ts';
import type { Feature } from '../../../scenarios/index.ts';
import { exchangeWith, textBody } from '../report/documents.ts';
import { faultCalled, redOutcomes, resultsWith } from './played.ts';

const dictionary = await loadDictionary();
const BOTH: Feature[] = ['hmac', 'api-key'];

function diagnosed(
  outcomes: Record<string, string>,
  more: Partial<Parameters<typeof diagnose>[0]> = {},
  features = BOTH,
) {
  return diagnose({
    results: resultsWith(outcomes, features),
    outages: [],
    preflight: null,
    stack: null,
    features,
    partial: false,
    ...more,
  });
}

const outcomesOf = (name: string) => redOutcomes(faultCalled(dictionary, name));

describe('the diagnosis', () => {
  it('is empty when everything passes', async () => {
    expect(await diagnosed({})).toEqual([]);
  });

  it('names the mutant, its evidence, where it is seen, why it matters and the fix', async () => {
    const fault = faultCalled(dictionary, 'verifies-reserialised-json');
    const [main] = await diagnosed(redOutcomes(fault));
    expect(main).toMatchObject({
      relation: 'main',
      fault: fault.name,
      title: fault.title.replace(/\.$/, ''),
      mistake: fault.mistake,
      seen: MISTAKES[fault.mistake].seen,
      why: explainMistake(fault).why,
      fix: MISTAKES[fault.mistake].fix.rule,
      stack: null,
      evidence: expect.arrayContaining(['raw-body/spaces']),
    });
    expect([main?.agreement, main?.evidence.length]).toEqual([main?.outcomes, main?.outcomes]);
  });

  it('has the fix for the configured stack, or for the stack that the answers reveal', async () => {
    const fault = faultCalled(dictionary, 'verifies-reserialised-json');
    const { fix } = MISTAKES[fault.mistake];
    const [given] = await diagnosed(redOutcomes(fault), { stack: 'rails' });
    expect([given?.stack, given?.fix]).toEqual([
      { name: 'rails', source: '--stack' },
      `${fix.rule} ${fix.rails} A whole receiver: \`hookproof init --stack rails\`.`,
    ]);
    const headers: [string, string][] = [['Server', 'Werkzeug/3.1.3 Python/3.13.5']];
    const exchange = exchangeWith({ response: { status: 401, headers, body: textBody('') } });
    const results = resultsWith(redOutcomes(fault), BOTH).map((result) => ({ ...result, exchanges: [exchange] }));
    const [guessed] = await diagnosed({}, { results });
    expect([guessed?.stack?.name, guessed?.fix.includes(fix.flask ?? '?')]).toEqual(['flask', true]);
  });

  it('names both of two faults', async () => {
    const found = await diagnosed({
      ...outcomesOf('verifies-reserialised-json'),
      ...outcomesOf('api-key-case-ignored'),
    });
    expect(found.map(({ relation, fault }) => [relation, fault])).toEqual([
      ['main', 'verifies-reserialised-json'],
      ['also', 'api-key-case-ignored'],
    ]);
  });

  it('states what was observed when no known fault matches', async () => {
    const failures = {
      'valid/free-text-tags': 'fail 451',
      'typo-key/misspelt': 'fail 451',
      'raw-body/tabs': 'fail closed',
    };
    const [main, ...others] = await diagnosed(failures);
    expect(others).toEqual([]);
    expect(main).toMatchObject({
      fault: 'not-known',
      title:
        'Cause not known. Rejects 1 delivery that must be accepted; closes the connection on 1 delivery; answers 1 ' +
        'delivery with another status than expected',
      evidence: expect.arrayContaining(Object.keys(failures)),
    });
    expect([main?.posterior, main?.candidates]).toEqual([undefined, undefined]);
  });

  it('states leaks and answers that differ as what they are, although their status is the expected one', () => {
    const as = (decidedBy: string) => ({ outcome: '401', expectedOutcomes: ['401'], decidedBy });
    const results = [as('leak'), as('leak'), as('answers-differ')] as unknown as Parameters<typeof observationOf>[0];
    expect(observationOf(results)).toBe(
      'Answers 2 deliveries with something that no answer may contain; fails 1 check about several deliveries',
    );
  });

  it('states as accepted what must be rejected with any status', () => {
    const one = { outcome: '200', expectedOutcomes: ['3xx', '4xx'], decidedBy: 'forgery-accepted' };
    const results = [one, one, one] as unknown as Parameters<typeof observationOf>[0];
    expect(observationOf(results)).toBe('Accepts 3 deliveries that must be rejected');
  });

  it('has no finding for warnings alone that no known fault explains', async () => {
    expect(await diagnosed({ 'valid/free-text-tags': 'warn 451', 'raw-body/tabs': 'warn 451' })).toEqual([]);
  });

  it('names no fault whose checks mostly pass', async () => {
    const outcomes = Object.entries(outcomesOf('hashes-at-most-1-kib'));
    const some = Object.fromEntries(outcomes.slice(0, Math.ceil(outcomes.length * 0.4)));
    const found = await diagnosed(some);
    expect(found.map(({ fault }) => fault)).not.toContain('hashes-at-most-1-kib');
    expect(found[0]?.title).toMatch(/^Rejects \d+ deliveries|^Cause not known/);
  });

  it('states the answer of this receiver where the title names that of the mutant', async () => {
    const outcomes = Object.entries(outcomesOf('lone-surrogates-answer-500'));
    const closed = Object.fromEntries(outcomes.map(([id, outcome]) => [id, outcome.replace('500', 'closed')]));
    const [main] = await diagnosed(closed);
    const possible = main?.candidates?.[0]?.fault ?? main?.fault;
    expect(possible).toBe('lone-surrogates-answer-500');
    if (main?.candidates === undefined) expect(main?.title).toMatch(/; this receiver closes the connection instead$/);
  });

  it('reports that everything is accepted when every forgery and every payload is accepted', async () => {
    const everything = Object.fromEntries(
      resultsWith({}, BOTH)
        .filter(({ expectedOutcomes }) => expectedOutcomes?.includes('401'))
        .map(({ id }) => [id, 'fail 200']),
    );
    const results = resultsWith(everything, BOTH).map((result) =>
      result.suite === 'malformed' && result.verdict === 'pass' ? { ...result, outcome: '200' } : result,
    );
    const [main] = await diagnosed({}, { results });
    expect(main?.fault).toBe('accepts-everything');
    const [checked] = await diagnosed(outcomesOf('signature-not-checked'));
    expect(checked?.fault).toBe('signature-not-checked');
  });

  it('reports that a delivery stops the receiver, in addition to the mutant', async () => {
    const outage = {
      culprit: 'signature/missing',
      inFlight: ['signature/missing'],
      recovered: true,
      outcome: 'closed',
    };
    const outages = [outage] as unknown as Parameters<typeof diagnose>[0]['outages'];
    const found = await diagnosed(outcomesOf('missing-signature-kills'), { outages });
    expect(found.map(({ fault }) => fault)).toEqual(['missing-signature-kills', 'dies-and-is-restarted']);
    const [alone] = await diagnosed({ 'valid/sell': 'fail 451' }, { outages });
    expect(alone?.fault).toBe('dies-and-is-restarted');
    // The run ended before it could see whether the receiver recovered.
    const unknown = [outage, { ...outage, culprit: null, recovered: null }] as unknown as typeof outages;
    const [again] = await diagnosed({ 'valid/sell': 'fail 451' }, { outages: unknown });
    expect(again?.fault).toBe('dies-and-is-restarted');
  });

  it('reports an accepted forgery before two other failures', async () => {
    const forgery = outcomesOf('api-key-not-checked-in-test-mode');
    const others = { 'raw-body/escaped-slash': 'fail 500', 'valid/deposit-amount-38-digits': 'fail 451' };
    const results = resultsWith({ ...forgery, ...others }, BOTH).map((result) =>
      result.id in forgery ? { ...result, decidedBy: 'forgery-accepted' as const } : result,
    );
    const found = await diagnosed({}, { results });
    expect(found.map(({ fault }) => fault)).toEqual(['api-key-not-checked-in-test-mode', 'not-known']);
  });

  it('does not claim that a process ended if it still answers', async () => {
    const outage = {
      culprit: null,
      inFlight: ['valid/sell'],
      recovered: true,
      sign: 'the plain valid delivery got 503',
    };
    const outages = [outage] as unknown as Parameters<typeof diagnose>[0]['outages'];
    const [main] = await diagnosed({ 'valid/sell': 'fail 451' }, { outages });
    expect([main?.fault, main?.why.includes('got 503')]).toEqual(['valid-deliveries-refused-for-a-while', true]);
  });

  it('has one finding when every rejection has the wrong status, and names what is accepted', async () => {
    const status = { 'signature/status': 'fail 403', 'api-key/status': 'fail 403' };
    const found = await diagnosed({ ...outcomesOf('missing-signature-accepted'), ...status });
    expect(found.map(({ fault }) => fault)).toEqual(['missing-signature-accepted', 'refuses-with-403']);
    const [key] = await diagnosed({ 'api-key/status': 'fail 302' });
    expect([key?.fault, key?.title]).toEqual([
      'api-key-refused-by-redirect',
      'Rejects an invalid API key with 302 instead of 401',
    ]);
  });

  it('names a fault that rejects valid deliveries with the 5xx of every rejection', async () => {
    const rejected = outcomesOf('verifies-reserialised-json');
    const as500 = Object.entries(rejected).map(([id, outcome]) => [id, outcome.replace('401', '500')] as const);
    const found = await diagnosed({ ...Object.fromEntries(as500), 'signature/status': 'fail 500' });
    expect(found.map(({ fault }) => fault)).toEqual(['verifies-reserialised-json', 'refuses-with-500']);
    const more = Object.fromEntries(
      ['malformed/long-number', 'malformed/long-number-at', 'raw-body/exponent-400'].map((id) => [id, 'fail 500']),
    );
    const also = await diagnosed({ ...Object.fromEntries(as500), 'signature/status': 'fail 500', ...more });
    expect(also.map(({ fault }) => fault)).not.toContain('infinite-numbers-answer-500');
    const crashes = await diagnosed(Object.fromEntries(as500));
    expect(crashes.map(({ fault }) => fault)).not.toContain('verifies-reserialised-json');
  });

  it('has one finding when every acceptance has the wrong status', async () => {
    const [main] = await diagnosed({ 'valid/plain': 'fail 202' });
    expect([main?.fault, main?.title]).toEqual([
      'accepts-with-another-2xx',
      'Accepts valid deliveries with 202 instead of 200',
    ]);
  });

  it('lists what was accepted where no fault is known, and no fault without evidence', async () => {
    const found = await diagnosed({ 'signature/missing': 'fail 400', 'signature/empty': 'fail 400' });
    expect(found.map(({ fault }) => fault)).not.toContain('missing-signature-accepted');
    const all = await diagnosed(outcomesOf('signature-not-checked'));
    expect(all.every(({ agreement }) => agreement > 0)).toBe(true);
  });

  it('states no fault as certain in a partial run', async () => {
    const [main] = await diagnosed(outcomesOf('verifies-reserialised-json'), { partial: true });
    expect([main?.fault, main?.candidates?.[0]?.fault, main?.title.includes('. Possibly: ')]).toEqual([
      'one-of',
      'verifies-reserialised-json',
      true,
    ]);
  });

  it('names no fault of a feature that is not configured', async () => {
    const outcomes = outcomesOf('api-key-lengths-end-the-process');
    const found = await diagnosed(outcomes, {}, ['hmac']);
    const names = found.flatMap(({ fault, candidates = [] }) => [fault, ...candidates.map((one) => one.fault)]);
    expect(names.filter((name) => name.includes('key'))).toEqual([]);
  });
});

describe('the diagnosis of a rejected first delivery', () => {
  const mistake = 'wrong-digest-encoding';
  const preflight = {
    fault: 'hex',
    title: 'Hex instead of Base64',
    mistake,
    why: 'Why.',
    fix: 'Encode it with Base64.',
  };
  const refused = { 'valid/plain': 'fail 401' };

  it('names the mutant of the signing mistake that was accepted', async () => {
    const [main, ...others] = await diagnosed(refused, { preflight });
    const { seen } = MISTAKES[mistake];
    expect(others).toEqual([]);
    expect(main).toMatchObject({
      fault: 'expects-hex',
      title: preflight.title,
      mistake,
      fix: preflight.fix,
      seen,
      evidence: ['valid/plain'],
    });
  });

  it('names the finding of the preflight when no mutant matches, or several do', async () => {
    const path = { ...preflight, fault: 'wrong-path', title: 'No handler serves this path (404)' };
    expect(await diagnosed({ 'valid/plain': 'fail 410' }, { preflight: path })).toMatchObject([
      { fault: 'wrong-path', mistake },
    ]);
    const secret = { ...preflight, fault: 'refuses-right-credentials' };
    expect(await diagnosed(refused, { preflight: secret })).toMatchObject([{ fault: 'refuses-right-credentials' }]);
  });

  it('names the fault of a signing mistake, if the dictionary has one', () => {
    const trials = signingTrials({ secret: 'secret', url: 'https://partner.example/' });
    const faultFor = (mistake: string) => faultOfMistake(mistake, dictionary.faults)?.name;
    expect(new Set(trials.map(({ fault }) => faultFor(fault))).size).toBeGreaterThan(15);
    expect(['hex', 'go-json', 'trimmed-body', 'refuses-right-credentials'].map(faultFor)).toEqual([
      'expects-hex',
      'verifies-go-map-json',
      'trims-body',
      undefined,
    ]);
  });
});
