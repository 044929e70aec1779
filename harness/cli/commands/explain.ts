/** `hookproof explain`: explains a scenario, requirement, suite, mistake, fault, error code or status, offline. */

import {
  ERROR_CODE_GROUPS,
  findErrorCode,
  fixSources,
  HookproofError,
  isErrorCodeShaped,
  ORDER_STATUS_MEANINGS,
  PAYMENT_METHOD_STATUS_MEANINGS,
  REFUND_STATUS_MEANINGS,
  STACKS,
  type Stack,
  TRACKING_STATUS_MEANINGS,
  tlsVersionName,
} from '../../../contract/index.ts';
import { explainMistake, findMistake, MISTAKES, type Mistake } from '../../../contract/mistakes/index.ts';
import { EVERY_SUITE, findScenario, REQUIREMENTS, requirement, type Scenario } from '../../../scenarios/index.ts';
import { type DictionaryFault, loadDictionary } from '../../diagnose/index.ts';
import { failingAlways } from '../../run/index.ts';
import { didYouMean, stackCalled } from '../did-you-mean.ts';
import { explainName, knownNames } from '../known-names.ts';
import { type SentBytesOptions, sentBytes } from '../sent-bytes.ts';
import { displayOf } from '../terminal.ts';
import { writeWrapped } from '../wrapped-text.ts';

/** Returns the stack with this name; null without a name. */
export function stackNamed(word: string | undefined): Stack | null {
  return word === undefined ? null : stackCalled(word, 'EXPLAIN_UNKNOWN_STACK');
}

export async function explainCommand(id: string, flags: { readonly stack?: string }): Promise<number> {
  writeWrapped(await explanationOf(id, stackNamed(flags.stack), displayOf(process.stdout)));
  return 0;
}

/**
 * Returns the explanations of everything with this name: a check, requirement, suite, status, error code or fault, and
 * any other name that a report prints.
 *
 * @throws HookproofError EXPLAIN_UNKNOWN, with suggestions
 */
export async function explanationOf(id: string, stack: Stack | null, display = PLAIN_TEXT): Promise<string> {
  const fault = await explainKnownFault(id, stack);
  const mistake = await explainKnownMistake(id, stack);
  // The entry of the fault is more specific than a finding with the same name.
  const known = [explain(id, display), mistake, fault ?? explainName(id)].filter((text) => text !== null);
  if (known.length > 0) return known.join('\n');
  if (DELIVERY_ID.test(id)) {
    throw new HookproofError('EXPLAIN_UNKNOWN', `"${id}" is the id of one delivery`, {
      hint: `The page of the proxy or receiver that printed it explains it: open the page with #${id} after its URL.`,
    });
  }
  const { faults } = await loadDictionary();
  const names = [
    ...EVERY_SUITE.flatMap(({ name, scenarios }) => [name, ...scenarios.map((s) => s.id)]),
    ...REQUIREMENTS.map((entry) => entry.id),
    ...faults.map(({ name }) => name),
    ...Object.keys(MISTAKES),
    ...knownNames(),
  ];
  throw new HookproofError('EXPLAIN_UNKNOWN', `unknown id "${id}"`, {
    hint:
      `${didYouMean(id, names)}\`hookproof list\` lists the checks; \`--what requirements\`, \`--what faults\` and ` +
      '`--what error-codes` list the others.',
  });
}

/** Matches the ids of deliveries that the proxy and the inspector print. */
const DELIVERY_ID = /^[0-9a-f]{6}-\d{1,9}$/;

const PLAIN_TEXT: SentBytesOptions = { columns: 80, unicode: true };

/** Returns the explanation of an id that is not a fault; null if there is none. */
export function explain(id: string, display: SentBytesOptions = PLAIN_TEXT): string | null {
  const scenario = findScenario(id);
  if (scenario !== undefined) return explainScenario(scenario, display);
  return explainRequirement(id) ?? explainSuite(id) ?? explainErrorCode(id) ?? explainStatus(id);
}

