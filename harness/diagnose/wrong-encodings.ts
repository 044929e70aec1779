/**
 * The ways in which the harness re-signs a delivery when a receiver refuses the right one: what it accepts is what it verifies.
 * Specification: Authentication, HMAC signature (Common faults).
 */
import { describeFault, type FaultText, readBody, recipeFor, signBy, variantsOf } from '../offline/index.ts';

export interface WrongEncoding extends FaultText {
  /**
   * The signature header made in this wrong way. Undefined when the way does not apply to this body or secret, and when it gives the
   * right signature, which would tell nothing.
   */
  readonly sign: (body: Uint8Array) => string | undefined;
}

/** By likelihood. Several apply only to certain secrets, or with an API key or URL at hand, so fewer requests are sent than there are names. */
const LIKELY = [
  'hex',
  'prefixed-hex',
  'reserialised-json',
  'secret-newline',
  'base64-decoded-secret',
  'reserialised-json+hex',
  'python-json',
  'python-compact-json',
  'php-json',
  'trimmed-secret',
  'first-32-of-secret',
  'lower-case-body',
  'trimmed-body',
  'latin1-body',
  'base64url',
  'padded-base64url',
  'unpadded-base64',
  'base64-of-hex',
  'data-only',
  'sorted-json',
  'python-sorted-json',
  'python-sorted-compact-json',
  'go-json',
  'pretty-json-2',
  'hmac-sha1',
  'hmac-sha512',
  'hex-decoded-secret',
  'prefix-stripped-decoded-secret',
  'latin1-secret',
  'timestamp-dot-body',
  'id-timestamp-body',
  'id-dot-body',
  'url-body',
  'empty-object-body',
  'api-key-as-secret',
  'empty-secret',
] as const;

/** The mutants of the fault dictionary that want such a signature from everybody. */
const MUTANTS: Readonly<Record<string, string>> = {
  hex: 'expects-hex',
  'prefixed-hex': 'expects-prefixed-hex',
  'hmac-sha1': 'expects-sha1',
  'reserialised-json': 'verifies-reserialised-json',
  'base64-decoded-secret': 'secret-decoded-first',
  'python-json': 'verifies-python-json',
  'python-compact-json': 'verifies-python-compact-json',
  'python-sorted-compact-json': 'verifies-sorted-json',
  'sorted-json': 'verifies-go-map-json',
  'php-json': 'verifies-php-json',
  'pretty-json-2': 'verifies-indented-json',
  'trimmed-body': 'trims-body',
  'first-32-of-secret': 'secret-cut-at-32',
  'lower-case-body': 'verifies-lower-case-body',
  'data-only': 'verifies-data-only',
  'id-dot-body': 'verifies-id-and-body',
  'url-body': 'verifies-url-and-body',
};

/** The name of the mutant that makes the mistake of a wrong way to sign; undefined when there is none. */
export function mutantOf(fault: string): string | undefined {
  return MUTANTS[fault];
}

/**
 * The likely wrong ways to sign, most likely first.
 *
 * The body decides what can be told apart. Over plain compact JSON a re-serialiser signs rightly, so send a body that has all of: spaces
 * behind "," and ":", a line feed at its end, a raw character of Latin-1 outside ASCII (such as e-acute), a number such as 1.0, and a
 * text with a raw "/". `sign` gives undefined for the ways that would not differ from the right one.
 */
export function wrongEncodings(
  secret: string,
  more: { readonly apiKey?: string; readonly url?: string } = {},
): readonly WrongEncoding[] {
  return LIKELY.map((fault) => {
    const recipe = recipeFor(fault) ?? {};
    return {
      ...describeFault(variantsOf(recipe)),
      sign(body) {
        const reading = readBody({ body, secret, ...more });
        const signature = signBy(recipe, reading);
        return signature === signBy({}, reading) ? undefined : signature;
      },
    };
  });
}
