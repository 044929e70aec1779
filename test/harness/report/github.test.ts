import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defuse, renderAnnotations, renderGithub } from '../../../harness/report/github.ts';
import { renderSummary } from '../../../harness/report/github-summary.ts';
import { renderJson, titleOf } from '../../../harness/report/index.ts';
import { causesIn } from '../../../harness/report/shown-causes.ts';
import { anyCharacter } from '../../setup/any-character.ts';
import { BASELINE, diagnosisWith, documentOf, documentWith, KNOWN, resultWith, staleWith } from './documents.ts';

const terminal = { columns: 80, color: false, unicode: true };

/** Returns the command that a runner finds in a line: after leading whitespace or, in the older form, anywhere. */
function commandIn(line: string): { name: string; properties: Record<string, string>; data: string } | null {
  const [, head, data] = /^\s*::([^:]+?)::(.*)$/s.exec(line) ?? [];
  if (head !== undefined && data !== undefined) {
    const [name = '', ...rest] = head.split(' ');
    const decode = (text: string) =>
      text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%3A', ':').replaceAll('%2C', ',');
    const pairs = rest
      .join(' ')
      .split(',')
      .filter((pair) => pair !== '')
      .map((pair) => pair.split('=') as [string, string]);
    const properties = Object.fromEntries(pairs.map(([key, value]) => [key, decode(value).replaceAll('%25', '%')]));
    return { name, properties, data: decode(data).replaceAll('%25', '%') };
  }
  const [, old] = /##\[([^\]]+)\]/.exec(line) ?? [];
  return old === undefined ? null : { name: old, properties: {}, data: '' };
}
const commandsIn = (text: string) => text.split(/\r\n|\r|\n/).flatMap((line) => commandIn(line) ?? []);

/** Texts that break out of logs and Markdown. */
const SEPARATORS = ['\n', '\r', '\r\n', '::', ':', '##[', '#', '[', ']', '%0A', '%', ',', ' '];
const COMMANDS = [
  '::error::',
  '##[error]',
  '::stop-commands::x',
  '##[set-env name=A]',
  '\u00ad',
  '\u{fe0f}',
  '\x1b[31m',
];
const MARKUP = ['`', '```', '</details>', '<img src=x>', '![a](http://evil.example/)', '|', '\\', '\n\n# Title'];
const LINKS = ['@octocat', 'http://evil.example', 'a@evil.example', 'www.evil.example'];
const attack = fc.string({
  unit: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...SEPARATORS) },
    { weight: 3, arbitrary: fc.constantFrom(...COMMANDS, ...MARKUP, ...LINKS) },
    fc.string({ unit: anyCharacter, maxLength: 2 }),
  ),
  maxLength: 12,
});

