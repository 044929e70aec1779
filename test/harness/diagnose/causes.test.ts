import { describe, expect, it } from 'vitest';
import { MISTAKES } from '../../../contract/mistakes/index.ts';
import type { diagnose } from '../../../harness/diagnose/index.ts';
import { closeness } from '../../../harness/report/index.ts';
import type { Diagnosis, ScenarioResult } from '../../../harness/report/result-document.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';
import { played, SIGNING } from '../run/played.ts';
import { BOTH, diagnosed, resultsWith } from './played.ts';

const IDS = CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));

const all = (pattern: RegExp, outcome: string) =>
  Object.fromEntries(IDS.filter((id) => pattern.test(id)).map((id) => [id, outcome]));

const LEAK = { 'leaks/missing-key': 'fail api-key' };
const FORGED = { 'signature/missing': 'fail 200' };
const REFUSED = { 'valid/wallet-created': 'fail 400' };
const MALFORMED = { 'malformed/truncated': 'fail 500' };

const isRed = ({ verdict }: ScenarioResult) => verdict === 'fail' || verdict === 'warn';

describe('the causes', () => {
  it('are in the order of their harm, whatever their numbers', async () => {
    const found = await diagnosed({
      ...MALFORMED,
      ...REFUSED,
      ...FORGED,
      ...LEAK,
      ...all(/^signature\/empty/, 'fail 200'),
    });
    expect(found.map(({ evidence: [id] }) => id?.split('/')[0])).toEqual(['leaks', 'signature', 'valid', 'malformed']);
    expect(found.map(({ relation }) => relation)).toEqual(['main', 'also', 'also', 'also']);
  });

  it('count forged deliveries where no secret is needed', async () => {
    const outcomes = all(/^signature\/missing-(?:as-text|as-form|without-content-type|in-other-types)/, 'fail 200');
    const [main] = await diagnosed(outcomes);
    expect(main?.title).toContain('accepts forged deliveries');
  });

  it.each<[string, Record<string, string>, number]>([
    ['one check', FORGED, 1],
    ['a special case', { ...FORGED, 'signature/missing-as-text': 'fail 200' }, 1],
    ['every accepted delivery without a signature', all(/^signature\/(?:missing|empty|unsigned)/, 'fail 200'), 1],
    ['another harm', { ...FORGED, ...REFUSED }, 2],
    ['another credential', { ...FORGED, 'api-key/wrong': 'fail 200' }, 2],
    ['a warning in addition to a failure', { ...FORGED, 'http/header-20-kb': 'warn 431' }, 1],
    ['a warning alone', { 'http/header-20-kb': 'warn 431' }, 1],
    ['nothing', {}, 0],
  ])('are counted without consequences: %s', async (_, outcomes, count) => {
    const found = await diagnosed(outcomes);
    expect(found).toHaveLength(count);
    const failing = Object.keys(outcomes).filter((id) => outcomes[id]?.startsWith('fail'));
    expect(found.flatMap(({ evidence }) => evidence)).toEqual(expect.arrayContaining(failing));
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['all its checks', [], ['valid', 'api-key']],
    ['four of them', ['api-key/missing', 'api-key/empty', 'api-key/blank', 'api-key/wrong'], []],
  ])('are one if a key is compared only when it is present, also when empty: %s', async (_, ids, suites) => {
    const key = 'key-0123456789-abcdefgh';
    const { document } = await played(
      ({ request }) => [(request.headers['x-api-key'] || key) === key ? 200 : 401],
      ids,
      { apiKey: { value: key } },
      suites,
    );
    expect(document.diagnosis.map(({ mistake }) => mistake)).toEqual(['optional-key']);
    expect(document.diagnosis[0]?.evidence).toEqual(expect.arrayContaining(['api-key/missing', 'api-key/empty']));
  });

  it('have what a mistake implies, and nothing else', async () => {
    const byType = { 'signature/missing-as-text': 'fail 200', 'signature/missing-as-form': 'fail 200' };
    const type = { ...byType, 'signature/missing-without-content-type': 'fail 200' };
    const implied = await diagnosed({ ...type, 'signature/over-unread-body': 'fail 200' });
    expect(implied.map(({ mistake }) => mistake)).toEqual(['verification-per-content-type']);
    const other = await diagnosed({ ...type, 'signature/comma-behind': 'fail 200' });
    expect(other).toHaveLength(2);
  });

  it('have the worst harm of those with the same mistake', async () => {
    const answered500 = all(/^signature\/(?:missing|empty|blank)$/, 'fail 500');
    const found = await diagnosed({ ...answered500, 'signature/1-character': 'fail 200', ...REFUSED });
    expect(found.map(({ mistake }) => mistake)).toEqual(['signature-check-throws', 'valid-kind-rejected']);
  });

  it('never take a rejection as a malformed payload for an invalid signature', async () => {
    const bodies = (outcome: string) => all(/^raw-body\/(?:spaces|tabs|indent-2)$/, outcome);
    expect(await diagnosed(bodies('fail 401'))).toMatchObject([{ mistake: 'reserialised-body' }]);
    const [main] = await diagnosed(bodies('fail 400'));
    expect(main?.mistake).not.toBe('reserialised-body');
  });

  it.each(['500', '503', '409'])('do not say why a copy gets %s: it may have met a lock', async (status) => {
    const copies =
      /^delivery\/(?:(?:deposit-|wallet-)?twice|three-times|two-at-once|ten-at-once|same-id-other-layout)$/;
    const [found, ...others] = await diagnosed(all(copies, `warn ${status}`));
    expect([found?.mistake, others]).toEqual(['copy-rejected', []]);
    expect(found?.title).not.toMatch(/because|unique|^Rejects/);
    expect(`${found?.why} ${found?.fix}`).toMatch(/lock that the other delivery still holds|still holds a lock/);
  });

  it.each([
    ['fails intermittently', { ...all(/^valid\/steady$/, 'fail 503'), ...REFUSED }, true],
    ['answers 429', { 'http/burst': 'warn 429' }, true],
    ['accepts forgeries', FORGED, false],
  ])(
    'name the development server of Flask where it may be the reason: a receiver that %s',
    async (_, outcomes, named) => {
      const found = await diagnosed(outcomes, { stack: 'flask' });
      expect(found.some(({ fix }) => fix.includes('the failure may come from the development server'))).toBe(named);
      expect((await diagnosed(outcomes)).some(({ fix }) => fix.includes('development server'))).toBe(false);
    },
  );

  it('name the status that is wrong', async () => {
    const [main] = await diagnosed(all(/^signature\/(?:missing|empty|unsigned-sell|missing-as-text)$/, 'fail 400'));
    expect(main).toMatchObject({ mistake: 'wrong-refusal-status', title: expect.stringContaining('400') });
  });

  it('tell a list of kinds from one shape for all', async () => {
    const [one] = await diagnosed(all(/^valid\/tracking-(?:buy|sell|error)/, 'fail 400'));
    expect(one?.mistake).toBe('valid-kind-rejected');
    const others = all(/^valid\/(?:payment-method-(?:staged|declined)|wallet-created|deposit-on-chain)$/, 'fail 400');
    const [listed] = await diagnosed({ ...others, 'valid/unknown-type': 'warn 400' });
    expect(listed?.mistake).toBe('valid-kind-rejected');
  });

  it('tell that only orders are handled from a fault that shows in one of the other kinds', async () => {
    const { document } = await played(
      ({ correct, event }) => (event !== undefined && event.data.metadata?.orderStatus === undefined ? [500] : correct),
      [],
      SIGNING,
      ['valid', 'typo-key'],
    );
    expect(document.diagnosis.map(({ mistake }) => mistake)).toEqual(['one-shape-for-all-types']);
    expect(document.diagnosis[0]?.title).toMatch(/: answers 500 to valid deliveries of other kinds \(/);
    expect(document.diagnosis[0]?.evidence).toEqual(document.results.filter(isRed).map(({ id }) => id));
  });

  it('include rejected copies after every failure, although those are warnings', async () => {
    const copies = all(/^delivery\/(?:twice|three-times)$/, 'warn 409');
    const spaces = { 'signature/white-space-around': 'warn 401' };
    const found = await diagnosed({ ...FORGED, ...copies, ...spaces, ...MALFORMED });
    const evidence = ['signature/missing', 'malformed/truncated', 'delivery/twice'];
    expect(found.map(({ evidence: [id] }) => id)).toEqual(evidence);
  });

  it('tell an id that was recorded too early from a lock that is still held', async () => {
    const delivery = 'the valid notification with the same id';
    const blocked = (others: Readonly<Record<string, string>>) => {
      const results = resultsWith({ 'delivery/poisoned-metadata': 'warn 409', ...others }, BOTH);
      return diagnosed(
        {},
        { results: results.map((result) => ({ ...result, ...(/poisoned/.test(result.id) && { delivery }) })) },
      );
    };
    expect(await blocked({})).toMatchObject([{ mistake: 'resource-not-released' }]);
    const found = await blocked({ 'delivery/twice': 'warn 409' });
    expect(found.map(({ mistake }) => mistake)).toContain('remembered-before-checks');
    expect(found.map(({ title }) => title).join()).not.toContain('to no other request');
  });

  it('have the title of the mistake alone, where two checks would repeat it', async () => {
    const found = await diagnosed(all(/^(?:signature|api-key)\/white-space-around$/, 'fail 401'));
    expect(found.map(({ title }) => title)).toEqual([MISTAKES['untrimmed-signature'].title]);
  });

  it('take an inherited name for an unknown one where those fail as well', async () => {
    const inherited = { 'malformed/lookup-inherited': 'fail 500' };
    expect(await diagnosed(inherited)).toMatchObject([{ mistake: 'inherited-name-lookup' }]);
    const both = await diagnosed({ ...inherited, 'valid/unknown-caas-type': 'warn 500' });
    expect(both[0]?.mistake).toBe('unknown-values-rejected');
  });
});

/** Returns the diagnosis of a run with these outcomes, in which the receiver then stopped. */
function stopped(outcomes: Readonly<Record<string, string>>, others: Readonly<Record<string, string>> = {}) {
  const reds = { ...others, ...outcomes, 'delivery/stays-up': 'fail closed' };
  const results = resultsWith(reds, BOTH).map((result) =>
    result.id in outcomes ? { ...result, decidedBy: 'receiver-stopped' as const } : result,
  );
  const outages = Object.keys(outcomes).map((culprit) => ({
    culprit,
    inFlight: [culprit],
    recovered: true,
    outcome: 'closed',
    sign: '',
  }));
  return diagnosed({}, { results, outages: outages as unknown as Parameters<typeof diagnose>[0]['outages'] });
}

/**
 * A Flask receiver that verifies json.dumps(request.get_json()) in ASCII, accepts a missing key and reads fields of any
 * parsed value.
 */
const FLASK = {
  ...all(/^valid\/free-text-(?:unicode|emoji|invisible)$/, 'fail 401'),
  ...all(/^raw-body\/(?:spaces|tabs|indent-[24]|python-separators|mixed-space|leading-(?:lf|space))$/, 'fail 401'),
  ...all(/^raw-body\/(?:trailing-(?:crlf|lf|space|zero)|cr(?:lf)?-lines|negative-zero)$/, 'fail 401'),
  ...all(/^raw-body\/(?:exponent(?:-plus|-400)?|long-decimal|escape-upper|escaped-(?:html|letter|slash))$/, 'fail 401'),
  ...all(/^raw-body\/(?:raw-accent|raw-emoji|combining-accent|line-separator|delete-character)$/, 'fail 401'),
  ...all(/^raw-body\/(?:keys-repeated|empty-array|split-characters)$/, 'fail 401'),
  ...all(/^raw-body\/(?:byte-order-mark|charset-latin-1)$/, 'warn 401'),
  ...all(/^raw-body\/mirror-(?:javascript|trimmed|escapes|byte-order-mark)$/, 'fail 200'),
  ...all(/^raw-body\/mirror-(?:zero-byte|invalid-utf-8-twin|ignored-bytes)$/, 'warn 400'),
  ...all(/^api-key\/(?:missing|empty|blank|in-.*)$/, 'fail 200'),
  ...all(/^malformed\/(?:null|string|number|boolean|array|(?:id|type|data)-missing|data-null)$/, 'fail 500'),
};

const UNSIGNED = /^(?:signature\/(?:missing|unsigned-)|malformed\/unsigned-(?:json|null|binary|empty))/;

describe('what a cause says', () => {
  it('is the mistake, where the outcomes fit no variant of it well, and how many checks show it', async () => {
    const found = await diagnosed(FLASK);
    const body = found.find(({ mistake }) => mistake === 'reserialised-body');
    expect(found.length).toBeGreaterThan(1);
    expect(body).toMatchObject({ fault: 'reserialised-body', title: MISTAKES['reserialised-body'].title });
    expect(closeness(body as Diagnosis)).toBe('reserialised-body, shown by 37 checks');
  });

  it('is that the process ends, where it ended, and that 500 is answered, where it was', async () => {
    const [ended] = await stopped(all(UNSIGNED, 'fail closed'));
    expect(ended?.mistake).toBe('verification-ends-process');
    expect(ended?.title).toMatch(/^Ends the process/);
    const [closed] = await diagnosed(all(UNSIGNED, 'fail closed'));
    expect(closed?.title).toMatch(/^Closes the connection on/);
    const [answered] = await diagnosed(all(UNSIGNED, 'fail 500'));
    expect(answered?.title).toMatch(/^Answers 500/);
  });

  it('is the body, where it ends the process with and without a valid signature', async () => {
    const signed = { 'malformed/gzip-that-is-plain': 'fail closed', 'malformed/gzip-cut': 'fail closed' };
    const unsigned = { 'malformed/unsigned-gzip': 'fail closed' };
    const both = await stopped({ ...signed, ...unsigned });
    expect(both).toMatchObject([{ mistake: 'decompression-unguarded', why: expect.stringContaining('any check') }]);
    expect(both[0]?.title).toMatch(/: ends the process before any check on a plain body that is declared as gzip/);
    expect(both[0]?.evidence).toEqual(expect.arrayContaining([...Object.keys(signed), ...Object.keys(unsigned)]));
    // In a single check, the signature may be the reason.
    const [alone] = await stopped(unsigned);
    expect(alone?.mistake).toBe('verification-ends-process');
    const [anyone] = await stopped({ ...all(UNSIGNED, 'fail closed'), ...signed, ...unsigned });
    expect(anyone?.mistake).toBe('verification-ends-process');
  });

  it('is an end by anyone before one by signed deliveries', async () => {
    const empty = { 'signature/empty': 'fail closed', 'signature/blank': 'fail closed' };
    const signed = { 'malformed/string': 'fail closed', 'malformed/number': 'fail closed' };
    const [main] = await stopped({ ...empty, ...signed });
    expect(main?.title).toMatch(/^Ends the process on .* with an empty signature/);
    const [late] = await stopped({ 'signature/other-secret': 'fail 200' });
    expect(late?.title).toBe('Stops answering after a delivery that is signed with a different secret');
  });

  it('is the size of the body, where the check answers everything else correctly', async () => {
    const large = all(/^malformed\/unsigned-[18]-mb$|^signature\/over-beginning$/, 'fail 503');
    const payloads = { ...all(/^malformed\/size-(?:99|150)-kb$/, 'warn 503'), 'malformed/size-1-mb': 'fail 503' };
    const found = await diagnosed({
      ...large,
      ...payloads,
      'malformed/many-keys': 'fail 503',
      'signature/status': 'fail 400',
    });
    expect(found.map(({ mistake }) => mistake)).toEqual(['wrong-refusal-status', 'oversized-body-unhandled']);
    expect(found[1]?.title).not.toContain('400');
  });

  it('is that the body is parsed first, where forgeries with certain bodies alone are answered 500', async () => {
    const [main] = await diagnosed(all(/^malformed\/unsigned-(?:json|binary|depth)$/, 'fail 500'));
    expect(main?.mistake).toBe('parsing-before-verification');
  });

  it('is no rule about the contents of one delivery that got no answer in time', async () => {
    const [main] = await diagnosed({ 'valid/currencies': 'fail silence', 'valid/unknown-type': 'warn silence' });
    expect(main?.title).toBe('Does not answer a valid delivery in time (valid/currencies)');
  });
});
