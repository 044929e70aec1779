/**
 * Defines a family of checks as a table. Each row has a slug and states, as a noun phrase, what is sent. Id, title,
 * label, needs, requirements and expectation are derived from the family, so they cannot contradict each other. The
 * mistake that a check shows is also that of the family, unless the row names another one.
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

/** What the checks of a family share. A row can override each of these fields. */
type Shared = Partial<Omit<ProbeScenario, 'id' | 'title' | 'mistake' | 'change' | 'expect'>> &
  Pick<Scenario, 'level' | 'requirements'> & { readonly expect?: Expectation | HelloExpectation };

interface Family extends Shared {
  readonly suite: string;
  readonly mistake?: MistakeId;
  /** The beginning of each title, which is what a correct receiver does ("Accepts", "Serves"), or "Records whether". */
  readonly verb: string;
  /** A phrase before what is sent, in titles and labels: "the valid signature". */
  readonly of?: string;
}

/** What a row sends: a change, other fields of the scenario, or a function that returns either of them for a label. */
type Sends = Change | Instead | ((label: string) => Change | Instead);
type Only<S extends Scenario> = Omit<S, keyof Shared | 'id' | 'title' | 'mistake'>;
type Instead =
  | Pick<ProbeScenario, 'change' | 'expect' | 'followUps'>
  | Only<FlowScenario>
  | Only<ObservationScenario>
  | Only<HandshakeScenario>
  | Only<ChainScenario>;

/** Fields of a single row. Set `title` only if it differs from the verb followed by what is sent. */
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
    // Each delivery of a flow has its own expectation, and observations have none.
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
  /** A phrase before what is sent, in the title: "an unsigned delivery". */
  readonly of?: string;
}

/** A row about forged deliveries. It contains the shapes of the requests instead of a change. */
export type CrossingRow = readonly [
  what: string,
  shapes: readonly ShapeName[],
  mistake?: MistakeId | Partial<Crossing>,
  own?: Partial<Crossing>,
];

/**
 * Returns the crossings of a family, in the order of its rows. All of them use one flaw, unless a row names another.
 */
export function crossings(
  { suite, of, ...shared }: CrossingFamily,
  rows: Readonly<Record<string, CrossingRow>>,
): Crossing[] {
  return Object.entries(rows).map(([slug, [what, shapes, mistake, own]]) => {
    const text = { id: `${suite}/${slug}`, title: `Rejects ${of === undefined ? what : `${of} ${what}`}` };
    return { ...shared, ...text, shapes, ...ownOf(mistake, own) } as Crossing;
  });
}
