/** The verdict in each report: of partial runs, and with scenarios that are not scored. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRedactor, renderBadge, renderHuman, writeReports } from '../../../harness/report/index.ts';
import { render } from '../../../harness/report/reporters.ts';
import { exitCodeOf } from '../../../harness/report/verdict.ts';
import { parseXml } from '../../setup/parse-xml.ts';
import { documentWith, resultWith, textStream } from './documents.ts';

type Parts = Parameters<typeof documentWith>[0];
const PLAIN = { columns: 100, color: false, unicode: true };

describe('the badge', () => {
  const failed = [resultWith({ verdict: 'fail' }), resultWith({ verdict: 'fail', id: 'a/b' })];

  it.each<[Parts, string, string]>([
    [{}, 'conformant', '#19703c'],
    [{ profile: 'staging' }, 'conformant · staging', '#19703c'],
    [{ results: failed }, 'not conformant · 2 failed', '#b3261e'],
    [{ results: [resultWith({ verdict: 'inconclusive' })] }, 'no verdict', '#5f6670'],
    [{ results: [resultWith({ verdict: 'harness-error' })] }, 'harness error', '#5f6670'],
    [{ interrupted: true }, 'partial run', '#5f6670'],
    [{ interrupted: true, results: failed }, 'partial run · 2 failed', '#b3261e'],
    [{ shard: { index: 1, of: 4 } }, 'partial run', '#5f6670'],
  ])('of %j shows %s', (parts, words, colour) => {
    const badge = renderBadge(documentWith(parts));
    expect(parseXml(badge).attributes['aria-label']).toBe(`hookproof: ${words}`);
    expect(/<rect x=.*fill="(#\w+)"/.exec(badge)?.[1]).toBe(colour);
  });

  it('contains no text of the endpoint', () => {
    const target = { url: 'http://x/<script>', features: [], tls: null };
    const badge = renderBadge(documentWith({ target, seed: '<b>' }));
    expect(badge).not.toMatch(/script|<b>|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  });
});

describe('a partial run', () => {
  const partial = (parts: Parts = {}) =>
    documentWith({
      results: ['a/1', 'a/2', 'a/3'].map((id) => resultWith({ id })),
      catalogue: { digest: 'sha256:ab', scenarios: 680 },
      partial: true,
      partialReasons: ['selection'],
      ...parts,
    });

  it.each<[Parts, string]>([
    [{}, '✓ 3 of 680 checks run, all passed (partial run, no verdict)  '],
    [
      { results: [resultWith({ id: 'a/1', verdict: 'fail' }), resultWith({ id: 'a/2' })] },
      '✗ 2 of 680 checks run, 1 failure (partial run, no verdict)  ',
    ],
    [
      {
        interrupted: true,
        partialReasons: ['interruption'],
        results: [resultWith({ id: 'a/1' }), resultWith({ id: 'a/2', verdict: 'inconclusive', observed: '' })],
      },
      '? 1 of 680 checks run, all passed (partial run, no verdict)  ',
    ],
  ])('shows how many checks were run instead of a verdict: case %#', (parts, headline) => {
    expect(renderHuman(partial(parts), PLAIN).split('\n')[0]).toContain(headline);
  });

  it.each([
    ['human', 'partial run, no verdict'],
    ['html', '3 of 680 checks run, all passed (partial run, no verdict)'],
    ['github', 'partial run, no verdict'],
    ['junit', '<property name="partial" value="true"/>'],
    ['ctrf', ''],
  ] as const)('is never called conformant in the %s report', async (name, mark) => {
    const report = await render(name, partial(), PLAIN);
    expect(report).not.toMatch(/conformant/i);
    expect(report).toContain(mark);
  });

  it('gets no badge but a notice', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'partial-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    const notices: string[] = [];
    const { stdout, text } = textStream();
    const badges = ['badge.svg', null].map((file) => ({ name: 'badge', file }) as const);
    const redactor = createRedactor({ values: [] });
    const notice = (message: string) => void notices.push(message);
    const written = await writeReports(partial(), badges, { cwd, redactor, stdout, notice });
    expect([written, text(), await readdir(cwd)]).toEqual([[], '', []]);
    expect(notices).toEqual(['No badge is written: a partial run has no verdict.']);
  });
});

describe('a scenario that is not scored', () => {
  const scoring = { revision: 3, digest: 'x', notScored: ['valid/newer', 'valid/newest'] };
  const results = [
    resultWith({ id: 'valid/plain' }),
    resultWith({
      id: 'valid/newer',
      verdict: 'fail',
      title: 'Does something new',
      observed: '500',
      fix: 'Correct it.',
    }),
    resultWith({ id: 'valid/newest', verdict: 'inconclusive', reason: 'no answer' }),
  ];
  const document = documentWith({ results, profile: 'staging', verdict: 'conformant', scoring });
  const withoutScore = (notScored: string[]) => ({ ...document, scoring: { ...scoring, notScored } });

  it('is listed separately, with its fix, and not among the failures', () => {
    const text = renderHuman(document, { ...PLAIN, verbose: true });
    expect(text).toContain(
      [
        'Not scored (2)',
        '  newer than revision 3, without effect on the verdict; 2 did not pass',
        '  ✗ valid/newer: Does something new',
        '    observed  500',
        '    fix       Correct it.',
        '  ? valid/newest: Rejects a delivery without a signature',
      ].join('\n'),
    );
    expect(text).not.toMatch(/^(?:Failures|Inconclusive)/m);
    expect(text).toContain('1 failed (1 not scored), 1 inconclusive, 1 passed');
    expect(text).toContain('profile staging, revision 3');
  });

  it('is only counted when it passes', () => {
    const passing = documentWith({ results: results.map(({ id }) => resultWith({ id })), scoring });
    const section = 'Not scored (2)\n  newer than revision 3, without effect on the verdict\n\n';
    expect(renderHuman(passing, { ...PLAIN, verbose: true })).toContain(section);
    expect(renderHuman(passing, PLAIN)).toContain('2 checks newer than revision 3, which the verdict ignores');
  });

  it('has no section when every scenario is scored', () => {
    const { scoring: _, ...all } = document;
    expect(renderHuman(all, PLAIN)).toMatch(/\nCauses \(1\)\n/);
    for (const given of [all, withoutScore([])]) expect(renderHuman(given, PLAIN)).not.toContain('Not scored');
  });

  it.each([
    ['with a failure that is not scored', scoring.notScored, 0],
    ['with a failure that is scored', ['valid/newest'], 1],
    ['without a verdict on a scored scenario', ['valid/newer'], 3],
    ['without a scored scenario', results.map(({ id }) => id), 3],
    ['with every scenario scored', [], 1],
  ])('decides the exit code of a run %s', (_, notScored, code) => {
    expect(exitCodeOf(withoutScore(notScored))).toBe(code);
  });
});
