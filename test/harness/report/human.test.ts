import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderHuman } from '../../../harness/report/index.ts';
import {
  BASELINE,
  diagnosisWith,
  documentOf,
  documentWith,
  exchangeWith,
  KNOWN,
  resultWith,
  textBody,
} from './documents.ts';

const PLAIN = { columns: 80, color: false, unicode: true };

const CURL = [
  `body='{"id":"1"}'`,
  'curl -sS -X POST "$HOOKPROOF_URL" \\',
  `  -H 'Content-Type: application/json' \\`,
  '  --data-binary "$body"',
].join('\n');

/** Has something in every section of the report. */
const eventful = documentWith({
  profile: 'staging',
  advice: ['The HMAC secret has 12 characters; 32 or more are recommended.'],
  diagnosis: [
    diagnosisWith({
      fault: 'skips-missing-signature',
      title: 'Checks a signature only when there is one',
      agreement: 31,
      outcomes: 31,
      alike: ['empty-signature-accepted'],
      why: 'The check runs only when the header is present, so a sender that omits it passes without any check.',
      fix: 'Answer 401 when the header is absent.',
      stack: { name: 'express', told: 'X-Powered-By: Express' },
    }),
    diagnosisWith({
      relation: 'or',
      fault: 'accepts-everything',
      title: 'Accepts everything',
      agreement: 27,
      outcomes: 31,
    }),
  ],
  notVerified: [
    { requirement: 'tls-minimum', text: 'TLS 1.2 or higher.', reason: 'It needs a TLS probe.' },
    { requirement: 'tls-trusted', text: 'A trusted certificate.', reason: 'It needs a TLS probe.' },
    { requirement: 'hmac-timing', text: 'The comparison is constant-time.', reason: 'A network hides it.' },
  ],
  results: [
    resultWith({ id: 'valid/buy', expected: '200', observed: '200' }),
    resultWith({
      verdict: 'fail',
      observed: '200',
      reason: 'accepted an unsigned delivery with 200',
      reproduce: { curl: CURL, command: 'hookproof run --scenario signature/missing' },
      exchanges: [
        exchangeWith({ role: 'control', label: 'control before', changes: [] }),
        exchangeWith({ response: { status: 200, headers: [], body: textBody('\x1b[2Jall fine\u202e') } }),
      ],
    }),
    resultWith({ id: 'http/case', verdict: 'warn', level: 'should', title: 'Takes any letter case', observed: '403' }),
    resultWith({ id: 'http/slow', verdict: 'inconclusive', reason: 'rate-limited: the endpoint answered 429' }),
    resultWith({ id: 'malformed/array', reason: 'answered 200, which is allowed; preferred: any 4xx' }),
    resultWith({ id: 'tls/client', verdict: 'not-applicable', reason: 'mtls is off' }),
    resultWith({ id: 'tls/other', verdict: 'not-applicable', reason: 'mtls is off' }),
  ],
});

function lines(...text: string[]): string {
  return `${text.join('\n')}\n`;
}

