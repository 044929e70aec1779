/** Explains names in reports that `explain` does not look up elsewhere, from the tables that the reports use. */

import { STATUS_CODES } from 'node:http';
import { ANSWER_REASONS, DELIVERY_REASONS } from '../../contract/delivery-reasons.ts';
import { CHAIN_FAULTS } from '../../contract/index.ts';
import { explainMistake } from '../../contract/mistakes/index.ts';
import {
  explainMistakes,
  listMistakes,
  mistakesNamed,
  SIGNING_MISTAKES,
  sentence,
  VALUE_MISTAKES,
} from '../../contract/signing/index.ts';
import {
  type AnswerMatch,
  CLIENT_FIXTURES,
  type Feature,
  LEAKS,
  LOG_LEAKS,
  PROFILE_RULES,
} from '../../scenarios/index.ts';
import { namedFindings } from '../diagnose/index.ts';
import { DOCTOR_FINDINGS, DOCTOR_SECTIONS } from '../doctor/index.ts';
import { DECISIONS } from '../judge/index.ts';
import type { DRIFTS, EVENTS } from '../register/record.ts';
import type { STATES } from '../register/standing.ts';
import type { ANSWER_CLASSES, PARTIAL_REASONS, RUN_VERDICTS, STALE, VERDICTS } from '../report/result-document.ts';
import { RUN_DECISIONS } from '../run/index.ts';
import { explainErrorCode, TLS_ALERTS, transportErrorCodes } from '../transport/index.ts';
import { areaOfCode } from './own-codes.ts';

interface NameText {
  readonly kind: string;
  readonly title: string;
  readonly why?: string;
  readonly fix?: string;
  readonly tryIt?: string;
}

type Texts<Names extends readonly string[]> = Readonly<Record<Names[number], string>>;

const VERDICT_TEXTS: Texts<typeof VERDICTS> = {
  pass: 'the endpoint did what was expected',
  fail: 'the endpoint violates a requirement of level must; the run fails',
  warn: 'the endpoint should do something else; the run fails only with `--strict`',
  inconclusive: 'the check allows no conclusion about the endpoint',
  'not-applicable': 'the check needs a feature that is not configured',
  'harness-error': 'internal error in hookproof; please report it',
};

const RUN_VERDICT_TEXTS: Texts<typeof RUN_VERDICTS> = {
  conformant: 'no check fails',
  nonconformant: 'at least one check fails',
  inconclusive: 'the run allows no conclusion about the endpoint',
  'harness-error': 'internal error in hookproof; please report it',
};

const ANSWER_TEXTS: Texts<typeof ANSWER_CLASSES> = {
  accepted: 'a 2xx',
  rejected: 'a 3xx or 4xx, or the status with which the endpoint rejects credentials',
  crashed: 'a 5xx',
  closed: 'the connection was closed without an answer',
  silent: 'no answer in time',
  unreadable: 'an answer that is not HTTP',
  'not-delivered': 'the delivery did not reach the endpoint',
};

const PARTIAL_TEXTS: Texts<typeof PARTIAL_REASONS> = {
  selection: 'only a selection of checks was run',
  shard: 'the run is one shard of several',
  bail: 'the run was stopped after the first failure',
  'time-limit': 'the run was stopped at its time limit',
  interruption: 'the run was interrupted',
};

const STALE_TEXTS: Texts<typeof STALE> = {
  passes: 'the check passes, so its entry in the baseline is obsolete',
  'unknown-scenario': 'there is no check with the id of this entry',
  expired: 'the date of this entry has passed',
};

const STATE_TEXTS: Texts<typeof STATES> = {
  certified: 'the newest certificate of the partner counts',
  allowed: 'the certificate counts because an operator overrode a failure or a drift',
  failing: 'the last certification failed, so no certificate counts',
  drifted: 'a recheck found a change, so the certificate does not count until it is overridden or renewed',
  revoked: 'an operator revoked the certificate',
  expired: 'the certificate has expired',
  uncertified: 'the partner has neither a certificate nor a failed certification',
};

const EVENT_TEXTS: Texts<typeof EVENTS> = {
  certified: 'a certification issued a certificate',
  failed: 'a certification found failures',
  refused: 'a certification or a recheck was refused, for example because of its configuration',
  inconclusive: 'a certification reached no verdict',
  'harness-error': 'a certification ended with an internal error in hookproof',
  unchanged: 'a recheck found no change',
  drifted: 'a recheck found a change',
  unreachable: 'a recheck could not reach the endpoint',
  revoked: 'an operator revoked the certificate',
  override: 'an operator overrode a failure or a drift',
};

