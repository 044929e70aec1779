/**
 * Finds the HTTP/1 messages in one direction of a connection, for the proxy, for probes, and for ordinary answers to
 * the sender. It keeps a bounded copy, takes linear time, and never fails: bytes that it cannot parse become one
 * message that ends with the connection.
 */
import type { HeaderLine } from '../../contract/index.ts';

/** A memory budget that many readers share. */
export interface KeepBudget {
  /** Takes this many bytes from the budget; false if they exceed it. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

export interface Message {
  /** The first line, with one character per byte; empty if there is none. */
  readonly startLine: string;
  /** The headers in their order and letter case; a line without a colon is a name without a value. */
  readonly headers: readonly HeaderLine[];
  /** Every byte, including the framing; undefined if not all were kept. */
  readonly raw: Buffer | undefined;
  /** The body without its framing; undefined if not all of it was kept or received. */
  readonly body: Buffer | undefined;
  /** The received bytes of the body, without its framing. */
  readonly bodyLength: number;
  readonly complete: boolean;
}

export interface Head extends Pick<Message, 'startLine' | 'headers'> {
  /** Size in bytes. */
  readonly length: number;
  /** Whether the head ends with a blank line. Otherwise it is too large or was cut off. */
  readonly isComplete: boolean;
  /** Whether every line ends with CR LF and, except for the first one, contains a colon. */
  readonly isStrict: boolean;
}

/** How the body ends: after a number of bytes, with the last chunk, or with the connection. */
export type Framing = number | 'chunked' | 'to-the-end';

export interface ReaderOptions {
  readonly budget: KeepBudget;
  /** Maximum number of bytes kept of one message. */
  readonly maxKept: number;
  /**
   * Maximum size of a head, in bytes. If a head is larger, only this part is passed to `onHead`, and the rest counts as
   * the body.
   */
  readonly maxHead?: number;
  /** Whether to keep the beginning of a larger message, instead of nothing. */
  readonly keepsBeginning?: boolean;
  /** Called with each head; returns how the body is framed. */
  readonly onHead: (head: Head) => Framing;
  readonly onMessage: (message: Message) => void;
}

const DEFAULT_MAX_HEAD = 32 * 1024;
/** Maximum length of the line with the size of a chunk, including extensions. */
const MAX_SIZE_LINE = 1024;
const LF = 0x0a;
const CR = 0x0d;

/** The approximate memory of an object in addition to its bytes. */
const PART_OVERHEAD = 128;

type State = 'head' | 'length' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer' | 'to-the-end';

export class MessageReader {
  readonly #options: ReaderOptions;
  #state: State = 'head';
  /** The parts of the head and, unless only beginnings are kept, of everything after it. */
  #parts: Buffer[] = [];
  #body: Buffer[] = [];
  #charged = 0;
  /** Whether a part of the message was not kept. */
  #cut = false;
  #seen = 0;
  #hasLine = false;
  /** Length of the current line of the head, without its end. */
  #line = 0;
  #head: Head | undefined;
  #bodyLength = 0;
  /** The remaining bytes of the body or of the chunk. */
  #left = 0;
  #sizeLine = '';
  #stopped = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  read(piece: Buffer): void {
    for (let rest = piece; rest.length > 0 && !this.#stopped; ) rest = rest.subarray(this.#step(rest));
  }

  /** Stops reading and drops what was kept. */
  stop(): void {
    this.#drop();
    this.#stopped = true;
  }

  /** The received bytes of the current message's body. */
  get bodyLength(): number {
    return this.#bodyLength;
  }

