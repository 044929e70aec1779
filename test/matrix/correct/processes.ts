/** A receiver of several processes, which share nothing but the port. */
import { fileURLToPath } from 'node:url';
import type { CorrectReceiver } from './correct-receiver.ts';
import { startProgram } from './start-program.ts';

export const processes: readonly CorrectReceiver[] = [
  {
    name: 'processes',
    title: 'Three processes that share a port and nothing else, each answering with its own number.',
    start: (options) =>
      startProgram([process.execPath, fileURLToPath(new URL('./processes.mjs', import.meta.url))], options),
  },
];
