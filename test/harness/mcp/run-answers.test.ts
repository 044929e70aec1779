/** What answers about a run say about checks without a simple status. */
import { expect, it } from 'vitest';
import { answerOf, createMarker } from '../../../harness/mcp/answer.ts';
import { causeOf, checkOf, summaryOf } from '../../../harness/mcp/run-answers.ts';
import type { ScenarioResult } from '../../../harness/report/result-document.ts';
import { documentWith, resultWith } from '../report/documents.ts';

const marker = createMarker();
const pastRun = (...results: ScenarioResult[]) => ({
  id: 'r1',
  document: documentWith({ results }),
  failed: [],
  warned: [],
});

it('the deliveries that were in flight are all listed, as far as the size of the answer allows', async () => {
  const ids = Array.from({ length: 40 }, (_, at) => `valid/kind-number-${at}`);
  const reason = `the endpoint went down and stayed down; in flight were: ${ids.join(', ')}`;
  const down = resultWith({ id: 'delivery/stays-up', verdict: 'fail', observed: '1 outage', reason });
  const contents = await checkOf(pastRun(down), down.id, marker, 4_000);
  const answer = answerOf(contents, { maxBytes: 16_000, page: 1, marker, redact: (text) => text });
  expect(JSON.stringify(answer.content)).toContain(ids.join(', '));
  expect(JSON.stringify(answer.structuredContent)).toContain(ids.join(', '));
});

it('the details of a cause list what may have caused an outage, in parts', async () => {
  const repeats = Array.from({ length: 25 }, (_, at) => `valid/kind-number-${at}`);
  const down = resultWith({ id: 'delivery/stays-up', verdict: 'fail', observed: '1 outage: it is down', repeats });
  const { entries } = await causeOf(pastRun(down), 1, marker);
  const suspects = entries.flatMap(({ data }) => (data as { suspects?: string[] }).suspects ?? []);
  expect(suspects).toEqual(repeats);
  expect(entries.map(({ name }) => name)).toEqual([
    'delivery/stays-up',
    ...['observed', 'suspects', 'suspects'].map((what) => `delivery/stays-up, ${what}`),
  ]);
  expect(entries[1]?.text).toContain('it is down');
});

it('a check that fails although its status is the expected one says what else was seen', async () => {
  const expected = { verdict: 'fail', expected: '200', observed: '200' } as const;
  const { entries } = await causeOf(
    pastRun(resultWith({ ...expected, id: 'valid/a', decidedBy: 'receiver-stopped', reason: 'it stopped' })),
    1,
    marker,
  );
  expect(entries[0]?.text).toBe('valid/a: expected 200, got 200, then the receiver stopped answering');
  const others = ['answers-differ', 'leak'].map((decidedBy) => resultWith({ ...expected, id: 'leaks/a', decidedBy }));
  for (const other of others) {
    const [check] = (await causeOf(pastRun(other), 1, marker)).entries;
    expect(check?.text).toMatch(/got 200, and the answer/);
  }
});

it('checks without a verdict are listed with the reason, once', async () => {
  const reason = 'control rejected: the plain valid delivery after the probe got 503';
  const results = ['a', 'b', 'c'].map((slug) =>
    resultWith({
      id: `valid/${slug}`,
      verdict: 'inconclusive',
      decidedBy: 'control-rejected',
      observed: '200',
      reason,
    }),
  );
  const past = pastRun(resultWith({ id: 'signature/a', verdict: 'fail', observed: '200' }), ...results);
  const cause = await causeOf(past, 2, marker);
  expect(cause.head.filter((line) => line.includes(reason))).toHaveLength(1);
  expect(cause.entries.map(({ text }) => text)).toContain('valid/a: expected 401, got 200, but no verdict');
  const { entries } = await summaryOf(past, marker);
  expect(entries[1]?.text).toContain(reason);
});
