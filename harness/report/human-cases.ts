/** Checks in the terminal report: failures and warnings one by one, all others grouped by reason. */
import { causeKey, groupBy } from './causes.ts';
import { counted, type Layout, truncate } from './layout.ts';
import type { Exchange, ResultDocument, ScenarioResult, Verdict } from './result-document.ts';
import { describeBytes } from './visible.ts';
import { changeInWords } from './wording.ts';

/** Up to this many cases are shown in full; of more, the first of each cause, and the others in one line. */
const MAX_SHOWN_IN_FULL = 12;

/** Failures or warnings by suite, each with the fix and how to repeat it. Empty when there are none. */
export function renderCases(title: string, results: readonly ScenarioResult[], layout: Layout): string[] {
  if (results.length === 0) return [];
  const full = shownInFull(results);
  const lines = [layout.paint(`${title} (${results.length})`, 'bold')];
  for (const [suite, members] of groupBy(results, (result) => result.suite)) {
    // One by one: a document of others may have more lines than a call may have arguments.
    for (const line of ['', ...layout.paragraph('', suite, 'bold')]) lines.push(line);
    for (const result of members.filter((member) => full.has(member))) {
      for (const line of [...renderFull(result, layout), '']) lines.push(line);
    }
    for (const result of members.filter((member) => !full.has(member))) lines.push(renderShort(result, layout));
    if (lines.at(-1) === '') lines.pop();
  }
  const short = results.length - full.size;
  if (short === 0) return lines;
  const rest = `Only the first of each cause is in full; ${short} of ${results.length} are shortened to one line.`;
  const details = 'Details: hookproof explain ID, hookproof run --scenario ID, or --reporter json.';
  return [...lines, '', ...layout.paragraph('  ', `${rest} ${details}`)];
}

function shownInFull(results: readonly ScenarioResult[]): ReadonlySet<ScenarioResult> {
  if (results.length <= MAX_SHOWN_IN_FULL) return new Set(results);
  const firsts = groupBy(results, causeKey).flatMap(([, members]) => members.slice(0, 1));
  return new Set(firsts.slice(0, MAX_SHOWN_IN_FULL));
}

function renderShort(result: ScenarioResult, layout: Layout): string {
  const text = layout.safe(`${result.id}: expected ${result.expected}, observed ${result.observed}`);
  return `  ${layout.sign(result.verdict)} ${truncate(text, layout.width - 4, layout.safe('…'))}`;
}

function renderFull(result: ScenarioResult, layout: Layout): string[] {
  const { defect, expected, fix, id, level, observed, reason, title, verdict, why } = result;
  const style = layout.style(verdict);
  return [
    ...layout.paragraph(`  ${layout.sign(verdict)} ${layout.paint(verdict, style)}  `, defect ?? title, 'bold'),
    ...field(layout, 'check', `${id} (${level})`),
    ...field(layout, 'expected', expected),
    ...field(layout, 'observed', observed, style),
    ...field(layout, 'reason', reason === observed ? '' : reason),
    ...probes(result, layout),
    ...field(layout, 'why', why),
    ...field(layout, 'fix', fix, 'cyan'),
    ...reproduction(result, layout),
  ];
}

/** One line of a case, with the label in a separate column. */
function field(layout: Layout, label: string, text: string, ...styles: Parameters<Layout['paint']>[1][]): string[] {
  if (text === '') return [];
  return layout.paragraph(`    ${layout.paint(label.padEnd(10), 'dim')}`, text, ...styles);
}

const MAX_ANSWERS = 4;

/** What was changed and answered. */
function probes({ exchanges }: ScenarioResult, layout: Layout): string[] {
  const sent = exchanges.filter((exchange) => exchange.role === 'probe');
  const changes = new Set(sent.flatMap((probe) => probe.changes.map(changeInWords)));
  const answers = sent.slice(0, MAX_ANSWERS).map((probe) => describeAnswer(probe, sent.length > 1));
  if (sent.length > MAX_ANSWERS) answers.push(`and ${sent.length - MAX_ANSWERS} more`);
  return [
    ...field(layout, 'changed', [...changes].join('; ')),
    ...answers.flatMap((answer, index) => field(layout, index === 0 ? 'answer' : '', answer)),
  ];
}

