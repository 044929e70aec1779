import { expect, it } from 'vitest';
import { playHeldOut } from './play.ts';
import { nameOf } from './subjects.ts';

/** None of these receivers hangs, so a busy machine gets more time. */
const LIMITS = { timeoutMs: 30_000, recoveryMs: 10_000 };

// `npm run proofs -- held-out` measures every fault and pairs of them.
it('names the fault of a receiver in another style', async () => {
  const { diagnosed } = await playHeldOut(nameOf({ faults: ['refuses-sells'], style: 0 }), LIMITS);
  expect(diagnosed[0]).toContain('refuses-sells');
});
