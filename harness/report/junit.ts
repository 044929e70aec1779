/**
 * Renders the document as JUnit XML: one testsuite per suite, one testcase per check.
 *
 * The causes are in the properties of every suite, and the text of a failure begins with its cause. A failure is a
 * `failure`, or skipped if it is known. A stale baseline entry is a separate failure. Inconclusive results and harness
 * errors are errors, and checks that do not apply are skipped. A warning passes with a `system-out`, but fails in a
 * strict run.
 */

import { escapeCharacter } from '../../contract/visible.ts';
import { groupBy } from './causes.ts';
import { detailsIn, incompleteness, message, type TestOutcome, testOutcomeOf, whySkipped } from './outcome.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { adviceOn, causeInWords, causesIn } from './shown-causes.ts';
import { decisionInWords, namesOf, verifiableIn } from './wording.ts';

/**
 * Renders JUnit XML, ending with a newline; it is well-formed whatever bytes the endpoint sent. Times are in seconds.
 */
export function renderJunit(document: ResultDocument): string {
  const { baseline, durationMs, results } = document;
  const properties = propertiesOf(document);
  const timestamp = document.startedAt;
  const details = detailsIn(document);
  const suite = (name: string, milliseconds: number, outcomes: readonly TestOutcome[], cases: readonly string[]) => {
    const attributes = { name, ...counts(outcomes), time: seconds(milliseconds), timestamp };
    return element('testsuite', attributes, { children: [properties, ...cases] });
  };
  const stale = baseline?.stale ?? [];
  const missing = incompleteness(document);
  const failures = stale.map((): TestOutcome => 'failure');
  const extra: TestOutcome[] = missing === null ? failures : [...failures, 'error'];
  const suites = groupBy(results, (result) => result.suite).map(([name, members]) =>
    suite(
      name,
      members.reduce((sum, member) => sum + member.durationMs, 0),
      members.map((member) => testOutcomeOf(member, document)),
      members.map((member) => testcase(member, document, details)),
    ),
  );
  if (stale.length > 0) {
    const cases = stale.map(({ scenario, problem, message: text }) =>
      caseOfRun(`the baseline still holds for ${scenario}`, 'baseline', 'failure', text, `baseline-${problem}`),
    );
    suites.push(suite('baseline', 0, failures, cases));
  }
  // An incomplete run must not look successful.
  if (missing !== null) {
    const open = caseOfRun('every planned check is judged', 'run', 'error', missing, 'incomplete');
    suites.push(suite('run', 0, ['error'], [open]));
  }
  const outcomes = [...results.map((result) => testOutcomeOf(result, document)), ...extra];
  const attributes = { name: 'hookproof', ...counts(outcomes), time: seconds(durationMs), timestamp };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', attributes, { children: suites })}\n`;
}

type Property = readonly [name: string, value: string];
const hasValue = ([, value]: Property) => value !== '';

function propertiesOf(document: ResultDocument): string {
  const { catalogue, seed, target, tool, verdict } = document;
  const { level = '', statement = '' } = document.evidence ?? {};
  const evidence: Property[] = [
    ['evidence.level', String(level)],
    ['evidence', statement],
    ['evidence.more', verifiableIn(document)],
  ];
  const values: Property[] = [
    ['url', target.url],
    ['features', target.features.join(', ')],
    ...evidence.filter(hasValue),
    ['verdict', document.partial ? 'none' : verdict],
    ['decision', decisionInWords(document)],
    ['partial', String(document.partial)],
    ['seed', seed],
    ['catalogue.digest', catalogue.digest],
    ['hookproof.version', tool.version],
    ...causeProperties(document),
  ];
  return element('properties', {}, { children: values.map(([name, value]) => element('property', { name, value })) });
}

