/** Helpers for the flows of several suites: single deliveries, sequences, and deliveries of one transaction. */
import type { JsonValue } from '../../contract/index.ts';
import type { Composer } from '../changes/bodies.ts';
import { signedWith } from '../changes/signing.ts';
import { accepted } from '../expectations.ts';
import { ownId } from '../samples.ts';
import type { Delivery, Expectation, FlowScenario, Kit, SignChange } from '../scenario.ts';

/** The signature of a sender that has another secret. */
export const otherSecret: SignChange = signedWith('signed with a different secret', (kit) => kit.bytes(32));

/** What a flow sends: groups of concurrent deliveries, one group after another. */
export type Groups = ReturnType<FlowScenario['flow']>;

/** A valid delivery of this notification, with the same id whenever it is sent. */
export function event(label: string, notification: JsonValue, effect?: Delivery['effect']): Delivery {
  return { label, change: { compose: () => notification }, expect: accepted, ...(effect && { effect }) };
}

/** A valid delivery that is composed when it is sent. */
export function composed(label: string, compose: Composer, expect: Expectation = accepted): Delivery {
  return { label, change: { compose }, expect };
}

/** Sends the deliveries in sequence. */
export function inSequence(...deliveries: readonly Delivery[]): Groups {
  return deliveries.map((delivery) => [delivery]);
}

/** Replaces the expectation of every delivery. */
export function withExpectation(expect: Expectation, groups: Groups): Groups {
  return groups.map((group) => group.map((delivery) => ({ ...delivery, expect })));
}

/** A sequential flow of a transaction that no other scenario uses. */
export function ofTransaction(
  deliveries: (kit: Kit, transactionId: string) => readonly Delivery[],
): Pick<FlowScenario, 'flow'> & { readonly owns: readonly ['transaction'] } {
  return { owns: ['transaction'], flow: (kit) => inSequence(...deliveries(kit, ownId(kit, 'transaction'))) };
}