describe('the terminal report', () => {
  it('is short when every check passes', () => {
    expect(renderHuman(documentWith(), PLAIN)).toBe(
      lines(
        '✓ CONFORMANT  http://127.0.0.1:8080/hooks',
        '  1 passed',
        '  security features: hmac, api-key',
        '',
        'suite     pass fail warn inconclusive  n/a error',
        'signature    1    0    0            0    0     0',
        '',
        '1 of 1 planned checks evaluated, 3 requests, 840 ms, seed 7f3a',
      ),
    );
  });

  it('reports unexplained failures', () => {
    const failed = ['a', 'b', 'c'].map((slug) => resultWith({ id: `signature/${slug}`, verdict: 'fail' }));
    expect(renderHuman(documentWith({ results: failed }), PLAIN)).toContain('No known fault explains these failures');
    const diagnosis = [diagnosisWith({ evidence: ['signature/a'] })];
    const partly = renderHuman(documentWith({ results: failed, diagnosis }), PLAIN);
    expect(partly).toContain('also      2 other failures that this does not explain: signature/b');
    expect(renderHuman(documentWith(), PLAIN)).not.toMatch(/behaves like|No mistake/);
  });

  it('reports a second fault', () => {
    const also = diagnosisWith({ relation: 'also', fault: 'other', title: 'Takes any key' });
    const report = renderHuman(documentWith({ diagnosis: [diagnosisWith(), also] }), PLAIN);
    expect(report).toMatch(/A missing signature is accepted\n[\s\S]*\n {2}in addition\n {2}Takes any key\n/);
  });

  it('separates known failures from new ones, and lists stale entries', () => {
    const results = [
      resultWith({ verdict: 'fail', observed: '200', known: KNOWN }),
      resultWith({ id: 'signature/new', verdict: 'fail' }),
    ];
    const report = renderHuman(documentWith({ results, baseline: BASELINE }), PLAIN);
    for (const part of [
      '2 failed (1 known)',
      'the run fails because of 1 stale entry in known.yaml',
      'Failures (1)\n',
      '✗ raw-body/tabs passes now.\n',
      'Known failures (1), from known.yaml\n  ✗ signature/missing: 200\n',
      '\n    The gateway. (owner: payments, until 2099-12-31)',
    ]) {
      expect(report).toContain(part);
    }
  });

  it('starts with the diagnosis and its fix', () => {
    expect(renderHuman(eventful, PLAIN)).toBe(
      lines(
        '✗ NOT CONFORMANT  http://127.0.0.1:8080/hooks',
        '  1 failed, 1 warning, 1 inconclusive, 2 passed, 2 not applicable',
        '  security features: hmac, api-key; profile staging',
        '',
        'Diagnosis',
        '  Checks a signature only when there is one',
        '  skips-missing-signature, matches 31 of 31 outcomes',
        '  evidence  signature/missing',
        '  seen in   Middlewares that look only at headers that are there.',
        '  why       The check runs only when the header is present, so a sender that',
        '            omits it passes without any check.',
        '  fix       Answer 401 when the header is absent.',
        '  for       express (X-Powered-By: Express)',
        '  more      hookproof explain skips-missing-signature',
        '  same as   empty-signature-accepted: this run cannot distinguish them',
        '  or        Accepts everything (accepts-everything, matches 27 of 31 outcomes)',
        '',
        'Failures (1)',
        '',
        'signature',
        '  ✗ fail  Rejects a delivery without a signature',
        '    check     signature/missing (must)',
        '    expected  401',
        '    observed  200',
        '    reason    accepted an unsigned delivery with 200',
        '    changed   signature: no signature header',
        '    answer    200, 15 bytes: \\x1b[2Jall fine\\u202e',
        '    why       Anyone who knows the URL could send notifications.',
        '    fix       Treat a missing header like an invalid one: answer 401.',
        '    rerun     hookproof run --scenario signature/missing',
        '    curl',
        `      body='{"id":"1"}'`,
        '      curl -sS -X POST "$HOOKPROOF_URL" \\',
        "        -H 'Content-Type: application/json' \\",
        '        --data-binary "$body"',
        '',
        'Warnings (1)',
        '',
        'http',
        '  ! warn  Takes any letter case',
        '    check     http/case (should)',
        '    expected  401',
        '    observed  403',
        '    why       Anyone who knows the URL could send notifications.',
        '    fix       Treat a missing header like an invalid one: answer 401.',
        '    rerun     hookproof run --scenario http/case',
        '',
        'Inconclusive (1)',
        '  ? 1 check: rate-limited: the endpoint answered 429',
        '    http/slow',
        '',
        'Passed with a note (1)',
        '  ✓ 1 check: answered 200, which is allowed; preferred: any 4xx',
        '    malformed/array',
        '',
        'Not applicable (2)',
        '  - 2 checks: mtls is off',
        '',
        'Advice',
        '  ! The HMAC secret has 12 characters; 32 or more are recommended.',
        '',
        'Not verifiable by black-box tests (3)',
        '  - tls-minimum: TLS 1.2 or higher.',
        '  - tls-trusted: A trusted certificate.',
        '    It needs a TLS probe.',
        '  - hmac-timing: The comparison is constant-time.',
        '    A network hides it.',
        '',
        'suite     pass fail warn inconclusive  n/a error',
        'valid        1    0    0            0    0     0',
        'signature    0    1    0            0    0     0',
        'http         0    0    1            1    0     0',
        'malformed    1    0    0            0    0     0',
        'tls          0    0    0            0    2     0',
        '',
        '4 of 7 planned checks evaluated, 15 requests, 840 ms, seed 7f3a',
      ),
    );
  });

  it('gives the reason for many inconclusive checks once', () => {
    const reason =
      'control refused: the plain valid delivery before it got no answer: nothing is listening on 127.0.0.1';
    const ids = ['valid/buy', 'valid/sell', 'signature/missing', 'signature/hex', 'signature/other-secret'];
    const document = documentWith({
      results: ids.map((id) => resultWith({ id, verdict: 'inconclusive', observed: '', reason })),
    });
    expect(renderHuman(document, PLAIN)).toBe(
      lines(
        '? NO VERDICT  http://127.0.0.1:8080/hooks',
        '  5 inconclusive',
        '  security features: hmac, api-key',
        '  nothing can be said about the endpoint',
        '',
        'Inconclusive (5)',
        '  ? 5 checks: control refused: the plain valid delivery before it got no answer:',
        '    nothing is listening on 127.0.0.1',
        '    2 in valid, 3 in signature',
        '',
        'suite     pass fail warn inconclusive  n/a error',
        'valid        0    0    0            2    0     0',
        'signature    0    0    0            3    0     0',
        '',
        '0 of 5 planned checks evaluated, 5 not run, 11 requests, 840 ms, seed 7f3a',
      ),
    );
  });

  it('shows only the first failure of each cause in full', () => {
    const results = [
      ...Array.from({ length: 30 }, (_, index) =>
        resultWith({ id: `signature/forged-${index}`, verdict: 'fail', observed: '200' }),
      ),
      ...Array.from({ length: 20 }, (_, index) =>
        resultWith({ id: `malformed/broken-${index}`, verdict: 'fail', expected: '4xx', observed: '500' }),
      ),
    ];
    const report = renderHuman(documentWith({ results }), PLAIN).split('\n');
    expect(report.filter((line) => line.includes('✗ fail'))).toHaveLength(2);
    expect(report.filter((line) => line.startsWith('    check'))).toEqual([
      '    check     signature/forged-0 (must)',
      '    check     malformed/broken-0 (must)',
    ]);
    expect(report.filter((line) => line.startsWith('  ✗ signature/'))).toEqual(
      Array.from({ length: 29 }, (_, index) => `  ✗ signature/forged-${index + 1}: expected 401, observed 200`),
    );
    expect(report.filter((line) => line.startsWith('  ✗ malformed/'))).toHaveLength(19);
    expect(report.filter((line) => line.includes('hookproof explain ID'))).toHaveLength(1);
    expect(report.length).toBeLessThan(100);
  });

  it('shows at most twelve failures in full', () => {
    const results = Array.from({ length: 40 }, (_, index) =>
      resultWith({ id: `signature/forged-${index}`, verdict: 'fail', observed: `${500 + index}` }),
    );
    const report = renderHuman(documentWith({ results }), PLAIN);
    expect(report.split('\n').filter((line) => line.includes('✗ fail'))).toHaveLength(12);
    for (const { id } of results) expect(report).toContain(id);
  });

  it('refers to the JSON report for a long script', () => {
    const curl = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
    const result = resultWith({ verdict: 'fail', observed: '200', reproduce: { curl, command: 'hookproof run' } });
    const report = renderHuman(documentWith({ results: [result] }), PLAIN);
    expect(report).toContain('    curl      a script of 40 lines: see --reporter json\n');
    expect(report).not.toContain('line 1');
  });

  it('marks an interrupted run, a strict run and a harness error', () => {
    const warned = documentWith({ results: [resultWith({ verdict: 'warn' })], strict: true, verdict: 'nonconformant' });
    expect(renderHuman(warned, PLAIN)).toContain('  strict: warnings fail the run\n');
    const cut = documentWith({ interrupted: true, planned: 9 });
    expect(renderHuman(cut, PLAIN)).toContain('  interrupted: only a run of the whole catalogue gives a verdict\n');
    expect(renderHuman(cut, PLAIN).trimEnd().split('\n').at(-1)).toMatch(/^1 of 9 planned checks evaluated, /);
    const broken = documentWith({ results: [resultWith({ verdict: 'harness-error', reason: 'the probe was wrong' })] });
    expect(renderHuman(broken, PLAIN).split('\n').slice(0, 9)).toEqual([
      '# HARNESS ERROR  http://127.0.0.1:8080/hooks',
      '  1 harness error',
      '  security features: hmac, api-key',
      '  internal error of hookproof: nothing can be said about the endpoint',
      '',
      'Harness errors (1): please report them',
      '  # 1 check: the probe was wrong',
      '    signature/missing',
      '',
    ]);
  });

  it('has the same text with and without colour', () => {
    const colored = renderHuman(eventful, { ...PLAIN, color: true });
    expect(colored).toContain('\x1b[31m✗\x1b[39m');
    expect(colored.replace(/\x1b\[\d+m/g, '')).toBe(renderHuman(eventful, PLAIN));
  });

  it('is pure ASCII on a terminal without Unicode', () => {
    const result = resultWith({ verdict: 'fail', title: 'Größe “quoted” – 漢字 …', observed: '200' });
    const report = renderHuman(documentWith({ results: [result] }), { ...PLAIN, unicode: false });
    expect(report).toMatch(/^[\n\x20-\x7e]*$/);
    expect(report).toContain('x fail  Gr\\xf6\\xdfe "quoted" - \\u6f22\\u5b57 ...\n');
  });

  it('keeps to every width from 40 to 120 columns', () => {
    const copied = new Set(CURL.split('\n').map((line) => line.trim()));
    for (const id of ['signature/missing', 'http/case']) copied.add(`rerun     hookproof run --scenario ${id}`);
    for (const columns of [40, 60, 80, 120, 200]) {
      for (const line of renderHuman(eventful, { ...PLAIN, columns })
        .trimEnd()
        .split('\n')
        .slice(0, -1)) {
        if (copied.has(line.trim())) continue;
        expect(line.length, line).toBeLessThanOrEqual(Math.min(120, columns));
      }
    }
    expect(renderHuman(eventful, { ...PLAIN, columns: 3 })).toBe(renderHuman(eventful, { ...PLAIN, columns: 40 }));
  });

  it('escapes control, invisible and bidirectional characters of the endpoint', () => {
    const unit = fc.constantFrom('\x1b[31m', '\x07', '\u202e', '\u200b', '\x9b', '\r', 'a', ' ', '\u2028');
    fc.assert(
      fc.property(fc.string({ unit }), fc.boolean(), (text, unicode) => {
        expect(renderHuman(documentOf(text), { ...PLAIN, unicode })).not.toMatch(/[^\n\P{C}]|[\u2028\u2029]/u);
      }),
      { numRuns: 60 },
    );
  });

  it('shows texts of a hundred thousand lines', () => {
    const result = resultWith({ verdict: 'fail', fix: 'x\n'.repeat(150_000) });
    expect(renderHuman(documentWith({ results: [result] }), PLAIN).split('\n').length).toBeGreaterThan(150_000);
  });
});
