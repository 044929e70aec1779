import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { comparisonSchema, renderJson } from '../../harness/report/index.ts';
import type { ResultDocument } from '../../harness/report/result-document.ts';
import { diagnosisWith, documentWith, resultWith } from '../harness/report/documents.ts';
import { readPage } from '../harness/report/html/strict-html.ts';
import { hookproof } from './hookproof.ts';

const failing = documentWith({
  results: [resultWith({ verdict: 'fail', observed: '200' })],
  diagnosis: [diagnosisWith()],
});
const passing = documentWith({ startedAt: '2026-11-22T10:00:00.000Z' });

let cwd = '';
const save = async (folder: string, document: ResultDocument) => {
  await mkdir(join(cwd, folder));
  await writeFile(join(cwd, folder, 'run.json'), renderJson(document));
  await writeFile(join(cwd, folder, 'report.html'), '<!doctype html>');
};
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  await save('failing', failing);
  await save('passing', passing);
  await mkdir(join(cwd, 'empty'));
  await writeFile(join(cwd, 'other.json'), '{"schemaVersion":1}');
  await writeFile(join(cwd, 'cut.json'), renderJson(passing).slice(0, 300));
});
afterAll(() => rm(cwd, { recursive: true }));

const compare = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  hookproof(['report', '--compare', ...args], { cwd, env });

describe('report --compare', () => {
  it('exits 0 if nothing new fails, 1 if something does, and 0 with --no-exit-code', async () => {
    const repaired = await compare(['failing', 'passing/run.json']);
    expect({ code: repaired.code, stderr: repaired.stderr }).toEqual({ code: 0, stderr: '' });
    expect(repaired.stdout).toContain('1 fixed, 0 new, 0 still failing since the run of 2026-11-21 10:00 UTC\n');
    const broken = await compare(['passing', 'failing']);
    expect({ code: broken.code, first: broken.stdout.split('\n')[0] }).toEqual({
      code: 1,
      first: '✗ 1 NEW FAILURE  http://127.0.0.1:8080/hooks',
    });
    expect((await compare(['passing', 'failing', '--no-exit-code'])).code).toBe(0);
  });

  it('prints JSON that fits the published schema', async () => {
    const { code, stdout } = await compare(['failing', 'passing', '--json']);
    const comparison = JSON.parse(stdout);
    const validate = new Ajv2020().compile(comparisonSchema());
    expect({ code, valid: validate(comparison), errors: validate.errors }).toEqual({
      code: 0,
      valid: true,
      errors: null,
    });
    expect(comparison.fixed).toMatchObject([{ id: 'signature/missing', before: 'fail', now: 'pass' }]);
    expect(JSON.parse((await hookproof(['list', '--schemas'])).stdout).comparison).toEqual(comparisonSchema());
  });

  it('writes a page that links the reports next to the runs', async () => {
    const { stdout } = await compare(['passing', 'failing', '--reporter', 'html=page.html']);
    expect(stdout).toContain(`html report: ${join(cwd, 'page.html')}\n`);
    const links = readPage(await readFile(join(cwd, 'page.html'), 'utf8')).flatMap(
      ({ attributes: { href } }) => href ?? [],
    );
    expect(links).toEqual([
      'passing/report.html',
      'failing/report.html',
      'failing/report.html#signature/missing',
      'passing/report.html#signature/missing',
    ]);
  });

  it('prints no workflow command in GitHub Actions', async () => {
    const { stdout } = await compare(['passing', 'failing'], { GITHUB_ACTIONS: 'true' });
    expect(stdout).toMatch(/^✗ 1 NEW FAILURE/);
  });

  it.each([
    [['failing'], 'REPORT_COMPARE', 'takes two runs, but got 1'],
    [['failing', 'passing', 'failing'], 'REPORT_COMPARE', 'takes two runs, but got 3'],
    [['nowhere', 'passing'], 'REPORT_UNREADABLE', 'nowhere does not exist'],
    [['failing', 'empty'], 'REPORT_UNREADABLE', 'empty/run.json does not exist'],
    [['failing', 'cut.json'], 'REPORT_NOT_JSON', 'cut.json is not valid JSON'],
    [['other.json', 'passing'], 'REPORT_INVALID', 'other.json is not a result document'],
    [['failing', 'passing', '--merge'], 'REPORT_COMPARE', '`--compare` and `--merge` cannot be combined'],
    [['failing', 'passing', '-o', 'out'], 'REPORT_COMPARE', '`--compare` cannot write an output folder'],
    [['failing', 'passing', '--reporter', 'junit'], 'REPORT_COMPARE', 'the reporter junit cannot show a comparison'],
  ])('refuses %j with exit 2 and %s', async (args, code, message) => {
    const refused = await compare(args);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(message);
    expect(refused.stderr).toContain(`(${code})`);
  });

  it('is the only use of --json', async () => {
    const { code, stderr } = await hookproof(['report', 'failing/run.json', '--json'], { cwd });
    expect([code, stderr.includes('`--json` needs `--compare`')]).toEqual([2, true]);
  });
});
