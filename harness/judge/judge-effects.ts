/** Judges what a receiver did, as its effects window reports it. Pure. Specification: Delivery endpoint (processed). */
import type { EffectsAnswer, EffectValues, Handled } from '../../contract/effects.ts';
import type { ExpectedEffect, Level } from '../../scenarios/index.ts';
import type { DecidedBy, Judgement } from './evidence.ts';
import { atLevel } from './judge.ts';

/** One notification of a scenario, the expected effect, and what the window has shown. */
export interface EffectEvidence {
  /** The label of the delivery. */
  readonly label: string;
  readonly expect: ExpectedEffect;
  readonly handled: readonly Handled[];
  /** The current state of the transaction. Undefined if the window does not report it. */
  readonly current?: EffectsAnswer['current'];
  /** Maximum time from the answer until the window showed the effect, in milliseconds. Null if it did not. */
  readonly tookMs: number | null;
  /** How long the run waited for the effect, in milliseconds. */
  readonly deadlineMs: number;
}

interface Problem {
  readonly expected: string;
  readonly decidedBy: DecidedBy;
  /** A code that is the same in every run: `handled-twice`, `amount`, `no-amount`, `current-status`. */
  readonly outcome: string;
  readonly observed: string;
  readonly reason: string;
}

/** The name of each value in messages. */
const VALUE_NAMES: Readonly<Record<keyof EffectValues, string>> = {
  kind: 'kind',
  status: 'status',
  transaction: 'transaction',
  customer: 'customer',
  paymentMethod: 'payment method',
  address: 'address',
  hash: 'hash',
  amount: 'amount',
  currency: 'currency',
  errorCode: 'error code',
};

type EffectsJudgement =
  | (Judgement & { readonly expected?: string })
  | { readonly verdict: 'not-applicable'; readonly reason: string };

/**
 * Judges the effects of a scenario whose deliveries were answered as expected. The first problem decides. The scenario
 * does not apply if it expects values and the window reports none of them.
 */
export function judgeEffects(level: Level, evidence: readonly EffectEvidence[]): EffectsJudgement {
  for (const one of evidence) {
    const problem = problemOf(one);
    if (problem === null) continue;
    const { decidedBy, expected, outcome, observed } = problem;
    const cause = evidence.length > 1 ? { cause: problem.reason } : {};
    const reason = evidence.length > 1 ? `${one.label}: ${problem.reason}` : problem.reason;
    return { ...atLevel(level, reason), ...cause, decidedBy, expected, outcome, observed, delivery: one.label };
  }
  const expected = evidence.flatMap(expectedOf);
  const unstated = expected.filter(({ isStated }) => !isStated);
  const names = [...new Set(unstated.map(({ name }) => name))].join(', ');
  const reason = names === '' ? '' : `the window does not state: ${names}`;
  if (unstated.length > 0 && unstated.length === expected.length) return { verdict: 'not-applicable', reason };
  return {
    verdict: 'pass',
    observed: 'the expected effect',
    reason,
    decidedBy: 'expected-effect',
    delivery: null,
    outcome: 'seen',
  };
}

function problemOf(evidence: EffectEvidence): Problem | null {
  const { expect, handled, deadlineMs } = evidence;
  if (handled.length < expect.times) {
    return {
      decidedBy: 'effect-missing',
      expected: 'one handling',
      outcome: 'not-handled',
      observed: 'not handled',
      reason: `accepted, but not handled within ${deadlineMs / 1000} s`,
    };
  }
  if (handled.length > expect.times) {
    const times = ['', 'once', 'twice'][handled.length] ?? `${handled.length} times`;
    if (expect.times === 0) {
      const reason = 'handled, although it was rejected';
      const [expected, observed] = ['no handling', `handled ${times}`];
      return { decidedBy: 'effect-of-rejected', expected, outcome: 'handled', observed, reason };
    }
    const reason = `handled ${times}, expected once`;
    const [expected, observed] = ['one handling', `handled ${times}`];
    return { decidedBy: 'effect-repeated', expected, outcome: 'handled-twice', observed, reason };
  }
  const [first] = handled;
  for (const [name, wanted] of Object.entries(expect.values ?? {}) as [keyof EffectValues, string | null][]) {
    const stated = first?.[name];
    if (stated === undefined || isSame(name, stated, wanted)) continue;
    const called = VALUE_NAMES[name];
    // A receiver that has no amount has not converted it.
    const isUnread = name === 'amount' && shown(stated) === NONE;
    return {
      decidedBy: 'effect-value',
      expected: `${called} ${shown(wanted)}`,
      outcome: isUnread ? 'no-amount' : called.replace(' ', '-'),
      observed: `${called} ${shown(stated)}`,
      reason: `${called} ${shown(stated)}, expected ${shown(wanted)}`,
    };
  }
  return currentProblemOf(evidence);
}

function currentProblemOf({ expect, current }: EffectEvidence): Problem | null {
  for (const name of ['status', 'hash'] as const) {
    const wanted = expect.current?.[name];
    const stated = current?.[name];
    if (wanted === undefined || stated === undefined || stated === wanted) continue;
    return {
      decidedBy: 'effect-overwritten',
      expected: shown(wanted),
      outcome: `current-${name}`,
      observed: `the transaction now has the ${name} ${shown(stated)}`,
      reason: `the transaction now has the ${name} ${shown(stated)}, expected ${shown(wanted)}`,
    };
  }
  return null;
}

/** Returns the expected values, and whether the window reports each of them. */
function expectedOf({ expect, handled: [first], current }: EffectEvidence) {
  const values = Object.keys(expect.values ?? {}) as (keyof EffectValues)[];
  const now = (['status', 'hash'] as const).filter((name) => expect.current?.[name] !== undefined);
  return [
    ...values.map((name) => ({ name: VALUE_NAMES[name], isStated: first === undefined || first[name] !== undefined })),
    ...now.map((name) => ({ name: `the current ${name}`, isStated: current?.[name] !== undefined })),
  ];
}

/**
 * Compares values. Amounts are compared as decimal numbers: `1.50` equals `1.5`. Text with an exponent is not decimal.
 * Empty text counts as no value.
 */
function isSame(name: keyof EffectValues, stated: string | null, wanted: string | null): boolean {
  if (name !== 'amount' || stated === null || wanted === null) return (stated ?? '') === (wanted ?? '');
  return plainDecimal(stated) === plainDecimal(wanted);
}

/** Maximum length of a text that is compared as an amount. */
const MAX_AMOUNT_LENGTH = 300;

function plainDecimal(text: string): string {
  if (text.length > MAX_AMOUNT_LENGTH) return text;
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  // Some databases print 0.5 as .5.
  if (whole === '' && fraction === '') return text;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  const decimals = fraction.replace(/0+$/, '');
  return `${sign === '-' ? '-' : ''}${digits}${decimals === '' ? '' : `.${decimals}`}`;
}

const NONE = 'none';

function shown(value: string | null): string {
  if (value === null || value === '') return NONE;
  return value.length > 90 ? `${value.slice(0, 90)}…` : value;
}
