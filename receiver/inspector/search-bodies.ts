/** Which bodies hold a text. Upper and lower case are the same. Credentials are masked before, so that nobody finds them by trying. */
import { setImmediate } from 'node:timers/promises';
import { bodyWithoutCredentials, type ViewConfig } from './delivery-view.ts';
import type { Recorder } from './recorder.ts';

/** How much is searched before others get their turn, in bytes. */
const TURN = 256 * 1024;

/** The ids of deliveries after number `after` whose body holds `query`. Ends early once `isOver`. */
export async function searchBodies(
  recorder: Recorder,
  config: ViewConfig,
  { query, after, isOver }: { query: string; after: number; isOver: () => boolean },
): Promise<string[]> {
  const wanted = query.toLowerCase();
  const found: string[] = [];
  let searched = 0;
  for (const delivery of [...recorder.all()]) {
    if (delivery.number <= after || delivery.rawBody === undefined) continue;
    const text = bodyWithoutCredentials(delivery.rawBody, config).toString('utf8');
    if (text.toLowerCase().includes(wanted)) found.push(recorder.idOf(delivery));
    searched += text.length;
    if (searched < TURN) continue;
    searched = 0;
    await setImmediate();
    if (isOver()) return found;
  }
  return found;
}
