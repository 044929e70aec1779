/** Masks credentials: by value wherever a sender has put them, and by the name of the header. */
import { setImmediate } from 'node:timers/promises';
import { readingsOf } from '../../contract/decoded-readings.ts';
import { createSecretFinder, replaceSpans, type SecretFinder, type Span } from '../../contract/find-secrets.ts';
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import { maskUrl } from '../../contract/masked-url.ts';
import { secretParts, secretSpellings } from '../../contract/secret-spellings.ts';

const MASK = '[***]';

/** So much is masked before deliveries get their turn, in bytes. */
const TURN = 16 * 1024;
/** So much of the next part is read with each, because a credential can lie across both. In bytes. */
const OVERLAP = 4 * 1024;

export interface Masker {
  text(input: string): string;
  /**
   * The first bytes, all by default, masked; the same buffer when there was nothing to mask and all are asked for. It
   * works in parts, between which the receiver answers deliveries.
   */
  bytes(input: Buffer, length?: number): Promise<Buffer>;
  /** Every string in a value that can be written as JSON, at any depth. */
  value<T>(input: T): T;
  /** Masks these signatures too, each of which is given in every spelling. */
  with(signatures: readonly string[]): Masker;
}

/** Masks credentials in every spelling. Short credentials are masked only where they are the whole text. */
export function createMasker(credentials: readonly string[]): Masker {
  const finder = createSecretFinder();
  for (const credential of credentials) finder.addSecret(MASK, credential);
  return maskerWith(new Set(credentials.flatMap(secretParts).flatMap(secretSpellings)), [finder]);
}

function maskerWith(whole: ReadonlySet<string>, finders: readonly SecretFinder[]): Masker {
  const spansIn = (input: string): Span[] => {
    const readings = readingsOf(input);
    return finders.flatMap((finder) => finder.find(input, readings));
  };
  const mask = (input: string, spans: readonly Span[]) => replaceSpans(input, spans, () => MASK);
  const text = (input: string): string => (input !== '' && whole.has(input) ? MASK : mask(input, spansIn(input)));
  const value = (input: unknown): unknown => {
    if (typeof input === 'string') return text(input);
    if (Array.isArray(input)) return input.map(value);
    if (typeof input !== 'object' || input === null) return input;
    return Object.fromEntries(Object.entries(input).map(([name, item]) => [name, value(item)]));
  };
  return {
    text,
    value: (input) => value(input) as typeof input,
    async bytes(input, length = input.length) {
      const read = input.subarray(0, length + OVERLAP);
      const spans: Span[] = [];
      for (let from = 0; from < read.length; from += TURN) {
        if (from > 0) await setImmediate();
        // One character for each byte, so that nothing else changes.
        const part = read.toString('latin1', from, from + TURN + OVERLAP);
        const isLast = from + part.length === read.length;
        for (const { start, end, name } of spansIn(part)) {
          // What begins in the overlap is found whole with the next part.
          if (isLast || start < TURN) spans.push({ start: start + from, end: end + from, name });
        }
        if (isLast) break;
      }
      if (spans.length === 0) return length < input.length ? input.subarray(0, length) : input;
      return Buffer.from(mask(read.toString('latin1'), spans), 'latin1').subarray(
        0,
        length < input.length ? length : undefined,
      );
    },
    with(signatures) {
      const finder = createSecretFinder();
      for (const signature of signatures) finder.addSpelling(MASK, signature);
      return maskerWith(whole, [...finders, finder]);
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
  return maskUrl(target, MASK);
}
