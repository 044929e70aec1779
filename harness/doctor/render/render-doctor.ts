/** The document for a terminal: a section each, with its findings and their fixes. */
import { counted, createLayout, type Layout, type TerminalOptions } from '../../report/index.ts';
import type { DoctorDocument, DoctorFinding, DoctorSection, Severity } from '../doctor-document.ts';
import { summaryOf, treeOf } from './summaries.ts';

/** The signs and styles of a run's report that fit best; there is no verdict behind them. */
const SIGN = { problem: 'fail', advice: 'warn', info: 'not-applicable' } as const;
const TITLE_COLUMNS = 20;
/** On less, the facts of a section stand below its title. */
const WIDE = 70;

/** Text that ends with a newline. Everything in the document is safe to print already. */
export function renderDoctor(document: DoctorDocument, options: TerminalOptions): string {
  const layout = createLayout(options);
  const now = new Date(document.startedAt);
  const blocks = [
    headline(document.url ?? 'what is configured here', layout),
    ...document.sections.map((section) => renderSection(section, now, layout, !options.unicode)),
    closing(document, layout),
  ];
  const lines: string[] = [];
  for (const [index, block] of blocks.entries()) {
    // Short sections stand close together.
    const apart = index === 0 || block.length > 1 || (blocks[index - 1]?.length ?? 0) > 1 || index >= blocks.length - 1;
    if (lines.length > 0 && apart) lines.push('');
    lines.push(...block);
    if (index === 0) lines.push('');
  }
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`;
}

/** A URL is only broken when a line of its own is too short for it. */
function headline(subject: string, layout: Layout): string[] {
  const name = 'hookproof doctor';
  const lead = `${layout.paint(name, 'bold')}  `;
  if (layout.safe(subject).length <= layout.width - name.length - 2) return [`${lead}${layout.safe(subject)}`];
  return [lead.trimEnd(), ...layout.paragraph('  ', subject)];
}

function renderSection(section: DoctorSection, now: Date, layout: Layout, ascii: boolean): string[] {
  const summary = summaryOf(section, now);
  const lead = `${signOf(section, layout)} ${layout.paint(section.title.padEnd(TITLE_COLUMNS), 'bold')}`;
  const wide = layout.width >= WIDE;
  const [first = '', ...more] = summary;
  const style = section.state === 'skipped' ? (['dim'] as const) : ([] as const);
  const head =
    wide && first !== ''
      ? layout.paragraph(lead, first, ...style)
      : [lead.trimEnd(), ...(first === '' ? [] : layout.paragraph('  ', first, ...style))];
  const indent = wide ? ' '.repeat(TITLE_COLUMNS + 2) : '  ';
  return [
    ...head,
    ...more.flatMap((text) => layout.paragraph(indent, text)),
    ...treeOf(section, ascii).flatMap((line) => branch(line, layout)),
    ...section.findings.flatMap((finding) => renderFinding(finding, layout)),
  ];
}

function signOf(section: DoctorSection, layout: Layout): string {
  const { findings, state } = section;
  const worst = (['problem', 'advice'] as const).find((wanted) => findings.some((f) => f.severity === wanted));
  if (worst !== undefined) return layout.sign(SIGN[worst]);
  // There is no answer, and another section says why.
  if (section.id === 'http' && section.facts?.answer === null) return layout.sign('inconclusive');
  return layout.sign(state === 'skipped' ? 'not-applicable' : 'pass');
}

/** A line of the tree, wrapped below itself and not below its branch. */
function branch(line: string, layout: Layout): string[] {
  const [, lead = '', text = ''] = /^(\s*(?:└─ |`- )?)(.*)$/.exec(line) ?? [];
  const marked = / \[[a-z-]+\]/.test(text);
  return layout.paragraph(`    ${lead}`, text, ...(marked ? (['yellow'] as const) : []));
}

function renderFinding({ severity, code, title, detail, fix }: DoctorFinding, layout: Layout): string[] {
  const sign = layout.sign(SIGN[severity]);
  const label = severity === 'info' ? 'hint' : 'fix';
  const style = severity === 'info' ? ([] as const) : ([layout.style(SIGN[severity])] as const);
  return [
    ...layout.paragraph(`  ${sign} `, `${title} [${code}]`, ...style),
    ...(detail === '' ? [] : layout.paragraph('    ', detail)),
    ...(fix === null ? [] : layout.paragraph(`    ${layout.paint(label, 'dim')}  `, fix, 'cyan')),
  ];
}

const NOUNS: Readonly<Record<Severity, readonly [string, string]>> = {
  problem: ['problem', 'problems'],
  advice: ['piece of advice', 'pieces of advice'],
  info: ['note', 'notes'],
};

function closing({ counts, interrupted, url }: DoctorDocument, layout: Layout): string[] {
  const severities = ['problem', 'advice', 'info'] as const;
  const named = severities.filter((severity) => counts[severity] > 0);
  const found = named.map((severity) => counted(counts[severity], ...NOUNS[severity])).join(', ');
  const verdict = url === null ? '' : ' This is no verdict: `hookproof run` gives one.';
  const broken = interrupted ? 'Interrupted: this is what was known by then. ' : '';
  return layout.paragraph('', `${broken}${found === '' ? 'Nothing found.' : `${found}.`}${verdict}`, 'bold');
}
