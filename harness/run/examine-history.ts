/**
 * Repeats an accepted forgery after the run: alone, and after a valid delivery. A receiver that
 * rejects it alone does verify, and takes the valid delivery before it as proof.
 */
import { findScenario } from '../../scenarios/index.ts';
import { acceptsAfterValid, type Finding } from '../diagnose/index.ts';
import { isAccepted, PLAIN_FORGERIES } from '../judge/index.ts';
import type { RunContext } from './context.ts';
import { sendCheck } from './examine-refusal.ts';
import type { Lane, SendOptions } from './lane.ts';
import { sendControl } from './send.ts';

/** Number of times that each answer must be observed, because a single one may be chance. */
const REPEATS = 2;

const ALONE: SendOptions = { fresh: true };
const TOGETHER: SendOptions = { kept: true };

/** Returns null if the forgery needs no valid delivery, or is not accepted in the same way every time. */
export async function examineHistory(
  context: RunContext,
  lane: Lane,
  accepted: readonly string[],
): Promise<Finding | null> {
  const plain = Object.values(PLAIN_FORGERIES).flat();
  const single = accepted.filter(
    (one) => /^(?:signature|api-key)\//.test(one) && 'change' in (findScenario(one) ?? {}),
  );
  const id = single.find((one) => plain.includes(one)) ?? single[0];
  if (id === undefined) return null;
  const isForgeryAccepted = async (options = ALONE) =>
    isAccepted((await sendCheck(context, lane, id, options)).attempt);
  // The first one may follow a valid delivery.
  await isForgeryAccepted();
  for (let turn = 0; turn < REPEATS; turn++) if (await isForgeryAccepted()) return null;
  for (const [isSameConnection, options] of [
    [false, ALONE],
    [true, TOGETHER],
  ] as const) {
    let count = 0;
    for (let turn = 0; turn < REPEATS; turn++) {
      const control = await sendControl(
        context,
        lane,
        'a valid delivery before a forgery',
        isSameConnection ? {} : ALONE,
      );
      if (isAccepted(control.attempt) && (await isForgeryAccepted(options))) count++;
    }
    if (count === REPEATS) return acceptsAfterValid(isSameConnection);
  }
  return null;
}