  /** Called at the end of the connection. */
  end(): void {
    if (this.#seen > 0) this.#finish(this.#state === 'to-the-end' && this.#head !== undefined);
  }

  /** Reads the bytes that belong to the current state and returns their number. */
  #step(rest: Buffer): number {
    if (this.#state === 'head') return this.#readHead(rest);
    if (this.#state !== 'length' && this.#state !== 'chunk-data' && this.#state !== 'to-the-end') {
      return this.#readChunkLine(rest);
    }
    const part = this.#state === 'to-the-end' ? rest : rest.subarray(0, this.#left);
    this.#keep(part, true);
    this.#bodyLength += part.length;
    this.#left -= part.length;
    if (this.#state === 'length' && this.#left === 0) this.#finish(true);
    if (this.#state === 'chunk-data' && this.#left === 0) this.#state = 'chunk-end';
    return part.length;
  }

  #readHead(rest: Buffer): number {
    for (let at = 0; at < rest.length; at += 1) {
      const byte = rest[at];
      if (byte !== LF) {
        if (byte !== CR) this.#line += 1;
        continue;
      }
      // Empty lines before the first line do not end the head.
      const isEnd = this.#hasLine && this.#line === 0;
      this.#hasLine ||= this.#line > 0;
      this.#line = 0;
      if (!isEnd) continue;
      this.#keep(rest.subarray(0, at + 1), false);
      this.#startBody();
      return at + 1;
    }
    this.#keep(rest, false);
    if (this.#seen > (this.#options.maxHead ?? DEFAULT_MAX_HEAD)) this.#startBody('to-the-end');
    return rest.length;
  }

  #startBody(forced?: Framing): void {
    this.#head = headOf(Buffer.concat(this.#parts).toString('latin1'));
    const declared = this.#options.onHead(this.#head);
    const framing = forced ?? declared;
    if (framing === 0) this.#finish(true);
    else if (framing === 'chunked') this.#state = 'chunk-size';
    else if (framing === 'to-the-end') this.#state = framing;
    else {
      this.#state = 'length';
      this.#left = framing;
    }
  }

  #readChunkLine(rest: Buffer): number {
    const end = rest.indexOf(LF);
    const part = end === -1 ? rest : rest.subarray(0, end + 1);
    this.#keep(part, false);
    if (this.#sizeLine.length <= MAX_SIZE_LINE) this.#sizeLine += part.toString('latin1');
    if (end === -1) return part.length;
    const line = this.#sizeLine.trimEnd();
    this.#sizeLine = '';
    if (this.#state === 'trailer') {
      if (line === '') this.#finish(true);
    } else if (this.#state === 'chunk-end') this.#state = line === '' ? 'chunk-size' : 'to-the-end';
    else {
      const [, digits] = /^([0-9a-f]{1,12})[\t ]*(?:;|$)/i.exec(line) ?? [];
      this.#left = Number.parseInt(digits ?? '', 16);
      if (digits === undefined) this.#state = 'to-the-end';
      else this.#state = this.#left === 0 ? 'trailer' : 'chunk-data';
    }
    return part.length;
  }

  #keep(part: Buffer, isBody: boolean): void {
    this.#seen += part.length;
    const { budget, maxKept, keepsBeginning = false } = this.#options;
    const isHead = this.#state === 'head';
    if (this.#cut && !isHead) return;
    const allowed = keepsBeginning ? Math.max(0, maxKept - this.#bodyLength) : part.length;
    const kept = part.subarray(0, isBody ? allowed : part.length);
    const cost = kept.length + PART_OVERHEAD;
    const fits = (keepsBeginning || this.#charged + cost <= maxKept) && budget.take(cost);
    if (fits) this.#charged += cost;
    if (!fits || kept.length < part.length) this.#cut = true;
    if (isHead) {
      // Kept regardless of the budget, because the framing needs it and it is bounded.
      this.#parts.push(part);
    } else if (fits) {
      if (isBody) this.#body.push(kept);
      if (!keepsBeginning) this.#parts.push(kept);
    } else if (!keepsBeginning) this.#drop();
  }

  #drop(): void {
    this.#options.budget.release(this.#charged);
    this.#charged = 0;
    this.#parts = [];
    this.#body = [];
  }

  /** Returns the body as a view of the message, so that it is not kept twice, unless it was chunked. */
  #wholeBody(raw: Buffer | undefined): Buffer | undefined {
    if (raw === undefined) return undefined;
    return this.#state === 'trailer' ? Buffer.concat(this.#body) : raw.subarray(raw.length - this.#bodyLength);
  }

  #finish(complete: boolean): void {
    const { keepsBeginning = false, onMessage } = this.#options;
    const head = this.#head ?? headOf(Buffer.concat(this.#parts).toString('latin1'));
    const raw = this.#cut || keepsBeginning ? undefined : Buffer.concat(this.#parts);
    const message = {
      ...head,
      raw,
      body: keepsBeginning ? Buffer.concat(this.#body) : complete ? this.#wholeBody(raw) : undefined,
      bodyLength: this.#bodyLength,
      complete,
    };
    this.#drop();
    this.#state = 'head';
    this.#cut = false;
    this.#seen = 0;
    this.#hasLine = false;
    this.#line = 0;
    this.#head = undefined;
    this.#bodyLength = 0;
    this.#sizeLine = '';
    onMessage(message);
  }
}

/** Parses a head that ends with a blank line or was cut off. */
export function headOf(text: string): Head {
  const [startLine = '', ...lines] = text.replace(/^[\r\n]+/, '').split(/\r?\n/);
  const end = lines.indexOf('');
  let isStrict = !/(?:^|[^\r])\n|\r(?!\n)/.test(text);
  const headers = lines.slice(0, end === -1 ? undefined : end).map((line): HeaderLine => {
    const colon = line.indexOf(':');
    if (colon === -1) isStrict = false;
    return colon === -1 ? [line, ''] : [line.slice(0, colon), trimmed(line, colon + 1)];
  });
  return { startLine, headers, length: text.length, isComplete: end !== -1, isStrict };
}

/**
 * Returns the rest of a line without the whitespace that HTTP allows around a value. A regular expression would take
 * quadratic time.
 */
function trimmed(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Returns the framing that the headers declare; undefined if they declare none. */
export function declaredFraming(headers: readonly HeaderLine[]): Framing | undefined {
  const values = (wanted: string) =>
    headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value.toLowerCase());
  const encodings = values('transfer-encoding');
  if (encodings.length > 0) return /(?:^|,)[\t ]*chunked$/.test(encodings.at(-1) ?? '') ? 'chunked' : 'to-the-end';
  const lengths = new Set(values('content-length'));
  if (lengths.size === 0) return undefined;
  const [length = ''] = lengths;
  return lengths.size === 1 && /^\d{1,15}$/.test(length) ? Number(length) : 'to-the-end';
}
