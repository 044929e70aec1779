/** How the loader says what it found. */
import { HookproofError } from '../../contract/index.ts';
import { sentence } from '../facts/wording.ts';
import type { LineFault } from './pem.ts';
import type { DerKind, OtherKind } from './sniff.ts';

/** The codes of what makes material unusable. Stable. */
export type MaterialProblemCode =
  | `${'CERT' | 'KEY'}_${'EMPTY' | 'ENCODING' | 'PEM_LINES' | 'TRUNCATED' | 'DAMAGED' | 'IS_OTHER'}`
  | 'CERT_IS_KEY'
  | 'KEY_IS_CERTIFICATE'
  | 'KEY_IS_PUBLIC'
  | 'KEY_SEVERAL'
  | 'KEY_ENCRYPTED'
  | 'KEY_WRONG_PASSPHRASE'
  | 'KEY_CIPHER'
  | 'KEY_TYPE'
  | 'KEY_OTHER_PAIR'
  | 'PAIR_SWAPPED'
  | 'CERT_EXPIRED'
  | 'CERT_NOT_YET_VALID'
  | 'CERT_WEAK_KEY'
  | 'CERT_PURPOSE';

/** The codes of what is unwise or worth knowing. Stable. */
export type MaterialAdviceCode =
  | 'KEY_NOT_ENCRYPTED'
  | 'CERT_EXPIRES_SOON'
  | 'CERT_WEAK_SIGNATURE'
  | 'CERT_KEY_KIND'
  | 'CERT_IS_AUTHORITY'
  | 'CERT_SELF_SIGNED'
  | 'CERT_ANY_PURPOSE'
  | 'CHAIN_REORDERED'
  | 'CHAIN_DUPLICATE'
  | 'CHAIN_UNRELATED'
  | 'CHAIN_INCOMPLETE'
  | 'CHAIN_WEAK'
  | 'CA_NOT_AUTHORITY'
  | 'CA_EXPIRED'
  | 'CA_WITH_KEY';

/** One thing to say. None of the texts ever holds anything of a key. */
export interface MaterialFinding<Code extends string = string> {
  readonly code: Code;
  /** Which of the two files it is about. */
  readonly about: 'certificate' | 'key';
  /** A sentence without its capital and its full stop, which begins with the name of the file. */
  readonly what: string;
  /** What to do about it, in whole sentences, with the command that does it where there is one. */
  readonly hint: string;
}

export type MaterialProblem = MaterialFinding<MaterialProblemCode>;
export type MaterialAdvice = MaterialFinding<MaterialAdviceCode>;

/**
 * What came of reading. `value` is absent when nothing could be read. Problems beside a value mean that it was read and that a right
 * server or client would refuse it.
 */
export interface MaterialReading<T> {
  readonly value: T | undefined;
  readonly problems: readonly MaterialProblem[];
  readonly advice: readonly MaterialAdvice[];
}

/** Where bytes came from: a file by its path, or something else by what messages should call it. */
export type MaterialSource = { readonly file: string } | { readonly name: string };

/** What messages call a source. */
export function sourceName(source: MaterialSource): string {
  return 'file' in source ? `the file ${source.file}` : source.name;
}

/** What messages call the certificate in a source. */
export function certificateName(source: MaterialSource): string {
  return 'file' in source ? `the certificate in ${sourceName(source)}` : source.name;
}

