import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../harness/diagnose/facts.ts';
import { loadDictionary } from '../../../harness/diagnose/index.ts';
import { patternsOf, whatSuffices } from '../../../harness/diagnose/patterns.ts';
import type { ScenarioResult } from '../../../harness/report/result-document.ts';
import { exchangeWith, textBody } from '../report/documents.ts';
import { BOTH, faultCalled, redOutcomes, resultsWith } from './played.ts';

const FORGED = { 'signature/missing': 'fail 200', 'signature/other-secret': 'fail 200' };
const dictionary = await loadDictionary();

/** The mistakes of the patterns, with parts of the results replaced. */
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
  ])('know an isolated header: %s', (delivery, mistake) => {
    const id = 'signature/unsigned-forwarded-for-loopback';
    expect(mistakes({ [id]: 'fail 200' }, whatSuffices, { delivery })).toEqual([mistake]);
    expect(mistakes({ [id]: 'fail 200' }, whatSuffices)).toEqual([]);
  });

  it.each([
    ['3 of 4', ['copies-by-content']],
    ['2 of 4', []],
  ])('know that only the first notification is handled: %s are not', (share, found) => {
    const reason = `${share} accepted notifications not handled in time`;
    expect(mistakes({ 'effects/accepted-handled': 'fail not-handled' }, patternsOf, { reason })).toEqual(found);
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
});
