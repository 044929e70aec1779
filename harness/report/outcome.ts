/** Describes a check for test reports (JUnit, CTRF). */
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { causeInWords, causesIn } from './shown-causes.ts';
import { failsTheRun, isScored } from './verdict.ts';
import { judgedLine } from './wording.ts';

/** The four outcomes of JUnit. An error is a check without a verdict. */
export type TestOutcome = 'failure' | 'error' | 'skipped' | 'passed';

/** Returns the outcome of a check. Known failures and checks that are not scored are skipped, unless they pass. */
export function testOutcomeOf(result: ScenarioResult, document: ResultDocument): TestOutcome {
  const { strict } = document;
  if (!isScored(document, result) && result.verdict !== 'pass') return 'skipped';
  if (result.known !== null && failsTheRun(result.verdict, strict)) return 'skipped';
  switch (result.verdict) {
    case 'fail':
      return 'failure';
    case 'warn':
      return strict ? 'failure' : 'passed';
    case 'inconclusive':
    case 'harness-error':
      return 'error';
    case 'not-applicable':
      return 'skipped';
    case 'pass':
      return 'passed';
  }
}

/** Returns one line for a list of failures. */
export function message(result: ScenarioResult): string {
  if (result.verdict === 'fail' || result.verdict === 'warn') {
    const answer = `expected ${result.expected}, observed ${result.observed}`;
    return result.defect === undefined ? answer : `${result.defect}: ${answer}`;
  }
  return `${result.verdict}: ${result.reason || result.observed}`;
}

export function whySkipped(result: ScenarioResult, document: ResultDocument): string {
  const { known, observed, reason } = result;
  if (!isScored(document, result) && result.verdict !== 'not-applicable') {
    return `not scored in revision ${document.scoring?.revision}: ${message(result)}`;
  }
  if (known === null) return reason || observed;
  return `known failure (${observed}): ${known.reason} (owner: ${known.owner}, until ${known.expires})`;
}

/** Returns a function that lists everything needed to fix a failure, one line each, first the cause of the failure. */
export function detailsIn(document: ResultDocument): (result: ScenarioResult) => string {
  const { causes } = causesIn(document);
  const causeOf = new Map(
    causes.flatMap((cause, at) => {
      const line: Line = [`cause ${at + 1} of ${causes.length}`, causeInWords(cause)];
      return cause.members.map(({ id }) => [id, line] as const);
    }),
  );
  return (result) =>
    [causeOf.get(result.id) ?? ['', ''], ...linesOf(result)]
      .filter(([, text]) => text !== '')
      .map(([label, text]) => `${label}: ${text}`)
      .join('\n');
}

type Line = readonly [label: string, text: string];

function linesOf(result: ScenarioResult): Line[] {
  // The level is omitted for a warning, which does not fail the run.
  const level = result.verdict === 'warn' ? '' : ` (${result.level})`;
  return [
    ['defect', result.defect ?? ''],
    ['check', `${result.id}${level}`],
    ['verdict', result.verdict],
    ['expected', result.expected],
    ['observed', result.observed],
    ['reason', result.reason],
    ['why', result.why],
    ['fix', result.fix],
    ['requirements', result.requirements.join(', ')],
    ['rerun', result.reproduce?.command ?? ''],
    ['curl', result.reproduce?.curl ?? ''],
  ];
}

/** Returns why the run is incomplete; null if every planned check has a result. */
export function incompleteness(document: ResultDocument): string | null {
  const { judged, planned, interrupted } = document;
  if (judged === planned && !interrupted) return null;
  return `${judgedLine(document)}${interrupted ? ': the run was interrupted' : ''}`;
}
