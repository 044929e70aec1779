import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeError } from '../../harness/cli/program.ts';
import { readSavedRun } from '../../harness/cli/saved-run.ts';
import { renderJson } from '../../harness/report/index.ts';
import type { ResultDocument } from '../../harness/report/result-document.ts';
import { diagnosisWith, documentWith, exchangeWith, resultWith, textBody } from '../harness/report/documents.ts';
import { parseXml } from '../setup/parse-xml.ts';
import { hookproof, MAIN } from './hookproof.ts';

const HOSTILE = '\x1b[31m<script>&\u202e\x00]]>\n::error::##[debug]\ud800|`@x`';

/** A document in which every text from the endpoint is hostile. */
const hostile = documentWith({
  results: [
    resultWith({ id: 'valid/plain', title: HOSTILE }),
    resultWith({
      verdict: 'fail',
      observed: HOSTILE,
      reason: HOSTILE,
      exchanges: [exchangeWith({ response: { status: 200, headers: [[HOSTILE, HOSTILE]], body: textBody(HOSTILE) } })],
    }),
  ],
  diagnosis: [diagnosisWith({ title: HOSTILE })],
  target: { url: HOSTILE, features: [], tls: null },
});

let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  await writeFile(join(cwd, 'run.json'), renderJson(hostile));
  await writeFile(join(cwd, 'good.json'), renderJson(documentWith()));
});
afterAll(() => rm(cwd, { recursive: true }));

const report = (args: string[], more: { env?: NodeJS.ProcessEnv; input?: string } = {}) =>
  hookproof(['report', ...args], { cwd, ...more });
const content = (name: string) => readFile(join(cwd, name), 'utf8');

