/** Renders the measurement of the diagnosis on held-out receivers. Pure. */
import type { FaultDictionary } from '../../../harness/diagnose/index.ts';
import { STYLES, subjectOf } from './subjects.ts';
import type { HeldOutRun } from './worker.ts';

interface Measured {
  readonly seed: number;
  readonly dictionary: FaultDictionary;
  readonly singles: readonly HeldOutRun[];
  readonly pairs: readonly HeldOutRun[];
}

/** The rank of the actual fault in the diagnosis; -1 if it is missing. Declared equivalents count as one. */
function placeOf(fault: string, { diagnosed }: HeldOutRun, same: (a: string, b: string) => boolean): number {
  return diagnosed.findIndex((names) => names.some((name) => same(name, fault)));
}

/** Findings that mean the same as a mutant. */
const SAME_FINDING: Readonly<Record<string, string>> = {
  'accepts-everything': 'answers-200-to-everything',
  'refuses-right-credentials': 'answers-401-to-everything',
  redirects: 'redirects-every-delivery',
};

function equality({ faults }: FaultDictionary): (a: string, b: string) => boolean {
  const rootOf = (said: string) => {
    const name = SAME_FINDING[said] ?? said;
    return faults.find((fault) => fault.name === name)?.equivalentTo?.name ?? name;
  };
  return (a, b) => rootOf(a) === rootOf(b);
}

const percent = (part: number, whole: number) => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
const said = ({ diagnosed }: HeldOutRun) => diagnosed.map(([name]) => `\`${name}\``).join(', ') || 'nothing';
const whyOf = (name: string) => MISSES[name] ?? 'not explained yet';

export function renderFigures({ seed, dictionary, singles, pairs }: Measured): string {
  const same = equality(dictionary);
  const places = singles.map((run) => ({ run, place: placeOf(subjectOf(run.name).faults[0] ?? '', run, same) }));
  const first = places.filter(({ place }) => place === 0).length;
  const three = places.filter(({ place }) => place >= 0 && place < 3).length;
  const found = pairs.map((run) => subjectOf(run.name).faults.filter((fault) => placeOf(fault, run, same) >= 0));
  const both = found.filter(({ length }) => length === 2).length;
  const misses = places.filter(({ place }) => place !== 0);
  const rows = misses.map(({ run, place }) => {
    const { faults, style } = subjectOf(run.name);
    const rank = place < 0 ? 'not named' : `place ${place + 1}`;
    return `| \`${faults[0]}\` | ${STYLES[style]?.name} | ${rank} | ${said(run)} | ${whyOf(faults.join('+'))} |`;
  });
  const pairRows = pairs.flatMap((run, at) => {
    const { faults } = subjectOf(run.name);
    if (found[at]?.length === 2) return [];
    return [`| \`${faults.join('` and `')}\` | ${said(run)} | ${whyOf(faults.join('+'))} |`];
  });
  return `# How often the diagnosis is right

<!-- Written by \`npm run proofs -- held-out\`. Do not edit. -->

The fault dictionary is made from mutants of the reference receiver: Express, one stage replaced. These figures are from receivers that it has never
seen: bare node:http, one class with methods, in ${STYLES.length} styles (${STYLES.map(({ name }) => name).join('; ')}), with the faults written anew as
somebody else would write them (\`test/proofs/held-out/\`). Seed ${seed} decides the style of each receiver, and the pairs. A fault counts as named under its own
name, under that of one that the outcomes of the run cannot tell from it, and under that of a declared equivalent.

| | |
| --- | --- |
| the right fault is named first | ${percent(first, singles.length)} |
| it is among the first three | ${percent(three, singles.length)} |
| two faults at once: both are named | ${percent(both, pairs.length)} |
| two faults at once: at least one is named | ${percent(found.filter(({ length }) => length > 0).length, pairs.length)} |

## Each miss

| fault | style | where it stands | what was said | why |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

## Pairs of which one was not named

| faults | what was said | why |
| --- | --- | --- |
${pairRows.join('\n')}
`;
}

/** Why a fault was not named first, for the page. A pair is `one+other`. */
const MISSES: Readonly<Record<string, string>> = {
  'verifies-php-unescaped-json':
    'Node escapes other characters than PHP does, so that the imitation is nearer to what Python writes without spaces.',
  'joins-chunks-as-text':
    'Both are true of it: text that is put together from decoded chunks also replaces bytes that are not UTF-8.',
  'signature-as-regexp':
    'Here the pattern may match any part, so that beginnings and the empty text are accepted too. What it does with a wrong signature is chance, and the dictionary says nothing of that.',
  'api-key-taken-from-query':
    'It looks for other names of the parameter than the mutant, and the two that are named look for these.',
  'refuses-empty-text':
    'It refuses the empty hash in the list of fields too, which is the first fault that is named; the right one comes second.',
  'burst-answered-503':
    'It counts what is under way in another place, so that fewer at a time are enough to be refused.',
  'null-characters-answer-500+api-key-taken-from-token-header':
    'The first is accounted for by two mutants, which leaves no place for the second; a report names two.',
  'refuses-empty-text+trusts-forwarded-for':
    'The first is accounted for by two mutants, which leaves no place for the second; a report names two.',
  'api-key-signs+reads-metadata-unguarded':
    'The first turns one scenario red, the second is accounted for by two mutants.',
  'api-key-missing-accepted+nothing-presented-accepted':
    'The second decides alone on both credentials, and the first is gone.',
  'requires-transaction-id-everywhere+hashed-secret-accepted':
    'The first is accounted for by two mutants with the same status; a report names two.',
  'refuses-empty-text+failed-is-final':
    'The first is accounted for by two mutants, which leaves no place for the second; a report names two.',
  'signature-list-accepted+formats-times-unchecked':
    'The second is accounted for by two mutants, which leaves no place for the first; a report names two.',
  'api-key-refused-with-403+signature-as-regexp': 'See signature-as-regexp.',
  'verifies-reserialised-json+signature-cached-without-body':
    'Here the broken body throws before the check as well, which is named second, and leaves no place for the third.',
  'api-key-unwrapped+types-in-lower-case':
    'The second is a milder form that turns one scenario red: too little to name a second fault for.',
};
