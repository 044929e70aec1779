/**
 * Repeats an accepted forgery after the run, both alone and after a valid delivery. A receiver that rejects it only
 * when it is sent alone does verify credentials, but trusts a client after one valid delivery.
 */
import { findScenario } from '../../scenarios/index.ts';
import { acceptsAfterValid, type Finding } from '../diagnose/index.ts';
import { isAccepted, PLAIN_FORGERIES } from '../judge/index.ts';
import type { RunContext } from './context.ts';
import { sendCheck } from './examine-refusal.ts';
import type { Lane, SendOptions } from './lane.ts';
import { sendControl } from './send.ts';

/** Each answer must be seen this often, because a single answer may be due to chance. */
const REPEATS = 2;

const ALONE: SendOptions = { fresh: true };
const TOGETHER: SendOptions = { kept: true };

/** Returns null if the forgery does not need a valid delivery before it, or is not accepted consistently. */
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
  // The first repetition may follow a valid delivery, so its answer is ignored.
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
