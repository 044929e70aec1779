/**
 * A family of checks as a table. A row says what is sent, as a noun phrase, and which mistake it shows; id, title,
 * label, needs, requirements and expectation follow from the family, so that they cannot contradict each other.
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

/** What the checks of a family have in common; a row can replace each of these. */
type Shared = Partial<Omit<ProbeScenario, 'id' | 'title' | 'mistake' | 'change' | 'expect'>> &
  Pick<Scenario, 'level' | 'requirements'> & { readonly expect?: Expectation | HelloExpectation };

interface Family extends Shared {
  readonly suite: string;
  /** The beginning of the titles: what a correct receiver does ("Accepts", "Serves"), or "Records whether". */
  readonly verb: string;
  /** Stands before what is sent, in title and label: "the valid signature". */
  readonly of?: string;
}

/** What a row sends: a change, what the scenario has instead of one, or how either is made with the label. */
type Sends = Change | Instead | ((label: string) => Change | Instead);
type Only<S extends Scenario> = Omit<S, keyof Shared | 'id' | 'title' | 'mistake'>;
type Instead =
  | Pick<ProbeScenario, 'change' | 'expect' | 'ifAccepted'>
  | Only<FlowScenario>
  | Only<ObservationScenario>
  | Only<HandshakeScenario>
  | Only<ChainScenario>;

/** What a row has of its own. `title` only where the sentence is another one than "verb what". */
type Own = Partial<Shared> & { readonly title?: string; readonly note?: string };

export type Row = readonly [slug: string, what: string, sends: Sends, mistake: MistakeId, own?: Own];

/** The scenarios of a family, in the order of its rows. */
export function family({ suite, verb, of, expect, ...shared }: Family, rows: readonly Row[]): Scenario[] {
  return rows.map(([slug, what, sends, mistake, own]) => {
    const label = of === undefined ? what : `${of} ${what}`;
    const does = typeof sends === 'function' ? sends(label) : sends;
    const text = { id: `${suite}/${slug}`, title: `${verb} ${label}`, mistake };
    const probe = isChange(does) ? { change: does } : does;
    // The deliveries of a flow have an expectation each, and an observation has none.
    const expected = expect !== undefined && !('flow' in probe || 'observe' in probe) && { expect };
    return { ...shared, ...expected, ...text, ...probe, ...own } as Scenario;
  });
}

function isChange(does: Change | Instead): does is Change {
  return Object.keys(does).every((key) => (SENDING_STAGES as readonly string[]).includes(key));
}

interface CrossingFamily extends Pick<Crossing, 'flaw' | 'requirements' | 'expect'> {
  readonly suite: string;
  /** Stands before what is sent, in the title: "an unsigned delivery". */
  readonly of?: string;
}

/** A row of forged deliveries has the shapes of the requests instead of a change. */
export type CrossingRow = readonly [
  slug: string,
  what: string,
  shapes: readonly ShapeName[],
  mistake: MistakeId,
  own?: Partial<Crossing>,
];

/** The crossings of a family, in the order of its rows: one flaw, unless a row has another, in many shapes. */
export function crossings({ suite, of, ...shared }: CrossingFamily, rows: readonly CrossingRow[]): Crossing[] {
  return rows.map(([slug, what, shapes, mistake, own]) => ({
    ...shared,
    id: `${suite}/${slug}`,
    title: `Rejects ${of === undefined ? what : `${of} ${what}`}`,
    shapes,
    mistake,
    ...own,
  }));
}
