/** Parses a captured request, replaces its signature, and resends it. */
import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { type ForwardedExchange, type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import { readHeaders } from '../../contract/signing/schemes/check-scheme.ts';
import type { Partner } from '../partner.ts';
import { rawExchange } from '../probe/index.ts';
import { signatureLines } from '../sender/index.ts';
import type { Attempt } from '../transport/index.ts';
import { declaredFraming, type Message, MessageReader } from '../transport/index.ts';

/** A parsed request. */
export interface CapturedRequest {
  readonly raw: Buffer;
  readonly method: string;
  readonly target: string;
  readonly httpVersion: string;
  readonly headers: readonly HeaderLine[];
  /** The body without chunk framing. */
  readonly body: Buffer;
  readonly isChunked: boolean;
}

const UNLIMITED = { take: () => true, release() {} };

/** Parses a request; null unless the bytes are exactly one complete HTTP/1 request. */
export function readCaptured(raw: Buffer): CapturedRequest | null {
  const found: Message[] = [];
  const reader = new MessageReader({
    budget: UNLIMITED,
    maxKept: Number.POSITIVE_INFINITY,
    onHead: ({ headers }) => declaredFraming(headers) ?? 0,
    onMessage: (message) => found.push(message),
  });
  reader.read(raw);
  reader.end();
  const [message, ...others] = found;
  if (message?.body === undefined || others.length > 0) return null;
  const { startLine, headers, body } = message;
  const [, method, target, httpVersion] = /^(\S+) (\S+) HTTP\/(1\.\d)$/.exec(startLine) ?? [];
  if (method === undefined || target === undefined || httpVersion === undefined) return null;
  return { raw, method, target, httpVersion, headers, body, isChunked: declaredFraming(headers) === 'chunked' };
}

/** Returns the SHA-256 of the body in hexadecimal. */
export function bodyDigest({ body }: Pick<CapturedRequest, 'body'>): string {
  return createHash('sha256').update(body).digest('hex');
}

/** What to change in a captured request. Everything else is unchanged, byte for byte. */
export interface Edit {
  /** Each line replaces all lines of the same name, at the position of the first, or is appended. */
  readonly headers?: readonly HeaderLine[];
  /** Replaces the body, which is then sent with a Content-Length instead of in chunks. */
  readonly body?: Buffer;
  /**
   * Signs the body after the edit. In a scheme, `headers` may set the id and the time to sign. By default, both
   * are new.
   */
  readonly signing?: Partner['signing'];
  /** The URL of the endpoint, for a scheme that signs it. */
  readonly url?: string;
}

/** Returns the bytes of a captured request with an edit. */
export function withEdit({ raw, isChunked, body: captured }: CapturedRequest, edit: Edit): Buffer {
  const { headers = [], signing } = edit;
  const body = edit.body ?? captured;
  const text = raw.toString('latin1');
  const [, head = '', end = ''] = /^((?:\r?\n)*[\s\S]*?\r?\n)(\r?\n)/.exec(text.replace(/^(?:\r?\n)+/, '')) ?? [];
  const before = /^(?:\r?\n)*/.exec(text)?.[0] ?? '';
  const [startLine = '', ...lines] = head.split(/(?<=\n)/);
  const nameOf = (line: string) => line.slice(0, Math.max(0, line.indexOf(':')));
  const set = (name: string, value: string) => {
    const isNamed = (line: string) => sameHeaderName(nameOf(line), name);
    const first = lines.findIndex(isNamed);
    const line = `${first === -1 ? name : nameOf(lines[first] ?? '')}: ${value}${end}`;
    const others = lines.map((one, at) => (at === first ? line : isNamed(one) ? '' : one));
    lines.splice(0, lines.length, ...others, ...(first === -1 ? [line] : []));
  };
  if (edit.body !== undefined) {
    if (isChunked) lines.splice(0, lines.length, ...lines.filter((line) => !/^transfer-encoding:/i.test(line)));
    set('Content-Length', String(body.length));
  }
  for (const [name, value] of headers) set(name, value);
  if (signing !== undefined) {
    const { scheme } = signing;
    const given = scheme && readHeaders(scheme, headers);
    for (const line of signatureLines(body, { signing, url: edit.url ?? '' }, given)) set(...line);
    // Another header would still have the old signature.
    const isAlias = (line: string) => scheme?.aliases?.some((name) => sameHeaderName(nameOf(line), name)) === true;
    lines.splice(0, lines.length, ...lines.filter((line) => !isAlias(line)));
  }
  const rest = edit.body ?? raw.subarray(before.length + head.length + end.length);
  return Buffer.concat([Buffer.from(`${before}${startLine}${lines.join('')}${end}`, 'latin1'), rest]);
}

export interface SendOptions {
  readonly partner: Partner;
  readonly timeoutMs: number;
}

/** Maximum number of bytes kept of the answer's body. */
const MAX_ANSWER_BODY = 64 * 1024;

/** Sends the bytes on a new connection to the host of the partner's URL. Never rejects. */
export function sendCaptured(raw: Buffer, { partner, timeoutMs }: SendOptions): Promise<Attempt> {
  return rawExchange(partner.url, partner, raw, { timeoutMs, bodyCapBytes: MAX_ANSWER_BODY });
}

interface Replay extends SendOptions {
  readonly id: string;
  /** The URL to sign, for a scheme that signs it. */
  readonly publicUrl?: string | undefined;
  readonly sign: boolean;
  readonly edit?: { readonly headers: readonly HeaderLine[]; readonly body?: Buffer | undefined } | undefined;
}

/**
 * Sends the bytes like {@link sendCaptured}, edited and signed if requested, and returns an exchange for the inspector;
 * null for an edit of bytes that are not one request.
 */
export async function replayCaptured(
  raw: Buffer,
  { id, sign, edit, publicUrl, ...options }: Replay,
): Promise<ForwardedExchange | null> {
  const { partner } = options;
  const captured = readCaptured(raw);
  if (captured === null && edit !== undefined) return null;
  const signing = sign ? partner.signing : undefined;
  const isChanged = captured !== null && (signing !== undefined || edit !== undefined);
  const { headers: given = [], body: givenBody } = edit ?? {};
  const bytes = isChanged
    ? withEdit(captured, {
        headers: given,
        ...(givenBody && { body: givenBody }),
        ...(signing && { signing, url: publicUrl ?? partner.url }),
      })
    : raw;
  const receivedAt = new Date();
  const start = performance.now();
  const { answer } = await sendCaptured(bytes, options);
  const sent = isChanged ? readCaptured(bytes) : captured;
  const { method = '', target = '', httpVersion = '', headers = [], body } = sent ?? {};
  return {
    receivedAt,
    durationMs: performance.now() - start,
    remoteAddress: '',
    request: { method, target, httpVersion, headers, raw: bytes, body, bodyLength: body?.length ?? 0, complete: true },
    answer: answer === null ? undefined : { ...answer, ...bodyOf(answer) },
    replayOf: id,
  };
}

/** Returns the body of an answer without chunk framing. */
function bodyOf({ headers, body }: NonNullable<Attempt['answer']>): {
  readonly body: Buffer;
  readonly bodyLength: number;
} {
  const whole = Buffer.from(body);
  if (declaredFraming(headers) !== 'chunked') return { body: whole, bodyLength: whole.length };
  let content = Buffer.alloc(0);
  const reader = new MessageReader({
    budget: UNLIMITED,
    maxKept: MAX_ANSWER_BODY,
    keepsBeginning: true,
    onHead: () => 'chunked',
    onMessage: (message) => {
      content = Buffer.from(message.body ?? '');
    },
  });
  reader.read(Buffer.concat([Buffer.from('HTTP/1.1 200\r\n\r\n'), whole]));
  reader.end();
  return { body: content, bodyLength: content.length };
}