describe('the log of a step in GitHub Actions', () => {
  it('is read by a strict parser of commands', () => {
    expect(commandsIn('  ::warning title=a%3A%2Cb::c%25%0Ad')).toEqual([
      { name: 'warning', properties: { title: 'a:,b' }, data: 'c%\nd' },
    ]);
    expect(commandsIn('text ##[error]more')).toHaveLength(1);
  });

  it('reports the verdict, the diagnosis with its fix, and each cause once', () => {
    const failed = ['signature/missing', 'valid/a', 'valid/b'].map((id) =>
      resultWith({
        id,
        verdict: 'fail',
        observed: '500',
        reason: id.startsWith('valid') ? 'answered 500' : 'accepted',
      }),
    );
    const document = documentWith({ results: [...failed, resultWith()], diagnosis: [diagnosisWith()] });
    const commands = commandsIn(renderGithub(document, terminal)).filter(({ name }) => !name.endsWith('group'));
    expect(commands.map(({ name, properties }) => [name, properties.title])).toEqual([
      ['error', 'hookproof: NOT CONFORMANT'],
      ['error', 'A missing signature is accepted'],
      ['error', '2 checks: answered 500'],
    ]);
    expect(commands[0]?.data).toBe('3 failed, 1 passed; 4 of 4 planned checks evaluated\nExit code 1: 3 checks failed');
    expect(commands[1]?.data).toContain('Fix: Treat a missing header like an invalid one.\nChecks: signature/missing');
    expect(renderGithub(document, terminal)).toContain('NOT CONFORMANT');
  });

  it('has a group of its checks for each cause, failures and warnings together', () => {
    const results = ['a', 'b', 'c'].map((name) =>
      resultWith({
        id: `valid/${name}`,
        verdict: name === 'c' ? 'warn' : 'fail',
        reason: 'answered 500',
        observed: '500',
      }),
    );
    const lines = renderGithub(documentWith({ results, diagnosis: [] }), terminal).split('\n');
    const from = lines.indexOf('::group::Answered 500 (3 checks)');
    expect(from).toBeGreaterThanOrEqual(0);
    const [first, , third, fix, end] = lines.slice(from + 1);
    expect(first).toMatch(/^fail valid\/a: .*: expected .*, observed 500$/);
    expect(third).toMatch(/^warn valid\/c: /);
    expect([fix?.startsWith('Fix: '), end]).toEqual([true, '::endgroup::']);
  });

  it('has the causes of every other report: also those of warnings alone, and findings without a failed check', () => {
    const copies = diagnosisWith({ title: 'Rejects a copy', evidence: ['delivery/twice'], relation: 'also' });
    const finding = diagnosisWith({ title: 'Nothing is listening', fault: 'nothing-listens', evidence: [] });
    const results = [
      resultWith({ id: 'delivery/twice', verdict: 'warn' }),
      resultWith({ id: 'http/a', verdict: 'fail' }),
    ];
    const document = documentWith({ results, diagnosis: [finding, copies] });
    expect(causesIn(document).causes.map(titleOf)).toContain('Rejects a copy');
    const commands = commandsIn(renderAnnotations(document)).map(({ name, properties: { title } }) => [name, title]);
    expect(commands.slice(1)).toEqual([
      ['error', 'Nothing is listening'],
      ['error', 'http/a: Rejects a delivery without a signature'],
      ['warning', 'Rejects a copy'],
    ]);
    const [, toFix = ''] = renderSummary(document).split('### What to fix');
    expect(toFix.split('<details>')[0]).toContain('**Rejects a copy** (1 check)');
  });

  it('has no cause for known failures', () => {
    const results = [resultWith({ verdict: 'fail', known: KNOWN })];
    const document = documentWith({ results, diagnosis: [diagnosisWith()] });
    expect(commandsIn(renderAnnotations(document)).map(({ name }) => name)).toEqual(['notice']);
  });

  it('starts with a notice when the step passes, otherwise with an error', () => {
    const names = (parts: Parameters<typeof documentWith>[0]) =>
      commandsIn(renderAnnotations(documentWith(parts))).map(({ name }) => name);
    expect(names({})).toEqual(['notice']);
    expect(names({ results: [resultWith(), resultWith({ verdict: 'warn' })] })).toEqual(['notice', 'warning']);
    expect(names({ results: [resultWith({ verdict: 'fail', known: KNOWN })] })).toEqual(['notice']);
    expect(names({ results: [resultWith({ verdict: 'inconclusive' })] })).toEqual(['error']);
    expect(names({ interrupted: true })).toEqual(['error']);
    const scoring = { revision: 1, digest: 'x', notScored: ['signature/missing'] };
    const results = [resultWith({ id: 'valid/plain' }), resultWith({ verdict: 'fail' })];
    expect(names({ results, scoring, verdict: 'conformant' })).toEqual(['notice']);
  });

  it('limits the number and length of annotations', () => {
    const results = Array.from({ length: 600 }, (_, at) =>
      resultWith({
        id: `s${at}/x`,
        suite: `s${at}`,
        verdict: at % 2 ? 'fail' : 'warn',
        reason: `${at} ${'x'.repeat(5000)}`,
      }),
    );
    const commands = commandsIn(renderAnnotations(documentWith({ results })));
    const count = (wanted: string) => commands.filter(({ name }) => name === wanted).length;
    expect([count('error'), count('warning')]).toEqual([10, 6]);
    expect(commands.find(({ properties }) => properties.title === '292 more checks')).toBeDefined();
    expect(Math.max(...commands.map(({ data }) => data.length))).toBeLessThan(2000);
  });

  it('contains no command written by the endpoint', () => {
    const own = commandsIn(renderAnnotations(documentOf('x'))).map(({ name }) => name);
    expect(own).toEqual(['error', 'error', 'error']);
    fc.assert(
      fc.property(attack, (text) => {
        const all = commandsIn(renderGithub(documentOf(text), terminal)).map(({ name }) => name);
        const commands = all.filter((name) => !name.endsWith('group'));
        expect(commands.filter((name) => !['error', 'warning', 'notice'].includes(name))).toEqual([]);
        expect(commands.length).toBeLessThanOrEqual(7);
        // Each group is closed before the next one begins.
        expect(all.slice(0, all.length - commands.length).join(' ')).toMatch(/^(?:group endgroup ?){0,4}$/);
        expect(commandsIn(renderJson(documentOf(text)))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['::error::x', ': :error::x'],
    ['a\n \t::add-mask::x', 'a\n \t: :add-mask::x'],
    ['\u{fe0f}:\u00ad:error::', '\u{fe0f}: \u00ad:error::'],
    ['a ##[debug]', 'a # #[debug]'],
    ['###[x]', '## #[x]'],
    ['a ::b', 'a ::b'],
  ])('%j becomes %j', (text, harmless) => {
    expect(defuse(text)).toBe(harmless);
  });
});

/** Returns Markdown without its code spans, as CommonMark defines them. */
function withoutCode(line: string): string {
  let rest = line;
  let kept = '';
  for (;;) {
    const open = /`+/.exec(rest);
    if (open === null) return kept + rest;
    const after = rest.slice(open.index + open[0].length);
    const close = [...after.matchAll(/`+/g)].find(([run]) => run.length === open[0].length);
    kept += rest.slice(0, open.index);
    rest = close === undefined ? after : after.slice(close.index + open[0].length);
  }
}

describe('the job summary', () => {
  const document = documentWith({
    results: [
      resultWith({ verdict: 'fail', observed: '200' }),
      resultWith({ id: 'valid/a', verdict: 'warn' }),
      resultWith({ id: 'valid/b', verdict: 'inconclusive', reason: 'the endpoint was down' }),
    ],
    diagnosis: [diagnosisWith()],
    notVerified: [{ requirement: 'x', text: 'Stored once.', reason: 'It cannot be seen.' }],
  });

  it('starts with the verdict and ends with what is not verified', () => {
    const parts = renderSummary(document).match(/^(?:#+ .*|<details>.*)$/gm);
    expect(parts).toEqual([
      '## ❌ hookproof: NOT CONFORMANT',
      '### Diagnosis',
      '### What to fix',
      '<details><summary>Every failure (1)</summary>',
      '<details><summary>Warnings (1)</summary>',
      '<details><summary>Without a verdict, by reason (1)</summary>',
      '<details><summary>Not verified (1)</summary>',
    ]);
    expect(renderSummary(document)).toContain('**Fix:** Treat a missing header like an invalid one&#46;');
    expect(renderSummary(document)).toContain('`signature/missing` Rejects a delivery');
  });

  it('says that the baseline is out of date when only this fails the run, and how to update it', () => {
    const stale = documentWith({ baseline: staleWith(34) });
    expect(renderSummary(stale)).toMatch(
      /^## ❌ hookproof: CONFORMANT, but known&#46;yaml is out of date \(34 entries pass now\)\n/,
    );
    expect(renderSummary(stale)).toContain(
      "**Fix:** `hookproof baseline update known.yaml 'http://127.0.0.1:8080/hooks'`",
    );
    const [title] = commandsIn(renderAnnotations(stale));
    expect(title?.properties.title).toBe('hookproof: CONFORMANT, but known.yaml is out of date (34 entries pass now)');
    expect(title?.data.split('\n').slice(-2)).toEqual([
      '34 entries pass now: raw-body/0, raw-body/1, raw-body/2, raw-body/3 and 30 more',
      "Fix: hookproof baseline update known.yaml 'http://127.0.0.1:8080/hooks' (never in CI)",
    ]);
    const selection = { suites: ['valid'], scenarios: [], greps: ['raw body'] };
    const again = "--config ci.yaml --suite valid --grep 'raw body'";
    for (const render of [renderSummary, renderAnnotations]) {
      expect(render(documentWith({ ...stale, flags: '--config ci.yaml', selection }))).toContain(`hooks' ${again}`);
    }
    const failed = documentWith({ results: [resultWith({ verdict: 'fail' })], baseline: BASELINE });
    expect(renderSummary(failed)).toMatch(/^## ❌ hookproof: NOT CONFORMANT\n/);
  });

  it('shows what is in backticks as code, and a single backtick as it is', () => {
    const fix = 'Use `--concurrency 1`, or `a|b`; never ` alone.';
    const results = [resultWith({ verdict: 'fail', fix })];
    expect(renderSummary(documentWith({ results, diagnosis: [] }))).toContain(
      '**Fix:** Use `--concurrency 1`, or `a|b`; never &#96; alone&#46;\n',
    );
  });

  it('contains no foreign markup, link, picture or mention', () => {
    const outline = (text: string) =>
      renderSummary(documentOf(text))
        .split('\n')
        .map((line) => withoutCode(line).replace(/&#\d+;/g, ''))
        .join('\n');
    fc.assert(
      fc.property(attack, (text) => {
        const shown = outline(text);
        const tags = shown.match(/<[^>]*>?/g) ?? [];
        expect(tags.filter((tag) => !/^<\/?(?:details|summary)>$/.test(tag))).toEqual([]);
        expect(shown).not.toMatch(/[[\]!@|\\`]|:\/\/|www\./);
        expect(shown.match(/^#+ /gm)).toHaveLength(3);
        expect(
          shown.split('\n').filter((line) => !/^(?:|(?: {2})?- .*|#.*|<.*|>.*|\*\*.*|Endpoint .*)$/.test(line)),
        ).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps to its size limit, and says so', () => {
    const results = Array.from({ length: 3000 }, (_, at) =>
      resultWith({ id: `s${at}/x`, suite: `s${at}`, verdict: 'fail', title: '<'.repeat(2000), fix: '@'.repeat(2000) }),
    );
    const text = renderSummary(documentWith({ results }));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024 * 1024);
    expect(Buffer.byteLength(text)).toBeGreaterThan(900 * 1024);
    expect(text).toContain('a job summary has a size limit');
    expect(renderSummary(document, 10)).toBe('');
    expect(Buffer.byteLength(renderSummary(document, 700))).toBeLessThanOrEqual(700);
  });
});
