import type { Handling } from '../handling/handling.ts';
import { answer, required, type Stage } from './stage.ts';

/**
 * Stage 10: answers 200, and then lets the handlers work. Specification: Delivery endpoint (response). The sender does not wait
 * for them: what they do may take longer than its time limit. A duplicate is answered 200 too and not handled again.
 */
export function reply(handling: Handling): Stage {
  return (_req, res) => {
    const stored = required(res, 'stored');
    answer(res, 200, { status: stored === 'stored' ? 'accepted' : 'duplicate' });
    if (stored === 'stored') handling.wake();
  };
}
