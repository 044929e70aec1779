/** Renders the measurement of the diagnosis on held-out receivers. Pure. */
import type { FaultDictionary } from '../../../harness/diagnose/index.ts';
import { markdownTable } from '../../setup/markdown-table.ts';
import type { HeldOutRun } from './play.ts';
import { STYLES, subjectOf } from './subjects.ts';

interface Measured {
  readonly seed: number;
  readonly dictionary: FaultDictionary;
  readonly singles: readonly HeldOutRun[];
  readonly pairs: readonly HeldOutRun[];
}

/** The rank of the actual fault in the diagnosis; -1 if it is missing. Declared equivalents count as one. */
function rankOf(fault: string, { diagnosed }: HeldOutRun, same: (a: string, b: string) => boolean): number {
  return diagnosed.findIndex((names) => names.some((name) => same(name, fault)));
}

/** Findings that mean the same as a mutant. */
const SAME_FINDING: Readonly<Record<string, string>> = {
  'accepts-everything': 'answers-200-to-everything',
  'refuses-right-credentials': 'answers-401-to-everything',
  redirects: 'redirects-every-delivery',
};

function equality({ faults }: FaultDictionary): (a: string, b: string) => boolean {
  const rootOf = (named: string) => {
    const name = SAME_FINDING[named] ?? named;
    return faults.find((fault) => fault.name === name)?.equivalentTo?.name ?? name;
  };
  return (a, b) => rootOf(a) === rootOf(b);
}

const percent = (part: number, whole: number) => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
const diagnosisOf = ({ diagnosed }: HeldOutRun) => diagnosed.map(([name]) => `\`${name}\``).join(', ') || 'none';
const whyOf = (name: string) => MISSES[name] ?? 'not explained yet';

export function renderFigures({ seed, dictionary, singles, pairs }: Measured): string {
  const same = equality(dictionary);
  const places = singles.map((run) => ({ run, place: rankOf(subjectOf(run.name).faults[0] ?? '', run, same) }));
  const first = places.filter(({ place }) => place === 0).length;
  const three = places.filter(({ place }) => place >= 0 && place < 3).length;
  const found = pairs.map((run) => subjectOf(run.name).faults.filter((fault) => rankOf(fault, run, same) >= 0));
  const both = found.filter(({ length }) => length === 2).length;
  const misses = places.filter(({ place }) => place !== 0);
  const rows = misses.map(({ run, place }) => {
    const { faults, style } = subjectOf(run.name);
    const rank = place < 0 ? 'not named' : `rank ${place + 1}`;
    return [`\`${faults[0]}\``, STYLES[style]?.name ?? '', rank, diagnosisOf(run), whyOf(faults.join('+'))];
  });
  const pairRows = pairs.flatMap((run, at) => {
    const { faults } = subjectOf(run.name);
    if (found[at]?.length === 2) return [];
    return [[`\`${faults.join('` and `')}\``, diagnosisOf(run), whyOf(faults.join('+'))]];
  });
  const styles = STYLES.map(({ name }) => name).join('; ');
  return `# How often the diagnosis is correct

<!-- Written by \`npm run proofs -- held-out\`. Do not edit. -->

The fault dictionary is recorded from mutants of the reference receiver: Express, one stage replaced. These figures are
from receivers that it has never seen: bare node:http, one class with methods, in ${STYLES.length} styles
(${styles}), with independently
written faults (\`test/proofs/held-out/\`). Seed ${seed} selects the style of each receiver and the pairs. A fault counts
as named under its own name, under that of a mutant with the same outcomes in the run, and under that of a declared
equivalent.

| | |
| --- | --- |
| the actual fault is named first | ${percent(first, singles.length)} |
| it is among the first three | ${percent(three, singles.length)} |
| two faults at once: both are named | ${percent(both, pairs.length)} |
| two faults at once: at least one is named | ${percent(found.filter(({ length }) => length > 0).length, pairs.length)} |

## Each miss

${markdownTable(['fault', 'style', 'rank', 'diagnosis', 'why'], rows)}

## Pairs with a fault that was not named

${markdownTable(['faults', 'diagnosis', 'why'], pairRows)}
`;
}

/** Why a fault was not named first, for the page. A pair is `one+other`. */
const MISSES: Readonly<Record<string, string>> = {
  'verifies-php-unescaped-json':
    'Node escapes other characters than PHP, so the imitation is closer to the compact output of Python.',
  'joins-chunks-as-text': 'Both faults are present: joining decoded chunks also replaces bytes that are not UTF-8.',
  'signature-as-regexp':
    'Here the pattern may match any part, so prefixes and the empty text are also accepted. Its behaviour with ' +
    'an invalid signature is random, and the dictionary does not record it.',
  'api-key-taken-from-query':
    'It reads other parameter names than the mutant, the names of the two mutants in the diagnosis.',
  'refuses-empty-text':
    'It also rejects the empty hash in the list of fields, which is the first fault in the diagnosis; the ' +
    'actual one is second.',
  'burst-answered-503': 'It counts simultaneous requests in another place, so a smaller number is already rejected.',
  'null-characters-answer-500+api-key-taken-from-token-header':
    'Two mutants together explain the first fault, and a report names at most two.',
  'refuses-empty-text+trusts-forwarded-for':
    'Two mutants together explain the first fault, and a report names at most two.',
  'api-key-signs+reads-metadata-unguarded':
    'The first turns only one scenario red, and two mutants together explain the second.',
  'api-key-missing-accepted+nothing-presented-accepted': 'The second replaces both checks, so the first has no effect.',
  'requires-transaction-id-everywhere+hashed-secret-accepted':
    'Two mutants with the same status together explain the first, and a report names at most two.',
  'refuses-empty-text+failed-is-final': 'Two mutants together explain the first fault, and a report names at most two.',
  'signature-list-accepted+formats-times-unchecked':
    'Two mutants together explain the second fault, and a report names at most two.',
  'api-key-refused-with-403+signature-as-regexp': 'See signature-as-regexp.',
  'verifies-reserialised-json+signature-cached-without-body':
    'Here invalid JSON also throws before the check, which is the second fault in the diagnosis, and a report ' +
    'names at most two.',
  'api-key-unwrapped+types-in-lower-case':
    'The second is a milder form that turns one scenario red, too little to name a second fault.',
};
