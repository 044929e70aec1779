/** A process that plays bare receivers. It receives their names, and answers with the results of each. */
import { playHeldOut } from './play.ts';

process.on('message', async ({ name }: { readonly name: string }) => {
  try {
    process.send?.(await playHeldOut(name));
  } catch (error) {
    process.send?.({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
