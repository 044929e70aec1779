/** The layout of terminal output: width, signs, colour. Colour never carries a meaning alone. */
import { createRequire } from 'node:module';
import { styleText } from 'node:util';
import { visible } from '../../contract/visible.ts';
import type { Verdict } from './result-document.ts';
import { visibleAscii } from './visible.ts';

/** The capabilities of the terminal. `columns` is at least 40. */
export interface TerminalOptions {
  readonly columns: number;
  readonly color: boolean;
  readonly unicode: boolean;
}

/** How the terminal report is shown. */
export interface ReportOptions extends TerminalOptions {
  /** Every finding in full, and what the short report counts. */
  readonly verbose?: boolean;
  /** Reports that were written, by their absolute paths. */
  readonly files?: readonly { readonly name: string; readonly path: string }[];
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Wider prose is hard to read, so wider terminals are not filled. */
const MAX_COLUMNS = 120;
const MIN_COLUMNS = 40;

const SIGNS: Readonly<Record<Verdict, readonly [unicode: string, ascii: string, style: Style]>> = {
  pass: ['✓', '+', 'green'],
  fail: ['✗', 'x', 'red'],
  warn: ['!', '!', 'yellow'],
  inconclusive: ['?', '?', 'yellow'],
  'not-applicable': ['-', '-', 'dim'],
  'harness-error': ['#', '#', 'red'],
};

/** The start of a line that GitHub Actions treats as a command, anywhere in a log; leading spaces do not matter. */
const WORKFLOW_COMMAND = /^(\s*)(?=::|##\[)(.)/;

/** The line with the first character of a command escaped. Lines of ours never begin like that. */
function withoutCommand(line: string): string {
  return line.replace(WORKFLOW_COMMAND, (_all, spaces: string, first: string) => {
    return `${spaces}\\x${first.charCodeAt(0).toString(16)}`;
  });
}

export interface Layout {
  /** Columns that may be used. */
  readonly width: number;
  /** The text in the given styles, or unchanged without colour. */
  paint(text: string, ...styles: Style[]): string;
  /** The sign of a verdict, painted. One column wide. */
  sign(verdict: Verdict): string;
  /** The style of a verdict. */
  style(verdict: Verdict): Style;
  /** Untrusted text made safe for this terminal, in one line. */
  safe(text: string): string;
  /**
   * A paragraph of untrusted text: wrapped, the first line after `lead`, the others indented by the width of the lead.
   * A newline in the text starts a new line.
   */
  paragraph(lead: string, text: string, ...styles: Style[]): string[];
}

export function createLayout(options: TerminalOptions): Layout {
  const width = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, Math.floor(options.columns) || 80));
  const safe = options.unicode ? visible : visibleAscii;
  const paint = (text: string, ...styles: Style[]): string =>
    options.color && styles.length > 0 ? styleText(styles, text, { validateStream: false }) : text;
  return {
    width,
    paint,
    safe,
    style: (verdict) => SIGNS[verdict][2],
    sign: (verdict) => paint(SIGNS[verdict][options.unicode ? 0 : 1], SIGNS[verdict][2]),
    paragraph(lead, text, ...styles) {
      const indent = displayWidth(lead);
      const lines = text.split('\n').flatMap((line) => wrap(safe(line), Math.max(10, width - indent)));
      return lines.map((line, index) => {
        const own = index === 0 ? lead : ' '.repeat(indent);
        return own + paint(own.trim() === '' ? withoutCommand(line) : line, ...styles);
      });
    },
  };
}

/** "840 ms", "8.4 s", "2 min 5 s". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 9_995) return `${(milliseconds / 1000).toFixed(2)} s`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** "1 check", "2 checks". */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Characters that take one column each: those of nearly all texts. */
const NARROW = /^[ -~…·✓✗]*$/;

/** For other characters. The tables of Unicode behind them take longer to load than most reports to render. */
const require = createRequire(import.meta.url);
const libraries = {
  get stringWidth(): typeof import('string-width').default {
    return (require('string-width') as typeof import('string-width')).default;
  },
  get wrapAnsi(): typeof import('wrap-ansi').default {
    return (require('wrap-ansi') as typeof import('wrap-ansi')).default;
  },
};

/** Longer lines with wide characters are cut before they are laid out: 40,000 emoji take half a minute. */
const MAX_WIDE_LINE = 4_000;

function cutIfWide(line: string): string {
  return line.length <= MAX_WIDE_LINE || NARROW.test(line) ? line : `${line.slice(0, MAX_WIDE_LINE)}…`;
}

/** Columns that visible text takes in a terminal: combining marks take none, wide characters two. */
export function displayWidth(text: string): number {
  return NARROW.test(text) || text.length > MAX_WIDE_LINE ? text.length : libraries.stringWidth(text);
}

/** Shortens to a display width and marks the end. */
export function truncate(text: string, width: number, mark = '…'): string {
  if (displayWidth(text) <= width) return text;
  const left = Math.max(1, width - displayWidth(mark));
  if (NARROW.test(text)) return text.slice(0, left) + mark;
  const [head = ''] = libraries
    .wrapAnsi(cutIfWide(text), left, { hard: true, wordWrap: false, trim: false })
    .split('\n');
  return head + mark;
}

/** Lines of at most `width` columns, broken at spaces, and inside words that are wider than a line. Never empty. */
export function wrap(text: string, width: number): string[] {
  const words = text.split(' ');
  const isPlain = text === '' || (NARROW.test(text) && words.every(({ length }) => length > 0 && length <= width));
  if (!isPlain)
    return libraries.wrapAnsi(cutIfWide(text), width, { hard: true, wordWrap: true, trim: true }).split('\n');
  const [first = '', ...rest] = words;
  const lines = [first];
  for (const word of rest) {
    const line = lines.at(-1) ?? '';
    if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
