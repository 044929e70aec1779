/** What an endpoint behaves like that accepts not even the first delivery. Pure. */
import type { Diagnosis } from '../result/result-document.ts';
import { fixFor } from './fault-diagnosis.ts';
import type { DictionaryFault } from './fault-dictionary.ts';
import type { Finding } from './finding.ts';
import { explainByDictionary, type Seen } from './run-findings.ts';
import { mutantOf } from './wrong-encodings.ts';

/** One mutant has to fit as well as this, alone, to be taken for the cause: little was judged. */
const FITS = 0.9;

/**
 * The finding comes first: it rests on evidence of its own, such as the wrong signature that was accepted, or the certificate. Where a
 * mutant does the same, the finding goes by its name, and what is known of the mutant is added.
 */
export function explainShutGate(finding: Finding | null, seen: Omit<Seen, 'outages'>): Diagnosis[] {
  const { results, dictionary, stack } = seen;
  const red = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn').map(({ id }) => id);
  const { named } = explainByDictionary(seen);
  const [nearest] = named;
  if (finding === null) return named;
  const { fault, title, why, fix } = finding;
  const own: Diagnosis = {
    relation: 'main',
    fault,
    title,
    agreement: 1,
    outcomes: 1,
    evidence: red.slice(0, 1),
    alike: [],
    seen: '',
    why,
    fix,
    stack: null,
  };
  const known = dictionary.faults.find(({ name }) => name === mutantOf(fault));
  if (known !== undefined) return [knownAs(known, own, stack)];
  const fits = named.length === 1 && nearest !== undefined && nearest.alike.length < 2;
  if (!fits || nearest.agreement < nearest.outcomes * FITS) return [own];
  return [{ ...nearest, title, why, fix, stack: null }];
}

/** The finding under the name of the mutant, with the fix for the stack where there is one. */
function knownAs(known: DictionaryFault, own: Diagnosis, stack: Seen['stack']): Diagnosis {
  const told = fixFor(known.fix, stack);
  return { ...own, fault: known.name, seen: known.seen, ...(told.stack === null ? {} : told) };
}