export function explainFault(fault: DictionaryFault, faults: readonly DictionaryFault[], only: Stack | null): string {
  const { name, title, area, mistake, forbidden, equivalentTo } = fault;
  const { severity, seen } = MISTAKES[mistake];
  const forbiddenText =
    forbidden === false ? 'the specification does not forbid it, so it only warns' : 'the specification forbids it';
  const same = faults.filter((other) => other.equivalentTo?.name === name).map((other) => other.name);
  return `${[
    `${name}: ${title}`,
    '',
    `Kind        a receiver fault, area ${area}`,
    `Severity    ${severity}; ${forbiddenText}`,
    `Mistake     ${mistake}: ${MISTAKES[mistake].title}`,
    `Seen        ${seen}`,
    `Why         ${explainMistake(fault).why}`,
    ...fixes(MISTAKES[mistake], only),
    ...shownBy(fault),
    ...(equivalentTo === undefined ? [] : [`Same as     ${equivalentTo.name}: ${equivalentTo.reason}`]),
    ...(same.length === 0 ? [] : [`Same as     ${same.join(', ')}: no black-box test can distinguish them`]),
    '',
    `Try it      hookproof receiver --fault ${name}`,
  ].join('\n')}\n`;
}

async function explainKnownFault(id: string, stack: Stack | null): Promise<string | null> {
  const { faults } = await loadDictionary();
  const fault = faults.find(({ name }) => name === id);
  return fault === undefined ? null : explainFault(fault, faults, stack);
}

/** Explains a mistake of the library, with the checks and mutants that refer to it; null if no mistake has this id. */
async function explainKnownMistake(id: string, stack: Stack | null): Promise<string | null> {
  const mistake = findMistake(id);
  if (mistake === undefined) return null;
  const { title, seen, why, severity, cwe, implies = [] } = mistake;
  const checks = EVERY_SUITE.flatMap(({ scenarios }) => scenarios.filter((scenario) => scenario.mistake === id));
  const mutants = (await loadDictionary()).faults.filter((fault) => fault.mistake === id);
  return lines(
    `${id}: ${title}`,
    '',
    'Kind        a mistake of receivers',
    `Severity    ${severity}; CWE-${cwe}`,
    `Seen        ${seen}`,
    `Why         ${why}`,
    ...fixes(mistake, stack),
    implies.length === 0 ? null : `Implies     ${implies.join(', ')}`,
    checks.length === 0 ? null : `Checks      ${checks.map((check) => check.id).join(', ')}`,
    mutants.length === 0 ? null : `Mutants     ${mutants.map(({ name }) => name).join(', ')}`,
  );
}

const LEVELS = {
  must: 'must (a failure fails the run)',
  should: 'should (a failure warns)',
  info: 'info (only recorded)',
} as const;

const INDENT = '  ';

/** Outcomes that fail the run even if other failures of the check only warn. */
const ALWAYS_FAILS: Readonly<Record<string, string>> = {
  '3xx': 'a redirect',
  none: 'no answer',
  closed: 'a closed connection',
};

/** Describes the level of a check, and the outcomes that fail the run at any level. */
function levelOf(scenario: Scenario): string {
  const { level } = scenario;
  if (level !== 'should' || !sends(scenario)) return LEVELS[level];
  const always = [...failingAlways(scenario)].map((match) => ALWAYS_FAILS[match] ?? `${match}`);
  return `should (a failure warns; ${[...always, 'a receiver that stops answering'].join(' or ')} fails the run)`;
}

function sends(scenario: Scenario): boolean {
  return 'change' in scenario || 'flow' in scenario;
}

/** Compares what is sent with the plain valid delivery, using sample credentials. */
function bytesOf(scenario: Scenario, { columns, unicode }: SentBytesOptions): string[] {
  const compared = sentBytes(scenario, { columns: Math.max(columns, 40) - INDENT.length, unicode });
  if (compared.length === 0) return sends(scenario) ? ['Bytes      those of the plain valid delivery'] : [];
  return ['Bytes      - the plain valid delivery, + what is sent', ...compared.map((line) => INDENT + line)];
}

function explainScenario(scenario: Scenario, display: SentBytesOptions): string {
  return lines(
    `${scenario.id}: ${scenario.title}`,
    '',
    `Level      ${levelOf(scenario)}`,
    scenario.needs === undefined ? null : `Needs      ${scenario.needs.join(', ')}`,
    `Sends      ${sent(scenario)}`,
    ...bytesOf(scenario, display),
    'expect' in scenario ? `Expects    ${scenario.expect.text}` : null,
    'chain' in scenario ? `Expects    ${scenario.chain.text}` : null,
    '',
    `Mistake    ${scenario.mistake}: ${MISTAKES[scenario.mistake].title}`,
    `Why        ${explainMistake(scenario).why}`,
    `Fix        ${explainMistake(scenario).fix}`,
    '',
    ...scenario.requirements.map((id) => `Requirement ${id}: ${requirement(id)?.text ?? ''}`),
    '',
    `Run it     hookproof run URL --scenario ${scenario.id}`,
  );
}

