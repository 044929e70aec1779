import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../harness/diagnose/facts.ts';
import { loadDictionary } from '../../../harness/diagnose/index.ts';
import { patternsOf, whatSuffices } from '../../../harness/diagnose/patterns.ts';
import type { ScenarioResult } from '../../../harness/report/result-document.ts';
import { exchangeWith, textBody } from '../report/documents.ts';
import { BOTH, faultCalled, redOutcomes, resultsWith } from './played.ts';

const FORGED = { 'signature/missing': 'fail 200', 'signature/other-secret': 'fail 200' };
const dictionary = await loadDictionary();

/** Returns the mistakes that the pattern finds, with parts of the results replaced. */
function mistakes(outcomes: Record<string, string>, of: typeof whatSuffices, parts: Partial<ScenarioResult> = {}) {
  const results = resultsWith(outcomes, [...BOTH, 'effects']).map((result) =>
    result.id in outcomes ? { ...result, ...parts } : result,
  );
  return of(factsOf(results, []), results).map(({ mistake }) => mistake);
}

const answering = (role: 'control' | 'probe', text: string) =>
  exchangeWith({ role, response: { status: 200, headers: [], body: textBody(text) } });

describe('the patterns', () => {
  it.each([
    ['{"error":"invalid signature"}', ['refused-with-success']],
    ['{"ok":true}', []],
  ])('know an acceptance that says no: %s', (text, found) => {
    const exchanges = [answering('control', '{"ok":true}'), answering('probe', text)];
    expect(mistakes(FORGED, patternsOf, { exchanges })).toEqual(found);
  });

  it.each([
    ['X-SSL-Client-Verify: SUCCESS', 'certificate-header-unprotected'],
    ['X-Forwarded-For: 127.0.0.1', 'spoofed-client-address'],
    ['X-Test-Mode: 1', 'test-mode-from-request'],
    ['X-Original-URL: /status', 'verification-per-path'],
    ['X-Forwarded-Path: /status', 'verification-per-path'],
  ])('know an isolated header: %s', (delivery, mistake) => {
    const id = 'signature/unsigned-forwarded-for-loopback';
    expect(mistakes({ [id]: 'fail 200' }, whatSuffices, { delivery })).toEqual([mistake]);
    expect(mistakes({ [id]: 'fail 200' }, whatSuffices)).toEqual([]);
  });

  it('know a server name that needs no client certificate, whatever it is called', () => {
    const parts = {
      delivery: 'the server name url.test (SNI)',
      verdict: 'fail',
      decidedBy: 'forgery-accepted',
    } as const;
    const found = mistakes({ 'mtls/other-server-names': 'fail 200' }, whatSuffices, parts);
    expect(found).toEqual(['certificate-check-conditional']);
  });

  it.each([
    ['on new connections alone', {}, ['ids-kept-in-memory']],
    ['on one connection as well', { 'effects/copies-in-turn': 'fail handled-twice' }, []],
    ['and nothing is known of one connection', { 'effects/copies-in-turn': 'inconclusive seen' }, []],
  ])('know ids that each process remembers: copies are handled again %s', (_, more, found) => {
    const onNew = { 'effects/copies-on-new-connections': 'fail handled-twice' };
    const effects = [{ delivery: 'copy 1', times: 2, tookMs: 1 }];
    expect(mistakes({ ...onNew, ...more }, patternsOf, { effects })).toEqual(found);
  });

  it.each([
    ['missing-signature-accepted', ['absent-signature-passes']],
    ['signature-not-checked', ['no-signature-verification']],
    ['api-key-not-checked', ['unchecked-key']],
    ['default-secret-accepted', []],
    ['verifies-reserialised-json', []],
  ])('know which credentials suffice: %s', (name, found) => {
    expect(mistakes(redOutcomes(faultCalled(dictionary, name)), whatSuffices)).toEqual(found);
  });

  it('know valid deliveries that fail now and then from the check of that alone', () => {
    expect(mistakes({ 'valid/steady': 'fail seen' }, patternsOf)).toHaveLength(1);
    expect(mistakes({ 'delivery/ten-at-once': 'fail 500' }, patternsOf)).toEqual([]);
  });

  it('know mixed-up deliveries from valid ones that are refused as forged among these', () => {
    const of = (outcome: string) => {
      const hole = { 'signature/missing-as-text': 'fail 200' };
      const results = resultsWith({ 'valid/steady': 'fail seen', 'http/burst-mixed': outcome, ...hole }, BOTH);
      const answered = { class: 'rejected', status: 401 } as const;
      const rejecting = results.map((one) => ({
        ...one,
        ...(one.suite === 'signature' && { answered }),
        ...(one.id === 'http/burst-mixed' && { delivery: 'valid delivery 1' }),
      }));
      return patternsOf(factsOf(rejecting, []), rejecting);
    };
    const [mixed, ...others] = of('fail 401');
    expect([mixed?.mistake, others]).toEqual(['state-shared-by-requests', []]);
    // A forgery that is accepted on its own is a different defect.
    expect(mixed?.evidence).toEqual(['valid/steady', 'http/burst-mixed']);
    expect(of('fail 500').map(({ mistake }) => mistake)).toEqual(['intermittent-failures']);
  });
});
