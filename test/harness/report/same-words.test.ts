import { describe, expect, it } from 'vitest';
import { explainMistake, MISTAKES } from '../../../contract/mistakes/index.ts';
import { explanationOf } from '../../../harness/cli/commands/explain.ts';
import { type DictionaryFault, diagnose, loadDictionary } from '../../../harness/diagnose/index.ts';
import { createMarker } from '../../../harness/mcp/answer.ts';
import { summaryOf } from '../../../harness/mcp/run-answers.ts';
import { renderHtml, renderHuman, renderJunit } from '../../../harness/report/index.ts';
import type { Feature } from '../../../scenarios/index.ts';
import { redOutcomes, resultsWith } from '../diagnose/played.ts';
import { documentWith } from './documents.ts';

const FEATURES: Feature[] = ['hmac', 'api-key'];
const MANY = 10;

const { faults } = await loadDictionary();

/** The document of a run against a mutant, as its outcomes were recorded. */
async function documentOf(fault: DictionaryFault) {
  const results = resultsWith(redOutcomes(fault), FEATURES);
  const run = { results, outages: [], preflight: null, stack: null, features: FEATURES, partial: false };
  const diagnosis = await diagnose(run);
  const failed = results.filter(({ verdict }) => verdict === 'fail').length;
  return documentWith({ results, diagnosis, counts: { ...documentWith().counts, fail: failed } });
}

/** Ten different mistakes, of areas as different as possible, each with a mutant that a run names. */
async function diagnosedMistakes(): Promise<DictionaryFault[]> {
  const found = new Map<string, DictionaryFault>();
  const areas = [...new Set(faults.map(({ area }) => area))];
  const byArea = areas.map((area) => faults.filter((fault) => fault.area === area));
  for (let at = 0; found.size < MANY && at < 40; at++) {
    for (const fault of byArea.flatMap((group) => group[at] ?? [])) {
      if (found.size === MANY || found.has(fault.mistake)) continue;
      const [first] = (await documentOf(fault)).diagnosis;
      if (first?.fault === fault.name) found.set(fault.mistake, fault);
    }
  }
  return [...found.values()];
}

/** Without line breaks, marks of code, and what each format escapes. */
const plain = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replace(/&(?:apos|#39);/g, "'")
    .replaceAll('&amp;', '&')
    .replace(/`|\s+/g, '');

const chosen = await diagnosedMistakes();

describe('a mistake', () => {
  it('is one of ten that runs name', () => expect(chosen).toHaveLength(MANY));

  it.each(chosen)('has the same words wherever it is printed: $mistake', async (fault) => {
    const document = await documentOf(fault);
    const mcp = await summaryOf({ id: '1', document } as Parameters<typeof summaryOf>[0], createMarker());
    const printed = {
      terminal: await renderHuman(document, { columns: 80, color: false, unicode: true, verbose: true }),
      html: (await renderHtml(document)).replace(/<[^>]*>/g, ''),
      junit: await renderJunit(document),
      explain: await explanationOf(fault.mistake, null),
      mcp: mcp.entries.map(({ text }) => text).join('\n'),
    };
    const { why, fix } = MISTAKES[fault.mistake];
    const isThere = (text: string) => [why, fix.rule].map((words) => plain(text).includes(plain(words)));
    expect(Object.fromEntries(Object.entries(printed).map(([name, text]) => [name, isThere(text)]))).toEqual({
      terminal: [true, true],
      html: [true, true],
      junit: [true, true],
      explain: [true, true],
      mcp: [true, true],
    });
    expect(document.diagnosis[0]).toMatchObject({ mistake: fault.mistake, why: explainMistake(fault).why });
  });
});
