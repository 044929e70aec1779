/** Certificates and keys: from files, or from variables that contain PEM text. Specification: TLS; mutual TLS. */

import type { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  certificatesPem,
  type Identity,
  type MaterialFile,
  type MaterialFinding,
  type MaterialReading,
  type Purpose,
  privateKeyTexts,
  readAuthorities,
  readCertificates,
  readIdentity,
  readPrivateKey,
} from '../../certs/index.ts';
import type { Partner } from '../partner.ts';
import {
  type Given,
  givenByFlag,
  givenText,
  problemWith,
  type Resolution,
  redacted,
  show,
  startResolution,
} from './given.ts';
import { ALL_LISTED, adviceText, throwIfAny } from './problems.ts';
import { MAX_PEM_BYTES } from './read-file.ts';
import { readSecret, refusedFile } from './secrets.ts';

/** The TLS material of a partner as far as it can be read. */
export interface TlsMaterial {
  /** What a client can present, even if a correct server would reject it. */
  readonly identity: Identity | undefined;
  /** The certificates in the file of the client certificate, those of `identity` in order. */
  readonly certificates: readonly X509Certificate[];
  /** The CAs to trust in addition to the system's. */
  readonly cas: readonly X509Certificate[];
}

/**
 * Reads the client certificate, its key and the CAs, and checks them as a correct server would. `tls` is PEM with the
 * key decrypted; undefined when nothing is configured or there is a problem, which is noted.
 */
export async function resolveTls(resolution: Resolution): Promise<{ tls: Partner['tls']; material: TlsMaterial }> {
  const { settings, problems } = resolution;
  const problemsBefore = problems.length;
  const certificate = givenText(settings, 'tls.client-cert');
  const key = givenText(settings, 'tls.client-key');
  const ca = givenText(settings, 'tls.ca');
  const givenPassphrase = givenText(settings, 'tls.passphrase');
  show(resolution, 'tls.client-cert', shownMaterial(certificate), certificate);
  show(resolution, 'tls.client-key', shownMaterial(key), key);
  const passphrase = await readPassphrase(givenPassphrase, resolution);
  const shownPassphrase = passphrase.value === undefined ? 'not set' : redacted(passphrase.value);
  show(resolution, 'tls.passphrase', shownPassphrase, givenPassphrase);
  show(resolution, 'tls.ca', shownMaterial(ca), ca);

  const cas = (ca && (await readCas(ca, resolution))) ?? [];
  const pair = { certificate, key, passphrase, passphraseHint: CLIENT_PASSPHRASE_HINT, cas };
  const reading = await readPair(pair, resolution);
  noteProblems(reading.problems, pair, resolution);
  noteAdvice(reading.advice, pair, resolution);
  noteMissingHalf(certificate, key, resolution);
  const material = { identity: reading.value, certificates: reading.certificates, cas };
  // Half of the material would only cause other problems in the next check.
  if (problems.length > problemsBefore) return { tls: undefined, material };
  const client = reading.value && pairPem(reading.value);
  const tls = {
    ...(client && { clientCert: client.cert, clientKey: client.key }),
    ...(cas.length > 0 && { ca: certificatesPem(cas) }),
  };
  return { tls: Object.keys(tls).length === 0 ? undefined : tls, material };
}

const CLIENT_PASSPHRASE_HINT = 'Set HOOKPROOF_CLIENT_KEY_PASSPHRASE, or tls.passphrase in the configuration file.';

/** One of the two without the other, unless the other was given and is unusable. */
function noteMissingHalf(
  certificate: Given<string> | undefined,
  key: Given<string> | undefined,
  { attempted, problems }: Resolution,
): void {
  const half = certificate ?? key;
  if (half === undefined || attempted.has('tls.client-cert') === attempted.has('tls.client-key')) return;
  const missing = half === key ? 'certificate' : 'key';
  const what = `the client ${half === key ? 'key' : 'certificate'} has no client ${missing}`;
  problems.push(
    problemWith(half, what, 'Give both: --client-cert and --client-key.', 'CONFIG_TLS', `${missing}-missing`),
  );
}

/** The settings that name a certificate and its key. */
export interface Places {
  readonly certificate: Given<string> | undefined;
  readonly key: Given<string> | undefined;
}

