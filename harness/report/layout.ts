/** How the terminal report is set: width, signs, colour. Colour is never the only carrier of a meaning. */
import { styleText } from 'node:util';
import type { Verdict } from './result-document.ts';
import { visible, visibleAscii } from './visible.ts';

/** What the reader's terminal can do. `columns` is clamped to 40 at the least. */
export interface TerminalOptions {
  readonly columns: number;
  readonly color: boolean;
  readonly unicode: boolean;
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Prose that is wider than this is hard to read, so wider terminals are not filled. */
const WIDEST = 120;
const NARROWEST = 40;

const SIGNS: Readonly<Record<Verdict, readonly [unicode: string, ascii: string, style: Style]>> = {
  pass: ['✓', '+', 'green'],
  fail: ['✗', 'x', 'red'],
  warn: ['!', '!', 'yellow'],
  inconclusive: ['?', '?', 'yellow'],
  'not-applicable': ['-', '-', 'dim'],
  'harness-error': ['#', '#', 'red'],
};

/**
 * How a line begins that GitHub Actions takes for a command, wherever it stands in a log; spaces before it do not
 * matter.
 */
const WORKFLOW_COMMAND = /^(\s*)(?=::|##\[)(.)/;

/** The first character of a command as an escape. Lines of our own never begin like that. */
function withoutCommand(line: string): string {
  return line.replace(WORKFLOW_COMMAND, (_all, spaces: string, first: string) => {
    return `${spaces}\\x${first.charCodeAt(0).toString(16)}`;
  });
}

export interface Layout {
  /** Columns that may be used. */
  readonly width: number;
  /** The text in the given styles, or as it is when colour is off. */
  paint(text: string, ...styles: Style[]): string;
  /** The sign of a verdict, painted. One column wide. */
  sign(verdict: Verdict): string;
  /** The style of a verdict. */
  style(verdict: Verdict): Style;
  /** Foreign text made safe for this terminal, in one line. */
  safe(text: string): string;
  /**
   * A paragraph of foreign text: wrapped, the first line after `lead`, the others indented as deep as the lead is wide.
   * A newline in the text starts a new line.
   */
  paragraph(lead: string, text: string, ...styles: Style[]): string[];
}

/** Columns of a lead, which is our own text and may hold colour. */
function leadWidth(lead: string): number {
  return displayWidth(lead.replace(/\x1b\[\d+m/g, ''));
}

export function createLayout(options: TerminalOptions): Layout {
  const width = Math.min(WIDEST, Math.max(NARROWEST, Math.floor(options.columns) || 80));
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
      const indent = leadWidth(lead);
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

/** Breaking text into lines of a display width. */

/** Characters that take two columns: East Asian wide and full-width forms, and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /\p{M}/u;
/** Everything below is one column each: the usual case, decided without a look at single characters. */
const NARROW = /^[\x20-\x7e\u00a0-\u02ff]*$/;

function columnsOf(character: string): number {
  if (MARK.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Columns that visible text takes in a terminal; combining marks take none, wide characters two. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** The longest head of the text that fits into the width (at least one character), and the rest. */
function splitAt(text: string, width: number): [head: string, rest: string] {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += columnsOf(character);
    if (used > width && end > 0) break;
    end += character.length;
  }
  return [text.slice(0, end), text.slice(end)];
}

/** Cuts to a display width and marks the cut. */
export function truncate(text: string, width: number, mark = '…'): string {
  if (displayWidth(text) <= width) return text;
  return splitAt(text, Math.max(1, width - displayWidth(mark)))[0] + mark;
}

/**
 * Lines of at most `width` columns, broken at spaces; a word that is wider than a line is broken inside. Never empty.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const joined = line === '' ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    let rest = word;
    while (displayWidth(rest) > width) {
      const [head, tail] = splitAt(rest, width);
      lines.push(head);
      rest = tail;
    }
    line = rest;
  }
  if (line !== '' || lines.length === 0) lines.push(line);
  return lines;
}
