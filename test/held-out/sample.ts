/** What is drawn by chance, the same for the same seed. */
import type { DictionaryFault, FaultDictionary } from '../../harness/diagnose/index.ts';
import { seededRandom } from '../setup/seeded-random.ts';

/** A generator of whole numbers in [0, below). */
export function randomOf(seed: number): (below: number) => number {
  const random = seededRandom(seed);
  return (below) => Math.floor(random() * below);
}

/** With the first delivery refused nothing else is seen, so that there is no second fault to find. */
const letsTheFirstIn = ({ outcomes }: DictionaryFault) => outcomes['valid/plain'] === undefined;

/**
 * Pairs of faults that can both be seen. Not two of one check that accepts: the one that accepts more hides the other, and to name it alone is right.
 */
export function pairsOf(
  { faults }: FaultDictionary,
  names: readonly string[],
  count: number,
  random: (below: number) => number,
): (readonly [string, string])[] {
  const usable = faults.filter((fault) => names.includes(fault.name) && letsTheFirstIn(fault));
  const pairs: (readonly [string, string])[] = [];
  while (pairs.length < count) {
    const [one, other] = [usable[random(usable.length)], usable[random(usable.length)]];
    if (one === undefined || other === undefined || one === other || one.area === other.area) continue;
    pairs.push([one.name, other.name]);
  }
  return pairs;
}
