/** The layout of terminal output: width, signs, colour. Colour never carries a meaning alone. */
import { createRequire } from 'node:module';
import { styleText } from 'node:util';
import { visible } from '../../contract/visible.ts';
import type { Comparison } from './comparison-document.ts';
import type { Verdict } from './result-document.ts';
import { visibleAscii } from './visible.ts';

/** The capabilities of the terminal. `columns` is at least 40. Default: 100 columns, Unicode without colour. */
export interface TerminalOptions {
  readonly columns: number;
  readonly color: boolean;
  readonly unicode: boolean;
}

/** Options of the terminal report. */
export interface ReportOptions extends TerminalOptions {
  /** Whether to show every finding in full, and everything that the short report only counts. */
  readonly verbose?: boolean;
  /** The report files that were written, with absolute paths. */
  readonly files?: readonly { readonly name: string; readonly path: string }[];
  /** Whether the run is stored on this machine, so that `--failed` repeats its failures. Default: true. */
  readonly isStored?: boolean;
  /** The comparison with an earlier run against the endpoint. */
  readonly comparison?: Comparison;
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Maximum width, because longer lines are hard to read. */
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

/** Matches the start of a line that GitHub Actions treats as a command, after any spaces. */
const WORKFLOW_COMMAND = /^(\s*)(?=::|##\[)(.)/;

/** Escapes the first character of a line that looks like a workflow command; only untrusted text can. */
function withoutCommand(line: string): string {
  return line.replace(WORKFLOW_COMMAND, (_all, spaces: string, first: string) => {
    return `${spaces}\\x${first.charCodeAt(0).toString(16)}`;
  });
}

/** The end of a line of a command that continues on the next line. */
const CONTINUED = ' \\';

export interface Layout {
  /** The usable width, in columns. */
  readonly width: number;
  /** Returns the text in the given styles, or unchanged without colour. */
  paint(text: string, ...styles: Style[]): string;
  /** Returns the sign of a verdict in its style, one column wide. */
  sign(verdict: Verdict): string;
  style(verdict: Verdict): Style;
  /** Makes untrusted text safe for this terminal, in one line. */
  safe(text: string): string;
  /**
   * Wraps a paragraph of untrusted text: the first line follows `lead`, the others are indented by its width. A newline
   * in the text starts a new line.
   */
  paragraph(lead: string, text: string, ...styles: Style[]): string[];
  /** Renders a command from untrusted parts. A part that does not fit begins a new line, after a backslash. */
  command(lead: string, parts: readonly string[]): string[];
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
    command(lead, parts) {
      const [first = '', ...rest] = parts.map(safe);
      const lines = [lead + first];
      for (const part of rest) {
        const longer = `${lines.at(-1)} ${part}`;
        // Windows shells do not continue a line after a backslash.
        if (displayWidth(longer) + CONTINUED.length <= width || process.platform === 'win32')
          lines.splice(-1, 1, longer);
        else lines.push(`${' '.repeat(displayWidth(lead) + 2)}${part}`);
      }
      return lines.map((line, at) => (at === lines.length - 1 ? line : line + CONTINUED));
    },
  };
}

/** Formats a duration: "840 ms", "8.4 s", "2 min 5 s". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 9_995) return `${(milliseconds / 1000).toFixed(2)} s`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats a count with its noun: "1 check", "2 checks". */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Matches text whose characters take one column each, as in most texts. */
const NARROW = /^[ -~…·✓✗]*$/;

/**
 * Loads the library for other characters on demand, because loading its Unicode tables takes longer than rendering most
 * reports.
 */
const require = createRequire(import.meta.url);
const libraries = {
  get stringWidth(): typeof import('string-width').default {
    return (require('string-width') as typeof import('string-width')).default;
  },
  get wrapAnsi(): typeof import('wrap-ansi').default {
    return (require('wrap-ansi') as typeof import('wrap-ansi')).default;
  },
};

/** Longer lines with wide characters are cut before layout, which would take half a minute for 40,000 emoji. */
const MAX_WIDE_LINE = 4_000;

function cutIfWide(line: string): string {
  return line.length <= MAX_WIDE_LINE || NARROW.test(line) ? line : `${line.slice(0, MAX_WIDE_LINE)}…`;
}

/**
 * Returns the number of columns that visible text takes in a terminal: none for combining marks, two for wide
 * characters.
 */
export function displayWidth(text: string): number {
  return NARROW.test(text) || text.length > MAX_WIDE_LINE ? text.length : libraries.stringWidth(text);
}

/** Shortens text to a display width and marks the cut. */
export function truncate(text: string, width: number, mark = '…'): string {
  if (displayWidth(text) <= width) return text;
  const left = Math.max(1, width - displayWidth(mark));
  if (NARROW.test(text)) return text.slice(0, left) + mark;
  const [head = ''] = libraries
    .wrapAnsi(cutIfWide(text), left, { hard: true, wordWrap: false, trim: false })
    .split('\n');
  return head + mark;
}

/**
 * Wraps text to lines of at most `width` columns, broken at spaces, and inside words that are wider than a line. Never
 * empty.
 */
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