function sent(scenario: Scenario): string {
  if ('observe' in scenario) return 'nothing: it examines the whole run';
  if ('flow' in scenario) return 'several deliveries, between two valid control deliveries';
  if ('hello' in scenario) {
    const { version, suites, compression } = scenario.hello;
    const offered = `${tlsVersionName(version)} with the cipher suites ${suites.join(', ')}`;
    return `a ClientHello that offers ${offered}${compression === true ? ', and compression' : ''}`;
  }
  if ('chain' in scenario) return 'nothing: it examines the certificates that the endpoint sends';
  const { change } = scenario;
  const labels = [change.sign?.label, change.address?.label, change.connect?.label, change.transmit?.kind].filter(
    (label) => label !== undefined,
  );
  if (change.compose !== undefined) labels.unshift('another notification');
  if (change.serialise !== undefined) labels.unshift('a body with other bytes');
  return labels.length === 0 ? 'the plain valid delivery' : `the plain valid delivery, except: ${labels.join('; ')}`;
}

function explainRequirement(id: string): string | null {
  const entry = requirement(id);
  if (entry === undefined) return null;
  const scenarios = EVERY_SUITE.flatMap((suite) => suite.scenarios).filter(({ requirements }) =>
    requirements.some((other) => other === id),
  );
  const ruling = entry.section === 'ruling';
  return lines(
    `${entry.id}: ${entry.text}`,
    '',
    `Level      ${LEVELS[entry.level]}`,
    `Binds      the ${entry.subject}`,
    `Source     ${ruling ? 'a ruling where the specification is silent' : `specification, ${entry.section}`}`,
    entry.untested === undefined ? null : `Not tested ${entry.untested}`,
    ...scenarios.map((scenario) => `Scenario   ${scenario.id}: ${scenario.title}`),
  );
}

function explainSuite(id: string): string | null {
  const suite = EVERY_SUITE.find(({ name }) => name === id);
  return suite === undefined
    ? null
    : lines(`${suite.name}: ${suite.title}`, '', ...suite.scenarios.map((s) => `${s.id}: ${s.title}`));
}

function explainErrorCode(id: string): string | null {
  const entry = findErrorCode(id);
  if (entry !== undefined)
    return lines(`${entry.code}: ${entry.meaning}`, '', `Group      ${ERROR_CODE_GROUPS[entry.group]}`);
  if (!isErrorCodeShaped(id)) return null;
  return lines(
    `${id}: not a listed code`,
    '',
    'The list contains examples: a receiver accepts an unlisted code and stores it unchanged.',
  );
}

const STATUSES: readonly (readonly [kind: string, meanings: Readonly<Record<string, string>>])[] = [
  ['order status', ORDER_STATUS_MEANINGS],
  ['payment method status', PAYMENT_METHOD_STATUS_MEANINGS],
  ['refund status', REFUND_STATUS_MEANINGS],
  ['order tracking status', TRACKING_STATUS_MEANINGS],
];

function explainStatus(id: string): string | null {
  const found = STATUSES.flatMap(([kind, meanings]) =>
    Object.hasOwn(meanings, id) ? [`${id} (${kind}): ${meanings[id]}`] : [],
  );
  return found.length === 0 ? null : lines(...found);
}

const MAX_SHOWN_SCENARIOS = 12;

function shownBy({ outcomes }: DictionaryFault): string[] {
  const ids = Object.entries(outcomes).filter(([, outcome]) => /^(?:fail|warn) /.test(outcome));
  if (ids.length === 0) return ['Shown by    no black-box test'];
  const lines = ids.slice(0, MAX_SHOWN_SCENARIOS).map(([id, outcome]) => `${id}: ${outcome}`);
  const more = ids.length > MAX_SHOWN_SCENARIOS ? [`and ${ids.length - MAX_SHOWN_SCENARIOS} more`] : [];
  return [...lines, ...more].map((text, at) => `${(at === 0 ? 'Shown by' : '').padEnd(11)} ${text}`);
}

/**
 * Returns the general fix, then the fix for each stack that has its own; with `only`, the fix that applies to that
 * stack.
 */
function fixes({ fix }: Mistake, only: Stack | null): string[] {
  const sources = only === null ? STACKS : fixSources(only);
  const stacks = sources.filter((stack) => fix[stack] !== undefined).slice(0, only === null ? undefined : 1);
  return [`Fix         ${fix.rule}`, ...stacks.map((stack) => `  ${stack.padEnd(9)} ${fix[stack]}`)];
}

function lines(...parts: readonly (string | null)[]): string {
  return `${parts.filter((part) => part !== null).join('\n')}\n`;
}
