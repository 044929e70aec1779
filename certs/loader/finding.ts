/** How the loader says what it found. */
import { HookproofError } from '../../contract/index.ts';
import { sentence } from '../facts/sentence.ts';

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
