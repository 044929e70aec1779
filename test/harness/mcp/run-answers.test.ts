/** What answers about a run say about checks without a simple status. */
import { expect, it } from 'vitest';
import { explainMistake } from '../../../contract/mistakes/index.ts';
import { answerOf, createMarker } from '../../../harness/mcp/answer.ts';
import { causeOf, checkOf, summaryOf, warnedAfter } from '../../../harness/mcp/run-answers.ts';
import type { ScenarioResult } from '../../../harness/report/result-document.ts';
import { findScenario } from '../../../scenarios/index.ts';
import { diagnosisWith, documentWith, exchangeWith, resultWith, textBody } from '../report/documents.ts';

const marker = createMarker();
const pastRun = (...results: ScenarioResult[]) => ({
  id: 'r1',
  document: documentWith({ results }),
  failed: [],
  warned: [],
});

it('the deliveries that were in flight are all listed, as far as the size of the answer allows', async () => {
  const ids = Array.from({ length: 40 }, (_, at) => `valid/kind-number-${at}`);
  const reason = `the endpoint went down and stayed down; deliveries in flight: ${ids.join(', ')}`;
  const down = resultWith({ id: 'delivery/stays-up', verdict: 'fail', observed: '1 outage', reason });
  const contents = await checkOf(pastRun(down), down.id, marker, 4_000);
  const answer = answerOf(contents, { maxBytes: 16_000, page: 1, marker, redact: (text) => text });
  expect(JSON.stringify(answer.content)).toContain(ids.join(', '));
  expect(JSON.stringify(answer.structuredContent)).toContain(ids.join(', '));
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

it('a cause of the whole run lists its suspects, in pieces that fit into the answer', async () => {
  const repeats = Array.from({ length: 30 }, (_, at) => `valid/kind-${at}`);
  const down = resultWith({ id: 'delivery/stays-up', verdict: 'fail', observed: '1 outage: no answer', repeats });
  const texts = (await causeOf(pastRun(down), 1, marker)).entries.map(({ text }) => text);
  expect(texts).toHaveLength(4);
  expect(texts[1]).toContain('1 outage: no answer');
  expect(texts.slice(2).join('\n')).toBe(
    `   suspects: ${repeats.slice(0, 20).join(', ')}\n   suspects: ${repeats.slice(20).join(', ')}`,
  );
});

it('checks without a verdict for the same reason are one cause, whatever they got', async () => {
  const parts = { verdict: 'inconclusive', decidedBy: 'control-rejected', reason: 'the receiver is down' } as const;
  const results = ['signature/a', 'valid/b'].map((id) => resultWith({ ...parts, id, observed: '401' }));
  expect((await summaryOf(pastRun(...results), marker)).entries).toHaveLength(1);
});

it('a check says once what was observed, and how to fix it in the stack that the answers show', async () => {
  const id = 'leaks/no-stack-traces';
  const fix = explainMistake(findScenario(id)!).fix;
  const response = { status: 500, headers: [['X-Powered-By', 'Express']] as [string, string][], body: textBody('') };
  const observed = 'stack-trace in the answers to valid/a';
  const result = resultWith({
    ...{ id, verdict: 'warn', observed, reason: `an answer shows internals: ${observed}`, fix },
    exchanges: [exchangeWith({ response })],
  });
  const text = (await checkOf(pastRun(result), id, marker, 2_000)).entries.map((one) => one.text).join('\n');
  expect(text.split(observed)).toHaveLength(2);
  expect(text).toContain('For express: Set NODE_ENV=production');
});

it('a partial run keeps its own causes of what did not fail before, and a cause of both is one', async () => {
  const [before, other] = ['signature/a', 'malformed/a'].map((id) =>
    resultWith({ id, verdict: 'fail', observed: '200' }),
  );
  const known = diagnosisWith({ fault: 'known', title: 'Known', evidence: ['signature/a'] });
  const own = diagnosisWith({ fault: 'own', title: 'Own', evidence: ['malformed/a'] });
  const full = { ...pastRun(before!), document: documentWith({ results: [before!], diagnosis: [known] }) };
  const titlesOf = async (...diagnosis: (typeof known)[]) => {
    const document = documentWith({ results: [before!, other!], diagnosis, partial: true });
    const { entries } = await summaryOf({ ...full, document, full }, marker);
    return entries.map(({ text }) => text.split('\n')[0]!.replace(/ \(.*/, ''));
  };
  expect(await titlesOf(own)).toEqual(['1. failure: Known, as in run r1', '2. failure: Own']);
  expect(await titlesOf({ ...own, fault: 'known' })).toEqual(['1. failure: Own, as in run r1']);
});

it('after a run in which nothing failed, the checks with warnings are repeated', async () => {
  const past = pastRun(resultWith({ id: 'leaks/a', verdict: 'warn' }), resultWith());
  const warned = warnedAfter([], past.document);
  expect(warned).toEqual(['leaks/a']);
  expect(warnedAfter(['leaks/a', 'leaks/b'], documentWith({ results: [resultWith({ id: 'leaks/a' })] }))).toEqual([
    'leaks/b',
  ]);
  const { tail } = await summaryOf({ ...past, warned }, marker);
  expect(tail?.at(-1)).toBe('No check failed: run_failed repeats 1 check, those with warnings.');
});
