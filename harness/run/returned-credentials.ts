/** Collects what an endpoint has returned and may accept as a credential of a later delivery. */

import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import type { Kit } from '../../scenarios/index.ts';
import type { Attempt } from '../transport/index.ts';

/** Returns the cookies that an answer sets, as `name=value`. */
export function cookiesOf({ answer }: Attempt): string[] {
  const lines = answer?.headers.filter(([name]) => name.toLowerCase() === 'set-cookie') ?? [];
  return lines.map(([, value]) => value.split(';', 1)[0] ?? '').filter((cookie) => cookie.includes('='));
}

/** Matches the names of headers and members that may identify a session or a client. */
const TOKEN = /auth|csrf|nonce|session|ticket|token|xsrf/i;
const MAX_RETURNED = 20;
const MAX_TOKEN_LENGTH = 1000;

/**
 * Turns what an answer contains into request headers that the endpoint may accept as credentials. X- headers and tokens
 * keep their names, tokens from headers or the body are also sent as bearer tokens, and an ETag becomes If-None-Match.
 */
export function credentialsReturnedBy({ answer }: Attempt, { apiKeyHeader, signatureHeader }: Kit): HeaderLine[] {
  if (answer === null) return [];
  const isCredential = (name: string) => [apiKeyHeader, signatureHeader].some((one) => sameHeaderName(one, name));
  const lines = answer.headers.flatMap(([name, value]): HeaderLine[] => {
    if (sameHeaderName(name, 'ETag')) return [['If-None-Match', value]];
    const isOwn = (/^x-/i.test(name) || isToken(name)) && !isCredential(name);
    return isOwn ? [[name, value], ...(isToken(name) ? tokenHeaders(value) : [])] : [];
  });
  const tokens = textMembers(answer.body).flatMap(([name, value]) => (isToken(name) ? tokenHeaders(value) : []));
  return [...lines, ...tokens].filter(([, value]) => value.length <= MAX_TOKEN_LENGTH).slice(0, MAX_RETURNED);
}

const isToken = (name: string) => TOKEN.test(name) && !/authenticate$/i.test(name);

function tokenHeaders(token: string): HeaderLine[] {
  return /^[\x21-\x7e]+$/.test(token)
    ? [
        ['Authorization', `Bearer ${token}`],
        ['X-Session-Token', token],
      ]
    : [];
}

/** Returns the top-level string members of a JSON object. */
function textMembers(body: Uint8Array): (readonly [string, string])[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  } catch {
    return [];
  }
}
