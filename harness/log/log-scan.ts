/** Searches a log that arrives in pieces, and keeps the first line of each kind of leak. */
import { visible } from '../../contract/visible.ts';
import { LOG_LEAKS, type LogFinding } from '../../scenarios/index.ts';
import type { Hit } from './log-values.ts';
import { linesAround } from './printed-bodies.ts';

/** Finds values in a text. `offset` is the position of the text in the log. */
export type FindHits = (text: string, offset: number) => Hit[];

/**
 * Maximum length of the text that is searched at once. It consists of whole lines; a longer line is searched in pieces.
 */
const MAX_PIECE = 131_072;
/** Overlap between pieces, in order to find values that cross a boundary. */
const OVERLAP = 16_384;

type FoundLeak = { -readonly [Key in keyof LogFinding]: LogFinding[Key] } & { lastLine: number };

export class LogScan {
  readonly #file: string;
  readonly #find: FindHits;
  /** Text that was added but not searched yet. */
  #pending = '';
  /** The end of the searched text, its offset in the log, and the number of its first line. */
  #searched = '';
  #offset = 0;
  #line = 1;
  readonly #findings = new Map<string, FoundLeak>();

  constructor(file: string, find: FindHits) {
    this.#file = file;
    this.#find = find;
  }

  add(text: string): void {
    this.#pending += text;
    const lines = this.#pending.lastIndexOf('\n') + 1;
    this.#searchUpTo(lines === 0 && this.#pending.length >= MAX_PIECE ? this.#pending.length : lines);
  }

  /** Ends an incomplete line, because the following text is from another file. */
  endLine(): void {
    if (this.#pending !== '') this.add('\n');
  }

  /** Searches the last line. */
  finish(): void {
    this.#searchUpTo(this.#pending.length);
  }

  /** The offset in the log of the next added text. */
  get end(): number {
    return this.#offset + this.#searched.length + this.#pending.length;
  }

  listFindings(): LogFinding[] {
    return Array.from(this.#findings.values(), ({ lastLine: _lastLine, ...finding }) => finding);
  }

  #searchUpTo(end: number): void {
    for (let from = 0; from < end; from += MAX_PIECE) {
      this.#search(this.#pending.slice(from, Math.min(end, from + MAX_PIECE)));
    }
    this.#pending = this.#pending.slice(end);
  }

  #search(piece: string): void {
    const text = this.#searched + piece;
    const hits = this.#find(text, this.#offset);
    let [at, line] = [0, this.#line];
    for (const hit of hits) {
      for (let next = text.indexOf('\n', at); next !== -1 && next < hit.start; next = text.indexOf('\n', at)) {
        [at, line] = [next + 1, line + 1];
      }
      // A hit that ends in the overlap was already found in the previous piece.
      if (hit.end > this.#searched.length) this.#addHit(hit, line, () => showHit(text, hit, hits));
    }
    const cut = Math.max(0, text.length - OVERLAP);
    this.#line += text.slice(0, cut).split('\n').length - 1;
    this.#offset += cut;
    this.#searched = text.slice(cut);
  }

  #addHit({ leak, isEcho }: Hit, line: number, show: () => Omit<LogFinding['first'], 'line'>): void {
    const key = `${leak} ${isEcho}`;
    const known = this.#findings.get(key);
    if (known === undefined) {
      const finding = { leak, file: this.#file, lines: 1, first: { line, ...show() }, isEcho };
      this.#findings.set(key, { ...finding, lastLine: line });
    } else if (line > known.lastLine) {
      known.lines += 1;
      known.lastLine = line;
    }
  }
}

/**
 * Matches the name of a variable, setting or key before a value, with what separates them: `=`, `":"`, `=> b'`, `:
 * string(43) "`.
 */
const NAME = new RegExp(
  [
    String.raw`(?:["']([\w.$-]{2,64})\\?["']\]?\s*(?:=>|[:=])|([A-Za-z_$][\w.$-]{1,63})\s?=(?:3D)?|`,
    String.raw`(?:^|[{,(])\s*([A-Za-z_$][\w$]{1,63}):)\s*(?:string\(\d+\)\s*)?[^\w\s]{0,3}[bru]?[^\w\s]{0,2}$`,
  ].join(''),
);
/** Matches a location in source code, as loggers and stack traces print it. */
const SOURCE = /\/?[\w@][\w./@-]{0,200}\.(?:[cm]?[jt]sx?|py|rb|php|go|java|kt|scala|cs|rs)(?::\d+|", line \d+|\(\d+\))/;
const MAX_BEFORE_VALUE = 200;

/** Returns the line of a hit, the name before its value, and the location in the code that wrote it. */
function showHit(text: string, hit: Hit, hits: readonly Hit[]): Omit<LogFinding['first'], 'line'> {
  const { start } = linesAround(hit, text);
  const before = text.slice(Math.max(start, hit.start - MAX_BEFORE_VALUE), hit.start);
  const name = NAME.exec(before)?.slice(1).find(Boolean) ?? null;
  const [line = '', next = ''] = text.slice(start, hit.end + MAX_PIECE).split('\n', 2);
  return { text: maskLine(text, hit, hits), name, source: (SOURCE.exec(line) ?? SOURCE.exec(next))?.[0] ?? null };
}

const MAX_SHOWN = 200;
/** Maximum length of the text that is shown before a value. */
const MAX_LEAD = 80;

/** Returns the line in which a hit begins, with every value masked. */
function maskLine(text: string, hit: Hit, hits: readonly Hit[]): string {
  const line = linesAround({ start: hit.start, end: hit.start }, text);
  let shown = '';
  let at = line.start;
  let lead = 0;
  for (const one of hits) {
    if (one.end <= at || one.start >= line.end) continue;
    if (one.start > at) shown += text.slice(at, one.start);
    if (one === hit) lead = shown.length;
    if (one.start >= at || one === hit) shown += `[${LOG_LEAKS[one.leak]}]`;
    // The padding of base64 is not part of the hit, but must be masked, too.
    const padding = /^={0,2}/.exec(text.slice(one.end, one.end + 2))?.[0] ?? '';
    at = Math.max(at, one.end + padding.length);
    if (at >= line.end) break;
  }
  if (at < line.end) shown += text.slice(at, Math.min(line.end, at + MAX_SHOWN));
  const from = Math.max(0, lead - MAX_LEAD);
  const clean = visible(Buffer.from(shown.slice(from), 'latin1').toString('utf8').trimEnd());
  const whole = from > 0 ? `…${clean}` : clean;
  return whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}…` : whole;
}