export interface GivenPair extends Places {
  readonly passphrase: Passphrase;
  /** What to do about a key that is encrypted. */
  readonly passphraseHint: string;
  /** `client` unless given. */
  readonly purpose?: Purpose;
  readonly cas?: readonly X509Certificate[];
}

/** `unread`: one is configured and could not be read, which has been noted. */
export type Passphrase = { readonly value: string | undefined; readonly unread: boolean };

export async function readPassphrase(given: Given<string> | undefined, resolution: Resolution): Promise<Passphrase> {
  const value = given && (await readSecret(given, 'passphrase', resolution));
  return { value, unread: given !== undefined && value === undefined };
}

export type PairReading = MaterialReading<Identity> & { readonly certificates: readonly X509Certificate[] };

/**
 * Reads both, or each of them alone where the other cannot be read. Files that cannot be read are noted. What the
 * reading found is for the caller to note: an expired certificate is a problem for one caller and required by another.
 */
export async function readPair(pair: GivenPair, resolution: Resolution): Promise<PairReading> {
  const { passphrase, passphraseHint, purpose = 'client', cas = [] } = pair;
  const cert = pair.certificate && (await readMaterial(pair.certificate, resolution));
  const key = pair.key && (await readMaterial(pair.key, resolution));
  const reading =
    cert !== undefined && key !== undefined && !passphrase.unread
      ? readIdentity({ cert, key, passphrase: passphrase.value, purpose, authorities: cas })
      : { value: undefined, problems: readAlone(), advice: [] };
  if (reading.value !== undefined) resolution.secrets.push(reading.value.keyPem);
  const withHint = reading.problems.map((problem) =>
    problem.code === 'KEY_ENCRYPTED' ? { ...problem, hint: passphraseHint } : problem,
  );
  const certificates = reading.value?.chain ?? (cert && readCertificates(cert.bytes, cert.source).value) ?? [];
  return { ...reading, problems: withHint, certificates };

  /** Without its passphrase a key would only add another problem. */
  function readAlone() {
    const ofKey =
      key === undefined || passphrase.unread
        ? []
        : readPrivateKey(key.bytes, { source: key.source, passphrase: passphrase.value }).problems;
    return [...(cert === undefined ? [] : readCertificates(cert.bytes, cert.source).problems), ...ofKey];
  }
}

/** Certificate and key as PEM, the chain in order and the key decrypted. */
export function pairPem({ chain, keyPem }: Identity): { readonly cert: string; readonly key: string } {
  return { cert: certificatesPem(chain), key: keyPem };
}

/** Reads what a setting names. undefined when that fails; the problem is noted. Private keys become secrets. */
async function readMaterial(given: Given<string>, resolution: Resolution): Promise<MaterialFile | undefined> {
  const inline = isMaterial(given);
  if (inline && given.layer !== 'environment') {
    const what = given.value.includes('-----BEGIN')
      ? 'is PEM text, expected the path of a file'
      : 'is not the path of an existing file, and looks like a key or a certificate itself';
    const hint = 'Save it to a file and give its path, or put it into the environment variable.';
    resolution.problems.push(problemWith(given, what, hint, 'CONFIG_TLS', 'is-no-path'));
    return undefined;
  }
  const path = resolve(given.base, given.value);
  const refused = inline ? null : await refusedFile(path, given.scope);
  if (refused !== null) {
    const what = `must not refer to the file ${given.value}`;
    resolution.problems.push(problemWith(given, what, refused, 'CONFIG_TLS', 'unreadable'));
    return undefined;
  }
  const content = inline ? { bytes: Buffer.from(given.value) } : await resolution.readFile(path, MAX_PEM_BYTES);
  if ('bytes' in content) {
    if (!inline) resolution.files.set(given.path, path);
    resolution.secrets.push(...privateKeyTexts(content.bytes));
    return { bytes: content.bytes, source: inline ? { name: 'the value' } : { file: given.value } };
  }
  const what = `the file ${given.value} ${content.reason}`;
  const hint = 'Give the path of a PEM or DER file.';
  resolution.problems.push(problemWith(given, what, hint, 'CONFIG_TLS', 'unreadable'));
  return undefined;
}

