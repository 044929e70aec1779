/** Describes exchanges for the result document: requests and answers, without credentials. */

import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import { maskTargetOf } from '../../contract/masked-url.ts';
import { secretSpellings } from '../../contract/secret-spellings.ts';
import { everySecret, type Partner } from '../partner.ts';
import type { Bytes, Exchange } from '../report/result-document.ts';
import type { Attempt } from '../transport/index.ts';
import type { Assembled } from './assemble.ts';
import { headerNamesOf } from './kit.ts';
import type { SentDelivery } from './send.ts';

/** Maximum number of bytes of a body that are recorded. A longer body is cut and marked as truncated. */
const MAX_BODY_BYTES = 4096;

/** Limits for the recorded headers of an answer. */
const MAX_HEADERS = 50;
const MAX_HEADER_LENGTH = 1024;
const MAX_HEADER_CHARACTERS = 8192;

/** Minimum number of characters before the cut that count as the beginning of a credential. */
const MIN_CREDENTIAL_PART = 4;

/**
 * Returns the recorded part of a body. If the cut falls inside a credential, its beginning is removed, because
 * redaction recognises only whole values. For Base64, it is enough to compare the beginning, because it does not depend
 * on what follows.
 */
function cut(bytes: Uint8Array, truncated: boolean, credentials: readonly string[]): Uint8Array {
  const kept = bytes.subarray(0, MAX_BODY_BYTES);
  if (!truncated) return kept;
  const tail = Buffer.from(kept).toString('latin1').toLowerCase();
  let end = tail.length;
  for (const spelling of credentials.flatMap(secretSpellings)) {
    const form = Buffer.from(spelling).toString('latin1').toLowerCase();
    const head = form.slice(0, MIN_CREDENTIAL_PART);
    const from = Math.max(0, tail.length - form.length + 1);
    for (let at = tail.indexOf(head, from); at !== -1; at = tail.indexOf(head, at + 1)) {
      if (form.startsWith(tail.slice(at))) end = Math.min(end, at);
    }
  }
  return kept.subarray(0, end);
}

/** Describes bytes as text if they are valid UTF-8, otherwise as base64. */
export function describeBytes(bytes: Uint8Array, alreadyTruncated = false, credentials: readonly string[] = []): Bytes {
  const truncated = alreadyTruncated || bytes.length > MAX_BODY_BYTES;
  const kept = cut(bytes, truncated, credentials);
  const text = Buffer.from(kept).toString('utf8');
  // The cut may fall inside a character, which is then dropped.
  const whole = truncated ? text.replace(/\uFFFD$/, '') : text;
  const clean = Buffer.from(kept).subarray(0, Buffer.byteLength(whole)).equals(Buffer.from(whole, 'utf8'));
  return {
    length: bytes.length,
    text: clean ? whole : null,
    base64: clean ? null : Buffer.from(kept).toString('base64'),
    truncated,
  };
}

/** Masks credentials, valid or not: an invalid credential is often derived from the valid one. */
function maskHeaders(assembled: Assembled, partner: Partner): [string, string][] {
  const { apiKey: apiKeyHeader } = headerNamesOf(partner);
  const { kit, olderKits, prepared, rightSignature } = assembled;
  const label = assembled.changes.map((change) => change.label).join('; ');
  const mask = (value: string, right: string | null | undefined) =>
    value === right ? '[right]' : `[${label || 'wrong'}]`;
  return prepared.headers.map(([name, value]: HeaderLine): [string, string] => {
    const signer = [kit, ...olderKits].find(({ signatureHeader }) => sameHeaderName(name, signatureHeader));
    if (partner.signing !== undefined && signer !== undefined)
      return [name, mask(value, signer.scheme?.header(signer.sign(prepared.body)) ?? rightSignature)];
    if (partner.apiKey !== undefined && sameHeaderName(name, apiKeyHeader))
      return [name, mask(value, partner.apiKey.value)];
    return [name, value];
  });
}

/** Shortens a text. The ellipsis shows redaction that a credential may be cut here. */
function shortened(text: string): string {
  return text.length > MAX_HEADER_LENGTH ? `${text.slice(0, MAX_HEADER_LENGTH)}…` : text;
}

/** Returns the first header lines. If lines were omitted, the last line says how many. */
function keptHeaders(headers: readonly HeaderLine[]): [string, string][] {
  const kept: [string, string][] = [];
  let characters = 0;
  for (const [name, value] of headers) {
    const line: [string, string] = [shortened(name), shortened(value)];
    characters += line[0].length + line[1].length;
    if (kept.length === MAX_HEADERS || characters > MAX_HEADER_CHARACTERS) break;
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
  const credentials = [...everySecret(partner), partner.apiKey?.value].filter((value) => value !== undefined);
  return {
    role: delivery.role,
    label: delivery.label,
    changes: assembled.changes.map(({ stage, label }) => ({ stage, label })),
    request: {
      method,
      target: maskTargetOf(partner.url, target),
      headers: maskHeaders(assembled, partner),
      body: describeBytes(body, false, credentials),
    },
    response: describeResponse(attempt, credentials),
    error: describeError(attempt),
    timings: { ...attempt.timings },
  };
}
