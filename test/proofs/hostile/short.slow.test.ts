/**
 * The short form of `npm run proofs -- hostile`: some of the endpoints with a part of the catalogue, in this process,
 * and the limits of the program in a separate process.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createRedactor,
  redactDocument,
  renderHuman,
  renderJson,
  renderJunit,
  renderNdjson,
} from '../../../harness/report/index.ts';
import { DEFAULT_LIMITS, runBoundMs } from '../../../harness/run/context.ts';
import { run } from '../../../harness/run/index.ts';
import { hookproof } from '../../cli/hookproof.ts';
import { type Material, makeMaterial } from './behaviour.ts';
import { BEHAVIOURS, behaviourNamed } from './behaviours/index.ts';
import { runAgainst } from './play.ts';
import { checkPrinted, RENDERINGS } from './renderings.ts';

const SHORT = [
  'never-answers',
  'differs-per-connection',
  'falls-for-good',
  'forgeries-endless-headers',
  'forgeries-interim',
  'header-of-15-kb',
  'upgrades',
  'poisons-kept-connections',
  'sets-cookies',
  'blank-lines-for-patterns',
  'says-ansi',
  'says-html',
  'says-xml',
  'says-bidi',
  'says-workflow-commands',
  'says-bad-utf8',
  'echoes-credentials',
  'tls-junk',
  'tls-fatal-alert',
];

let material: Material;
beforeAll(async () => {
  material = await makeMaterial();
});
afterAll(() => material.remove());

const RENDERERS: Readonly<Record<string, (document: Awaited<ReturnType<typeof run>>) => string>> = {
  human: (document) => renderHuman(document, { columns: 80, color: false, unicode: true }),
  junit: renderJunit,
  json: renderJson,
  ndjson: renderNdjson,
};

describe('hostile endpoints', () => {
  it('have unique names, and there are more than forty', () => {
    const names = BEHAVIOURS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(40);
  });

  it.each(SHORT)('%s: the run ends without a pass, and every report is valid and harmless', async (name) => {
    const { secret, apiKey } = material;
    const endpoint = await behaviourNamed(name).start(material);
    const redactor = createRedactor({ values: [secret, apiKey].map((value) => ({ name: 'secret', value })) });
    const limits = { timeoutMs: 200, recoveryMs: 200, concurrency: 8 };
    const document = await run({
      partner: { url: endpoint.url, signing: { secret }, apiKey: { value: apiKey } },
      selection: { suites: ['combination', 'typo-key', 'leaks'] },
      limits,
      onSignature: (signature) => redactor.addSignature(signature),
    });
    const complaint = endpoint.complaint?.() ?? null;
    await endpoint.close();
    expect(complaint).toBeNull();
    expect(['nonconformant', 'inconclusive']).toContain(document.verdict);
    expect(document.judged).toBe(document.planned);
    expect(document.durationMs).toBeLessThan(runBoundMs({ ...DEFAULT_LIMITS, ...limits }, document.planned) + 2_000);
    const redacted = redactDocument(document, redactor);
    for (const { reporter, check } of RENDERINGS) {
      const text = RENDERERS[reporter]?.(redacted) ?? '';
      expect({ reporter, violations: await check(text) }).toEqual({ reporter, violations: [] });
      expect([secret, apiKey].filter((word) => text.includes(word))).toEqual([]);
    }
  });

  it('forgeries-silence: the run stops after too many deliveries without an answer, and finds failures', async () => {
    const endpoint = await behaviourNamed('forgeries-silence').start(material);
    const { counts, results } = await run({
      partner: { url: endpoint.url, signing: { secret: material.secret } },
      selection: { suites: ['signature'] },
      // Long enough for a valid delivery on a busy machine.
      limits: { timeoutMs: 400, recoveryMs: 200, concurrency: 4 },
    });
    await endpoint.close();
    expect(counts.fail).toBeGreaterThan(0);
    const left = results.filter(({ verdict }) => verdict === 'inconclusive');
    const reasons =
      /^(?:not repeated: no answer within a short wait|no forged delivery was rejected$|deliveries waited \d+ s in)/;
    expect(left.filter(({ reason }) => !reasons.test(reason))).toEqual([]);
    expect(left.length).toBeGreaterThan(60);
  });

  it('just-in-time: the program ends at --max-time, within its memory limit', async () => {
    const { flags: _, ...behaviour } = behaviourNamed('just-in-time');
    const { complaints, document } = await runAgainst(behaviour, material, ['--max-time', '1s', '--suite', 'api-key']);
    expect(complaints).toEqual([]);
    expect(document?.results.map(({ reason }) => reason)).toContain('the run reached its time limit of 1 s');
  });

  it.each(['says-bidi', 'fails-with-words'])('%s: trigger and doctor print no control characters', async (name) => {
    const endpoint = await behaviourNamed(name).start(material);
    const env = { HOOKPROOF_SECRET: material.secret };
    const ended = await Promise.all(
      [
        ['trigger', 'buy'],
        ['trigger', 'buy', '--json'],
        ['doctor', '--deliver'],
        ['doctor', '--json'],
      ].map(([command = '', ...rest]) =>
        hookproof([command, ...rest, ...(command === 'doctor' ? ['--timeout', '1s'] : []), endpoint.url], { env }),
      ),
    );
    await endpoint.close();
    expect(ended.flatMap(({ stdout, stderr }) => [...checkPrinted(stdout), ...checkPrinted(stderr)])).toEqual([]);
    expect(ended.filter(({ code }) => code === 4)).toEqual([]);
  });
});

describe('the checks of the reports', () => {
  const [human, junit, json, ndjson] = RENDERINGS;
  it.each([
    ['human', human, 'a\x1b[31mb'],
    ['human', human, 'a\u202eb'],
    ['human', human, 'a\n  ::error::b'],
    ['json', json, '{"schemaVersion":2}'],
    ['ndjson', ndjson, '{"type":"run-started"}\n'],
  ])('%s: find violations', async (_, rendering, text) => {
    expect((await rendering!.check(text)).length).toBeGreaterThan(0);
  });

  it('junit: finds malformed XML', async () => {
    expect((await junit!.check('<a>&x;</b>')).length).toBeGreaterThan(0);
  });
});
