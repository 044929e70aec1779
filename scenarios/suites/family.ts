/**
 * Defines a family of checks as a table. A row states under its slug what is sent, as a noun phrase. Id, title, label,
 * needs, requirements and expectation follow from the family, so that they cannot contradict each other. The mistake
 * that a check shows also comes from the family, unless the row names another one.
 */
import type { MistakeId } from '../../contract/mistakes/index.ts';
import type { ShapeName } from '../dimensions.ts';
import type { Crossing } from '../forgery.ts';
import type { HelloExpectation } from '../handshake.ts';
import {
  type ChainScenario,
  type Change,
  type Expectation,
  type FlowScenario,
  type HandshakeScenario,
  type ObservationScenario,
  type ProbeScenario,
  type Scenario,
  SENDING_STAGES,
} from '../scenario.ts';

/** What the checks of a family share. A row can replace each of these. */
type Shared = Partial<Omit<ProbeScenario, 'id' | 'title' | 'mistake' | 'change' | 'expect'>> &
  Pick<Scenario, 'level' | 'requirements'> & { readonly expect?: Expectation | HelloExpectation };

interface Family extends Shared {
  readonly suite: string;
  readonly mistake?: MistakeId;
  /** The beginning of the titles: what a correct receiver does ("Accepts", "Serves"), or "Records whether". */
  readonly verb: string;
  /** Precedes what is sent in title and label: "the valid signature". */
  readonly of?: string;
}

/** What a row sends: a change, its replacement in the scenario, or a function that makes either from the label. */
type Sends = Change | Instead | ((label: string) => Change | Instead);
type Only<S extends Scenario> = Omit<S, keyof Shared | 'id' | 'title' | 'mistake'>;
type Instead =
  | Pick<ProbeScenario, 'change' | 'expect' | 'followUps'>
  | Only<FlowScenario>
  | Only<ObservationScenario>
  | Only<HandshakeScenario>
  | Only<ChainScenario>;

/** Fields of a single row. Set `title` only when the sentence differs from "verb what". */
export type Own = Partial<Shared> & { readonly title?: string; readonly note?: string };

export type Row = readonly [what: string, sends: Sends, mistake?: MistakeId | Own, own?: Own];

/** Returns the scenarios of a family, in the order of its rows. */
export function family(
  { suite, verb, of, expect, ...shared }: Family,
  rows: Readonly<Record<string, Row>>,
): Scenario[] {
  return Object.entries(rows).map(([slug, [what, sends, mistake, own]]) => {
    const label = of === undefined ? what : `${of} ${what}`;
    const does = typeof sends === 'function' ? sends(label) : sends;
    const text = { id: `${suite}/${slug}`, title: `${verb} ${label}` };
    const probe = isChange(does) ? { change: does } : does;
    // Each delivery of a flow has its own expectation, and an observation has none.
    const expected = expect !== undefined && !('flow' in probe || 'observe' in probe) && { expect };
    return { ...shared, ...expected, ...text, ...probe, ...ownOf(mistake, own) } as Scenario;
  });
}

function ownOf<T extends object>(mistake: MistakeId | T | undefined, own: T | undefined) {
  return typeof mistake === 'string' ? { mistake, ...own } : mistake;
}

function isChange(does: Change | Instead): does is Change {
  return Object.keys(does).every((key) => (SENDING_STAGES as readonly string[]).includes(key));
}

interface CrossingFamily
  extends Pick<Crossing, 'flaw' | 'requirements' | 'expect'>,
    Partial<Pick<Crossing, 'mistake'>> {
  readonly suite: string;
  /** Precedes what is sent in the title: "an unsigned delivery". */
  readonly of?: string;
}

/** A row of forged deliveries, which has the shapes of the requests instead of a change. */
export type CrossingRow = readonly [
  what: string,
  shapes: readonly ShapeName[],
  mistake?: MistakeId | Partial<Crossing>,
  own?: Partial<Crossing>,
];

/** Returns the crossings of a family, in the order of its rows. All use one flaw, unless a row names another one. */
export function crossings(
  { suite, of, ...shared }: CrossingFamily,
  rows: Readonly<Record<string, CrossingRow>>,
): Crossing[] {
  return Object.entries(rows).map(([slug, [what, shapes, mistake, own]]) => {
    const text = { id: `${suite}/${slug}`, title: `Rejects ${of === undefined ? what : `${of} ${what}`}` };
    return { ...shared, ...text, shapes, ...ownOf(mistake, own) } as Crossing;
  });
}
