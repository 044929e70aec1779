/**
 * The document as JUnit XML: one testsuite a suite, one testcase a scenario.
 *
 * The diagnosis stands in the properties of every suite, before its checks. fail is a failure, and skipped when it is
 * known; an entry of the baseline that is no longer true is a failure of its own; inconclusive and harness-error are
 * errors; not-applicable is skipped; warn passes and says so in system-out, except in a strict run, where it fails as
 * the run does.
 */

import { groupBy } from './causes.ts';
import { details, incompleteness, message, type Outcome, outcomeOf, whySkipped } from './outcome.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { isPartial } from './verdict.ts';
import { escapeCharacter } from './visible.ts';
import { closeness, NOTHING_FITS, namesOf } from './wording.ts';

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

function testcase(result: ScenarioResult, document: ResultDocument): string {
  const outcome = outcomeOf(result, document);
  const attributes = {
    name: `${result.id}: ${result.title}`,
    classname: `hookproof.${result.suite}`,
    time: seconds(result.durationMs),
  };
  const child = {
    failure: () => [element('failure', { message: message(result), type: result.verdict }, { text: details(result) })],
    error: () => [element('error', { message: message(result), type: result.verdict }, { text: details(result) })],
    skipped: () => [element('skipped', { message: whySkipped(result, document) })],
    passed: () =>
      result.reason === '' && result.verdict === 'pass' ? [] : [element('system-out', {}, { text: details(result) })],
  };
  return element('testcase', attributes, { children: child[outcome]() });
}

function counts(outcomes: readonly Outcome[]): { tests: number; failures: number; errors: number; skipped: number } {
  const count = (wanted: Outcome): number => outcomes.filter((outcome) => outcome === wanted).length;
  return { tests: outcomes.length, failures: count('failure'), errors: count('error'), skipped: count('skipped') };
}

/**
 * A run that was broken off must not look green: the checks that were planned and not judged are an error of their own.
 */
function incomplete(document: ResultDocument, properties: string): string[] {
  const text = incompleteness(document);
  if (text === null) return [];
  const error = element('error', { message: text, type: 'incomplete' });
  const attributes = { name: 'every planned check is judged', classname: 'hookproof.run', time: seconds(0) };
  const only = element('testcase', attributes, { children: [error] });
  return [
    element(
      'testsuite',
      { name: 'run', ...counts(['error']), time: seconds(0), timestamp: document.startedAt },
      { children: [properties, only] },
    ),
  ];
}

/** Entries of the baseline that are no longer true fail the run, so each is a failure here too. */
function staleEntries(document: ResultDocument, properties: string): string[] {
  const stale = document.baseline?.stale ?? [];
  if (stale.length === 0) return [];
  const cases = stale.map(({ scenario, problem, message }) =>
    element(
      'testcase',
      { name: `the baseline still holds for ${scenario}`, classname: 'hookproof.baseline', time: seconds(0) },
      { children: [element('failure', { message, type: `baseline-${problem}` })] },
    ),
  );
  const outcomes = stale.map((): Outcome => 'failure');
  const attributes = { name: 'baseline', ...counts(outcomes), time: seconds(0), timestamp: document.startedAt };
  return [element('testsuite', attributes, { children: [properties, ...cases] })];
}

/** The diagnosis as properties: "diagnosis" for the first fault, "diagnosis.2" for the next. */
function diagnosisProperties({ diagnosis, counts: { fail } }: ResultDocument): [name: string, value: string][] {
  if (diagnosis.length === 0) return fail < 2 ? [] : [['diagnosis', NOTHING_FITS]];
  return diagnosis.flatMap((one, at): [string, string][] => {
    const name = at === 0 ? 'diagnosis' : `diagnosis.${at + 1}`;
    const lines: [string, string][] = [
      [name, `${one.relation === 'or' ? 'or: ' : ''}${one.title} (${closeness(one)})`],
      [`${name}.evidence`, namesOf(one.evidence)],
      [`${name}.seen`, one.seen],
      [`${name}.why`, one.why],
      [`${name}.fix`, one.stack === null ? one.fix : `${one.fix} (for ${one.stack.name})`],
    ];
    return (one.relation === 'or' ? lines.slice(0, 1) : lines).filter(([, value]) => value !== '');
  });
}

/** JUnit XML, ending with a newline: well-formed whatever bytes the endpoint answered. Times are in seconds. */
export function renderJunit(document: ResultDocument): string {
  const { results, startedAt } = document;
  const property = (name: string, value: string): string => element('property', { name, value });
  const properties = element(
    'properties',
    {},
    {
      children: [
        property('url', document.target.url),
        property('features', document.target.features.join(', ')),
        property('verdict', isPartial(document) ? 'none' : document.verdict),
        property('partial', String(isPartial(document))),
        property('seed', document.seed),
        property('catalogue.digest', document.catalogue.digest),
        property('hookproof.version', document.tool.version),
        ...diagnosisProperties(document).map(([name, value]) => property(name, value)),
      ],
    },
  );
  const suites = groupBy(results, (result) => result.suite).map(([suite, members]) => {
    const time = seconds(members.reduce((sum, member) => sum + member.durationMs, 0));
    const attributes = {
      name: suite,
      ...counts(members.map((member) => outcomeOf(member, document))),
      time,
      timestamp: startedAt,
    };
    return element('testsuite', attributes, {
      children: [properties, ...members.map((member) => testcase(member, document))],
    });
  });
  const stale = staleEntries(document, properties);
  const broken = incomplete(document, properties);
  const outcomes = [
    ...results.map((result) => outcomeOf(result, document)),
    ...(document.baseline?.stale ?? []).map((): Outcome => 'failure'),
    ...broken.map((): Outcome => 'error'),
  ];
  const attributes = {
    name: 'hookproof',
    ...counts(outcomes),
    time: seconds(document.durationMs),
    timestamp: startedAt,
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', attributes, { children: [...suites, ...stale, ...broken] })}\n`;
}

/** Writing XML 1.0 from hostile strings. */

/** Colour and cursor sequences: they say nothing in a test report. */
const ANSI_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g;

/**
 * What the Char production of XML 1.0 leaves out, lone surrogates included; and C1 controls and directional overrides,
 * which it allows.
 */
const ILLEGAL = /[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\p{Cf}\p{Zl}\p{Zp}]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function clean(text: string): string {
  return (
    text
      .replace(ANSI_SEQUENCE, '')
      .replace(ILLEGAL, escapeCharacter)
      .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
      // On a log that a runner of GitHub Actions reads, these would begin commands.
      .replaceAll('##[', '##&#91;')
      .replace(/^([^\S\n]*):(?=:)/gm, '$1&#58;')
  );
}

/** Character data. ANSI sequences are dropped; what XML cannot hold becomes a visible escape (`\x00`). */
function xmlText(text: string): string {
  return clean(text).replace(/\r/g, '&#13;');
}

/**
 * An attribute value, without its quotes: line breaks and tabs are kept as references, which parsers would otherwise
 * flatten.
 */
function xmlAttribute(text: string): string {
  return clean(text).replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** An element on lines of its own. Children are finished XML, each on its line; text is character data. */
export function element(
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
