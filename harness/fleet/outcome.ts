/** From a run and what speaks against a certificate to the line of a partner. Pure. */

import type { ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { isScored, tally } from '../report/verdict.ts';
import { type FleetDocument, type FleetPartner, OUTCOMES, type Outcome } from './fleet-document.ts';

/** A reason against a certificate, with the exit code that it asks for. */
interface Reason {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  readonly exit: 1 | 2 | 3 | 4;
}

const OUTCOME_OF = { 1: 'failed', 2: 'refused', 3: 'inconclusive', 4: 'harness-error' } as const;

/** The gravest by the table of the house: our own error, the endpoint, what was asked for, no verdict. */
const PRECEDENCE = [4, 1, 2, 3] as const;

const EXIT_OF = {
  certified: 0,
  failed: 1,
  refused: 2,
  inconclusive: 3,
  'not-run': 3,
  'harness-error': 4,
} as const satisfies Record<Outcome, number>;

/** What the result document says of a partner. */
export type RunFacts = Pick<FleetPartner, 'verdict' | 'counts' | 'suites' | 'diagnosis'>;

export const NO_FACTS: RunFacts = { verdict: null, counts: null, suites: {}, diagnosis: null };

export function factsOf(document: ResultDocument): RunFacts {
  const scored = document.results.filter((result) => isScored(document, result));
  const bySuite = new Map<string, ScenarioResult[]>();
  for (const result of scored) bySuite.set(result.suite, [...(bySuite.get(result.suite) ?? []), result]);
  const [main] = document.diagnosis;
  return {
    verdict: document.verdict,
    counts: tally(scored),
    suites: Object.fromEntries([...bySuite].map(([suite, results]) => [suite, tally(results)])),
    diagnosis: main === undefined ? null : { fault: main.fault, title: main.title },
  };
}

/** How it ended, by the reasons against a certificate. */
export function outcomeOf(reasons: readonly Reason[]): Outcome {
  const worst = PRECEDENCE.find((code) => reasons.some(({ exit }) => exit === code));
  return worst === undefined ? 'certified' : OUTCOME_OF[worst];
}

/** Origin and path. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

export function totalsOf(partners: readonly FleetPartner[]): FleetDocument['totals'] {
  const of = (name: Outcome) => partners.filter(({ outcome }) => outcome === name).length;
  return Object.fromEntries(OUTCOMES.map((name) => [name, of(name)])) as FleetDocument['totals'];
}

/** The exit code over all partners. Interruption (130, 143) is decided where the signal is seen. */
export function exitCodeOfFleet({ partners }: Pick<FleetDocument, 'partners'>): 0 | 1 | 2 | 3 | 4 {
  const codes = new Set(partners.map(({ outcome }) => EXIT_OF[outcome]));
  return PRECEDENCE.find((code) => codes.has(code)) ?? (partners.length === 0 ? 3 : 0);
}

export type Change = 'new' | 'better' | 'worse' | 'same';

const RANK: Readonly<Record<Outcome, number>> = {
  certified: 0,
  refused: 1,
  inconclusive: 1,
  'harness-error': 1,
  'not-run': 1,
  failed: 2,
};

/** Against the certification before: certified is best, failed is worst. `new` without one. */
export function changeOf({ outcome, previous }: Pick<FleetPartner, 'outcome' | 'previous'>): Change {
  if (previous === null) return 'new';
  const step = RANK[outcome] - RANK[previous.outcome];
  return step === 0 ? 'same' : step < 0 ? 'better' : 'worse';
}

/** With what the certification before says of each partner. */
export function against(document: FleetDocument, before: FleetDocument | null): FleetDocument {
  if (before === null) return document;
  const earlier = new Map(before.partners.map(({ name, outcome }) => [name, { outcome }]));
  const partners = document.partners.map((one) => ({ ...one, previous: earlier.get(one.name) ?? null }));
  return { ...document, previous: { startedAt: before.startedAt }, partners };
}
