import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderHuman } from '../../../harness/report/index.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import {
  BASELINE,
  diagnosisWith,
  documentOf,
  documentWith,
  exchangeWith,
  KNOWN,
  resultWith,
  staleWith,
  textBody,
} from './documents.ts';

const PLAIN = { columns: 80, color: false, unicode: true };
const VERBOSE = { ...PLAIN, verbose: true };

/** A baseline that accepts the failure of `resultWith`. */
const FORGIVING = { ...BASELINE, stale: [] };

const CURL = [
  `body='{"id":"1"}'`,
  'curl -sS -X POST "$HOOKPROOF_URL" \\',
  `  -H 'Content-Type: application/json' \\`,
  '  --data-binary "$body"',
].join('\n');

/** A document with content for every section of the report. */
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
      stack: { name: 'express', source: 'X-Powered-By: Express' },
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
        '1 of 1 planned checks evaluated, 3 requests, 840 ms, seed 7f3a',
        '✓ Exit code 0: every check passed',
      ),
    );
  });

  it('shows the causes, and then what to do about them', () => {
    const report = renderHuman(eventful, { ...PLAIN, files: [{ name: 'html', path: '/reports/report.html' }] });
    expect(report).toBe(
      lines(
        '✗ NOT CONFORMANT  http://127.0.0.1:8080/hooks',
        '  1 failed, 1 warning, 1 inconclusive, 2 passed, 2 not applicable',
        '  security features: hmac, api-key; profile staging',
        '',
        'Causes (1)',
        '  1. Checks a signature only when there is one (1 failure)',
        '     skips-missing-signature, matches 31 of 31 outcomes',
        '     ✗ signature/missing: answered 200, expected 401',
        '',
        'Other warnings (1)',
        '  ! http/case: Takes any letter case',
        '    Anyone who knows the URL could send notifications.',
        '',
        'Inconclusive (1)',
        '  ? 1 check: rate-limited: the endpoint answered 429',
        '    http/slow',
        '',
        'Advice',
        '  ! The HMAC secret has 12 characters; 32 or more are recommended.',
        '',
        'Not applicable: 2 (mtls is off)',
        '--verbose also lists 1 check that passed with a note; 3 requirements that no',
        'test from outside can verify',
        '',
        'To do, with fixes for express (X-Powered-By: Express)',
        '  1. Checks a signature only when there is one',
        '     fix    Answer 401 when the header is absent.',
        "     check  hookproof run 'http://127.0.0.1:8080/hooks' \\",
        '              --scenario signature/missing',
        '  more      hookproof explain skips-missing-signature',
        '',
        'html report: /reports/report.html',
        '4 of 7 planned checks evaluated, 15 requests, 840 ms, seed 7f3a',
        '✗ Exit code 1: 1 check failed',
      ),
    );
  });

  it('names five checks of a cause, of different answers first, and counts the rest', () => {
    const evidence = Array.from({ length: 9 }, (_, index) => `signature/forged-${index}`);
    const results = evidence.map((id, index) =>
      resultWith({ id, verdict: index === 8 ? 'warn' : 'fail', observed: index < 6 ? '200' : '403' }),
    );
    const report = renderHuman(documentWith({ results, diagnosis: [diagnosisWith({ evidence })] }), PLAIN).split('\n');
    const at = report.findIndex((line) => line.includes('(8 failures, 1 warning)'));
    expect(report.slice(at + 2, at + 7)).toEqual([
      '     ✗ signature/forged-0: answered 200, expected 401',
      '     ✗ signature/forged-1: answered 200, expected 401',
      '     ✗ signature/forged-2: answered 200, expected 401',
      '     ✗ signature/forged-6: answered 403, expected 401',
      '     ! signature/forged-8: answered 403, expected 401; and 4 more',
    ]);
  });

  it('groups unexplained failures by what went wrong, and keeps to about sixty lines', () => {
    const results = Array.from({ length: 40 }, (_, index) =>
      resultWith({ id: `signature/forged-${index}`, verdict: 'fail', observed: `${500 + (index % 20)}` }),
    );
    const report = renderHuman(documentWith({ results }), PLAIN);
    expect(report).toContain('Causes (20)');
    expect(report).toContain('and 15 more causes with 30 failures (--verbose lists them)');
    expect(report.split('\n').length).toBeLessThan(70);
  });

  it('shows six causes, because a line about the sixth would be as long', () => {
    const results = Array.from({ length: 6 }, (_, index) =>
      resultWith({ id: `signature/forged-${index}`, verdict: 'fail', observed: `${500 + index}` }),
    );
    const report = renderHuman(documentWith({ results }), PLAIN);
    expect(report.match(/^ {2}6\. /gm)).toHaveLength(2);
    expect(report).not.toContain('more cause');
  });

  it('repeats the flags of the run in its commands, and names the full run after a green selection', () => {
    const flags = "--config 'partner one.yaml' --secret-file secret.txt";
    const failed = renderHuman(documentWith({ results: [resultWith({ verdict: 'fail' })], flags }), PLAIN);
    expect(failed).toContain(
      `check  hookproof run 'http://127.0.0.1:8080/hooks' ${flags} \\\n              --scenario signature/missing\n`,
    );
    const green = documentWith({ partial: true, partialReasons: ['selection'], flags });
    expect(renderHuman(green, PLAIN)).toContain(
      `Next\n  all       hookproof run 'http://127.0.0.1:8080/hooks' ${flags}\n`,
    );
  });

  it('repeats the command of the person who ran it, and its stored failures only if they are stored', () => {
    const results = ['a/one', 'b/two'].map((id) =>
      resultWith({ id, suite: id.slice(0, 1), verdict: 'fail', reason: id, cause: id }),
    );
    expect(renderHuman(documentWith({ results }), PLAIN)).toContain('--failed');
    const notStored = renderHuman(documentWith({ results }), { ...PLAIN, isStored: false });
    expect(notStored).toContain('--scenario a/one');
    expect(notStored).not.toContain('--failed');
    const command = 'hookproof certify --partners partners --only acme';
    const ofOperator = renderHuman(documentWith({ results, command }), PLAIN);
    expect(ofOperator).toContain(`check  ${command}\n`);
    expect(ofOperator).not.toMatch(/hookproof run|--failed|--scenario/);
  });

  it('never cuts a line of a check, whatever the width', () => {
    const id = 'signature/an-id-that-is-longer-than-a-narrow-terminal-is-wide';
    const result = resultWith({ id, verdict: 'fail', observed: '200', expectedOutcomes: ['400', '401', '4xx'] });
    const report = renderHuman(documentWith({ results: [result] }), { ...PLAIN, columns: 40 });
    expect(report.replace(/\s+/g, '')).toContain(`✗${id}:answered200,expected400,401or4xx`);
  });

  it('shows a finding without a failed check first', () => {
    const finding = diagnosisWith({ title: 'Nothing is listening', fix: 'Start it.', evidence: [], seen: '' });
    const results = [resultWith({ verdict: 'inconclusive', reason: 'no answer', observed: '' })];
    const report = renderHuman(documentWith({ results, diagnosis: [finding] }), PLAIN);
    expect(report).toContain('Causes (1)\n  1. Nothing is listening\n');
    expect(report).toContain('     fix    Start it.\n');
    expect(report).toMatch(/\? Exit code 3: 1 check without a conclusion, none failed\n$/);
  });

  it.each<[string, Partial<ResultDocument>, string]>([
    [
      'known failures',
      { results: [resultWith({ verdict: 'fail', known: KNOWN })], baseline: FORGIVING, verdict: 'nonconformant' },
      '✓ Exit code 0: not conformant, the failure is known (known.yaml)',
    ],
    ['stale entries', { baseline: BASELINE }, '✗ Exit code 1: 1 stale entry in known.yaml'],
    ['warnings', { results: [resultWith({ verdict: 'warn' })] }, '✓ Exit code 0: no check failed; 1 warning'],
    [
      'warnings of a strict run',
      { results: [resultWith({ verdict: 'warn' })], strict: true, verdict: 'nonconformant' },
      '✗ Exit code 1: 1 warning with --strict',
    ],
    [
      'a selection',
      { partial: true, partialReasons: ['selection'] },
      '✓ Exit code 0: every selected check passed (partial run, no verdict)',
    ],
    ['an interruption', { interrupted: true, planned: 9 }, '? Interrupted: no verdict'],
    [
      'a harness error',
      { results: [resultWith({ verdict: 'harness-error', reason: 'wrong' })] },
      '# Exit code 4: 1 harness error: no conclusion about the endpoint',
    ],
    ['no check', { results: [] }, '? Exit code 3: no check was evaluated'],
  ])('ends with what decided the exit code: %s', (_, parts, last) => {
    expect(renderHuman(documentWith(parts), PLAIN).trimEnd().split('\n').at(-1)).toBe(last);
  });

  it('shows the last full run with a partial one, and a run without credentials', () => {
    const { counts } = documentWith({ results: [resultWith({ verdict: 'fail' }), resultWith({ id: 'valid/buy' })] });
    const lastFullRun = {
      startedAt: '2026-11-21T10:00:00.000Z',
      version: '0.1.0',
      verdict: 'nonconformant',
      counts,
    } as const;
    const target = { url: 'http://127.0.0.1:8080/hooks', features: [], tls: null };
    const report = renderHuman(
      documentWith({ partial: true, partialReasons: ['selection'], lastFullRun, target }),
      PLAIN,
    );
    expect(report).toMatch(/^✓ 1 of 1 check run, all passed \(partial run, no verdict\)/);
    expect(report.replace(/\s+/g, ' ')).toContain(
      'last full run: NOT CONFORMANT on 2026-11-21 at 10:00 UTC (1 failed, 1 passed) ' +
        'no secret and no API key: authentication was not checked',
    );
  });
});

