/** Keeps account of second tries: what passes at the second try has not passed at the first, and whoever certifies wants to know. */
import { judge } from '../judge/index.ts';
import type { RunContext } from './context.ts';
import type { Trial } from './trial.ts';

/** Notes a trial that is set aside, unless it would have been a pass: then the second one changes nothing. */
export function noteRetry({ retried }: RunContext, { planned: { scenario }, evidence }: Trial): void {
  if (judge(scenario.level, evidence).verdict !== 'pass') retried.add(scenario.id);
}
