/** The other door to the receiver: the one command that serves a mutant. */
export { FAULTS, startFaultyReceiver as openFaultyReceiver } from '../../receiver/faults/index.ts';
