import { describe, expect, it } from 'vitest';
import { explainMistake, MISTAKES } from '../../../contract/mistakes/index.ts';
import { type diagnose, loadDictionary } from '../../../harness/diagnose/index.ts';

import { faultOfMistake, signingTrials } from '../../../harness/diagnose/signing-trials.ts';
import { exchangeWith, textBody } from '../report/documents.ts';
import { BOTH, diagnosed, faultCalled, redOutcomes, resultsWith } from './played.ts';

const dictionary = await loadDictionary();

const outcomesOf = (name: string) => redOutcomes(faultCalled(dictionary, name));

describe('the diagnosis', () => {
  it('says so when it fails itself, and the results stay', async () => {
    const results = resultsWith({ 'signature/missing': 'fail 200' }, BOTH);
    const broken = results.map((result) => Object.defineProperty({ ...result }, 'exchanges', { value: null }));
    const [main] = await diagnosed({}, { results: broken });
    expect(main?.title).toMatch(/^The diagnosis failed because of a bug in hookproof: TypeError/);
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
      `${fix.rule} ${fix.rails} A complete receiver: \`hookproof init --stack rails\`.`,
    ]);
    const headers: [string, string][] = [['Server', 'Werkzeug/3.1.3 Python/3.13.5']];
    const exchange = exchangeWith({ response: { status: 401, headers, body: textBody('') } });
    const results = resultsWith(redOutcomes(fault), BOTH).map((result) => ({ ...result, exchanges: [exchange] }));
    const [guessed] = await diagnosed({}, { results });
    expect([guessed?.stack?.name, guessed?.fix.includes(fix.flask ?? '?')]).toEqual(['flask', true]);
  });

  it('does not refer to a recipe, which has no TLS, for a mistake in TLS', async () => {
    const fault = faultCalled(dictionary, 'client-certificate-optional');
    const features = [...BOTH, 'https', 'mtls'] as const;
    const [main] = await diagnosed(redOutcomes(fault), { stack: 'go' }, features);
    const { rule, go } = MISTAKES[fault.mistake].fix;
    expect([main?.fault, main?.fix]).toEqual([fault.name, `${rule} ${go}`]);
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

  it('reports that a delivery stops the receiver, unless a mutant says it', async () => {
    const outage = {
      culprit: 'signature/missing',
      inFlight: ['signature/missing'],
      recovered: true,
      outcome: 'closed',
    };
    const outages = [outage] as unknown as Parameters<typeof diagnose>[0]['outages'];
    const found = await diagnosed(outcomesOf('missing-signature-kills'), { outages });
    expect(found.map(({ fault }) => fault)).toEqual(['missing-signature-kills']);
    const [alone] = await diagnosed({ 'valid/sell': 'fail 451' }, { outages });
    expect(alone?.fault).toBe('dies-and-is-restarted');
    // The run ended before it could see whether the receiver recovered.
    const unknown = [outage, { ...outage, culprit: null, recovered: null }] as unknown as typeof outages;
    const [again] = await diagnosed({ 'valid/sell': 'fail 451' }, { outages: unknown });
    expect(again?.fault).toBe('dies-and-is-restarted');
  });

  it('advises a supervisor if work after an answer may have stopped the receiver', async () => {
    const outage = { culprit: null, recovered: false, sign: 'no answer', outcome: 'closed', inFlight: ['valid/plain'] };
    const fixAfter = async (more: object) => {
      const outages = [{ ...outage, ...more }] as unknown as Parameters<typeof diagnose>[0]['outages'];
      return (await diagnosed({}, { outages }))[0]?.fix;
    };
    expect(await fixAfter({ recent: ['valid/steady'] })).toContain('let a supervisor restart the receiver');
    expect(await fixAfter({})).not.toContain('supervisor');
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

  it('says what the deliveries in flight share, and that a receiver without an answer is busy', async () => {
    const outage = { culprit: null, recovered: false, sign: 'no answer' };
    const titleAfter = async (outcome: string, inFlight: readonly string[]) => {
      const outages = [{ ...outage, outcome, inFlight }] as unknown as Parameters<typeof diagnose>[0]['outages'];
      return (await diagnosed({}, { outages }))[0]?.title;
    };
    const stopped = 'A single delivery stops the receiver, and it does not recover';
    expect(await titleAfter('closed', ['malformed/null', 'malformed/array', 'valid/sell'])).toBe(
      `${stopped} (perhaps one with a malformed payload, 2 of 3 in flight)`,
    );
    expect(await titleAfter('closed', ['malformed/null', 'signature/missing', 'valid/sell'])).toBe(stopped);
    expect(await titleAfter('silence', ['malformed/null'])).toBe('The receiver stops answering during the run');
  });

  it('names five of the deliveries in flight, where no check lists them', async () => {
    const inFlight = resultsWith({}, BOTH).flatMap(({ id, suite }) => (suite === 'malformed' ? id : []));
    const outage = { culprit: null, recovered: true, sign: 'no answer', outcome: 'closed', inFlight };
    const outages = [outage] as unknown as Parameters<typeof diagnose>[0]['outages'];
    const results = resultsWith({}, BOTH).filter(({ suite }) => suite === 'malformed');
    const [main] = await diagnosed({}, { outages, results });
    expect(main?.title).toMatch(/ \(perhaps one with .* in flight\): one of [^:]+$/);
    expect(main?.title.split(', malformed/')).toHaveLength(5);
    expect(main?.title).toMatch(new RegExp(` and ${inFlight.length - 5} more$`));
  });

  it('has one finding when every rejection or acceptance has the wrong status, after what is accepted', async () => {
    const status = { 'signature/status': 'fail 403', 'api-key/status': 'fail 403' };
    const found = await diagnosed({ ...outcomesOf('missing-signature-accepted'), ...status });
    expect(found.map(({ fault }) => fault)).toEqual(['missing-signature-accepted', 'refuses-with-403']);
    expect(await diagnosed({ 'api-key/status': 'fail 302' })).toMatchObject([
      { fault: 'api-key-refused-by-redirect', title: 'Rejects an invalid API key with 302 instead of 401' },
    ]);
    expect(await diagnosed({ 'valid/plain': 'fail 202' })).toMatchObject([
      { fault: 'accepts-with-another-2xx', title: 'Accepts valid deliveries with 202 instead of 200' },
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

  it('states the mistake and no mutant in a partial run', async () => {
    const mistake = 'reserialised-body';
    const found = await diagnosed(outcomesOf('verifies-reserialised-json'), { partial: true });
    expect(found).toMatchObject([{ fault: mistake, mistake, title: MISTAKES[mistake].title, alike: [] }]);
  });

  it('does not say that one credential is enough where none is needed', async () => {
    const both = ['missing', 'wrong'].flatMap((signature) =>
      ['missing', 'wrong'].map((key) => [`combination/${signature}-signature-${key}-key`, 'fail 200']),
    );
    const one = outcomesOf('either-credential');
    const enough = await diagnosed(one);
    expect(enough.map(({ fault }) => fault)).toEqual(['either-credential']);
    const found = await diagnosed({ ...one, ...Object.fromEntries(both) });
    expect(found.map(({ mistake }) => mistake)).not.toContain('one-credential-enough');
  });

  it('names no fault of a feature that is not configured', async () => {
    const outcomes = outcomesOf('api-key-lengths-end-the-process');
    const found = await diagnosed(outcomes, {}, ['hmac']);
    expect(found.filter(({ fault }) => fault.includes('key'))).toEqual([]);
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
