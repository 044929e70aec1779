/** Masks credentials: by value wherever a sender has put them, and by the name of the header. */

import { createSecretFinder, replaceSpans } from '../../contract/find-secrets.ts';
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import { secretParts, secretSpellings } from '../../contract/secret-spellings.ts';

const MASK = '[***]';

export interface Masker {
  text(input: string): string;
  /** The same buffer when there was nothing to mask. */
  bytes(input: Buffer): Buffer;
  /** Every string in a value that can be written as JSON, at any depth. */
  value<T>(input: T): T;
}

/**
 * Masks credentials in every spelling, and these signatures. Short credentials are masked only where they are the whole
 * text.
 */
export function createMasker(credentials: readonly string[], signatures: readonly string[] = []): Masker {
  const spellings = new Set(credentials.flatMap(secretParts).flatMap(secretSpellings));
  const finder = createSecretFinder();
  for (const credential of credentials) finder.addSecret(MASK, credential);
  for (const signature of signatures) finder.addSpelling(MASK, signature);

  const within = (input: string): string => replaceSpans(input, finder.find(input), () => MASK);
  const text = (input: string): string => (input !== '' && spellings.has(input) ? MASK : within(input));
  const value = (input: unknown): unknown => {
    if (typeof input === 'string') return text(input);
    if (Array.isArray(input)) return input.map(value);
    if (typeof input !== 'object' || input === null) return input;
    return Object.fromEntries(Object.entries(input).map(([name, item]) => [name, value(item)]));
  };
  return {
    text,
    value: (input) => value(input) as typeof input,
    bytes(input) {
      // One character for each byte, so that nothing else changes.
      const characters = input.toString('latin1');
      const masked = within(characters);
      return masked === characters ? input : Buffer.from(masked, 'latin1');
    },
  };
}

export interface ShownHeader {
  readonly name: string;
  /** Null when it is masked: neither its length nor its characters are shown. */
  readonly value: string | null;
  /** Why it is masked. */
  readonly note?: string;
}

const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

/** Names that others give to such headers. */
const CREDENTIAL_NAME = /(?:^|[-_])(?:token|secret|password|passwd|api[-_]?key|access[-_]?key|auth)$/i;

/** The headers in their order. `signatureWithheld` says why the signature is not shown; undefined when it is. */
export function maskHeaders(
  lines: readonly HeaderLine[],
  names: { readonly apiKey: string; readonly signature: string },
  signatureWithheld: string | undefined,
): ShownHeader[] {
  return lines.map(([name, value]) => {
    if (sameHeaderName(name, names.apiKey)) return { name, value: null, note: 'the API key is never shown' };
    if (sameHeaderName(name, names.signature)) {
      return signatureWithheld === undefined ? { name, value } : { name, value: null, note: signatureWithheld };
    }
    if (CREDENTIALS.has(name.toLowerCase()) || CREDENTIAL_NAME.test(name)) {
      return { name, value: null, note: 'credentials are never shown' };
    }
    return { name, value };
  });
}

/** Path and query, with the values of the query masked: some senders put credentials there. */
export function maskTarget(target: string): string {
  const at = target.indexOf('?');
  if (at === -1) return target;
  const names = target
    .slice(at + 1)
    .split('&')
    .map((part) => (part.includes('=') ? `${part.slice(0, part.indexOf('='))}=${MASK}` : MASK));
  return `${target.slice(0, at)}?${names.join('&')}`;
}
