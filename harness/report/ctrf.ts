/**
 * The document in the Common Test Report Format (CTRF): one test a scenario. Times are in whole milliseconds.
 *
 * pass is `passed`, and so is warn, except in a strict run, where it fails as the run does; fail is `failed`;
 * not-applicable, what is known and what is not scored is `skipped`. inconclusive and harness-error are `other`: the
 * schema has no word for an error, and `failed` would be held against an endpoint about which nothing was proved. So
 * that nobody who counts failures alone takes such a run for a green one, a run without a verdict, a broken-off one and
 * an entry of the baseline that is no longer true each add a test of their own that has failed.
 *
 * Only fields are used that the schema has had since its first releases, because it allows no others.
 */

import { visibleJson } from './json.ts';
import { details, incompleteness, message, outcomeOf, whySkipped } from './outcome.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { exitCodeOf, isPartial } from './verdict.ts';
import { visible } from './visible.ts';

/** The version of the specification, which is a working draft. */
const SPECIFICATION = '0.0.0';

const STATUS = { failure: 'failed', error: 'other', skipped: 'skipped', passed: 'passed' } as const;
type Status = (typeof STATUS)[keyof typeof STATUS];

interface Test {
  readonly name: string;
  readonly status: Status;
  readonly duration: number;
  readonly suite: readonly string[];
  readonly [field: string]: unknown;
}

/** Several lines, each made visible. */
function lines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** What a test tells beyond its status; a plain pass needs no word. */
function words(result: ScenarioResult, document: ResultDocument, status: Status) {
  if (status === 'skipped') return { message: visible(whySkipped(result, document)) };
  if (status === 'passed' && result.verdict === 'pass' && result.reason === '') return {};
  return { message: visible(message(result)), trace: lines(details(result)) };
}

function testOf(result: ScenarioResult, document: ResultDocument): Test {
  const status = STATUS[outcomeOf(result, document)];
  const again = document.retried?.includes(result.id) === true;
  const { expected, fix, id, known, level, observed, reason, requirements, suite, title, verdict } = result;
  return {
    name: visible(`${id}: ${title}`),
    status,
    duration: Math.round(result.durationMs),
    suite: ['hookproof', visible(suite)],
    ...words(result, document, status),
    rawStatus: verdict,
    tags: [level, ...requirements.map(visible)],
    type: 'conformance',
    ...(again && { retries: 1, flaky: status === 'passed' }),
    extra: {
      'hookproof.check': { id, level, requirements, verdict, expected, observed, reason, fix, known },
    },
  };
}

/** A test that stands for the run itself. */
function ofRun(name: string, why: string, rawStatus: string): Test {
  return { name, status: 'failed', duration: 0, suite: ['hookproof', 'run'], message: why, rawStatus };
}

function testsOfRun(document: ResultDocument): Test[] {
  const tests = (document.baseline?.stale ?? []).map(({ scenario, problem, message: told }) =>
    ofRun(visible(`the baseline still holds for ${scenario}`), visible(told), problem),
  );
  const missing = incompleteness(document);
  if (missing !== null) tests.push(ofRun('every planned check is judged', missing, 'incomplete'));
  const code = exitCodeOf(document);
  if (code === 3) tests.push(ofRun('the run comes to a verdict', 'nothing is proved by this run', 'inconclusive'));
  if (code === 4) tests.push(ofRun('the run comes to a verdict', 'hookproof itself went wrong', 'harness-error'));
  return tests;
}

/** CTRF as JSON, ending with a newline. */
export function renderCtrf(document: ResultDocument): string {
  const { catalogue, counts, diagnosis, durationMs, notVerified, profile, results, seed, shard, target } = document;
  const tests = [...results.map((result) => testOf(result, document)), ...testsOfRun(document)];
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
          verdict: isPartial(document) ? null : document.verdict,
          partial: isPartial(document),
          seed,
          shard,
          catalogue: catalogue.digest,
          features: target.features,
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
