/**
 * Redacts by value: all output passes through here once, so a secret is removed in every place and encoding. Reports
 * show secrets as `[redacted:NAME]`, and valid signatures as `[redacted:signature]`.
 */

import { MIN_ANYWHERE, type NamedSpan, replaceSpans, SecretFinder } from '../../contract/find-secrets.ts';
import type { HeaderLine } from '../../contract/index.ts';
import { secretParts } from '../../contract/secret-spellings.ts';

/** A secret and its name in reports ("signature secret", "API key"). */
export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

export interface Redactor {
  /** Removes secrets in any of their encodings, and valid signatures, from text. */
  text(input: string): string;
  /**
   * Like `text`, for catalogue text. Secrets under 16 characters may be ordinary words ("test"): they are not removed,
   * because a gap in a known sentence would reveal them.
   */
  wording(input: string): string;
  /** Like `text`, for bytes in any encoding that contains ASCII or UTF-8. */
  bytes(input: Uint8Array): Uint8Array;
  /** Redacts names and values of header lines. */
  headers(lines: readonly HeaderLine[]): HeaderLine[];
  /** Redacts this valid signature (base64 of the digest) from now on, in base64, base64url and hex. */
  addSignature(base64: string): void;
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function findShort(text: string, short: readonly { readonly pattern: RegExp; readonly name: string }[]): NamedSpan[] {
  return short.flatMap(({ pattern, name }) =>
    Array.from(text.matchAll(pattern), (match) => ({ start: match.index, end: match.index + match[0].length, name })),
  );
}

/** Returns the longest marker that contains no secret: a secret may be the word "redacted". */
function chooseMarker(name: string, isSecret: (text: string) => boolean): string {
  const candidates = [`[redacted:${name}]`, '[redacted]', '[***]', '<---->'];
  return candidates.find((candidate) => !isSecret(candidate)) ?? '';
}

/**
 * Creates a redactor for these secrets; empty values are ignored. Without values and signatures, it changes nothing.
 */
export function createRedactor(options: { readonly values: readonly NamedSecret[] }): Redactor {
  const finder = new SecretFinder();
  for (const { name, value } of options.values) finder.addSecret(name, value);
  // Values short enough to occur by chance are redacted only if they are a complete value: a whole header value or
  // string, in quotes, or after `=` or `:`; case-sensitively, and not in encoded forms.
  const short = options.values
    .flatMap(({ name, value }) => secretParts(value).map((part) => ({ name, value: part })))
    .filter(({ value }) => value.length < MIN_ANYWHERE)
    .map(({ name, value }) => ({
      name,
      pattern: new RegExp(`(?<=^\\s*|["'=:&]\\s*)${escapeForRegExp(value)}(?=\\s*(?:$|["'=&,;\\r\\n]))`, 'g'),
    }));
  const markers = new Map<string, string>();

  const markerFor = (name: string): string => {
    const known = markers.get(name);
    if (known !== undefined) return known;
    const marker = chooseMarker(name, (text) => finder.containsSecret(text));
    markers.set(name, marker);
    return marker;
  };

  const spansOf = (input: string): NamedSpan[] => [...finder.find(input), ...findShort(input, short)];
  const text = (input: string): string => {
    const spans = spansOf(input);
    return spans.length === 0 ? input : replaceSpans(input, spans, markerFor);
  };
  return {
    text,
    wording(input) {
      const spans = finder.findInWording(input);
      return spans.length === 0 ? input : replaceSpans(input, spans, markerFor);
    },
    bytes(input) {
      // Latin-1 has one character per byte, so no byte is lost.
      const characters = Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString('latin1');
      const spans = spansOf(characters);
      if (spans.length === 0) return input;
      const marker = (name: string): string => Buffer.from(markerFor(name)).toString('latin1');
      return Buffer.from(replaceSpans(characters, spans, marker), 'latin1');
    },
    headers: (lines) => lines.map(([name, value]) => [text(name), text(value)]),
    addSignature: (base64) => finder.addSignature('signature', base64),
  };
}
