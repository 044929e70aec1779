/** Decides whether a delivery is signed in a scheme, for receivers. Explains nothing, so a forgery costs little. */
import { timingSafeEqual, verify as verifyEdDsa } from 'node:crypto';
import { type HeaderLine, headerValues } from '../../delivery.ts';
import { HookproofError } from '../../hookproof-error.ts';
import { hmac } from '../sign.ts';
import type { Scheme, Template } from './scheme.ts';
import { keyBytes, publicKey, signedBytes } from './sign-scheme.ts';

/** A received delivery. */
export interface SchemeDelivery {
  readonly body: Uint8Array;
  readonly headers: readonly HeaderLine[];
  readonly url: string;
}

/** The index of the secret that matched, or the reason to reject the delivery. Log the reason, but never send it. */
export type SchemeCheck =
  | { readonly ok: true; readonly secretIndex: number }
  | { readonly ok: false; readonly reason: 'missing' | 'malformed' | 'out-of-tolerance' | 'mismatch' };

/** What is wrong with a header: its name, and a code. `number` means that the timestamp is not a whole number. */
export interface HeaderFault {
  readonly name: string;
  readonly code: 'missing' | 'repeated' | 'form' | 'number';
}

/** What the headers of a delivery say. Texts are empty if the scheme does not send them. */
interface SchemeHeaders {
  readonly faults: readonly HeaderFault[];
  readonly id: string;
  /** In epoch seconds. */
  readonly timestamp: number;
  /** Every signature in the form of the scheme, without what surrounds its value. */
  readonly signatures: readonly string[];
}

/**
 * Checks a delivery with every valid secret: each header of the scheme exactly once, a timestamp within the tolerance
 * in both directions, and one signature that matches. Nothing is decoded leniently. A secret without a key, which
 * {@link requireSchemeKey} finds, never matches.
 *
 * @param now the time of the receiver, in epoch seconds
 * @throws HookproofError SECRET_INVALID if the secret of an Ed25519 scheme is not a key
 */
export function checkWithScheme(
  scheme: Scheme,
  delivery: SchemeDelivery,
  secrets: readonly string[],
  now: number,
): SchemeCheck {
  const headers = readHeaders(scheme, delivery.headers);
  const fault = faultOf(scheme, headers, now);
  if (fault !== undefined) return { ok: false, reason: fault };
  const { id, timestamp, signatures } = headers;
  const { body, url } = delivery;
  const bytes = signedBytes(scheme.signed, { body, url, id, timestamp });
  // No early exit, so that the duration does not reveal which secret matched.
  const results = secrets.map((secret) => signatures.filter(signatureTest(scheme, bytes, secret)).length > 0);
  const secretIndex = results.indexOf(true);
  return secretIndex === -1 ? { ok: false, reason: 'mismatch' } : { ok: true, secretIndex };
}

type SchemeFault = Exclude<Extract<SchemeCheck, { ok: false }>['reason'], 'mismatch'>;

/** Returns why a delivery with these headers must be rejected, whatever its body is; undefined if it can be valid. */
export function headersFault(scheme: Scheme, lines: readonly HeaderLine[], now: number): SchemeFault | undefined {
  return faultOf(scheme, readHeaders(scheme, lines), now);
}

function faultOf(scheme: Scheme, { faults, timestamp, signatures }: SchemeHeaders, now: number) {
  if (faults.some(({ code }) => code === 'missing')) return 'missing';
  if (faults.length > 0 || signatures.length === 0) return 'malformed';
  const { toleranceSeconds = Number.POSITIVE_INFINITY } = scheme;
  return Math.abs(now - timestamp) > toleranceSeconds ? 'out-of-tolerance' : undefined;
}

/** Returns the values of the signatures in the headers of a delivery. */
export function signaturesOfScheme(scheme: Scheme, lines: readonly HeaderLine[]): readonly string[] {
  return readHeaders(scheme, lines).signatures;
}

/** Reads the headers of a delivery in a scheme. */
export function readHeaders(scheme: Scheme, lines: readonly HeaderLine[]): SchemeHeaders {
  const faults: HeaderFault[] = [];
  let values: Readonly<Record<string, string>> = {};
  for (const [name, template] of Object.entries(scheme.headers)) {
    const [first = '', ...others] = headerValues(lines, name);
    const read = valueIn(template, first);
    if (first === '') faults.push({ name, code: 'missing' });
    else if (others.length > 0) faults.push({ name, code: 'repeated' });
    else if (read === undefined || isAmbiguous(scheme, read.id)) faults.push({ name, code: 'form' });
    // One spelling for each number, because the signed text contains it.
    else if (read.timestamp !== undefined && !/^(?:0|[1-9]\d{0,14})$/.test(read.timestamp)) {
      faults.push({ name, code: 'number' });
    }
    values = { ...values, ...read };
  }
  const { id = '', timestamp = '', signature = '' } = values;
  const signatures = signature
    .split(scheme.separator ?? '\n')
    .map((text) => valueIn(scheme.signature, text)?.value)
    .filter((value) => value !== undefined);
  return { faults, id, timestamp: Number(timestamp), signatures };
}

/**
 * Returns whether an id contains the text that ends it in the signed text. Bytes could then move between the id and the
 * body of a delivery without a change of its signature.
 */
function isAmbiguous({ signed }: Scheme, id = ''): boolean {
  const end = /\{id\}([^{]+)/.exec(signed)?.[1];
  return end !== undefined && id.includes(end);
}

/** Returns the values of the placeholders of a template in a text; undefined if the text does not have its form. */
export function valueIn(template: Template, text: string): Readonly<Record<string, string>> | undefined {
  const parts = template.split(/\{(\w+)\}/);
  const escaped = parts.map((part, at) =>
    at % 2 === 1 ? `(?<${part}>.*${at < parts.length - 2 ? '?' : ''})` : part.replaceAll(/[^\w\s]/g, '\\$&'),
  );
  return new RegExp(`^${escaped.join('')}$`, 's').exec(text)?.groups;
}

/** Returns a function that decides whether the value of a signature is valid for these bytes. */
export function signatureTest(scheme: Scheme, bytes: Uint8Array, secret: string): (value: string) => boolean {
  const { algorithm, encoding } = scheme;
  if (algorithm === 'ed25519') {
    const key = publicKey(scheme, secret);
    return (value) => {
      const signature = Buffer.from(value, encoding);
      return signature.toString(encoding) === value && verifyEdDsa(null, bytes, key, signature);
    };
  }
  const key = keyBytes(scheme, secret);
  const expected = Buffer.from(hmac(bytes, key, algorithm).toString(encoding));
  return (value) => {
    // As texts, because a decoder ignores what is not part of the encoding.
    const presented = Buffer.from(value);
    // Anyone can compute the HMAC with an empty key.
    return key.length > 0 && presented.length === expected.length && timingSafeEqual(presented, expected);
  };
}

/**
 * Requires that a secret contains a key of the scheme.
 *
 * @throws HookproofError SECRET_INVALID
 */
export function requireSchemeKey(scheme: Scheme, secret: string): void {
  if (scheme.algorithm === 'ed25519') {
    publicKey(scheme, secret);
    return;
  }
  const { prefix = '', encoding } = scheme.secret;
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  if (text !== '' && (encoding === 'utf8' || /^[A-Za-z0-9+/]{2,}={0,2}$/.test(text))) return;
  throw new HookproofError('SECRET_INVALID', `the secret is not a valid key for ${scheme.title}`, {
    hint: `Give ${prefix === '' ? '' : `"${prefix}" followed by `}${encoding === 'utf8' ? 'text' : 'Base64'}.`,
  });
}
