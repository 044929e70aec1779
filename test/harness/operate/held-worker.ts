/** A process that takes one job and never finishes it, for tests that kill it. */
import { operate } from '../../../harness/operate/index.ts';

const [url = '', beat, abandon, dead] = process.argv.slice(2);
await operate({
  url,
  concurrency: 1,
  tasks: () => ({
    plan: async () => {},
    partner: async () => {
      process.send?.('running');
      await new Promise(() => {});
    },
  }),
  kill: () => {},
  signal: new AbortController().signal,
  log: () => {},
  leaseTimes: { beat: Number(beat), abandon: Number(abandon), dead: Number(dead) },
});
