/**
 * Writes ordinary requests and reads ordinary answers as text. Both functions decline everything else: then Node's HTTP
 * client writes the request, or reads the answer and decides what is invalid about it.
 */
import { type HeaderLine, TOKEN } from '../../contract/index.ts';
import type { Answer, Prepared } from './attempt.ts';
import { headOf } from './message-reader.ts';

/** Maximum size of a body that is sent together with the head. Converting a larger one takes longer than it saves. */
const ONE_PIECE_BYTES = 16 * 1024;

const PLAIN_METHOD = /^(?:POST|PUT|PATCH|DELETE|GET)$/;
const PLAIN_TARGET = /^\/[\x21-\xff]*$/;
const NOT_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Header names that change how Node sends a request. */
const SPECIAL_NAMES = /^(?:connection|keep-alive|proxy-connection|transfer-encoding|te|trailer|upgrade|expect)$/i;

type NameKind = 'plain' | 'length' | 'other';
/** Cached, because names are few and the same for every delivery. */
const nameKinds = new Map<string, NameKind>();
const MAX_NAMES = 1_000;

function kindOfName(name: string): NameKind {
  let kind = nameKinds.get(name);
  if (kind === undefined) {
    const isPlain = TOKEN.test(name) && !SPECIAL_NAMES.test(name);
    kind = !isPlain ? 'other' : name.toLowerCase() === 'content-length' ? 'length' : 'plain';
    if (nameKinds.size < MAX_NAMES) nameKinds.set(name, kind);
  }
  return kind;
}

/**
 * A request as text in Latin-1, which preserves every byte. The text includes the body if both are sent in one piece.
 */
export interface RequestText {
  readonly text: string;
  /** The body to send after the text. Null if the text includes it. */
  readonly body: Uint8Array | null;
}

/** Returns the text of a request. Null if Node would write the request differently, or refuse it. */
export function plainRequest({ method, target, headers, body }: Prepared, connection: string): RequestText | null {
  if (!PLAIN_METHOD.test(method) || !PLAIN_TARGET.test(target)) return null;
  let head = `${method} ${target} HTTP/1.1\r\n`;
  let hasLength = false;
  for (const [name, value] of headers) {
    const kind = kindOfName(name);
    if (kind === 'other' || NOT_A_VALUE.test(value)) return null;
    if (kind === 'length') {
      if (hasLength || value !== String(body.length)) return null;
      hasLength = true;
    }
    head += `${name}: ${value}\r\n`;
  }
  // Without a length, Node would send a missing body as an empty chunked one.
  if (!hasLength && body.length > 0) return null;
  head += `Connection: ${connection}\r\n\r\n`;
  if (body.length > ONE_PIECE_BYTES) return { text: head, body };
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return { text: head + bytes.toString('latin1'), body: null };
}

/** An answer, and whether its connection can be kept. */
export interface PlainAnswer {
  readonly answer: Answer;
  readonly keeps: boolean;
}

interface AnswerLimits {
  readonly bodyCapBytes: number;
  readonly maxHeaderBytes: number;
}

interface Head {
  readonly text: string;
  readonly status: number;
  readonly reasonPhrase: string;
  readonly headers: readonly HeaderLine[];
  /** Bytes of the body. */
  readonly length: number;
  readonly keeps: boolean;
}

/** Caches the last head, because an endpoint often sends identical heads until the second in `Date` changes. */
let lastHead: Head | undefined;

const HEAD_END = '\r\n\r\n';
const STATUS_LINE =
  /^HTTP\/1\.1 ([2-5]\d\d)(?: ((?:[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?))?$/;
const LENGTH = /^\d{1,9}$/;
const MAX_HEADER_LINES = 100;
const EMPTY = Buffer.alloc(0);

/**
 * Reads an answer from the bytes received so far.
 *
 * @returns `incomplete` if the rest of an ordinary body has yet to arrive; null unless the answer is an ordinary one:
 * final, HTTP/1.1, with a length and nothing after it, within the limits
 */
export function plainAnswer(bytes: Buffer, limits: AnswerLimits): PlainAnswer | 'incomplete' | null {
  const head = readHead(bytes, limits.maxHeaderBytes);
  if (head === null || head.length > limits.bodyCapBytes) return null;
  const start = head.text.length;
  const end = start + head.length;
  if (bytes.length !== end) return bytes.length < end ? 'incomplete' : null;
  const { status, reasonPhrase, headers, keeps } = head;
  // Copied, because a piece retains the whole buffer it was read into.
  const body = head.length === 0 ? EMPTY : Buffer.from(bytes.subarray(start, end));
  return { answer: { status, reasonPhrase, headers, body, truncated: false }, keeps };
}

function readHead(bytes: Buffer, maxHeaderBytes: number): Head | null {
  const known = lastHead?.text;
  if (known !== undefined && known.length < maxHeaderBytes && bytes.toString('latin1', 0, known.length) === known) {
    return lastHead ?? null;
  }
  const text = bytes.toString('latin1', 0, maxHeaderBytes);
  const end = text.indexOf(HEAD_END);
  if (end === -1) return null;
  const head = parseHead(text.slice(0, end + HEAD_END.length));
  if (head !== null) lastHead = head;
  return head;
}

function parseHead(text: string): Head | null {
  const { startLine, headers, isStrict } = headOf(text);
  const [, code, reasonPhrase = ''] = STATUS_LINE.exec(startLine) ?? [];
  if (code === undefined || code === '304' || !isStrict || headers.length > MAX_HEADER_LINES) return null;
  // Around a Content-Length, Node accepts spaces but no tab.
  if (/\r\ncontent-length:[^\r]*\t/i.test(text)) return null;
  let length: number | undefined;
  let keeps: boolean | undefined;
  for (const [name, value] of headers) {
    if (!TOKEN.test(name) || NOT_A_VALUE.test(value)) return null;
    switch (name.toLowerCase()) {
      case 'content-length':
        if (length !== undefined || !LENGTH.test(value)) return null;
        length = Number(value);
        break;
      case 'connection':
        if (keeps !== undefined || !/^(?:keep-alive|close)$/i.test(value)) return null;
        keeps = value.toLowerCase() === 'keep-alive';
        break;
      case 'transfer-encoding':
      case 'upgrade':
      case 'proxy-connection':
      case 'trailer':
        return null;
    }
  }
  // Node has a special rule for a 204 with a length; any other answer without a length ends with its connection.
  if ((code === '204') === (length !== undefined)) return null;
  const hints = headers.filter(([name]) => name.toLowerCase() === 'keep-alive').map(([, value]) => value);
  return {
    text,
    status: Number(code),
    reasonPhrase,
    headers,
    length: length ?? 0,
    keeps: keeps !== false && mayKeep(hints.join(', ')),
  };
}

/**
 * Returns whether a connection may be kept. A server that closes after a second or less might close it while the next
 * request is on its way.
 */
export function mayKeep(keepAliveHeader: string): boolean {
  const seconds = /^timeout=(\d+)/.exec(keepAliveHeader)?.[1];
  return seconds === undefined || Number(seconds) > 1;
}
