/** The mutants of the reference receiver, by name. They are for testing harnesses: never deploy one. */
import type { Fault } from './fault.ts';
import { partlyReadBodies } from './raw-body-arrival.ts';
import { decodedBodies } from './raw-body-characters.ts';
import { otherSchemes, secondInputs } from './raw-body-fallbacks.ts';
import { reserialisedInLanguages } from './raw-body-languages.ts';
import { relaidBodies } from './raw-body-layout.ts';
import { reserialisedBodies } from './raw-body-reserialised.ts';
import { respeltBodies } from './raw-body-spelling.ts';

export { FAULT_AREAS, type Fault, type FaultArea, STACKS, type Stack } from './fault.ts';
export { startFaultyReceiver } from './start-faulty-receiver.ts';

export const FAULTS: readonly Fault[] = [
  ...reserialisedBodies,
  ...reserialisedInLanguages,
  ...relaidBodies,
  ...decodedBodies,
  ...respeltBodies,
  ...partlyReadBodies,
  ...secondInputs,
  ...otherSchemes,
];