const DRIFT_TEXTS: Texts<typeof DRIFTS> = {
  'endpoint-key-changed': 'the endpoint has a different key than when it was certified',
  'not-publicly-trusted': 'the chain of the endpoint no longer ends at a public CA',
  'canary-failed': 'a repeated check no longer passes',
};

/** Observations that are neither a status nor an alert. */
const OUTCOME_TEXTS: Readonly<Record<string, string>> = {
  handled: 'the effects window shows that a rejected delivery was handled',
  'handled-twice': 'the effects window shows that a notification was handled more than once',
  'not-handled': 'the effects window shows that an accepted notification was not handled in time',
  amount: 'the stored amount differs from that of the notification',
  'no-amount': 'no amount is stored for a notification that has one',
  currency: 'the stored currency differs from that of the notification',
  hash: 'the stored hash differs from that of the notification',
  kind: 'the stored kind differs from that of the notification',
  status: 'the stored status differs from that of the notification',
  'error-code': 'the stored error code differs from that of the notification',
  'current-status': 'a transaction does not have the expected status',
  'current-hash': 'a transaction does not have the expected hash',
  granted: 'the endpoint accepted the handshake',
  closed: 'the connection was closed or reset without an answer',
  silence: 'no answer came in time',
  'other-protocol': 'the answer uses another protocol',
  seen: 'an observation without a separate code; see what was observed',
};

/** Expected answers other than a single status. */
const EXPECTED_TEXTS: Readonly<Record<Exclude<AnswerMatch, number>, string>> = {
  '2xx': 'any status from 200 to 299',
  '3xx': 'any status from 300 to 399',
  '4xx': 'any status from 400 to 499',
  '5xx': 'any status from 500 to 599',
  alert: 'the connection ends with a TLS alert',
  closed: 'the connection is closed or reset without an answer',
  untrusted: 'the certificate is not trusted, so nothing is delivered',
  unreadable: 'an answer that is not HTTP',
  none: 'no answer in time',
};

const FEATURE_TEXTS: Readonly<Partial<Record<Feature, string>>> = {
  hmac: 'deliveries have an HMAC signature: a secret is configured',
  'api-key': 'deliveries have an API key: a key is configured',
  https: 'the URL begins with https',
  mtls: 'deliveries present a client certificate (mutual TLS): a certificate is configured',
  rotation: 'the secret is rotated during the run: the next secret is configured',
  effects: 'the receiver states what it did with its notifications: an effects window is configured',
  restart: 'the receiver is restarted during the run: a command that restarts it is configured',
  log: 'the log of the receiver is searched for secrets: a file is configured',
};

const STATUS_NAMES = Object.entries(STATUS_CODES).map(([status, phrase = '']) => [status, phrase] as const);

/** Pairs each name in a table with its explanation. */
function kind(name: string, texts: Readonly<Record<string, string>>): [string, NameText][] {
  return Object.entries(texts).map(([key, title]) => [key, { kind: name, title }]);
}

/** Returns names with their explanations. A name may appear several times, with different meanings. */
function knownTexts(): [name: string, text: NameText][] {
  return [
    ...SIGNING_MISTAKES.map((row): [string, NameText] => [
      row.name,
      { ...row, kind: 'a signing mistake', ...explainMistake(row), tryIt: `hookproof sign FILE --as ${row.name}` },
    ]),
    ...VALUE_MISTAKES.map((row): [string, NameText] => [
      row.name,
      { kind: 'a mistake in a signature header', ...row, ...explainMistake(row) },
    ]),
    ...namedFindings().map((finding): [string, NameText] => [
      finding.fault,
      { kind: 'a finding of the diagnosis', ...finding },
    ]),
    ...kind('what decided a verdict', { ...DECISIONS, ...RUN_DECISIONS }),
    ...Object.entries({ ...DELIVERY_REASONS, ...ANSWER_REASONS }).map(([name, title]): [string, NameText] => [
      name,
      {
        kind: 'what the proxy or the reference receiver prints about a delivery',
        title,
        fix: 'The inspector page shows, for each delivery, what was expected and what arrived.',
      },
    ]),
    ...kind('what an answer must not contain', LEAKS),
    ...kind('what a log must not contain', LOG_LEAKS),
    ...kind('a verdict of a check', VERDICT_TEXTS),
    ...kind('a verdict of a run', RUN_VERDICT_TEXTS),
    ...kind('a class of answers', ANSWER_TEXTS),
    ...kind('why a run is partial', PARTIAL_TEXTS),
    ...kind('why an entry of a baseline is stale', STALE_TEXTS),
    ...kind('a state of a partner', STATE_TEXTS),
    ...kind('an event in the register', EVENT_TEXTS),
    ...kind('a change that a recheck found', DRIFT_TEXTS),
    ...kind('what was observed', OUTCOME_TEXTS),
    ...kind('what a check expects', EXPECTED_TEXTS),
    ...kind('a certificate fault', CHAIN_FAULTS),
    ...kind('a feature of the endpoint', featureTexts()),
    ...Object.entries(PROFILE_RULES).map(([name, { title }]): [string, NameText] => [
      name,
      { kind: 'a profile', title, tryIt: `hookproof run URL --profile ${name}` },
    ]),
    ...kind('a finding of the doctor', DOCTOR_FINDINGS),
    ...kind('a section of the doctor', DOCTOR_SECTIONS),
    ...STATUS_NAMES.map(([status, phrase]): [string, NameText] => [status, { kind: 'an HTTP status', title: phrase }]),
    ...TLS_ALERTS.map((alert): [string, NameText] => [
      alert,
      { kind: 'a TLS alert', title: 'an alert with which one side ends a handshake (RFC 8446, section 6)' },
    ]),
    ...transportErrorCodes().flatMap((code) => errorCode(code)),
  ];
}

