/** Describes a check for test reports (JUnit, CTRF). */
import type { ResultDocument, ScenarioResult } from './result-document.ts';
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

/** Returns everything needed to fix the failure, one line each. */
export function details(result: ScenarioResult): string {
  // The level is omitted for a warning, which does not fail the run.
  const level = result.verdict === 'warn' ? '' : ` (${result.level})`;
  const lines: [string, string][] = [
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
  return lines
    .filter(([, text]) => text !== '')
    .map(([label, text]) => `${label}: ${text}`)
    .join('\n');
}

/** Returns why the run is incomplete; null if every planned check has a result. */
export function incompleteness(document: ResultDocument): string | null {
  const { judged, planned, interrupted } = document;
  if (judged === planned && !interrupted) return null;
  return `${judgedLine(document)}${interrupted ? ': the run was interrupted' : ''}`;
}
