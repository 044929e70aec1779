/**
 * Renders the document in the Common Test Report Format (CTRF): one test per check. Times are in whole milliseconds.
 *
 * Passes and warnings are `passed`, but a strict run's warnings are `failed`, like failures. Results that are not
 * applicable, known or not scored are `skipped`. Inconclusive results and harness errors are `other`, because the
 * schema has no status for errors, and `failed` would blame the endpoint. So that tools
 * that count only failures do not show a success, a run without a verdict, an incomplete run and a stale baseline
 * entry each add a failed test.
 *
 * Only fields of the first schema releases are used, because those allow no others.
 */

import { visible } from '../../contract/visible.ts';
import { visibleJson } from './json.ts';
import { detailsIn, incompleteness, message, testOutcomeOf, whySkipped } from './outcome.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { exitCodeOf } from './verdict.ts';

/** The version of the CTRF specification, a working draft. */
const SPECIFICATION = '0.0.0';

const STATUS = { failure: 'failed', error: 'other', skipped: 'skipped', passed: 'passed' } as const;
type Status = (typeof STATUS)[keyof typeof STATUS];
type Details = ReturnType<typeof detailsIn>;

interface Test {
  readonly name: string;
  readonly status: Status;
  readonly duration: number;
  readonly suite: readonly string[];
  readonly [field: string]: unknown;
}

/** Keeps line breaks and escapes other control characters. */
function lines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** Returns the text of a test; a pass without a comment has none. */
function textOf(result: ScenarioResult, document: ResultDocument, status: Status, details: Details) {
  if (status === 'skipped') return { message: visible(whySkipped(result, document)) };
  if (status === 'passed' && result.verdict === 'pass' && result.reason === '') return {};
  return { message: visible(message(result)), trace: lines(details(result)) };
}

function testOf(result: ScenarioResult, document: ResultDocument, details: Details): Test {
  const status = STATUS[testOutcomeOf(result, document)];
  const again = document.retried?.includes(result.id) === true;
  const { expected, fix, id, known, level, observed, reason, requirements, suite, title, verdict } = result;
  return {
    name: visible(`${id}: ${title}`),
    status,
    duration: Math.round(result.durationMs),
    suite: ['hookproof', visible(suite)],
    ...textOf(result, document, status, details),
    rawStatus: verdict,
    tags: [level, ...requirements.map(visible)],
    type: 'conformance',
    ...(again && { retries: 1, flaky: status === 'passed' }),
    extra: { 'hookproof.check': { id, level, requirements, verdict, expected, observed, reason, fix, known } },
  };
}

/** Creates a test about the run itself. */
function ofRun(name: string, why: string, rawStatus: string): Test {
  return { name, status: 'failed', duration: 0, suite: ['hookproof', 'run'], message: why, rawStatus };
}

function testsOfRun(document: ResultDocument): Test[] {
  const tests = (document.baseline?.stale ?? []).map(({ scenario, problem, message: text }) =>
    ofRun(visible(`the baseline still holds for ${scenario}`), visible(text), problem),
  );
  const missing = incompleteness(document);
  if (missing !== null) tests.push(ofRun('every planned check is judged', missing, 'incomplete'));
  const code = exitCodeOf(document);
  if (code === 3) tests.push(ofRun('the run reaches a verdict', 'no conclusion about the endpoint', 'inconclusive'));
  if (code === 4) tests.push(ofRun('the run reaches a verdict', 'internal error in hookproof', 'harness-error'));
  return tests;
}

/** Renders CTRF as JSON, ending with a newline. */
export function renderCtrf(document: ResultDocument): string {
  const { catalogue, counts, diagnosis, durationMs, evidence, notVerified, profile, results, seed, shard, target } =
    document;
  const details = detailsIn(document);
  const tests = [...results.map((result) => testOf(result, document, details)), ...testsOfRun(document)];
  const count = (wanted: Status) => tests.filter(({ status }) => status === wanted).length;
  const start = Date.parse(document.startedAt);
  const stop = start + Math.round(durationMs);
  const report = {
    reportFormat: 'CTRF',
    specVersion: SPECIFICATION,
    timestamp: new Date(stop).toISOString(),
    generatedBy: `${document.tool.name} ${visible(document.tool.version)}`,
    results: {
      tool: { name: document.tool.name, version: visible(document.tool.version) },
      summary: {
        tests: tests.length,
        passed: count('passed'),
        failed: count('failed'),
        skipped: count('skipped'),
        pending: 0,
        other: count('other'),
        suites: new Set(tests.map(({ suite }) => suite[1])).size,
        start,
        stop,
        extra: { 'hookproof.counts': counts },
      },
      tests,
      environment: { appName: visible(target.url), ...(profile !== null && { testEnvironment: profile }) },
      extra: {
        'hookproof.run': {
          verdict: document.partial ? null : document.verdict,
          partial: document.partial,
          seed,
          shard,
          catalogue: catalogue.digest,
          features: target.features,
          ...(evidence && { evidence: { level: evidence.level, statement: visible(evidence.statement) } }),
        },
        'hookproof.diagnosis': diagnosis.map(({ fault, title, relation, fix, evidence }) => {
          return { fault, title, relation, fix, evidence };
        }),
        'hookproof.notVerified': notVerified,
      },
    },
  };
  return `${visibleJson(report, 2)}\n`;
}
