/** Masks credentials: their values wherever they occur, and headers whose names indicate a credential. */
import { setImmediate } from 'node:timers/promises';
import { decodeText } from '../../contract/decoded-texts.ts';
import { type NamedSpan, replaceSpans, SecretFinder } from '../../contract/find-secrets.ts';
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import { maskUrl } from '../../contract/masked-url.ts';
import { secretParts, secretSpellings } from '../../contract/secret-spellings.ts';

const MASK = '[***]';

/** Number of bytes to mask before pausing to let the receiver process deliveries. */
const TURN = 16 * 1024;
/** Number of bytes by which consecutive parts overlap, because a credential can cross their boundary. */
const OVERLAP = 4 * 1024;

export interface Masker {
  text(input: string): string;
  /**
   * Masks the first `length` bytes (default: all). Returns the same buffer when all bytes are wanted and none is
   * masked. Works in parts, between which the receiver can answer deliveries.
   */
  bytes(input: Buffer, length?: number): Promise<Buffer>;
  /** Masks every string in a JSON-compatible value, at any depth. */
  value<T>(input: T): T;
  /** Returns a masker that also masks `signatures`, which must contain every spelling of each signature. */
  with(signatures: readonly string[]): Masker;
}

/**
 * Creates a masker for credentials in every spelling. Short credentials are masked only where they are the whole text.
 */
export function createMasker(credentials: readonly string[]): Masker {
  const finder = new SecretFinder();
  for (const credential of credentials) finder.addSecret(MASK, credential);
  return maskerWith(new Set(credentials.flatMap(secretParts).flatMap(secretSpellings)), [finder]);
}

function maskerWith(whole: ReadonlySet<string>, finders: readonly SecretFinder[]): Masker {
  const spansIn = (input: string): NamedSpan[] => {
    const decoded = decodeText(input);
    return finders.flatMap((finder) => finder.find(input, decoded));
  };
  const mask = (input: string, spans: readonly NamedSpan[]) => replaceSpans(input, spans, () => MASK);
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
      const spans: NamedSpan[] = [];
      for (let from = 0; from < read.length; from += TURN) {
        if (from > 0) await setImmediate();
        // Each byte is read as one character, so bytes that are not masked stay unchanged.
        const part = read.toString('latin1', from, from + TURN + OVERLAP);
        const isLast = from + part.length === read.length;
        for (const { start, end, name } of spansIn(part)) {
          // A credential that begins in the overlap is found again, complete, in the next part.
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
      const finder = new SecretFinder();
      for (const signature of signatures) finder.addSpelling(MASK, signature);
      return maskerWith(whole, [...finders, finder]);
    },
  };
}

export interface ShownHeader {
  readonly name: string;
  /** Null when the value is masked. Neither its length nor its characters are shown. */
  readonly value: string | null;
  /** The reason why the value is masked. */
  readonly note?: string;
}

/** Configured names of the headers. */
export interface HeaderNames {
  readonly signature: string;
  readonly apiKey: string;
  /** Other headers in which a receiver may read a signature. */
  readonly aliases: readonly string[];
}

const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

/** Common names of headers that contain credentials. */
const CREDENTIAL_NAME = /(?:^|[-_])(?:token|secret|password|passwd|api[-_]?key|access[-_]?key|auth)$/i;

/**
 * Masks the values of headers, and keeps their order. `signatureWithheld` states why the signature is not shown;
 * undefined if it may be.
 */
export function maskHeaders(
  lines: readonly HeaderLine[],
  names: HeaderNames,
  signatureWithheld: string | undefined,
): ShownHeader[] {
  return lines.map(([name, value]) => {
    if (sameHeaderName(name, names.apiKey)) return { name, value: null, note: 'the API key is never shown' };
    if ([names.signature, ...names.aliases].some((one) => sameHeaderName(name, one))) {
      return signatureWithheld === undefined ? { name, value } : { name, value: null, note: signatureWithheld };
    }
    if (CREDENTIALS.has(name.toLowerCase()) || CREDENTIAL_NAME.test(name)) {
      return { name, value: null, note: 'credentials are never shown' };
    }
    return { name, value };
  });
}

/** Returns the path and query with masked query values, because some senders put credentials there. */
export function maskTarget(target: string): string {
  return maskUrl(target, MASK);
}
