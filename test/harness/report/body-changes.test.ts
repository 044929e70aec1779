import { describe, expect, it } from 'vitest';
import { bodyChangeInWords, bodyComparison, changesInWords } from '../../../harness/report/body-changes.ts';
import { changedBytes } from '../../../harness/report/changed-bytes.ts';
import type { Exchange } from '../../../harness/report/result-document.ts';

const PLAIN = '{"id":"7e57ca5e-1","type":"CAAS","data":{"memo":"test","status":"COMPLETED"},"errorData":null}';

const compared = (text: string | Uint8Array) => {
  const bytes = Buffer.from(text as string);
  return { bytes, length: bytes.length };
};

function inWords(sent: string | Uint8Array): string {
  const [one, plain] = [compared(sent), compared(PLAIN)];
  return bodyChangeInWords(one, plain, changedBytes(one.bytes, plain.bytes, null));
}

function comparison(sent: string, width = 60): string[] {
  const [one, plain] = [Buffer.from(sent), Buffer.from(PLAIN)];
  return bodyComparison(one, plain, changedBytes(one, plain, null), { width, space: '·', maxPlaces: 2 });
}

describe('the change of a body in words', () => {
  it.each([
    [PLAIN.replace('"type":', '"type":  '), '2 spaces added after `"type":` (94 -> 96 bytes)'],
    [PLAIN.replaceAll(':', ': '), '6 spaces added, first after `"id":` (94 -> 100 bytes)'],
    [`${PLAIN}\n`, '1 line feed added at the end (94 -> 95 bytes)'],
    [`${PLAIN}\r\n`, '2 bytes of whitespace added at the end (94 -> 96 bytes)'],
    [`\ufeff${PLAIN}`, '`\\ufeff` added at the start (94 -> 97 bytes)'],
    [PLAIN.replace('COMPLETED', 'PENDING'), '`COMPLETED` -> `PENDING` after `"status":"` (94 -> 92 bytes)'],
    [PLAIN.replace('"memo":"test",', ''), '`memo":"test","` removed after `"data":{"` (94 -> 80 bytes)'],
    [PLAIN.replace('test', 'rest').replace('null', 'true'), '`test` -> `rest` after `"memo":"`, and 1 more change'],
    ['', 'empty (94 -> 0 bytes)'],
    ['{}', 'another text, `{}` (94 -> 2 bytes)'],
  ])('%s', (sent, words) => {
    expect(inWords(sent)).toBe(words);
  });

  it('names each byte that is not UTF-8', () => {
    const [before, after] = PLAIN.split('test').map((text) => Buffer.from(text));
    const sent = Buffer.concat([before ?? Buffer.of(), Buffer.of(0xff, 0xe9), after ?? Buffer.of()]);
    expect(inWords(sent)).toBe('`test` -> `\\xff\\xe9` after `"memo":"` (94 -> 92 bytes)');
  });

  it('shows where a longer text begins to differ', () => {
    const long = PLAIN.replace('test', 'a'.repeat(900));
    const [one, plain] = [compared(long), compared(PLAIN)];
    expect(bodyChangeInWords(one, plain, null)).toMatch(/^another text after `"memo":"`, `a+…` \(94 -> 990 bytes\)$/);
  });
});

describe('the comparison of two bodies', () => {
  it('shows the plain text above the sent one, with changed spaces visible', () => {
    expect(comparison(PLAIN.replace('"type":', '"type": '))).toEqual([
      '- …a5e-1","type":"CAAS","data":…',
      '+ …a5e-1","type":·"CAAS","data":…',
    ]);
  });

  it('has lines of at most the width, and counts the places that are left out', () => {
    const lines = comparison(PLAIN.replaceAll(':', ':\n\t'), 40);
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    expect(lines.at(-1)).toMatch(/^and \d more changes$/);
    expect(lines).toHaveLength(5);
    expect(lines.join('')).toContain('":\\n\\t"');
  });

  it('marks an empty body', () => {
    expect(comparison('')).toEqual([`- ${PLAIN.slice(0, 57)}…`, '+ (empty)']);
  });
});

describe('the changes of a probe', () => {
  const exchange = (role: Exchange['role'], text: string, changes: Exchange['changes'] = []): Exchange => ({
    role,
    label: role,
    changes,
    request: {
      method: 'POST',
      target: '/',
      headers: [],
      body: { length: Buffer.byteLength(text), text, base64: null, truncated: false },
    },
    response: null,
    error: null,
    timings: { connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0, reused: false },
  });
  const probe = exchange('probe', PLAIN.replace('CAAS', 'TEST'), [
    { stage: 'compose', label: 'another notification' },
    { stage: 'serialise', label: 'other bytes for the body' },
    { stage: 'sign', label: 'no signature header' },
  ]);

  it('say which bytes of the body differ from the control, once, and the label of every other stage', () => {
    const exchanges = [exchange('control', PLAIN), probe, exchange('control', PLAIN)];
    expect(changesInWords({ exchanges }, probe)).toEqual([
      'body: `CAAS` -> `TEST` after `"type":"`',
      'signature: no signature header',
    ]);
  });

  it('are the labels alone where there is no control', () => {
    expect(changesInWords({ exchanges: [probe] }, probe)).toEqual([
      'compose: another notification',
      'serialise: other bytes for the body',
      'signature: no signature header',
    ]);
  });
});