describe('report', () => {
  it('renders a saved run again, in every format, and exits as the run did', async () => {
    const files = ['json', 'junit', 'html', 'badge', 'ctrf', 'sarif', 'github', 'ndjson'].map(
      (name) => `${name}=again.${name}`,
    );
    const { code, stdout } = await report(['run.json', ...files.flatMap((file) => ['--reporter', file])]);
    expect({ code, first: stdout.includes('NOT CONFORMANT'), told: stdout.includes('again.ctrf') }).toEqual({
      code: 1,
      first: true,
      told: true,
    });
    expect(await content('again.json')).toBe(await content('run.json'));
    expect(stdout).not.toMatch(/[^\n\P{Cc}]/u);
    expect(await content('again.html')).not.toContain('<script>&');
    for (const name of ['again.junit', 'again.badge']) expect(parseXml(await content(name)).name).not.toBe('');
  });

  it('reads standard input, and exits 0 with --no-exit-code', async () => {
    const input = renderJson(hostile);
    const { code, stdout } = await report(['-', '--no-exit-code', '--reporter', 'json'], { input });
    expect({ code, stdout }).toEqual({ code: 0, stdout: input });
  });

  it('annotates in GitHub Actions of itself, and adds the job summary', async () => {
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') };
    const { code, stdout } = await report(['run.json'], { env });
    expect({ code, commands: stdout.match(/^[^\S\n]*::\w+|##\[/gm) }).toEqual({
      code: 1,
      commands: ['::group', '::endgroup', '::error', '::error'],
    });
    expect(await content('summary.md')).toMatch(/^## ❌ hookproof: NOT CONFORMANT\n/);
    const plain = await report(['run.json', '--reporter', 'human'], { env });
    expect(plain.stdout).not.toMatch(/^\s*::|##\[/m);
  });

  it('takes several files one after another, exits as the worst, and writes no file for several', async () => {
    const { code, stdout } = await report(['good.json', 'run.json']);
    expect({ code, both: /\bCONFORMANT[\s\S]*NOT CONFORMANT/.test(stdout) }).toEqual({ code: 1, both: true });
    const refused = await report(['good.json', 'run.json', '--reporter', 'junit=x.xml']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('the reporter junit takes one run, but got 2 files');
  });

  const document = JSON.parse(renderJson(documentWith()));
  const text = (parts: object) => JSON.stringify({ ...document, ...parts });
  it.each<[string, string | Buffer, string, string]>([
    ['nothing', '', 'REPORT_NOT_JSON', 'is not valid JSON'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'REPORT_NOT_JSON', 'is not valid JSON'],
    ['ndjson', '{"schemaVersion":1,"type":"notice"}\n{}', 'REPORT_NOT_JSON', 'the output of the ndjson reporter'],
    ['a list', '[]', 'REPORT_INVALID', 'it has no schemaVersion'],
    ['foreign JSON', '{"results":{}}', 'REPORT_INVALID', 'it has no schemaVersion'],
    ['another version', text({ schemaVersion: 2 }), 'REPORT_OTHER_SCHEMA', 'has schemaVersion 2; this version'],
    ['a hostile version', '{"schemaVersion":"\\u001b[31m"}', 'REPORT_OTHER_SCHEMA', 'has schemaVersion'],
    [
      'a wrong value',
      text({ results: [{ ...document.results[0], level: 'may' }] }),
      'REPORT_INVALID',
      'results[0].level: ',
    ],
    ['a hostile field', text({ 'x\x1b[31m': 1 }), 'REPORT_INVALID', 'the schema does not know: x\\x1b[31m'],
    ['a prototype', text({}).replace('{', '{"__proto__":{"x":1},'), 'REPORT_INVALID', '__proto__'],
    ['no number', text({}).replace('"durationMs":840', '"durationMs":1e999'), 'REPORT_INVALID', 'durationMs'],
    ['no time', text({ startedAt: 'yesterday' }), 'REPORT_INVALID', 'startedAt is not a time'],
    [
      'wrong counts',
      text({ counts: { ...document.counts, pass: 9 } }),
      'REPORT_INVALID',
      'counts.pass is 9, but the results say 1',
    ],
    [
      'a nicer verdict',
      text({ verdict: 'inconclusive' }),
      'REPORT_INVALID',
      'verdict is inconclusive, but the results say',
    ],
    [
      'a check twice',
      text({ results: [document.results[0], document.results[0]], judged: 2, planned: 2 }),
      'REPORT_INVALID',
      'same check',
    ],
    [
      'deep nesting',
      `{"schemaVersion":1,"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
      'REPORT_INVALID',
      'not a result document',
    ],
  ])('refuses %s', async (_, input, code, says) => {
    const file = join(cwd, 'bad.json');
    await writeFile(file, input);
    const error = await readSavedRun(file).catch((caught) => caught);
    expect(error).toMatchObject({ code, kind: 'usage' });
    expect(describeError(error)).toContain(says);
    expect(describeError(error)).not.toMatch(/[^\n\P{Cc}]/u);
  });

  it('reads the run.json in a folder', async () => {
    const [folder, file] = [await report(['.']), await report(['run.json'])];
    expect(folder).toMatchObject({ code: 1, stdout: file.stdout });
  });

  it.each([
    ['a missing file', ['nowhere.json'], 'nowhere.json does not exist'],
    ['a folder without a run', ['/dev'], '/dev/run.json does not exist'],
    ['an endless file', ['/dev/zero'], '/dev/zero is a device, expected a regular file'],
    ['standard input twice', ['-', '-'], 'is given twice'],
    ['an unknown reporter', ['run.json', '--reporter', 'pdf'], '"pdf" is not a reporter'],
    ['a whole run as a shard', ['--merge', 'run.json'], 'these are not the shards of one run: run.json is a whole run'],
  ])('refuses %s', async (_, args, says) => {
    const { code, stdout, stderr } = await report(args);
    expect({ code, stdout, says: stderr.includes(says) ? says : stderr }).toEqual({ code: 2, stdout: '', says });
  });
});

describe('shards on the command line', () => {
  it('are joined into one run', async () => {
    const server = createServer((request, response) => request.resume().on('end', () => response.end('ok')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const common = ['run', url, '--suite', 'api-key', '--suite', 'leaks', '--seed', 's'];
    const env = { HOOKPROOF_API_KEY: 'a-key-that-is-long-enough' };
    const part = (name: string, ...args: string[]) =>
      hookproof([...common, '--reporter', `json=${name}`, ...args], { cwd, env });
    await Promise.all([part('whole.json'), part('1.json', '--shard', '1/2'), part('2.json', '--shard', '2/2')]);
    server.close();
    const { code, stdout } = await report(['--merge', '2.json', '1.json', '--reporter', 'json']);
    const joined: ResultDocument = JSON.parse(stdout);
    const whole: ResultDocument = JSON.parse(await content('whole.json'));
    const essence = ({ counts, diagnosis, results, shard, verdict }: ResultDocument) => {
      return { counts, diagnosis, shard, verdict, results: results.map(({ id, verdict: one }) => [id, one]) };
    };
    expect(code).toBe(1);
    expect(essence(joined)).toEqual(essence(whole));
    const one = await report(['--merge', '1.json']);
    expect({ code: one.code, says: one.stderr.includes('shard 2 of 2 is missing') }).toEqual({ code: 2, says: true });
  });
});

describe('ndjson', () => {
  it('is written during the run, and complete when it is interrupted', async () => {
    let answered = 0;
    // The server does not answer from the tenth delivery on.
    const server = createServer((request, response) => {
      answered++;
      request.resume().on('end', () => answered < 10 && response.end('ok'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const args = [
      'run',
      url,
      '--open',
      '--suite',
      'typo-key',
      '--reporter',
      'ndjson',
      '--timeout',
      '1m',
      '--concurrency',
      '1',
    ];
    const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { PATH: process.env.PATH } });
    const types: string[] = [];
    let last: { document?: ResultDocument } = {};
    for await (const line of createInterface({ input: child.stdout })) {
      last = JSON.parse(line);
      types.push((last as { type: string }).type);
      if (types.filter((type) => type === 'scenario-finished').length === 2) child.kill('SIGINT');
    }
    if (child.exitCode === null) await once(child, 'exit');
    server.closeAllConnections();
    server.close();
    expect([types[0], types.at(-1), child.exitCode]).toEqual(['run-started', 'run-finished', 130]);
    expect(last.document?.interrupted).toBe(true);
    expect(types.filter((type) => type === 'scenario-finished')).toHaveLength(last.document?.planned ?? -1);
  });
});
