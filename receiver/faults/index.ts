/** The mutants of the reference receiver, by name. They are for testing harnesses: never deploy one. */
import type { Fault } from './fault.ts';
import { reserialisedBodies } from './raw-body-reserialised.ts';

export { FAULT_AREAS, type Fault, type FaultArea, STACKS, type Stack } from './fault.ts';
export { startFaultyReceiver } from './start-faulty-receiver.ts';

export const FAULTS: readonly Fault[] = [...reserialisedBodies];