function featureTexts(): Readonly<Record<string, string>> {
  const fixtures = CLIENT_FIXTURES.map((name) => [
    `fixture-${name}`,
    `a faulty client certificate is configured for tests: ${name.replaceAll('-', ' ')}`,
  ]);
  return { ...FEATURE_TEXTS, ...Object.fromEntries(fixtures) };
}

function errorCode(code: string): [string, NameText][] {
  const error = explainErrorCode(code);
  if (error === null) return [];
  return [[code, { kind: `a connection error (${error.kind})`, title: error.message }]];
}

/** Explains names that are composed of other names or have a known prefix; null for others. */
function composedText(name: string): NameText | null {
  const mistakes = name.includes('+') ? mistakesNamed(name) : undefined;
  if (mistakes !== undefined) {
    const [first, ...others] = listMistakes(mistakes);
    return first === undefined ? null : { kind: 'several signing mistakes', ...explainMistakes([first, ...others]) };
  }
  const [, credential] = /^(secret|api-key)-[a-z-]+$/.exec(name) ?? [];
  if (credential !== undefined) {
    const what = credential === 'secret' ? 'the HMAC secret' : 'the API key';
    return {
      kind: 'a finding of the doctor',
      title: `a finding about the format of ${what}`,
      tryIt: 'hookproof doctor',
    };
  }
  const [, status] = /^(?:missing-)?(\d{3})$/.exec(name) ?? [];
  if (status !== undefined) {
    const isMissing = name !== status;
    const title = isMissing ? `only a missing credential is rejected with ${status}` : 'a status without a known name';
    return { kind: 'what was observed', title };
  }
  return errorCode(name)[0]?.[1] ?? ownCode(name);
}

function ownCode(name: string): NameText | null {
  const found = areaOfCode(name);
  return (
    found && {
      kind: 'an error that hookproof reports, never a verdict on an endpoint: exit code 2, 3 or 4',
      title: `an error about ${found.area}`,
      fix: `The lines before the code say what is wrong and how to fix it. See ${found.described}`,
    }
  );
}

let table: ReadonlyMap<string, readonly NameText[]> | undefined;

function textsByName(): ReadonlyMap<string, readonly NameText[]> {
  if (table !== undefined) return table;
  const texts = new Map<string, NameText[]>();
  for (const [name, text] of knownTexts()) texts.set(name, [...(texts.get(name) ?? []), text]);
  table = texts;
  return texts;
}

/** Returns the names that {@link explainName} knows, without duplicates. */
export function knownNames(): string[] {
  return [...textsByName().keys()];
}

/** Explains a name as lines of text; null for an unknown name. */
export function explainName(name: string): string | null {
  const texts = textsByName().get(name) ?? [composedText(name)].filter((text) => text !== null);
  return texts.length === 0 ? null : texts.map((text) => rendered(name, text)).join('\n');
}

function rendered(name: string, { kind: what, title, why, fix, tryIt }: NameText): string {
  const lines = [
    `${name}: ${title}`,
    '',
    `Kind       ${what}`,
    ...(why === undefined || why === '' ? [] : [`Why        ${sentence(why)}`]),
    ...(fix === undefined ? [] : [`Fix        ${sentence(fix)}`]),
    ...(tryIt === undefined ? [] : ['', `Try it     ${tryIt}`]),
  ];
  return `${lines.join('\n')}\n`;
}
