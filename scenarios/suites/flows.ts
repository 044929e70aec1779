/** Helpers for flows in several suites: single deliveries, sequences, and deliveries of one transaction. */
import type { JsonValue } from '../../contract/index.ts';
import type { Composer } from '../changes/bodies.ts';
import { signedWith } from '../changes/signing.ts';
import { accepted } from '../expectations.ts';
import { ownId } from '../samples.ts';
import type { Delivery, Expectation, FlowScenario, Kit, SignChange } from '../scenario.ts';

/** Signs with a secret other than the partner's. */
export const otherSecret: SignChange = signedWith('signed with a different secret', (kit) => kit.bytes(32));

/** The deliveries of a flow, as groups of concurrent deliveries. The groups are sent one after another. */
export type Groups = ReturnType<FlowScenario['flow']>;

/** Makes a valid delivery of this notification. The id is the same every time it is sent. */
export function event(label: string, notification: JsonValue, effect?: Delivery['effect']): Delivery {
  return { label, change: { compose: () => notification }, expect: accepted, ...(effect && { effect }) };
}

/** Makes a delivery whose notification is composed when it is sent. By default, it must be accepted. */
export function composed(label: string, compose: Composer, expect: Expectation = accepted): Delivery {
  return { label, change: { compose }, expect };
}

/** Makes one group for each delivery, so the deliveries are sent in sequence. */
export function inSequence(...deliveries: readonly Delivery[]): Groups {
  return deliveries.map((delivery) => [delivery]);
}

/** Replaces the expectation of every delivery. */
export function withExpectation(expect: Expectation, groups: Groups): Groups {
  return groups.map((group) => group.map((delivery) => ({ ...delivery, expect })));
}

/** Makes a sequential flow about a transaction that no other scenario uses. */
export function ofTransaction(
  deliveries: (kit: Kit, transactionId: string) => readonly Delivery[],
): Pick<FlowScenario, 'flow'> & { readonly owns: readonly ['transaction'] } {
  return { owns: ['transaction'], flow: (kit) => inSequence(...deliveries(kit, ownId(kit, 'transaction'))) };
}