/** Whether a value is the material itself and not a path: then a message must not repeat it. */
function isMaterial({ value, base }: Given<string>): boolean {
  if (/BEGIN [A-Z0-9 ]+/.test(value) || /[\r\n]/.test(value)) return true;
  // Longer texts of these characters alone are base64 or hexadecimal digits rather than a path.
  return /^[A-Za-z0-9+/=_-]{40,}$/.test(value) && !existsSync(resolve(base, value));
}

/** Reads the CAs that a setting names. undefined when that fails; problems and advice are noted. */
async function readCas(given: Given<string>, resolution: Resolution): Promise<readonly X509Certificate[] | undefined> {
  const file = await readMaterial(given, resolution);
  if (file === undefined) return undefined;
  const { value, problems, advice } = readAuthorities(file.bytes, { source: file.source });
  const places = { certificate: given, key: given };
  noteProblems(problems, places, resolution);
  noteAdvice(advice, places, resolution);
  return value;
}

/** How a setting of TLS material is shown. */
export function shownMaterial(given: Given<string> | undefined): string {
  if (given === undefined) return 'not set';
  return isMaterial(given) ? redacted(given.value) : given.value;
}

/** What the loader found wrong, at the place of the setting that it is about. */
export function noteProblems(findings: readonly MaterialFinding[], places: Places, { problems }: Resolution): void {
  for (const { about, code, what, hint } of findings) {
    const place = places[about];
    if (place !== undefined) problems.push(problemWith(place, what, hint, 'CONFIG_TLS', reasonOf(code)));
  }
}

/** What the loader advises, each with its place. */
export function noteAdvice(findings: readonly MaterialFinding[], places: Places, { advice }: Resolution): void {
  for (const { about, code, what, hint } of findings) {
    const place = places[about];
    if (place === undefined) continue;
    advice.push({ path: place.path, reason: reasonOf(code), message: `${place.where}: ${what}.`, hint });
  }
}

/** `KEY_OTHER_PAIR` is `key-other-pair`. */
function reasonOf(code: string): string {
  return code.toLowerCase().replaceAll('_', '-');
}

/** A file, PEM or DER, and the flag that names it. Relative paths start from `cwd`. */
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
  readonly passphraseHint: string;
}

/** PEM: the chain in order, the key decrypted. `advice` is what is worth knowing, a sentence each. */
export interface ServerPair {
  readonly cert: string;
  readonly key: string;
  readonly advice: readonly string[];
}

/**
 * Reads what `hookproof receiver` serves HTTPS with, as the files are now. Throws a {@link HookproofError} of kind
 * `usage` that names the flag and the file. What a correct client would reject, such as an expired certificate, is
 * advice: it may be what the user wants to try.
 */
export async function readServerPair({ cert, key, passphrase, passphraseHint }: ServerPairFiles): Promise<ServerPair> {
  const resolution = startResolution({ env: {} });
  const places = {
    certificate: givenByFlag(cert.flag, cert.file, cert.cwd),
    key: givenByFlag(key.flag, key.file, key.cwd),
  };
  const pair = {
    ...places,
    passphrase: { value: passphrase, unread: false },
    passphraseHint,
    purpose: 'server',
  } as const;
  const { value, problems, advice } = await readPair(pair, resolution);
  if (value === undefined) {
    noteProblems(problems, places, resolution);
    throwIfAny(resolution.problems, ALL_LISTED);
    throw new TypeError('The certificate and its key were not read, and no problem says so.');
  }
  noteAdvice([...problems, ...advice], places, resolution);
  return { ...pairPem(value), advice: resolution.advice.map(adviceText) };
}

/** Reads the CAs of client certificates: all of the file, as PEM. Throws as {@link readServerPair} does. */
export async function readClientCa({
  flag,
  file,
  cwd,
}: FlagFile): Promise<{ readonly ca: string; readonly advice: readonly string[] }> {
  const resolution = startResolution({ env: {} });
  const cas = await readCas(givenByFlag(flag, file, cwd), resolution);
  throwIfAny(resolution.problems, ALL_LISTED);
  return { ca: certificatesPem(cas ?? []), advice: resolution.advice.map(adviceText) };
}
