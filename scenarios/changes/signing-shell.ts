/**
 * Shell text for the reproduction lines: each command reads the body on standard input and writes a value of the
 * signature header. Tools: openssl, tr, cut, head, sed, od, printf. The secret is only ever named, as
 * "$HOOKPROOF_SECRET".
 */

/** Digest as Base64, on one line. */
const AS_BASE64 = 'openssl base64 -A';

/** One word for a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** HMAC in Base64 under the secret that this shell word stands for. `algorithm` is a digest name that openssl knows. */
export function signatureUnder(secretWord: string, algorithm = 'sha256'): string {
  return `openssl dgst -${algorithm} -hmac ${secretWord} -binary | ${AS_BASE64}`;
}

/** HMAC-SHA256 in Base64 under the key that this shell command prints in hexadecimal. */
export function signatureUnderBytes(hexCommand: string): string {
  return `openssl dgst -sha256 -mac HMAC -macopt "hexkey:$(${hexCommand})" -binary | ${AS_BASE64}`;
}

/** The right signature. */
export const RIGHT_SIGNATURE = signatureUnder('"$HOOKPROOF_SECRET"');

/** What openssl writes of a digest of this many bits, as hexadecimal text. */
export function asHex(dgst: string, bits = 256): string {
  return `${dgst} -r | cut -c1-${bits / 4}`;
}

/** Hexadecimal text of the right digest. */
export const RIGHT_DIGEST_HEX = asHex('openssl dgst -sha256 -hmac "$HOOKPROOF_SECRET"');

/** Runs commands one after another as one reader of the standard input; what they print is joined. */
export function joined(...commands: string[]): string {
  return `{ ${commands.join('; ')}; }`;
}

/**
 * The right signature with the characters in [start, end) moved up the Base64 alphabet, as `shifted` in signing.ts
 * does.
 */
export function rightShifted(start: number, end: number, steps: 1 | 4 = 4): string {
  const map = steps === 4 ? "tr 'A-Za-z0-9+/' 'E-Za-z0-9+/A-D'" : "tr 'A-Za-z0-9+/' 'B-Za-z0-9+/A'";
  const before = start === 0 ? '' : `$(printf %s "$right" | cut -c1-${start})`;
  const moved = `$(printf %s "$right" | cut -c${start + 1}-${end} | ${map})`;
  const after = `$(printf %s "$right" | cut -c${end + 1}-)`;
  return `{ right=$(${RIGHT_SIGNATURE}); printf %s "${before}${moved}${after}"; }`;
}