/** Renders the causes as properties: their number, then "cause.1", "cause.1.fix" and so on. */
function causeProperties(document: ResultDocument): Property[] {
  const { causes } = causesIn(document);
  const found = causes.flatMap((cause, at): Property[] => {
    const name = `cause.${at + 1}`;
    const { diagnosis, members } = cause;
    const { fix, why } = adviceOn(cause);
    return [
      [name, causeInWords(cause)],
      [`${name}.mistake`, diagnosis?.mistake ?? ''],
      [`${name}.checks`, namesOf(members.map(({ id }) => id))],
      [`${name}.seen`, diagnosis?.seen ?? ''],
      [`${name}.why`, why],
      [`${name}.fix`, diagnosis?.stack == null ? fix : `${fix} (for ${diagnosis.stack.name})`],
    ];
  });
  return [['causes', String(causes.length)], ...found.filter(hasValue)];
}

function testcase(result: ScenarioResult, document: ResultDocument, details: ReturnType<typeof detailsIn>): string {
  const attributes = {
    name: `${result.id}: ${result.title}`,
    classname: `hookproof.${result.suite}`,
    time: seconds(result.durationMs),
  };
  const problem = { message: message(result), type: result.verdict };
  const child = {
    failure: () => [element('failure', problem, { text: details(result) })],
    error: () => [element('error', problem, { text: details(result) })],
    skipped: () => [element('skipped', { message: whySkipped(result, document) })],
    passed: () =>
      result.reason === '' && result.verdict === 'pass' ? [] : [element('system-out', {}, { text: details(result) })],
  };
  return element('testcase', attributes, { children: child[testOutcomeOf(result, document)]() });
}

/** Renders a testcase about the run itself. */
function caseOfRun(name: string, suite: string, outcome: 'failure' | 'error', text: string, type: string): string {
  const attributes = { name, classname: `hookproof.${suite}`, time: seconds(0) };
  return element('testcase', attributes, { children: [element(outcome, { message: text, type })] });
}

function counts(outcomes: readonly TestOutcome[]): {
  tests: number;
  failures: number;
  errors: number;
  skipped: number;
} {
  const count = (wanted: TestOutcome): number => outcomes.filter((outcome) => outcome === wanted).length;
  return { tests: outcomes.length, failures: count('failure'), errors: count('error'), skipped: count('skipped') };
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/** Renders an element on separate lines. Children are finished XML, each on its line; text is character data. */
function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: { readonly children?: readonly string[]; readonly text?: string } = {},
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${xmlAttribute(String(value))}"`);
  const open = `<${name}${written.join('')}`;
  if (content.text !== undefined) return `${open}>${xmlText(content.text)}</${name}>`;
  const children = content.children ?? [];
  return children.length === 0 ? `${open}/>` : `${open}>\n${children.join('\n')}\n</${name}>`;
}

/**
 * Escapes character data. ANSI sequences are removed; characters that XML cannot contain become visible escapes
 * (`\x00`).
 */
function xmlText(text: string): string {
  return escaped(text).replace(/\r/g, '&#13;');
}

/**
 * Escapes an attribute value, without quotes. Line breaks and tabs become references, because parsers turn them into
 * spaces.
 */
function xmlAttribute(text: string): string {
  return escaped(text).replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Matches colour and cursor sequences, which are useless in a test report. */
const ANSI_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g;

/**
 * Matches characters that XML 1.0 forbids, including lone surrogates, and the C1 controls and directional overrides
 * that it allows.
 */
const ILLEGAL = /[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\p{Cf}\p{Zl}\p{Zp}]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escaped(text: string): string {
  return (
    text
      .replace(ANSI_SEQUENCE, '')
      .replace(ILLEGAL, escapeCharacter)
      .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
      // In a GitHub Actions log, these would start commands.
      .replaceAll('##[', '##&#91;')
      // The whitespace excludes line ends: a pattern that searches from each of them would take quadratic time.
      .replace(/^([^\S\r\n\u2028\u2029]*):(?=:)/gm, '$1&#58;')
  );
}