function describeAnswer({ error, label, response }: Exchange, several: boolean): string {
  const name = several ? `${label}: ` : '';
  if (response !== null) return `${name}${response.status}, ${describeBytes(response.body, 160)}`;
  return `${name}${error === null ? 'no answer' : `${error.message} (${error.code})`}`;
}

/** A longer script would hide the rest of the report. */
const MAX_SCRIPT_LINES = 16;
const MAX_SCRIPT_CHARACTERS = 2_000;

/** The command, and for a failure the script. They are never wrapped, so that they can be copied. */
function reproduction({ id, reproduce, verdict }: ScenarioResult, layout: Layout): string[] {
  const { curl, command } = reproduce ?? { curl: null, command: `hookproof run --scenario ${id}` };
  const rerun = `    ${layout.paint('rerun'.padEnd(10), 'dim')}${layout.safe(command)}`;
  if (curl === null || verdict !== 'fail') return [rerun];
  const lines = curl.trimEnd().split('\n');
  if (lines.length > MAX_SCRIPT_LINES || curl.length > MAX_SCRIPT_CHARACTERS) {
    return [rerun, ...field(layout, 'curl', `a script of ${lines.length} lines: see --reporter json`)];
  }
  return [rerun, `    ${layout.paint('curl', 'dim')}`, ...lines.map((line) => `      ${layout.safe(line)}`)];
}

/** The sections in which one reason stands for many checks. Each is empty when there is nothing to show. */
export function renderGroups(layout: Layout) {
  const section = (title: string, count: number, lines: readonly string[]): string[] =>
    count === 0 ? [] : [layout.paint(title, 'bold'), ...lines];
  const byReason = (results: readonly ScenarioResult[], { names = true } = {}): string[] =>
    groupBy(results, ({ observed, reason }) => reason || observed || 'no reason was recorded').flatMap(
      ([reason, [first, ...others]]) => {
        if (first === undefined) return [];
        const count = counted(others.length + 1, 'check');
        return [
          ...layout.paragraph(`  ${layout.sign(first.verdict)} `, `${count}: ${reason}`),
          ...(names ? layout.paragraph('    ', namesOrSuites([first, ...others]), 'dim') : []),
        ];
      },
    );
  return {
    harnessErrors(results: readonly ScenarioResult[]): string[] {
      const errors = withVerdict(results, 'harness-error');
      const title = `Harness errors (${errors.length}): please report them`;
      return section(title, errors.length, byReason(errors));
    },
    inconclusive(results: readonly ScenarioResult[]): string[] {
      const inconclusive = withVerdict(results, 'inconclusive');
      return section(`Inconclusive (${inconclusive.length})`, inconclusive.length, byReason(inconclusive));
    },
    notApplicable(results: readonly ScenarioResult[]): string[] {
      const off = withVerdict(results, 'not-applicable');
      return section(`Not applicable (${off.length})`, off.length, byReason(off, { names: false }));
    },
    /** Passes with a comment, such as an answer that is allowed and unusual. */
    notes(results: readonly ScenarioResult[]): string[] {
      const noted = withVerdict(results, 'pass').filter((result) => result.reason !== '');
      return section(`Passed with a note (${noted.length})`, noted.length, byReason(noted));
    },
    advice(advice: readonly string[]): string[] {
      const lines = advice.flatMap((line) => layout.paragraph(`  ${layout.sign('warn')} `, line));
      return section('Advice', advice.length, lines);
    },
    notVerified(entries: ResultDocument['notVerified']): string[] {
      const lead = `  ${layout.sign('not-applicable')} `;
      const lines = groupBy(entries, (entry) => entry.reason).flatMap(([reason, group]) => [
        ...group.flatMap(({ requirement, text }) => layout.paragraph(lead, `${requirement}: ${text}`)),
        ...layout.paragraph('    ', reason, 'dim'),
      ]);
      return section(`Not verifiable by black-box tests (${entries.length})`, entries.length, lines);
    },
  };
}

function withVerdict(results: readonly ScenarioResult[], verdict: Verdict): ScenarioResult[] {
  return results.filter((result) => result.verdict === verdict);
}

/** Up to this many checks of a group are named; of more, the suites are counted. */
const MAX_NAMED = 4;

function namesOrSuites(results: readonly ScenarioResult[]): string {
  if (results.length <= MAX_NAMED) return results.map((result) => result.id).join(', ');
  return groupBy(results, (result) => result.suite)
    .map(([suite, inSuite]) => `${inSuite.length} in ${suite}`)
    .join(', ');
}