describe('the verbose report', () => {
  it('reports unexplained failures', () => {
    const failed = ['a', 'b', 'c'].map((slug) => resultWith({ id: `signature/${slug}`, verdict: 'fail' }));
    expect(renderHuman(documentWith({ results: failed }), VERBOSE)).toContain('No known fault explains these failures');
    const diagnosis = [diagnosisWith({ evidence: ['signature/a'] })];
    const partly = renderHuman(documentWith({ results: failed, diagnosis }), VERBOSE);
    expect(partly).toContain('also      2 other failures that this does not explain: signature/b');
    expect(renderHuman(documentWith(), VERBOSE)).not.toMatch(/behaves like|No mistake/);
  });

  it('reports a second fault', () => {
    const also = diagnosisWith({ relation: 'also', fault: 'other', title: 'Takes any key' });
    const report = renderHuman(documentWith({ diagnosis: [diagnosisWith(), also] }), VERBOSE);
    expect(report).toMatch(/A missing signature is accepted\n[\s\S]*\n {2}in addition\n {2}Takes any key\n/);
  });

  it('says in its first line that the baseline is out of date, and groups the entries after the command', () => {
    const document = documentWith({ baseline: staleWith(34) });
    expect(renderHuman(document, { ...PLAIN, columns: 100 })).toMatch(
      /^✗ CONFORMANT, but known\.yaml is out of date \(34 entries pass now\) {2}http/,
    );
    expect(renderHuman(document, PLAIN)).toContain(
      [
        'Stale entries in known.yaml (34)',
        "  fix  hookproof baseline update known.yaml 'http://127.0.0.1:8080/hooks'",
        '  ✗ 34 entries pass now: raw-body/0, raw-body/1, raw-body/2, raw-body/3 and 30',
        '    more',
      ].join('\n'),
    );
    expect(renderHuman(document, VERBOSE)).toContain('  ✗ raw-body/33 passes now.\n');
    const [first = ''] = renderHuman(document, { ...PLAIN, columns: 40 }).split('\n');
    expect(first).toBe('✗ CONFORMANT, but known.yaml is out of');
  });

  it('separates known failures from new ones, and lists stale entries', () => {
    const results = [
      resultWith({ verdict: 'fail', observed: '200', known: KNOWN }),
      resultWith({ id: 'signature/new', verdict: 'fail' }),
    ];
    const report = renderHuman(documentWith({ results, baseline: BASELINE }), VERBOSE);
    for (const part of [
      '2 failed (1 known)',
      'Stale entries in known.yaml (1)\n',
      'Failures (1)\n',
      '✗ raw-body/tabs passes now.\n',
      'Known failures (1), from known.yaml\n  ✗ signature/missing: 200\n',
      '\n    The gateway. (owner: payments, until 2099-12-31)',
    ]) {
      expect(report).toContain(part);
    }
  });

  it('has every finding in full before the causes', () => {
    const [details = ''] = renderHuman(eventful, VERBOSE).split('\nCauses (1)\n');
    expect(details).toBe(
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
        '',
        'Failures (1)',
        '',
        'signature',
        '  ✗ fail  Rejects a delivery without a signature',
        '    check     signature/missing (must)',
        '    expected  401',
        '    observed  accepted an unsigned delivery with 200',
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
        '    check     http/case',
        '    expected  401',
        '    observed  403',
        '    why       Anyone who knows the URL could send notifications.',
        '    fix       Treat a missing header like an invalid one: answer 401.',
        '    rerun     hookproof run --scenario http/case',
        '',
        'Passed with a note (1)',
        '  ✓ 1 check: answered 200, which is allowed; preferred: any 4xx',
        '    malformed/array',
        '',
        'Not applicable (2)',
        '  - 2 checks: mtls is off',
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
      ),
    );
  });

  it('gives the reason for many inconclusive checks once', () => {
    const reason = 'control refused: nothing is listening on 127.0.0.1';
    const ids = ['valid/buy', 'valid/sell', 'signature/missing', 'signature/hex', 'signature/other-secret'];
    const document = documentWith({
      results: ids.map((id) => resultWith({ id, verdict: 'inconclusive', observed: '', reason })),
    });
    expect(renderHuman(document, PLAIN)).toContain(
      lines('Inconclusive (5)', `  ? 5 checks: ${reason}`, '    2 in valid, 3 in signature'),
    );
  });

  it('refers to the JSON report for a long script', () => {
    const curl = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
    const result = resultWith({ verdict: 'fail', observed: '200', reproduce: { curl, command: 'hookproof run' } });
    const report = renderHuman(documentWith({ results: [result] }), VERBOSE);
    expect(report).toContain('    curl      a script of 40 lines: see `--reporter json`\n');
    expect(report).not.toContain('line 1');
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
    expect(report).toContain('1. Gr\\xf6\\xdfe "quoted" - \\u6f22\\u5b57 ... (1 failure)\n');
  });

  it('keeps to every width from 40 to 120 columns', () => {
    const copied = new Set(CURL.split('\n').map((line) => line.trim()));
    const isCommand = (line: string) => /^(?:(?:rerun|check|more|all) +hookproof |--scenario )/.test(line.trim());
    for (const columns of [40, 60, 80, 120, 200]) {
      for (const line of renderHuman(eventful, { ...VERBOSE, columns })
        .trimEnd()
        .split('\n')
        .slice(0, -1)) {
        if (copied.has(line.trim()) || isCommand(line) || line.includes(' planned checks evaluated')) continue;
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

describe('warnings', () => {
  const why = 'The sender repeats the delivery forever.';

  it('say what follows in production, as a cause and beside failures', () => {
    const copy = resultWith({ id: 'delivery/twice', verdict: 'warn', observed: '409', why });
    const failure = resultWith({ id: 'http/a', verdict: 'fail', why: 'Not shown.' });
    const diagnosis = [diagnosisWith({ evidence: [copy.id], why })];
    const alone = renderHuman(documentWith({ results: [copy], diagnosis }), PLAIN).split('\n');
    expect(alone.slice(alone.indexOf(`     ${why}`)).slice(0, 2)).toEqual([
      `     ${why}`,
      '     ! delivery/twice: answered 409, expected 401',
    ]);
    const both = renderHuman(documentWith({ results: [failure, copy] }), PLAIN);
    expect(both).toContain(`  ! delivery/twice: Rejects a delivery without a signature\n    ${why}\n`);
    expect(both).not.toContain('Not shown.');
  });
});

describe('the lines of a cause', () => {
  it('do not repeat what its title says', () => {
    const title = 'The certificate is neither sent nor trusted';
    const result = resultWith({
      id: 'tls/trusted-authority',
      verdict: 'fail',
      decidedBy: 'certificate-fault',
      reason: `${title}.`,
      expected: 'a chain that ends at a trusted CA',
    });
    const text = renderHuman(
      documentWith({ results: [result], diagnosis: [diagnosisWith({ title, evidence: [result.id] })] }),
      PLAIN,
    );
    expect(text).toContain('\n     ✗ tls/trusted-authority: expected a chain that ends at a trusted CA\n');
  });
});

describe('what passed and is good to know', () => {
  it('is listed once, and the last lines count what was repeated', () => {
    const noted = [{ code: 'limits-size', text: 'Answers 413 to valid notifications above about 99 kB', checks: [] }];
    const retried = ['valid/plain'];
    const lines = renderHuman(documentWith({ noted, retried, turnedAway: { 429: 1, 503: 12 } }), PLAIN).split('\n');
    expect(lines.filter((line) => line.includes('413'))).toEqual([
      '  - Answers 413 to valid notifications above about 99 kB',
    ]);
    expect(lines).toContain('Good to know: notes on checks that passed');
    expect(lines.at(-3)).toBe('1 answer 429, 12 answers 503, 1 check tried again');
  });
});
