/** The JSON and NDJSON reports, and the published schema of each. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  eventSchema,
  openEventStream,
  renderEvent,
  renderJson,
  renderNdjson,
  resultSchema,
} from '../../../harness/report/index.ts';
import { type RunEvent, resultDocument, writtenEvent } from '../../../harness/report/result-document.ts';
import { documentWith, exchangeWith, resultWith, textStream } from './documents.ts';

const hostile = documentWith({
  results: [
    resultWith({ observed: 'a\x1b[31m\x7f\x9b\u202e\u2028\ud800\u{e0001}\n"' }),
    resultWith({ id: 'valid/buy' }),
  ],
});
const failed = documentWith({ results: [resultWith({ verdict: 'fail', exchanges: [exchangeWith()] })] });
const notice: RunEvent = { type: 'notice', message: 'one\ntwo\u2028three' };
const noticeLine = '{"schemaVersion":1,"type":"notice","message":"one\\ntwo\\u2028three"}\n';

/** Expects the published JSON Schema and the zod schema to give the same answer. */
function expectValidity(published: object, schema: typeof resultDocument | typeof writtenEvent, cases: Cases): void {
  const validate = new Ajv2020({ strict: true, allErrors: true }).compile(published as AnySchema);
  for (const [value, valid] of cases) {
    expect([validate(value), schema.safeParse(value).success]).toEqual([valid, valid]);
  }
}
type Cases = readonly (readonly [value: unknown, valid: boolean])[];

describe('JSON', () => {
  it('is the document, indented, with a newline at the end', () => {
    expect(renderJson(documentWith())).toBe(`${JSON.stringify(documentWith(), null, 2)}\n`);
  });

  it('escapes characters that act on a display, and parses to the same document', () => {
    expect(JSON.parse(renderJson(hostile))).toEqual(hostile);
    expect(renderJson(hostile)).not.toMatch(/[^\n\P{C}]|[\u2028\u2029]/u);
    expect(renderJson(hostile)).toContain('"a\\u001b[31m\\u007f\\u009b\\u202e\\u2028\\ud800\\udb40\\udc01\\n\\""');
  });

  it('has a published schema that agrees with the zod schema', async () => {
    const seen = { answerTimesMs: [1.5], leaks: [], outages: [], failedControls: [], rejections: [] };
    expectValidity(resultSchema(), resultDocument, [
      [failed, true],
      [JSON.parse(renderJson(failed)), true],
      [{ ...failed, scoring: { revision: 1, digest: 'x', notScored: [] }, retried: ['valid/plain'] }, true],
      [{ ...failed, scoring: { revision: 0, digest: 'x', notScored: [] } }, false],
      [{ ...failed, scoring: null }, false],
      [{ ...failed, shardRecord: { preflight: null, stackGiven: null, entries: null, seen } }, true],
      [{ ...failed, shardRecord: { preflight: null, stackGiven: 'cobol', entries: null, seen } }, false],
      [{ ...failed, schemaVersion: 2 }, false],
      [{ ...failed, extra: 1 }, false],
      [{ ...failed, verdict: 'fine' }, false],
      [{ ...failed, durationMs: -1 }, false],
      [{ ...failed, planned: 1.5 }, false],
      [{ ...failed, results: [{ ...failed.results[0], verdict: undefined }] }, false],
    ]);
  });
});

describe('NDJSON', () => {
  it('is a line for each event', () => {
    expect(renderEvent(notice)).toBe(noticeLine);
  });

  it('contains the events of a finished run', () => {
    const { target, seed, startedAt, results } = hostile;
    const lines = renderNdjson(hostile).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { schemaVersion: 1, type: 'run-started', url: target.url, seed, planned: 2, startedAt },
      { schemaVersion: 1, type: 'scenario-finished', finished: 1, planned: 2, result: results[0] },
      { schemaVersion: 1, type: 'scenario-finished', finished: 2, planned: 2, result: results[1] },
      { schemaVersion: 1, type: 'run-finished', document: hostile },
    ]);
  });

  it('has a published schema that agrees with the zod schema', async () => {
    const lines = renderNdjson(failed).trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line));
    const written = { schemaVersion: 1, ...notice };
    expectValidity(eventSchema(), writtenEvent, [
      ...events.map((event) => [event, true] as const),
      [written, true],
      [{ ...written, schemaVersion: 2 }, false],
      [{ ...written, type: 'other' }, false],
      [{ ...written, more: 1 }, false],
      [{ ...events[1], result: {} }, false],
    ]);
  });
});

describe('the event stream', () => {
  async function setUp() {
    const cwd = await mkdtemp(join(tmpdir(), 'hookproof-events-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    return { cwd, ...textStream() };
  }

  it('writes each event at once, and truncates an older file with the first event', async () => {
    const { cwd, stdout, text } = await setUp();
    const path = join(cwd, 'out/events.ndjson');
    const reporters = [
      { name: 'json', file: null },
      { name: 'ndjson', file: null },
      { name: 'ndjson', file: 'out/events.ndjson' },
    ] as const;
    openEventStream(reporters, { stdout, cwd })?.close();
    await writeFile(path, 'old\n');
    const stream = openEventStream(reporters, { stdout, cwd });
    expect(stream?.reporters).toEqual(reporters.slice(1));
    expect(await readFile(path, 'utf8')).toBe('old\n');
    for (const lines of [noticeLine, noticeLine.repeat(2)]) {
      stream?.write(notice);
      expect([text(), await readFile(path, 'utf8')]).toEqual([lines, lines]);
    }
    stream?.close();
  });

  it('is absent without an ndjson reporter, and rejects an unwritable file immediately', async () => {
    const { cwd, stdout } = await setUp();
    expect(openEventStream([{ name: 'json', file: null }], { stdout, cwd })).toBeNull();
    await writeFile(join(cwd, 'file'), '');
    const reporters = [{ name: 'ndjson', file: 'file/events' }] as const;
    expect(() => openEventStream(reporters, { stdout, cwd })).toThrow('The ndjson report cannot be written');
  });

  it.runIf(process.platform === 'linux')('reports a full disk when it is closed', async () => {
    const stream = openEventStream([{ name: 'ndjson', file: '/dev/full' }], await setUp());
    stream?.write(notice);
    expect(() => stream?.close()).toThrow('ENOSPC');
  });
});
