/** Reads the bytes of one captured request, changes its signature, and sends it again. */
import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import {
  DEFAULT_SIGNATURE_HEADER,
  type ForwardedExchange,
  type HeaderLine,
  sameHeaderName,
} from '../../contract/index.ts';
import { signatureOf } from '../../contract/signing/index.ts';
import type { Partner } from '../partner.ts';
import { rawExchange } from '../probe/index.ts';
import type { Attempt } from '../transport/index.ts';
import { declaredFraming, type Message, MessageReader } from '../transport/index.ts';

/** A captured request in its parts. */
export interface CapturedRequest {
  readonly raw: Buffer;
  readonly method: string;
  readonly target: string;
  readonly httpVersion: string;
  readonly headers: readonly HeaderLine[];
  /** Without the framing of chunks. */
  readonly body: Buffer;
  readonly isChunked: boolean;
}

const UNLIMITED = { take: () => true, release() {} };

/** Null for bytes that are not exactly one complete HTTP/1 request. They can be sent again all the same. */
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

/** Of the body, in hexadecimal. */
export function bodyDigest({ body }: Pick<CapturedRequest, 'body'>): string {
  return createHash('sha256').update(body).digest('hex');
}

/**
 * The same bytes with a valid signature: the value of the signature header is replaced, and a header that is missing is
 * added after the others. Further lines of that header are removed. All other bytes stay, the body among them.
 */
export function withNewSignature(request: CapturedRequest, signing: NonNullable<Partner['signing']>): Buffer {
  const { raw, body } = request;
  const { secret, header = DEFAULT_SIGNATURE_HEADER } = signing;
  const text = raw.toString('latin1');
  const [, head = '', end = ''] = /^((?:\r?\n)*[\s\S]*?\r?\n)(\r?\n)/.exec(text.replace(/^(?:\r?\n)+/, '')) ?? [];
  const before = /^(?:\r?\n)*/.exec(text)?.[0] ?? '';
  const lines = head.split(/(?<=\n)/);
  let signed = false;
  const changed = lines.flatMap((line, at) => {
    const colon = line.indexOf(':');
    if (at === 0 || colon === -1 || !sameHeaderName(line.slice(0, colon), header)) return [line];
    if (signed) return [];
    signed = true;
    return [`${line.slice(0, colon)}: ${signatureOf(body, secret)}${end}`];
  });
  if (!signed) changed.push(`${header}: ${signatureOf(body, secret)}${end}`);
  const rest = raw.subarray(before.length + head.length + end.length);
  return Buffer.concat([Buffer.from(`${before}${changed.join('')}${end}`, 'latin1'), rest]);
}

export interface SendOptions {
  readonly partner: Partner;
  readonly timeoutMs: number;
}

/** Of the body of the answer, in bytes. */
const MAX_ANSWER_BODY = 64 * 1024;

/** Sends the bytes on a new connection to the host of the partner's URL. Never rejects. */
export function sendCaptured(raw: Buffer, { partner, timeoutMs }: SendOptions): Promise<Attempt> {
  return rawExchange(partner.url, partner, raw, { timeoutMs, bodyCapBytes: MAX_ANSWER_BODY });
}

/** The same as an exchange for the inspector. */
export async function replayCaptured(
  raw: Buffer,
  { id, sign, ...options }: SendOptions & { readonly id: string; readonly sign: boolean },
): Promise<ForwardedExchange> {
  const { partner } = options;
  const captured = readCaptured(raw);
  const isSigned = sign && captured !== null && partner.signing !== undefined;
  const bytes = isSigned ? withNewSignature(captured, partner.signing) : raw;
  const receivedAt = new Date();
  const start = performance.now();
  const { answer } = await sendCaptured(bytes, options);
  const sent = isSigned ? readCaptured(bytes) : captured;
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

/** The body of an answer, without the framing of chunks. */
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
