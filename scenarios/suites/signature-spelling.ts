import { asHex, derived, encodedAs, joined, type SigningScheme } from '../changes/signing.ts';
import { accepted } from '../expectations.ts';
import type { Change, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { enclosed, piped, rejected } from './signature-family.ts';

const hasPlusAndSlash = (valid: string) => valid.includes('+') && valid.includes('/');

/** The valid digest in encodings other than standard base64. */
export function spelledSignatures(scheme: SigningScheme): Scenario[] {
  const hexShell = asHex(scheme.digestShell);
  /** Sends the digest in hexadecimal, rewritten. */
  const hex =
    (rewrite: (text: string) => string, shell: string) =>
    (label: string): Change => ({ sign: encodedAs(label, (digest) => rewrite(digest.toString('hex')), shell) });
  const toBase64 = (text: string) => Buffer.from(text).toString('base64');

  const plainHex = hex((text) => text, hexShell);
  const upperCaseHex = hex((text) => text.toUpperCase(), `${hexShell} | tr 'a-f' 'A-F'`);
  const prefixedHex = hex((text) => `sha256=${text}`, joined("printf %s 'sha256='", hexShell));
  const base64OfHex = hex(toBase64, `${hexShell} | tr -d '\\n' | openssl base64 -A`);
  const urlSafe = piped(
    scheme,
    (valid) => Buffer.from(valid, 'base64').toString('base64url'),
    "tr '+/' '-_' | tr -d '='",
    hasPlusAndSlash,
  );
  const urlSafePadded = piped(
    scheme,
    (valid) => valid.replaceAll('+', '-').replaceAll('/', '_'),
    "tr '+/' '-_'",
    hasPlusAndSlash,
  );
  const percentEncoded = piped(scheme, encodeURIComponent, "sed 's,/,%2F,g; s,+,%2B,g; s,=,%3D,g'");
  const withSpace = (label: string): Change => ({
    sign: derived(
      label,
      (valid) => `${valid.slice(0, 22)} ${valid.slice(22)}`,
      `{ right=$(${scheme.shell}); printf %s "$(printf %s "$right" | cut -c1-22) $(printf %s "$right" | cut -c23-)"; }`,
    ),
  });
  const inSpace = (label: string): Change => ({
    sign: derived(label, (valid) => `\t ${valid} \t`, joined("printf '\\t '", scheme.shell, "printf ' \\t'")),
  });
  const must = rejected(scheme, 'encoding');
  const should = { ...must, level: 'should' } as const;
  return [
    ...family(
      { ...must, mistake: 'foreign-signature-format' },
      {
        hex: ['the valid digest in hexadecimal', plainHex, 'wrong-digest-encoding'],
        'hex-upper-case': ['the valid digest in upper-case hexadecimal', upperCaseHex, 'wrong-digest-encoding'],
        'sha256-hex': ['the valid digest in hexadecimal with the prefix "sha256="', prefixedHex],
        'sha256-base64': [
          'the valid signature with the prefix "sha256="',
          enclosed(scheme, 'sha256=', ''),
          { note: 'Code that splits the header at "=" also cuts the padding off a valid signature.' },
        ],
        'version-prefix': ['the valid signature with the prefix "v1,"', enclosed(scheme, 'v1,', '')],
      },
    ),
    ...family(
      { ...should, mistake: 'base64-variant' },
      {
        base64url: ['the valid digest in URL-safe Base64 without padding', urlSafe],
        'base64url-padded': ['the valid digest in URL-safe Base64 with padding', urlSafePadded],
        'percent-encoded': ['the valid signature in percent-encoding', percentEncoded, 'signature-treated-as-url-text'],
        'in-quotes': ['the valid signature in double quotes', enclosed(scheme, '"', '"')],
        'blank-inside': ['the valid signature with a space in the middle', withSpace],
      },
    ),
    ...family(
      { ...must, mistake: 'wrong-digest-encoding' },
      {
        'base64-of-hex': ['the Base64 of the hexadecimal digest', base64OfHex],
        'base64-twice': ['the valid signature encoded in Base64 twice', piped(scheme, toBase64, 'openssl base64 -A')],
      },
    ),
    ...family(
      { ...rejected(scheme, 'header'), verb: 'Accepts', level: 'should', expect: accepted },
      {
        'white-space-around': ['the valid signature with spaces and tabs around it', inSpace, 'untrimmed-signature'],
      },
    ),
  ];
}
