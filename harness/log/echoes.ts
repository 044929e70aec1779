/**
 * Recognises echoes: values that a log repeats because hookproof itself sent them in the wrong place, such as the API
 * key in a query. They are recognised by the word before them, or by a longer text that contains them.
 */
import { type DecodedText, type Span, startOfRun } from '../../contract/decoded-texts.ts';
import { type HeaderLine, type JsonValue, sameHeaderName } from '../../contract/index.ts';

/** A request that is about to be sent. */
export interface SentRequest {
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  /** The bytes of the whole request, if they differ from the other fields. */
  readonly raw?: Buffer | null;
  /** The notification in the body. */
  readonly value?: JsonValue | undefined;
  /** The valid signatures, in base64, of the body and of what a receiver may read as the body. */
  readonly signatures: readonly string[];
}

/** The length of each log when something was sent. Nothing before these offsets can be an echo. */
export type Ends = readonly number[];

/** An offset in a log. */
export interface LogPosition {
  readonly log: number;
  readonly offset: number;
}

/** Returns whether a value had been sent when the log reached this position. */
export function wasSentBefore(ends: Ends | undefined, { log, offset }: LogPosition): boolean {
  return ends !== undefined && offset >= (ends[log] ?? 0);
}

/**
 * A place outside its own header where a credential appears. `name` is the word before the credential: the name of a
 * header, a parameter or a field, or a part of the path. `text` is a longer value that contains the credential.
 */
export interface Place {
  readonly name?: string;
  readonly text?: string;
}

/** Words with which logs name the query of a request. */
const QUERY = /^(?:args|get|params|parameters|query|query_?params|query_?string|search|url)$/;

/** Words that logs print before the value of a received signature header. */
const RECEIVED = 'actual bad found given got header hmac invalid provided received sig signature was'.split(' ');

/** The places where hookproof sent a value, and the parts of the value that it sent. */
export class Echoes {
  readonly #value: string;
  readonly #ownHeader: string | undefined;
  readonly #names = new Map<string, Ends>();
  readonly #texts = new Map<string, Ends>();
  readonly #parts = new Map<string, Ends>();

  /** `ownHeader` is the header in which the value belongs, if any. */
  constructor(value: string, ownHeader?: string) {
    this.#value = value;
    this.#ownHeader = ownHeader;
  }

  addPlace({ name, text }: Place, ends: Ends): void {
    if (name !== undefined) addFirst(this.#names, name, ends);
    if (text !== undefined) addFirst(this.#texts, text.toLowerCase(), ends);
  }

  addPart(part: string, ends: Ends): void {
    addFirst(this.#parts, part, ends);
  }

  hasPart(part: string, position: LogPosition): boolean {
    return [...this.#parts].some(([sent, ends]) => sent.includes(part) && wasSentBefore(ends, position));
  }

  /** Returns whether a value in a text is in a place where it was sent before. */
  hasPlaceOf({ start, end }: Span, text: string, position: LogPosition): boolean {
    for (const [echo, ends] of this.#texts) {
      const around = text.slice(Math.max(0, start - echo.length), end + echo.length).toLowerCase();
      if (wasSentBefore(ends, position) && around.includes(echo)) return true;
    }
    const before = this.#names.size === 0 ? undefined : wordBefore(text, start);
    if (before === undefined) return false;
    const wasSent = (name: string) => wasSentBefore(this.#names.get(name), position);
    const name = normaliseHeader(before.word);
    if (this.#ownHeader === undefined || name !== normaliseHeader(this.#ownHeader)) {
      return wasSent(before.word) || wasSent(name);
    }
    // After the name of its own header, the value is an echo only in a query, because logs of headers contain it, too.
    if (!wasSent(before.word)) return false;
    const isQuery = /[?&]$/.test(text.slice(Math.max(0, before.start - 1), before.start));
    return isQuery || QUERY.test(wordBefore(text, before.start)?.word ?? '');
  }

  /** Lists the places in which a part of a request contains the value at this span. */
  listPlaces(span: Span, decoded: DecodedText, part: SentPart, signatureHeader: string): Place[] {
    const [header, sent = ''] = part.header ?? [];
    const around = sent.trim().length > this.#value.length ? [{ text: sent.trim() }] : [];
    if (header !== undefined && this.#ownHeader !== undefined && sameHeaderName(header, this.#ownHeader)) return around;
    const { start } = decoded.originOf(span);
    const inside = wordBefore(decoded.text, span.start);
    const outside = decoded.depth === 0 ? undefined : wordBefore(part.text, startOfRun(part.text, start));
    const names = [inside, outside].flatMap((found) => found?.word ?? []);
    if (header !== undefined) names.push(header.toLowerCase());
    if (header !== undefined && sameHeaderName(header, signatureHeader)) names.push(...RECEIVED);
    return [...around, ...names.map((name) => ({ name }))];
  }
}

function addFirst(map: Map<string, Ends>, key: string, ends: Ends): void {
  if (!map.has(key)) map.set(key, ends);
}

/** Returns the word before a position, and where it begins. Up to eight other characters may be in between. */
function wordBefore(text: string, at: number): { readonly word: string; readonly start: number } | undefined {
  const from = Math.max(0, at - 200);
  // Removes what PHP, Python and error pages write between a name and a value: `string(46) "`, `b'`, `</td><td>'`.
  const before = text
    .slice(from, at)
    .replace(/(?:<[^<>]{1,100}>\s*)+(?=['"]?$)/, '')
    .replace(/string\(\d+\)\s*\\?"$/, '')
    .replace(/(?<![\w-])[bru](?=\\?['"]$)/, '');
  const found = /([\w-]+)([^\w-]*)$/.exec(before);
  if (found === null || (found[2] ?? '').replace(/\s+/g, ' ').length > 8) return undefined;
  return { word: (found[1] ?? '').toLowerCase(), start: from + found.index };
}

/** Converts a header name to the spelling of HTTP: CGI and WSGI write `HTTP_API_KEY` for `api-key`. */
export function normaliseHeader(name: string): string {
  return name
    .toLowerCase()
    .replace(/^http_/, '')
    .replaceAll('_', '-');
}

/** Maximum number of bytes of a body that are searched for credentials. */
const MAX_SEARCHED = 65_536;

/** A searchable part of a request: the target, a header or the body. */
export interface SentPart {
  /** The text as sent. For a header, its name and value. */
  readonly text: string;
  readonly header?: HeaderLine;
}

/** Returns the parts of a request as they appear on the wire. */
export function partsOfRequest(request: SentRequest): SentPart[] {
  const { target, headers, body } = request.raw == null ? request : parseRaw(request.raw);
  return [
    { text: target },
    ...headers.map((header) => ({ text: `${header[0]}: ${header[1]}`, header })),
    { text: Buffer.from(body.subarray(0, MAX_SEARCHED)).toString('latin1') },
  ];
}

function parseRaw(raw: Buffer): Pick<SentRequest, 'target' | 'headers' | 'body'> {
  const found = raw.indexOf('\r\n\r\n');
  const end = found === -1 ? raw.length : found;
  // A line that begins with whitespace continues the previous one.
  const [target = '', ...lines] = raw
    .subarray(0, end)
    .toString('latin1')
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/);
  const headers = lines.map((line): HeaderLine => {
    const colon = line.indexOf(':');
    return colon === -1 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return { target, headers, body: raw.subarray(end + 4) };
}
