import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  checkReportPlaces,
  createRedactor,
  openEventStream,
  renderHuman,
  renderJson,
  renderJunit,
  writeReports,
} from '../../../harness/report/index.ts';
import { documentWith, resultWith, textStream } from './documents.ts';
import { readPage } from './html/strict-html.ts';

let cwd: string;
let output: ReturnType<typeof textStream>;
const document = documentWith();
const redactor = createRedactor({ values: [] });
const options = () => ({ stdout: output.stdout, cwd, redactor });

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-report-'));
  output = textStream();
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

describe('writing reports', () => {
  it('writes files and standard output, makes folders, and returns the paths', async () => {
    const reporters = [
      { name: 'human', file: null },
      { name: 'json', file: 'out/run.json' },
      { name: 'junit', file: join(cwd, 'junit.xml') },
    ] as const;
    const terminal = { columns: 60, color: true, unicode: true };
    expect(await writeReports(document, reporters, { ...options(), terminal })).toEqual([
      { name: 'json', path: join(cwd, 'out/run.json') },
      { name: 'junit', path: join(cwd, 'junit.xml') },
    ]);
    const files = [
      { name: 'json', path: join(cwd, 'out/run.json') },
      { name: 'junit', path: join(cwd, 'junit.xml') },
    ];
    expect(output.text()).toBe(renderHuman(document, { ...terminal, files }));
    for (const { path } of files) expect(output.text()).toContain(path);
    expect(await readFile(join(cwd, 'out/run.json'), 'utf8')).toBe(renderJson(document));
    expect(await readFile(join(cwd, 'junit.xml'), 'utf8')).toBe(renderJunit(document));
    expect([await readdir(cwd), await readdir(join(cwd, 'out'))]).toEqual([['junit.xml', 'out'], ['run.json']]);
  });

  it('says in the reports for people what changed since an earlier run, and nowhere else', async () => {
    const earlier = documentWith({ results: [resultWith({ verdict: 'fail', observed: '200' })] });
    const names = ['human', 'html', 'json', 'junit'] as const;
    const reporters = names.map((name) => ({ name, file: name }));
    await writeReports(document, reporters, { ...options(), earlier });
    const texts = await Promise.all(names.map((name) => readFile(join(cwd, name), 'utf8')));
    const line = '1 fixed, 0 new, 0 still failing since the run of 2026-11-21 10:00 UTC';
    expect(texts.map((text) => text.includes(line))).toEqual([true, true, false, false]);
    readPage(texts[1] ?? '');
    await writeReports(document, reporters, options());
    expect(await readFile(join(cwd, 'html'), 'utf8')).not.toContain('still failing');
  });

  it('keeps colour out of files', async () => {
    const terminal = { columns: 60, color: true, unicode: true };
    await writeReports(document, [{ name: 'human', file: 'report.txt' }], { ...options(), terminal });
    const plain = { columns: 80, color: false, unicode: true };
    expect(await readFile(join(cwd, 'report.txt'), 'utf8')).toBe(renderHuman(document, plain));
  });

  it('skips reports that were streamed, and returns their files', async () => {
    const streamed = [
      { name: 'ndjson', file: null },
      { name: 'ndjson', file: 'events.ndjson' },
    ] as const;
    expect(await writeReports(document, streamed, { ...options(), streamed })).toEqual([
      { name: 'ndjson', path: join(cwd, 'events.ndjson') },
    ]);
    expect([output.text(), await readdir(cwd)]).toEqual(['', []]);
  });

  it('appends the job summary, and writes no command to a log of GitHub Actions', async () => {
    const results = [resultWith({ verdict: 'fail', observed: '##[debug]' })];
    const summaryFile = join(cwd, 'summary.md');
    await writeFile(summaryFile, 'before\n');
    const hostile = documentWith({ results });
    await writeReports(hostile, [{ name: 'github', file: null }], { ...options(), summaryFile, actions: true });
    const text = await readFile(summaryFile, 'utf8');
    expect(text.startsWith('before\n## ')).toBe(true);
    expect([output.text().includes('\n::error '), output.text().includes('##[')]).toEqual([true, false]);
    await writeFile(summaryFile, 'x'.repeat(1024 * 1024));
    await writeReports(hostile, [{ name: 'github', file: null }], { ...options(), summaryFile, actions: true });
    expect((await readFile(summaryFile)).length).toBe(1024 * 1024);
    output.clear();
    await writeReports(hostile, [{ name: 'human', file: null }], { ...options(), summaryFile, actions: true });
    expect([output.text().includes('# #[debug]'), output.text().includes('::error')]).toEqual([true, false]);
    const nowhere = { ...options(), summaryFile: cwd };
    await expect(writeReports(hostile, [{ name: 'github', file: 'log' }], nowhere)).rejects.toThrow('github report');
  });

  it('replaces an older report, and the file behind a link rather than the link', async () => {
    await writeFile(join(cwd, 'real.json'), 'old');
    await symlink('real.json', join(cwd, 'link.json'));
    await writeReports(document, [{ name: 'json', file: 'link.json' }], options());
    expect(await readFile(join(cwd, 'real.json'), 'utf8')).toBe(renderJson(document));
    const entries = await readdir(cwd, { withFileTypes: true });
    expect(entries.map((entry) => [entry.name, entry.isSymbolicLink()])).toEqual([
      ['link.json', true],
      ['real.json', false],
    ]);
  });

  it.each<[string, string, (outside: string) => Promise<unknown>]>([
    ['the file', 'run.json', (outside) => symlink(join(outside, 'run.json'), join(cwd, 'run.json'))],
    ['the file, to nothing', 'run.json', (outside) => symlink(join(outside, 'new.json'), join(cwd, 'run.json'))],
    ['its folder', 'out/run.json', (outside) => symlink(outside, join(cwd, 'out'))],
    ['its folder, to nothing', 'out/run.json', (outside) => symlink(join(outside, 'new'), join(cwd, 'out'))],
    ['a folder above it', 'out/deep/new/run.json', (outside) => symlink(outside, join(cwd, 'out'))],
    [
      'a link behind a link',
      'out/run.json',
      async (outside) => {
        await symlink(outside, join(cwd, 'second'));
        await symlink('second', join(cwd, 'out'));
      },
    ],
  ])('writes nothing out of the folder through a link: %s', async (_, file, link) => {
    const outside = await mkdtemp(join(tmpdir(), 'hookproof-outside-'));
    await writeFile(join(outside, 'run.json'), 'precious');
    await link(outside);
    const reason = /: a symbolic link leads out of \S+$/;
    for (const name of ['json', 'ndjson'] as const) {
      const reporters = [{ name, file: join(cwd, file) }];
      expect(() => checkReportPlaces(reporters, cwd)).toThrow(reason);
      expect(() => openEventStream([{ name: 'ndjson', file }], options())).toThrow(reason);
      await expect(writeReports(document, reporters, options())).rejects.toMatchObject({
        code: 'REPORT_NOT_WRITTEN',
        message: expect.stringMatching(reason),
      });
    }
    expect([await readdir(outside), await readFile(join(outside, 'run.json'), 'utf8')]).toEqual([
      ['run.json'],
      'precious',
    ]);
    // The configuration file can be in another folder.
    const elsewhere = [{ name: 'json', file: join(cwd, file), base: cwd }] as const;
    await expect(writeReports(document, elsewhere, { ...options(), cwd: outside })).rejects.toThrow(reason);
    await rm(outside, { recursive: true });
  });

  it('follows links within the folder, and writes where a path that leaves the folder says', async () => {
    await mkdir(join(cwd, 'inside', 'real'), { recursive: true });
    await symlink('real', join(cwd, 'inside', 'link'));
    await writeReports(document, [{ name: 'json', file: 'inside/link/run.json' }], options());
    expect(await readdir(join(cwd, 'inside', 'real'))).toEqual(['run.json']);
    const within = { ...options(), cwd: join(cwd, 'inside', 'real') };
    await writeReports(document, [{ name: 'json', file: '../link/again.json' }], within);
    expect(await readdir(join(cwd, 'inside', 'real'))).toEqual(['again.json', 'run.json']);
  });

  it.runIf(process.platform !== 'win32')('writes to a device and does not replace it', async () => {
    expect(await writeReports(document, [{ name: 'json', file: '/dev/null' }], options())).toEqual([
      { name: 'json', path: '/dev/null' },
    ]);
    expect(await readFile('/dev/null', 'utf8')).toBe('');
  });

  it('reports what cannot be output.text(), and writes the other reports', async () => {
    await mkdir(join(cwd, 'folder'));
    await writeFile(join(cwd, 'file'), '');
    const write = (file: string) =>
      writeReports(
        document,
        [
          { name: 'junit', file },
          { name: 'json', file: 'run.json' },
          { name: 'human', file: null },
        ],
        options(),
      );
    await expect(write('folder')).rejects.toMatchObject({
      code: 'REPORT_NOT_WRITTEN',
      message: `The junit report cannot be written to ${join(cwd, 'folder')}: it is a directory`,
      kind: 'usage',
    });
    expect(await readFile(join(cwd, 'run.json'), 'utf8')).toBe(renderJson(document));
    expect(output.text().split('\n')[0]).toBe('✓ CONFORMANT  http://127.0.0.1:8080/hooks');
    await expect(write('file/junit.xml')).rejects.toMatchObject({ code: 'REPORT_NOT_WRITTEN' });
    expect(await readdir(cwd)).toEqual(['file', 'folder', 'run.json']);
  });

  it('refuses a named pipe before the run, where nothing may read', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(cwd, 'pipe')]);
    const reporters = [{ name: 'json', file: 'pipe' }] as const;
    expect(() => checkReportPlaces(reporters, cwd)).toThrow(/pipe: it is a named pipe, expected a file/);
    await expect(writeReports(document, reporters, options())).rejects.toMatchObject({ code: 'REPORT_NOT_WRITTEN' });
  });

  it('ignores a closed pipe, and rejects with any other error of standard output', async () => {
    const failing = (code: string) =>
      new Writable({
        write(_chunk, _encoding, done) {
          done(Object.assign(new Error(`write ${code}`), { code }));
        },
      });
    const toStdout = [{ name: 'human', file: null }] as const;
    expect(await writeReports(document, toStdout, { ...options(), stdout: failing('EPIPE') })).toEqual([]);
    await expect(writeReports(document, toStdout, { ...options(), stdout: failing('ENOSPC') })).rejects.toMatchObject({
      message: 'The human report cannot be written to standard output: write ENOSPC',
    });
  });
});
