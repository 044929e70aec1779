/** Renders the measurement of the diagnosis on held-out receivers, without side effects. */
import type { FaultDictionary } from '../../../harness/diagnose/index.ts';
import { markdownTable } from '../../setup/markdown-table.ts';
import { mistakeOf } from '../../setup/mistake-of.ts';
import type { HeldOutRun } from './play.ts';
import { STYLES, subjectOf } from './subjects.ts';

interface Measured {
  readonly seed: number;
  readonly dictionary: FaultDictionary;
  readonly singles: readonly HeldOutRun[];
  readonly pairs: readonly HeldOutRun[];
}

/** Returns the rank of the actual fault in the diagnosis, or -1 if it is missing. Declared equivalents count as one. */
function rankOf(fault: string, { diagnosed }: HeldOutRun, same: (a: string, b: string) => boolean): number {
  return diagnosed.findIndex((names) => names.some((name) => same(name, fault)));
}

/** Findings that are equivalent to a mutant, and a mutant that differs only in the status that a finding names. */
const SAME_FINDING: Readonly<Record<string, string>> = {
  'accepts-everything': 'answers-200-to-everything',
  'refuses-right-credentials': 'answers-401-to-everything',
  'answers-403-to-everything': 'answers-401-to-everything',
  redirects: 'redirects-every-delivery',
};

/** Returns a function that compares names of faults. Declared equivalents are equal. */
export function equality({ faults }: FaultDictionary): (a: string, b: string) => boolean {
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
  const one = found.filter(({ length }) => length > 0).length;
  const outcomes = singles.map((run) => verdictOn(run, [subjectOf(run.name).faults[0] ?? ''], same));
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
written faults (\`test/proofs/held-out/\`). Seed ${seed} selects the style of each receiver and the pairs. A fault
counts as named under its own name, under that of a mutant with the same outcomes in the run, and under that of a
declared equivalent.

A report names the mutant that explains the outcomes best. If less than 80 % of its predictions are confirmed, and a
larger share of those of another mutant with the same mistake, which explains at least half as much, the report names
only the mistake, with the number of checks that show it. Warnings count less than failures.

| | |
| --- | --- |
| the actual fault is named first | ${percent(first, singles.length)} |
| its mistake is named first | ${percent(count(outcomes, 'mistake'), singles.length)} |
| the cause is not known | ${percent(count(outcomes, 'not known'), singles.length)} |
| another mistake is named first | ${percent(count(outcomes, 'wrong'), singles.length)} |
| it is among the first three | ${percent(three, singles.length)} |
| two faults at once: both are named | ${percent(both, pairs.length)} |
| two faults at once: at least one is named | ${percent(one, pairs.length)} |

## Each miss

${markdownTable(['fault', 'style', 'rank', 'diagnosis', 'why'], rows)}

## Pairs with a fault that was not named

${markdownTable(['faults', 'diagnosis', 'why'], pairRows)}
`;
}

/** The verdicts on a diagnosis. `mistake`: the cause has another name, but the mistake of an acceptable fault. */
export const DIAGNOSIS_VERDICTS = ['correct', 'mistake', 'not known', 'wrong'] as const;
export type DiagnosisVerdict = (typeof DIAGNOSIS_VERDICTS)[number];

/** Returns whether the first cause of a run is one of the acceptable faults. */
export function verdictOn(
  { diagnosed: [names = []], mistake }: Pick<HeldOutRun, 'diagnosed' | 'mistake'>,
  acceptable: readonly string[],
  same: (a: string, b: string) => boolean,
): DiagnosisVerdict {
  if (names.some((name) => acceptable.some((one) => same(name, one)))) return 'correct';
  if (mistake === null) return 'not known';
  return acceptable.some((one) => mistakeOf(one) === mistake) ? 'mistake' : 'wrong';
}

const count = (verdicts: readonly DiagnosisVerdict[], wanted: DiagnosisVerdict) =>
  verdicts.filter((verdict) => verdict === wanted).length;

/** For the page, why a fault was not named first. The name of a pair is `one+other`. */
const MISSES: Readonly<Record<string, string>> = {
  'verifies-php-unescaped-json':
    'Node escapes other characters than PHP, so the imitation is closer to the compact output of Python.',
  'joins-chunks-as-text': 'Both faults are present: joining decoded chunks also replaces bytes that are not UTF-8.',
  'signature-as-regexp':
    'Here the pattern may match any part, so prefixes and the empty text are also accepted. Some valid signatures ' +
    'do not match themselves as patterns, and with such a receiver no fault is named.',
  'api-key-taken-from-query': 'It reads other parameter names than the mutant.',
  'refuses-empty-text':
    'It also rejects the empty hash in the list of fields, which is the first fault in the diagnosis; the ' +
    'actual one is second.',
  'api-key-last-character-ignored': 'Two of the three checks that the mutant fails pass, which contradicts the fault.',
  'api-key-used-as-pattern': 'It anchors the pattern, so most of the checks that the mutant fails pass.',
  'api-key-not-checked-on-large-bodies': 'The style has no size limit, so a check fails that the mutant passes.',
  'missing-signature-kills': 'The end of the process comes first; the outcomes of the mutant are random.',
  'error-in-check-accepts': 'Another call throws than in the mutant, so half of its outcomes differ.',
  'stores-ids-in-36-characters': 'Its style validates ids first, so four of seven outcomes are missing.',
  'types-in-lower-case': 'It is a milder form that fails only half of the checks.',
  'unknown-types-not-verified': 'Its style checks the signature first, so most of the outcomes are missing.',
  'unsigned-with-any-key': 'The named fault is also present: an unsigned delivery is accepted with any key.',
  'trusts-forwarded-for+nothing-presented-accepted':
    'The second fault replaces the check that the first one skips, so only the second one is visible.',
  'failed-is-final+refuses-wallets': 'Both outcomes of the first fault are taken for a variant of the second.',
  'converts-deposits-unchecked+api-key-last-character-ignored': 'See api-key-last-character-ignored.',
  'signature-as-regexp+transactions-created-again': 'See signature-as-regexp.',
};