/** A source as an argument in a command for a shell. */
export function shellName(source: MaterialSource): string {
  if (!('file' in source)) return 'FILE';
  return /^[\w./,:@%+][\w./,:@%+-]*$/.test(source.file) ? source.file : `'${source.file.replaceAll("'", `'\\''`)}'`;
}

/**
 * The value of a reading without problems.
 *
 * @throws HookproofError with the code of the first problem
 */
export function usableMaterial<T>({ value, problems: [problem] }: MaterialReading<T>): T {
  if (problem !== undefined || value === undefined) {
    const { code, what, hint } = problem ?? { code: 'CERT_EMPTY', what: 'nothing was read', hint: '' };
    throw new HookproofError(code, sentence(what), { hint });
  }
  return value;
}

/** The words for what a file turns out to be, and how to get from there to what is wanted. */

/** What a caller wants to read. */
export type Wanted = 'certificate' | 'key';

/** Everything that a block, a structure or a file can be. */
export type ContentKind = DerKind | OtherKind | 'parameters' | 'openssh-private-key' | 'pgp' | 'unknown-block';

/** Kinds by the label of a PEM block. */
const LABELS: Readonly<Record<string, ContentKind>> = {
  CERTIFICATE: 'certificate',
  'X509 CERTIFICATE': 'certificate',
  'TRUSTED CERTIFICATE': 'certificate',
  'PRIVATE KEY': 'pkcs8',
  'ENCRYPTED PRIVATE KEY': 'encrypted-pkcs8',
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
  'DSA PRIVATE KEY': 'dsa',
  'PUBLIC KEY': 'public-key',
  'RSA PUBLIC KEY': 'public-key',
  'CERTIFICATE REQUEST': 'request',
  'NEW CERTIFICATE REQUEST': 'request',
  'X509 CRL': 'revocation-list',
  PKCS7: 'pkcs7',
  'PKCS #7 SIGNED DATA': 'pkcs7',
  CMS: 'pkcs7',
  PKCS12: 'pkcs12',
  'EC PARAMETERS': 'parameters',
  'DH PARAMETERS': 'parameters',
  'DSA PARAMETERS': 'parameters',
  'OPENSSH PRIVATE KEY': 'openssh-private-key',
};

/** What a PEM block says that it is. */
export function labelKind(label: string): ContentKind {
  return LABELS[label] ?? (label.startsWith('PGP ') ? 'pgp' : 'unknown-block');
}

export function isPrivateKey(kind: ContentKind): boolean {
  return PRIVATE_KEYS.has(kind);
}

const PRIVATE_KEYS: ReadonlySet<ContentKind> = new Set<ContentKind>([
  'pkcs8',
  'encrypted-pkcs8',
  'pkcs1',
  'sec1',
  'dsa',
]);

/** Each with its article. */
export const KIND_WORDS: Readonly<Record<ContentKind, string>> = {
  certificate: 'a certificate',
  request: 'a certificate request (CSR)',
  'revocation-list': 'a certificate revocation list (CRL)',
  pkcs8: 'a private key',
  'encrypted-pkcs8': 'an encrypted private key',
  pkcs1: 'an RSA private key',
  sec1: 'an EC private key',
  dsa: 'a DSA private key',
  'public-key': 'a public key',
  pkcs7: 'a PKCS#7 container',
  pkcs12: 'a PKCS#12 container (PFX)',
  unknown: 'a DER structure of another kind',
  parameters: 'key parameters',
  'openssh-private-key': 'a private key in the format of OpenSSH',
  'openssh-public-key': 'a public key of SSH',
  'putty-key': 'a key of PuTTY (PPK)',
  pgp: 'something of OpenPGP',
  'unknown-block': 'a PEM block of another kind',
  empty: 'empty',
  blank: 'empty but for white space',
  'utf-16': 'text in UTF-16',
  'bare-base64': 'base64 without the lines -----BEGIN and -----END',
  'base64-of-pem': 'PEM text that was encoded in base64 once more',
  printed: 'a printed description, which a person can read and a program cannot',
  'java-keystore': 'a Java keystore (JKS)',
  zip: 'a zip archive',
  html: 'an HTML page',
  xml: 'XML',
  json: 'JSON',
  'json-with-pem': 'JSON with PEM text in it',
  'json-web-key': 'a JSON web key',
  text: 'text that is no PEM',
  binary: 'binary data of an unknown kind',
};

/** What is wrong with the lines, after "the file X". */
export const LINE_WORDS: Readonly<Record<LineFault, readonly [what: string, hint: string]>> = {
  'no-end': ['is cut off: a line -----BEGIN has no line -----END', 'Copy the file again, whole.'],
  'no-begin': ['is cut off at its start: a line -----END has no line -----BEGIN', 'Copy the file again, whole.'],
  'other-end': [
    'has a line -----END that names something else than its line -----BEGIN',
    'Two files were mixed up: take each from its source again.',
  ],
  glued: [
    'has -----END and -----BEGIN on one line',
    'A line break was lost when files were joined: put one between them, and end each file with a newline.',
  ],
  'blank-lines': [
    'has empty lines inside a PEM block, which OpenSSL does not read',
    'Remove them: the lines between -----BEGIN and -----END follow each other.',
  ],
  escaped: [
    'has the two characters \\n in place of line breaks',
    'Turn them into line breaks; in a shell: printf \'%b\' "$VALUE" > FILE.',
  ],
  'one-line': [
    'has a PEM block on one line, which OpenSSL does not read',
    'Put line breaks back after -----BEGIN … -----, before -----END … -----, and after every 64 characters in between.',
  ],
  'carriage-returns': [
    'ends its lines with carriage returns alone, which OpenSSL does not read',
    "Turn them into newlines: tr '\\r' '\\n' < FILE > OUTPUT.",
  ],
  indented: [
    'has its PEM lines indented, which OpenSSL does not read',
    'Remove the spaces at the start of the lines; they often come from a copy out of YAML.',
  ],
  'begin-line': [
    'has a damaged line BEGIN',
    'It is -----BEGIN, the kind, and ----- again, with five plain hyphens on each side and nothing else on the line.',
  ],
};
