/** Findings of the loader: codes, sources, and texts for the contents of files. */

import type { LineFault } from './pem.ts';
import type { DerKind, OtherKind } from './sniff.ts';

/** Stable codes of problems, which make a certificate or key unusable. */
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

/** Stable codes of advice. */
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

/** A problem or a piece of advice. The texts never contain any part of a key. */
export interface MaterialFinding<Code extends string = string> {
  readonly code: Code;
  /** The kind of file that the finding concerns. */
  readonly about: 'certificate' | 'key';
  /** A clause that starts with the name of the file, without a capital letter or a full stop. */
  readonly what: string;
  /** How to fix it, in whole sentences, with a command where there is one. */
  readonly hint: string;
}

export type MaterialProblem = MaterialFinding<MaterialProblemCode>;
export type MaterialAdvice = MaterialFinding<MaterialAdviceCode>;

/**
 * The result of reading a file. `value` is undefined when it could not be read. If there are problems although `value`
 * is set, a correct peer would reject it.
 */
export interface MaterialReading<T> {
  readonly value: T | undefined;
  readonly problems: readonly MaterialProblem[];
  readonly advice: readonly MaterialAdvice[];
}

/** The source of bytes: the path of a file, or another name for messages. */
export type MaterialSource = { readonly file: string } | { readonly name: string };

/** Returns the name of a source for messages. */
export function sourceName(source: MaterialSource): string {
  return 'file' in source ? `the file ${source.file}` : source.name;
}

/** Returns the name of the certificate in a source, for messages. */
export function certificateName(source: MaterialSource): string {
  return 'file' in source ? `the certificate in ${sourceName(source)}` : source.name;
}

/** Returns a source as an argument of a shell command. A source that is not a file becomes `FILE`. */
export function shellName(source: MaterialSource): string {
  if (!('file' in source)) return 'FILE';
  return /^[\w./,:@%+][\w./,:@%+-]*$/.test(source.file) ? source.file : `'${source.file.replaceAll("'", `'\\''`)}'`;
}

/** What the caller expects in a file. */
export type Wanted = 'certificate' | 'key';

/** Every kind of content that a block, a structure or a file can have. */
export type ContentKind = DerKind | OtherKind | 'parameters' | 'openssh-private-key' | 'pgp' | 'unknown-block';

/** The kind of content for each label of a PEM block. */
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

/** Returns the kind that the label of a PEM block stands for. */
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

/** Names of the kinds, with an article. */
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
  unknown: 'a DER structure of another type',
  parameters: 'key parameters',
  'openssh-private-key': 'a private key in OpenSSH format',
  'openssh-public-key': 'an SSH public key',
  'putty-key': 'a PuTTY key (PPK)',
  pgp: 'OpenPGP data',
  'unknown-block': 'a PEM block of another type',
  empty: 'empty',
  blank: 'empty except for whitespace',
  'utf-16': 'text in UTF-16',
  'bare-base64': 'base64 without -----BEGIN and -----END lines',
  'base64-of-pem': 'PEM text encoded in base64 again',
  printed: 'a printed description, not the data itself',
  'java-keystore': 'a Java keystore (JKS)',
  zip: 'a zip archive',
  html: 'an HTML page',
  xml: 'XML',
  json: 'JSON',
  'json-with-pem': 'JSON that contains PEM text',
  'json-web-key': 'a JSON web key',
  text: 'text that is not PEM',
  binary: 'binary data of unknown type',
};

/** Faults of lines in PEM text, each with a hint. `what` continues "the file X". */
export const LINE_WORDS: Readonly<Record<LineFault, readonly [what: string, hint: string]>> = {
  'no-end': ['is cut off: a -----BEGIN line has no -----END line', 'Copy the complete file again.'],
  'no-begin': ['is cut off at its start: an -----END line has no -----BEGIN line', 'Copy the complete file again.'],
  'other-end': [
    'has an -----END line that does not match its -----BEGIN line',
    'Two files were mixed up: copy each from its source again.',
  ],
  glued: [
    'has -----END and -----BEGIN on one line',
    'A line break was lost when files were joined: insert one, and end each file with a newline.',
  ],
  'blank-lines': [
    'has empty lines inside a PEM block, which OpenSSL does not read',
    'Remove the empty lines between -----BEGIN and -----END.',
  ],
  escaped: [
    'has the two characters \\n instead of line breaks',
    'Convert them to line breaks; in a shell: printf \'%b\' "$VALUE" > FILE.',
  ],
  'one-line': [
    'has a PEM block on one line, which OpenSSL does not read',
    'Put line breaks back after -----BEGIN … -----, before -----END … -----, and after every 64 characters in between.',
  ],
  'carriage-returns': [
    'ends its lines with carriage returns only, which OpenSSL does not read',
    "Convert them to newlines: tr '\\r' '\\n' < FILE > OUTPUT.",
  ],
  indented: [
    'has its PEM lines indented, which OpenSSL does not read',
    'Remove the spaces at the start of the lines; they often come from copying out of YAML.',
  ],
  'begin-line': [
    'has a damaged -----BEGIN line',
    'The line must be -----BEGIN, the type, and -----, with five plain hyphens on each side and nothing else.',
  ],
};
