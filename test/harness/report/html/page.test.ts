import { describe, expect, it } from 'vitest';
import { renderHtml } from '../../../../harness/report/html/report-page.ts';
import { BASELINE, diagnosisWith, documentWith, exchangeWith, KNOWN, resultWith, staleWith } from '../documents.ts';
import { diagnosedRun, wholeRun } from './page-documents.ts';
import { readPage } from './strict-html.ts';

/** Returns the visible text of the page on one line. */
function textOf(...given: Parameters<typeof renderHtml>): string {
  const page = renderHtml(...given);
  readPage(page);
  const references = { quot: '"', lt: '<', gt: '>', amp: '&', '#39': "'" };
  return page
    .replace(/^[\s\S]*<body>|<script>[\s\S]*$/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&([^;]+);/g, (whole, name: keyof typeof references) => references[name] ?? whole)
    .replace(/\s+/g, ' ');
}

describe('the HTML report', () => {
  it('shows the verdict, that there is nothing to fix, and the requirements that are not verified', () => {
    const text = textOf(
      wholeRun(() => 'pass', {
        profile: 'staging',
        notVerified: [{ requirement: 'x', text: 'compared in constant time', reason: 'It cannot be seen.' }],
      }),
    );
    expect(text).toMatch(
      /^ hookproof report Conformant http:\/\/\S+:8080\/hooks \d+ passed\. (\d+) of \1 planned checks evaluated /,
    );
    expect(text).toContain('Nothing: every check that applies was run, and none failed.');
    expect(text).toContain('Started 2026-11-21 10:00:00 UTC Took 840 ms');
    expect(text).toContain('Security features hmac, api-key Profile staging Connection plain HTTP Seed 7f3a');
    expect(text).toContain('Compared in constant time It cannot be seen.');
  });

  it('groups the failures that the diagnosis explains, with fix and command, and lists the others separately', () => {
    const text = textOf(diagnosedRun());
    const order = [
      'Not conformant',
      'What to fix',
      'The signature is verified over re-serialised JSON',
      "Check hookproof run 'http",
      'What should be fixed 1 check, 1 cause',
      'The same for a coding agent, to copy',
      'Advice',
      'Not verified',
      'Suites',
      'Checks',
      'Requirements',
    ].map((words) => text.indexOf(words));
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(order).not.toContain(-1);
    expect(text).toMatch(/hmac-raw-body : The signature /);
  });

  it('marks the changes against the control, except values that differ in each delivery', () => {
    const page = renderHtml(diagnosedRun());
    // `toContain` would print the whole page.
    const text = page.replaceAll('&quot;', '"');
    expect(text.includes('{"id":<mark> </mark>"7e57ca5e-2222","type":<mark> </mark>"CAAS"')).toBe(true);
    expect(/<i>0000<\/i> {2}7b 22 69 64 22 3a <mark>20<\/mark> 22 {2}\{"id":<mark> <\/mark>"\n/.test(text)).toBe(true);
    expect(textOf(diagnosedRun())).toContain('connected 0.4 ms, TLS 3.1 ms, first byte 8.0 ms, complete 8.5 ms');
  });

  it('shows what was sent to an unreachable endpoint, and the next step', () => {
    const error = { kind: 'connect', phase: 'connect', code: 'ECONNREFUSED', message: 'Nothing is listening.' };
    const exchange = exchangeWith({ label: 'the first delivery', response: null, error });
    const results = [
      resultWith({ verdict: 'inconclusive', observed: '', reason: 'not delivered', exchanges: [exchange] }),
      ...['a', 'b', 'c', 'd'].map((slug) =>
        resultWith({ id: `http/${slug}`, verdict: 'inconclusive', reason: 'down' }),
      ),
    ];
    const diagnosis = [diagnosisWith({ title: 'Nothing is listening on the port', evidence: [], seen: '' })];
    const text = textOf(documentWith({ results, diagnosis }));
    expect(text).toContain('No verdict');
    expect(text).toContain('No conclusion about the endpoint.');
    expect(text).toContain('Not delivered 1 check: signature/missing');
    expect(text).toContain('Down 4 checks: 4 in http');
    expect(text).toContain('Sent the first delivery: POST http://127.0.0.1:8080/hooks');
    expect(text).toContain('Answer Nothing is listening. Error ECONNREFUSED in phase connect');
    expect(text).toContain("hookproof doctor 'http://127.0.0.1:8080/hooks'");
  });

  it('shows known failures, stale entries, an interruption, a shard, strictness and harness errors', () => {
    const results = [
      resultWith({ verdict: 'fail', observed: '200', known: KNOWN }),
      resultWith({ id: 'http/case', verdict: 'warn', level: 'should' }),
      resultWith({ id: 'http/ours', verdict: 'harness-error', reason: 'the probe was invalid' }),
    ];
    const text = textOf(
      documentWith({
        results,
        baseline: BASELINE,
        strict: true,
        interrupted: true,
        planned: 9,
        judged: 3,
        shard: { index: 2, of: 4 },
      }),
    );
    expect(text).toContain('2 of 9 planned checks evaluated, 6 not run incomplete');
    expect(text).toContain('Interrupted: only a run of the whole catalogue gives a verdict.');
    expect(text).toContain('Strict: warnings fail the run.');
    expect(text).toContain('Shard 2 of 4');
    expect(text).toContain('Stale entries in known.yaml 1 entry');
    expect(text).toContain('Known failures 1, from known.yaml');
    expect(text).toContain('The gateway. Owner: payments, until 2099-12-31.');
    expect(text).toContain('Harness errors 1 check');
    // In a strict run, a warning fails.
    expect(text).toContain('What to fix 1 check, 1 cause Rejects');
  });

  it('says that only the baseline fails the run, and keeps the name of its file', () => {
    const text = textOf(documentWith({ baseline: { ...staleWith(1), file: 'Known.yaml' } }));
    expect(text).toContain('Conformant, but Known.yaml is out of date (1 entry passes now)');
    expect(text).toContain("update Known.yaml 'http://127.0.0.1:8080/hooks' raw-body/0 passes now.");
    expect(text).not.toContain('Nothing: every check that applies was run');
  });

  it('stays small: a passing run below 460 kB, one with 300 failures and large answers below 3 MB', () => {
    expect(renderHtml(wholeRun(() => 'pass')).length).toBeLessThan(460_000);
    const failing = wholeRun((_, at) => (at < 300 ? 'fail' : 'pass'), {}, '<b>"&'.repeat(800));
    const page = renderHtml(failing);
    expect(page.length).toBeLessThan(3_000_000);
    expect(page.includes('the exchanges of this check are only in\nthe JSON report')).toBe(true);
  });
});
