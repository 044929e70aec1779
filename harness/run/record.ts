/** Turns what was sent and answered into the exchanges of the result document, without what must never be shown. */

import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import type { Bytes, Exchange } from '../report/result-document.ts';
import type { Attempt } from '../transport/index.ts';
import type { Assembled } from './assemble.ts';
import { headerNamesOf } from './kit.ts';
import type { SentDelivery } from './send.ts';

/** What is kept of a body. Longer ones are cut, and say so. */
const BODY_CAP = 4096;

/** What is kept of the headers of an answer: much more than a server has to say. */
const MOST_HEADERS = 50;
const LONGEST_HEADER = 1024;
const MOST_HEADER_CHARACTERS = 8192;

/** So many characters of a credential at the end of what is kept are taken for its beginning. */
const TELLING_LENGTH = 4;

/**
 * What is kept of a body: up to the cap, and without the beginning of a credential that the cut fell into, because redaction by value
 * would not know it any more. Base64 is looked at as it stands, since its own beginning is the same wherever it is whole.
 */
function cut(bytes: Uint8Array, truncated: boolean, credentials: readonly string[]): Uint8Array {
  const kept = bytes.subarray(0, BODY_CAP);
  if (!truncated) return kept;
  const tail = Buffer.from(kept).toString('latin1').toLowerCase();
  const spelt = credentials.flatMap((credential) => {
    const utf8 = Buffer.from(credential);
    const encoded = [encodeURIComponent(utf8.toString()), JSON.stringify(credential).slice(1, -1)];
    return [utf8, utf8.toString('base64'), utf8.toString('hex'), ...encoded];
  });
  let end = tail.length;
  for (const form of spelt.map((text) => Buffer.from(text).toString('latin1').toLowerCase())) {
    for (let length = Math.min(form.length - 1, tail.length); length >= TELLING_LENGTH; length--) {
      if (!tail.endsWith(form.slice(0, length))) continue;
      end = Math.min(end, tail.length - length);
      break;
    }
  }
  return kept.subarray(0, end);
}

/** Bytes for reading: text when they are clean UTF-8, else base64. */
export function describeBytes(bytes: Uint8Array, alreadyTruncated = false, credentials: readonly string[] = []): Bytes {
  const truncated = alreadyTruncated || bytes.length > BODY_CAP;
  const kept = cut(bytes, truncated, credentials);
  const text = Buffer.from(kept).toString('utf8');
  // A cut may fall inside a character: the last one is then dropped.
  const whole = truncated ? text.replace(/\uFFFD$/, '') : text;
  const clean = Buffer.from(kept).subarray(0, Buffer.byteLength(whole)).equals(Buffer.from(whole, 'utf8'));
  return {
    length: bytes.length,
    text: clean ? whole : null,
    base64: clean ? null : Buffer.from(kept).toString('base64'),
    truncated,
  };
}

/** Credentials are never written down, right or wrong: a wrong one is often made from the right one. */
function maskHeaders(assembled: Assembled, partner: Partner): [string, string][] {
  const { signature: signatureHeader, apiKey: apiKeyHeader } = headerNamesOf(partner);
  const label = assembled.changes.map((change) => change.label).join('; ');
  const mask = (value: string, right: string | null | undefined) =>
    value === right ? '[right]' : `[${label || 'wrong'}]`;
  return assembled.prepared.headers.map(([name, value]: HeaderLine): [string, string] => {
    if (partner.signing !== undefined && sameHeaderName(name, signatureHeader))
      return [name, mask(value, assembled.rightSignature)];
    if (partner.apiKey !== undefined && sameHeaderName(name, apiKeyHeader))
      return [name, mask(value, partner.apiKey.value)];
    return [name, value];
  });
}

/** The ellipsis tells the redaction that a credential may be cut here. */
function shortened(text: string): string {
  return text.length > LONGEST_HEADER ? `${text.slice(0, LONGEST_HEADER)}…` : text;
}

/** The lines, the first ones at least; a last one says how many more there were. */
function keptHeaders(headers: readonly HeaderLine[]): [string, string][] {
  const kept: [string, string][] = [];
  let characters = 0;
  for (const [name, value] of headers) {
    const line: [string, string] = [shortened(name), shortened(value)];
    characters += line[0].length + line[1].length;
    if (kept.length === MOST_HEADERS || characters > MOST_HEADER_CHARACTERS) break;
    kept.push(line);
  }
  const left = headers.length - kept.length;
  return left === 0 ? kept : [...kept, ['…', `${left} more`]];
}

function describeResponse({ answer }: Attempt, credentials: readonly string[]): Exchange['response'] {
  if (answer === null) return null;
  return {
    status: answer.status,
    headers: keptHeaders(answer.headers),
    body: describeBytes(answer.body, answer.truncated, credentials),
  };
}

function describeError({ error }: Attempt): Exchange['error'] {
  if (error === null) return null;
  const { kind, phase, code, message } = error;
  return { kind, phase, code, message };
}

export function describeExchange(delivery: SentDelivery, partner: Partner): Exchange {
  const { assembled, attempt } = delivery;
  const { method, target, body } = assembled.prepared;
  const credentials = [partner.signing?.secret, partner.apiKey?.value].filter((value) => value !== undefined);
  return {
    role: delivery.role,
    label: delivery.label,
    changes: assembled.changes.map(({ stage, label }) => ({ stage, label })),
    request: {
      method,
      target,
      headers: maskHeaders(assembled, partner),
      body: describeBytes(body, false, credentials),
    },
    response: describeResponse(attempt, credentials),
    error: describeError(attempt),
    timings: { ...attempt.timings },
  };
}
