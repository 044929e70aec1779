/** What `hookproof receiver` serves HTTPS with, as its flags name it. Specification: TLS; mutual TLS. */
import { certificatesPem } from '../../certs/index.ts';
import { givenByFlag } from './given.ts';
import { ALL_LISTED, throwIfAny } from './problems.ts';
import { noteAdvice, noteProblems, readCa } from './read-material.ts';
import { pairPem, readPair } from './read-pair.ts';
import { startResolution } from './resolution.ts';

/** A file, PEM or DER, and the flag that names it. Relative paths stand against `cwd`. */
export interface FlagFile {
  readonly flag: string;
  readonly file: string;
  readonly cwd: string;
}

export interface ServerPairFiles {
  /** The certificate with its intermediates, in any order. */
  readonly cert: FlagFile;
  readonly key: FlagFile;
  readonly passphrase: string | undefined;
  /** What to do about a key that is encrypted. */
  readonly howToGivePassphrase: string;
}

/** PEM: the chain in order, the key opened. `advice` is what is worth knowing, a sentence each. */
export interface ServerPair {
  readonly cert: string;
  readonly key: string;
  readonly advice: readonly string[];
}

/**
 * Reads the files as they are now. Throws a {@link HookproofError} of kind `usage` that names the flag and the file. What a right client
 * would refuse, such as a certificate that has expired, is advice: it may be what is to be tried.
 */
export async function readServerPair(files: ServerPairFiles): Promise<ServerPair> {
  const { passphrase, howToGivePassphrase } = files;
  const resolution = startResolution({ env: {} });
  const places = { certificate: givenBy(files.cert), key: givenBy(files.key) };
  const opened = { value: passphrase, unread: false };
  const pair = { ...places, passphrase: opened, howToGivePassphrase, purpose: 'server' } as const;
  const reading = await readPair(pair, resolution);
  if (reading?.value === undefined) return failed(reading?.problems ?? []);
  noteAdvice([...reading.problems, ...reading.advice], places, resolution);
  return { ...pairPem(reading.value), advice: resolution.advice };

  function failed(problems: Parameters<typeof noteProblems>[0]): never {
    noteProblems(problems, places, resolution);
    throwIfAny(resolution.problems, ALL_LISTED);
    throw new TypeError('The certificate and its key were not read, and no problem says so.');
  }
}

/** Reads the authorities of client certificates: all of the file, as PEM. Throws as {@link readServerPair} does. */
export async function readClientCa(
  file: FlagFile,
): Promise<{ readonly ca: string; readonly advice: readonly string[] }> {
  const resolution = startResolution({ env: {} });
  const authorities = await readCa(givenBy(file), resolution);
  throwIfAny(resolution.problems, ALL_LISTED);
  return { ca: certificatesPem(authorities ?? []), advice: resolution.advice };
}

function givenBy({ flag, file, cwd }: FlagFile) {
  return givenByFlag(flag, file, cwd);
}
