import { describe, expect, it } from 'vitest';
import { renderEvent, renderJson, renderNdjson } from '../../../harness/report/index.ts';
import type { RunEvent } from '../../../harness/report/result-document.ts';
import { documentWith, resultWith } from './documents.ts';

const hostile = documentWith({
  results: [
    resultWith({ observed: 'a\x1b[31m\x7f\x9b\u202e\u2028\ud800\u{e0001}\n"' }),
    resultWith({ id: 'valid/buy' }),
  ],
});

describe('JSON', () => {
  it('is the document, indented, with a newline at the end', () => {
    expect(renderJson(documentWith())).toBe(`${JSON.stringify(documentWith(), null, 2)}\n`);
  });

  it('escapes characters that act on a display, and parses to the same document', () => {
    expect(JSON.parse(renderJson(hostile))).toEqual(hostile);
    expect(renderJson(hostile)).not.toMatch(/[^\n\P{C}]|[\u2028\u2029]/u);
    expect(renderJson(hostile)).toContain('"a\\u001b[31m\\u007f\\u009b\\u202e\\u2028\\ud800\\udb40\\udc01\\n\\""');
  });
});

describe('NDJSON', () => {
  it('is a line for each event', () => {
    const event: RunEvent = { type: 'notice', message: 'one\ntwo\u2028three' };
    expect(renderEvent(event)).toBe('{"schemaVersion":1,"type":"notice","message":"one\\ntwo\\u2028three"}\n');
  });

  it('contains the events of a finished run', () => {
    const { target, seed, startedAt, results } = hostile;
    const lines = renderNdjson(hostile).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { schemaVersion: 1, type: 'run-started', url: target.url, seed, planned: 2, startedAt },
      { schemaVersion: 1, type: 'scenario-finished', judged: 1, planned: 2, result: results[0] },
      { schemaVersion: 1, type: 'scenario-finished', judged: 2, planned: 2, result: results[1] },
      { schemaVersion: 1, type: 'run-finished', document: hostile },
    ]);
  });
});
