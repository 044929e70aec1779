import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventSchema, openEventStream, renderNdjson } from '../../../harness/report/index.ts';
import { writtenEvent } from '../../../harness/report/result-document.ts';
import { documentWith, exchangeWith, resultWith } from './documents.ts';

let cwd: string;
let written: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-events-'));
  written = '';
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const stdout = () =>
  new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });

describe('the ndjson reporter while a run goes on', () => {
  it('writes each event at once, and empties an older file only then', async () => {
    const path = join(cwd, 'out/events.ndjson');
    const reporters = [
      { name: 'json', file: null },
      { name: 'ndjson', file: null },
      { name: 'ndjson', file: 'out/events.ndjson' },
    ] as const;
    openEventStream(reporters, { stdout: stdout(), cwd })?.close();
    await writeFile(path, 'old\n');
    const stream = openEventStream(reporters, { stdout: stdout(), cwd });
    expect(stream?.reporters).toEqual(reporters.slice(1));
    expect(await readFile(path, 'utf8')).toBe('old\n');
    stream?.tell({ type: 'notice', message: 'one' });
    const line = '{"schemaVersion":1,"type":"notice","message":"one"}\n';
    expect([written, await readFile(path, 'utf8')]).toEqual([line, line]);
    stream?.tell({ type: 'notice', message: 'two' });
    expect(written).toBe(line + line.replace('one', 'two'));
    stream?.close();
  });

  it('is absent without an ndjson reporter, and rejects an unwritable file at once', async () => {
    expect(openEventStream([{ name: 'json', file: null }], { stdout: stdout(), cwd })).toBeNull();
    await writeFile(join(cwd, 'file'), '');
    const reporters = [{ name: 'ndjson', file: 'file/events' }] as const;
    expect(() => openEventStream(reporters, { stdout: stdout(), cwd })).toThrow('The ndjson report cannot be written');
  });

  it.runIf(process.platform === 'linux')('says at the end that a disk was full', () => {
    const stream = openEventStream([{ name: 'ndjson', file: '/dev/full' }], { stdout: stdout(), cwd });
    stream?.tell({ type: 'notice', message: 'one' });
    expect(() => stream?.close()).toThrow('ENOSPC');
  });

  it('has a published schema that accepts every line and no other', async () => {
    const validate = new Ajv2020({ strict: true, allErrors: true }).compile(await eventSchema());
    const document = documentWith({ results: [resultWith({ verdict: 'fail', exchanges: [exchangeWith()] })] });
    const lines = renderNdjson(document)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const notice = { schemaVersion: 1, type: 'notice', message: 'down' };
    const cases: [unknown, boolean][] = [
      ...lines.map((line): [unknown, boolean] => [line, true]),
      [notice, true],
      [{ ...notice, schemaVersion: 2 }, false],
      [{ ...notice, type: 'other' }, false],
      [{ ...notice, more: 1 }, false],
      [{ ...lines[1], result: {} }, false],
    ];
    for (const [value, valid] of cases) {
      expect([validate(value), writtenEvent.safeParse(value).success]).toEqual([valid, valid]);
    }
  });
});
