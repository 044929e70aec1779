/**
 * Renders a repetition of checks in watch mode as a few lines: what passes now, what still fails, how many are left.
 */
import { type Cause, causesOf, groupBy } from './causes.ts';
import { counted, formatDuration, type Layout } from './layout.ts';
import type { ResultDocument, ScenarioResult } from './result-document.ts';
import { failsTheRun } from './verdict.ts';
import { headline, namesOf, numbers, reasonOf, signOf } from './wording.ts';

/** Maximum number of causes to show; the others are counted. */
const MAX_CAUSES = 5;
/** Maximum number of checks of a cause that get a line each. */
const MAX_MEMBERS = 3;

/**
 * Renders a finished run. `failedBefore`: the checks that failed before; `left`: the number that fail now;
 * `isContinued`: whether the full run follows at once. The document must be redacted.
 */
export function renderRound(
  document: ResultDocument,
  round: { readonly failedBefore: readonly string[]; readonly left: number; readonly isContinued: boolean },
  layout: Layout,
): string[] {
  const { diagnosis, durationMs, results, strict } = document;
  const { left, isContinued } = round;
  const before = new Set(round.failedBefore);
  const failing = results.filter(({ known, verdict }) => failsTheRun(verdict, strict) && known === null);
  const fixed = results.filter(({ id, verdict }) => before.has(id) && (verdict === 'pass' || verdict === 'warn'));
  const undecided = results.filter(({ verdict }) => verdict === 'inconclusive' || verdict === 'harness-error');
  const causes = causesOf(failing, diagnosis);
  const took = formatDuration(durationMs);
  const passNow = fixed.length === 1 ? '1 check that failed passes now' : `${fixed.length} checks that failed pass now`;
  const fixedNames = namesOf(fixed.map(({ id }) => id));
  const open = `${layout.sign('inconclusive')} `;
  return [
    ...(fixed.length === 0 ? [] : layout.paragraph(`${layout.sign('pass')} `, `${passNow}: ${fixedNames}`)),
    ...causes.slice(0, MAX_CAUSES).flatMap((cause) => causeLines(cause, document.partial, layout)),
    ...(causes.length > MAX_CAUSES ? [`  and ${counted(causes.length - MAX_CAUSES, 'further cause')}`] : []),
    ...groupBy(undecided, reasonOf).flatMap(([reason, members]) =>
      layout.paragraph(open, `${counted(members.length, 'check')} without a result: ${reason}`),
    ),
    ...(isContinued ? [] : lastLine(document, { isRepeated: before.size > 0, left, took }, layout)),
  ];
}

function causeLines({ diagnosis, members, title }: Cause, isPartial: boolean, layout: Layout): string[] {
  const lead = `${layout.sign('fail')} `;
  const shown = members.slice(0, MAX_MEMBERS);
  const said = ({ id, expected, observed }: ScenarioResult) => `${id}: observed ${observed}, expected ${expected}`;
  const fix = diagnosis?.fix || members[0]?.fix || '';
  const fixLines = fix === '' ? [] : layout.paragraph('    fix: ', fix, 'cyan');
  const [only] = shown;
  if (title === '' && only !== undefined) return [...layout.paragraph(lead, said(only)), ...fixLines];
  const more = members.length - shown.length;
  // The title comes from the full run, and may contain its number of deliveries.
  const inFull = isPartial ? (diagnosis?.agreement ?? 0) : 0;
  const size = [
    (members.length > 1 || inFull > 1) && counted(members.length, 'check'),
    inFull > members.length && `${inFull} in the full run`,
  ].filter((part) => part !== false);
  return [
    ...layout.paragraph(lead, size.length === 0 ? title : `${title} (${size.join('; ')})`, 'bold'),
    ...fixLines,
    ...shown.flatMap((member) => layout.paragraph('    ', said(member))),
    ...(more > 0 ? [layout.paint(`    and ${more} more`, 'dim')] : []),
  ];
}

function lastLine(
  document: ResultDocument,
  { isRepeated, left, took }: { readonly isRepeated: boolean; readonly left: number; readonly took: string },
  layout: Layout,
): string[] {
  const { counts } = document;
  if (!document.partial) {
    const sign = signOf(document);
    const word = layout.paint(headline(document), 'bold', layout.style(sign));
    return [`${layout.sign(sign)} ${word}`, ...layout.paragraph('  ', `${numbers(document)}; ${took}`)];
  }
  if (counts.inconclusive + counts.harnessError > 0 && left === 0) {
    return layout.paragraph('  ', `${numbers(document)}; ${took}`);
  }
  if (left > 0) return layout.paragraph('  ', `${left} ${left === 1 ? 'check fails' : 'checks fail'}; ${took}`, 'bold');
  const what = isRepeated ? 'Every check that failed passes now' : `${counted(counts.pass, 'check')} passed`;
  const next = 'Press "a" for the full run, which gives the verdict.';
  return layout.paragraph(`${layout.sign('pass')} `, `${what} (${took}). ${next}`);
}
