import { describe, expect, it } from 'vitest';
import { createProgress, type ProgressOptions } from '../../../harness/report/index.ts';
import type { RunEvent, ScenarioResult } from '../../../harness/report/result-document.ts';
import { documentWith, resultWith } from './documents.ts';

/** Returns the output for each event. */
function outputOf(events: readonly RunEvent[], options: Partial<ProgressOptions> = {}): string[] {
  let written = '';
  const stream = {
    write: (text: string) => {
      written += text;
    },
  };
  const listen = createProgress({ stream, isTTY: false, columns: 80, color: false, ...options });
  return events.map((event) => {
    written = '';
    listen(event);
    return written;
  });
}

function eventsOf(results: readonly ScenarioResult[]): RunEvent[] {
  const document = documentWith({ results: [...results] });
  const { target, seed, planned, startedAt } = document;
  return [
    { type: 'run-started', url: target.url, seed, planned, startedAt },
    ...results.map((result, index): RunEvent => ({ type: 'scenario-finished', finished: index + 1, planned, result })),
    { type: 'run-finished', document },
  ];
}

const failed = resultWith({ verdict: 'fail', observed: '200', reason: 'accepted with 200' });
const eventful = eventsOf([
  resultWith({ id: 'valid/buy' }),
  failed,
  resultWith({ id: 'http/case', verdict: 'warn', reason: 'answered 403' }),
  resultWith({ id: 'http/slow', verdict: 'inconclusive', reason: 'rate-limited' }),
]);

describe('progress without a terminal', () => {
  it('prints the start, findings, quarters and the end', () => {
    expect(outputOf(eventful)).toEqual([
      '4 checks against http://127.0.0.1:8080/hooks, seed 7f3a\n',
      '1 of 4 checks done, 0 failures so far\n',
      '✗ fail  signature/missing: Rejects a delivery without a signature\n' + '2 of 4 checks done, 1 failure so far\n',
      '! warn  http/case: Rejects a delivery without a signature\n3 of 4 checks done, 1 failure so far\n',
      '? inconclusive  rate-limited (first seen in http/slow)\n',
      'Finished in 840 ms: NOT CONFORMANT\n',
    ]);
  });

  it('prints three notes, and counts the others of a receiver that restarts', () => {
    const note = (at: number): RunEvent => ({ type: 'notice', message: `the receiver stopped answering ${at}` });
    const [started, ...rest] = eventsOf([resultWith()]) as [RunEvent, ...RunEvent[]];
    const printed = outputOf([started, ...Array.from({ length: 100 }, (_, at) => note(at)), ...rest]).join('');
    expect(printed.match(/^note /gm)).toHaveLength(3);
    expect(printed).toContain('and 97 more notes\n');
  });

  it('prints the remaining time at least every half minute', () => {
    let written = '';
    let ms = 0;
    const stream = {
      write: (text: string) => {
        written += text;
      },
    };
    const listen = createProgress({ stream, isTTY: false, color: false, now: () => ms });
    for (; ms < 90_000; ms += 5000) {
      listen({ type: 'progress', finished: ms / 5000, planned: 99, leftMs: 600_000 - ms });
    }
    expect(written.trimEnd().split('\n')).toEqual([
      '5 of 99 checks done, 0 failures so far, about 9 min 35 s left',
      '10 of 99 checks done, 0 failures so far, about 9 min 10 s left',
      '15 of 99 checks done, 0 failures so far, about 8 min 45 s left',
    ]);
  });

  it('prints each reason for an inconclusive check once', () => {
    const results = Array.from({ length: 200 }, (_, index) =>
      resultWith({ id: `valid/n${index}`, verdict: 'inconclusive', reason: 'nothing is listening' }),
    );
    expect(outputOf(eventsOf(results)).join('').split('\n')).toEqual([
      '200 checks against http://127.0.0.1:8080/hooks, seed 7f3a',
      '? inconclusive  nothing is listening (first seen in valid/n0)',
      '50 of 200 checks done, 0 failures so far',
      '100 of 200 checks done, 0 failures so far',
      '150 of 200 checks done, 0 failures so far',
      'Finished in 840 ms: NO VERDICT',
      '',
    ]);
  });

  it('counts only checks that were played', () => {
    const off = Array.from({ length: 100 }, (_, at) => resultWith({ id: `mtls/n${at}`, verdict: 'not-applicable' }));
    const left = Array.from({ length: 100 }, (_, at) =>
      resultWith({ id: `valid/n${at}`, verdict: 'inconclusive', observed: '', reason: 'nothing is listening' }),
    );
    expect(outputOf(eventsOf([...off, ...left])).join('')).not.toContain('checks done');
    expect(outputOf(eventsOf([...off, resultWith(), resultWith(), ...left.slice(0, 2)])).join('')).toContain(
      '2 of 4 checks done',
    );
    expect(outputOf(eventsOf([...off, ...left]), { isTTY: true }).at(-2)).toContain('0/100');
  });

  it('prints notices', () => {
    expect(outputOf([{ type: 'notice', message: 'waiting for the endpoint\x07' }])).toEqual([
      'note  waiting for the endpoint\\x07\n',
    ]);
  });
});

describe('progress on a terminal', () => {
  it('rewrites one line, prints failures above it, and erases it', () => {
    expect(outputOf(eventful, { isTTY: true })).toEqual([
      '4 checks against http://127.0.0.1:8080/hooks, seed 7f3a\n0/4',
      '\r\x1b[K1/4  valid',
      '\r\x1b[K✗ fail  signature/missing: Rejects a delivery without a signature\n' +
        '1/4  valid\r\x1b[K2/4  signature  1 failure',
      '\r\x1b[K! warn  http/case: Rejects a delivery without a signature\n' +
        '2/4  signature  1 failure\r\x1b[K3/4  http  1 failure  1 warning',
      '\r\x1b[K? inconclusive  rate-limited (first seen in http/slow)\n' +
        '3/4  http  1 failure  1 warning\r\x1b[K4/4  http  1 failure  1 warning',
      '\r\x1b[K',
    ]);
  });

  it('keeps the live line shorter than the terminal is wide', () => {
    const long = resultWith({ suite: 'a-suite-with-a-name-that-is-longer-than-the-terminal' });
    const [, line] = outputOf(eventsOf([long]), { isTTY: true, columns: 20 });
    expect(line).toBe('\r\x1b[K1/1  a-suite-with-…');
  });

  it('escapes control characters of the endpoint', () => {
    const hostile = resultWith({ verdict: 'fail', suite: '\x1b[2J', title: '\x1b]0;owned\x07', reason: '\u202e' });
    const output = outputOf(eventsOf([hostile]), { isTTY: true }).join('');
    expect(output.replaceAll('\r\x1b[K', '')).not.toMatch(/[^\n\P{C}]/u);
  });
});
