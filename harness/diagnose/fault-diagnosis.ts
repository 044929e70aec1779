/** A fault of the dictionary in the words of a report, with the fix for the partner's stack. Pure. */
import type { Diagnosis } from '../result/result-document.ts';
import type { DictionaryFault } from './fault-dictionary.ts';
import type { RankedFault } from './rank-faults.ts';
import type { KnownStack, Stack } from './stack.ts';

/** A server tells the language and not always the framework: what is next best when there is no fix for the one that was guessed. */
const NEXT_BEST: Partial<Record<Stack, Stack>> = { flask: 'django', django: 'flask', fastify: 'express' };

/** The rule that holds everywhere and, where the stack is known and differs, how it is done there. */
export function fixFor(fix: DictionaryFault['fix'], stack: KnownStack | null): Pick<Diagnosis, 'fix' | 'stack'> {
  const own = stack === null ? undefined : (fix[stack.name] ?? fix[NEXT_BEST[stack.name] ?? stack.name]);
  return own === undefined ? { fix: fix.rule, stack: null } : { fix: `${fix.rule} ${own}`, stack };
}

export function diagnosisOf(
  { fault, agreement, outcomes, evidence, alike }: RankedFault,
  relation: Diagnosis['relation'],
  stack: KnownStack | null,
): Diagnosis {
  const { name, title, seen, why } = fault;
  return {
    relation,
    fault: name,
    title: title.replace(/\.$/, ''),
    agreement,
    outcomes,
    evidence: [...evidence],
    alike: [...alike],
    seen,
    why,
    ...fixFor(fault.fix, stack),
  };
}
