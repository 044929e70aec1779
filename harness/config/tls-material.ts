/** Reads certificates and keys from files, or from variables that contain PEM text. Specification: TLS; mutual TLS. */

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
import { ALL_LISTED, adviceTexts, throwIfAny } from './problems.ts';
import { MAX_PEM_BYTES } from './read-file.ts';
import { readSecret, refusedFile } from './secrets.ts';

/** The readable part of a partner's TLS material. */
export interface TlsMaterial {
  /** The certificate and key that the client can present, even if a correct server would reject them. */
  readonly identity: Identity | undefined;
  /** The certificates in the client certificate file. If `identity` is set, they are in the order of its chain. */
  readonly certificates: readonly X509Certificate[];
  /** The CAs to trust in addition to the system's. */
  readonly cas: readonly X509Certificate[];
}

/**
 * Reads the client certificate, its key and the CAs, and checks them as a correct server would. `tls` is PEM text with
 * the decrypted key; undefined if nothing is configured, or if a problem was noted.
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
  // Partial material would only cause further problems in the next check.
  if (problems.length > problemsBefore) return { tls: undefined, material };
  const client = reading.value && pairPem(reading.value);
  const tls = {
    ...(client && { clientCert: client.cert, clientKey: client.key }),
    ...(cas.length > 0 && { ca: certificatesPem(cas) }),
  };
  return { tls: Object.keys(tls).length === 0 ? undefined : tls, material };
}

const CLIENT_PASSPHRASE_HINT = 'Set HOOKPROOF_CLIENT_KEY_PASSPHRASE, or `tls.passphrase` in the configuration file.';

/**
 * Notes a certificate without a key or a key without a certificate, unless the other half was given but is unusable.
 */
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
    problemWith(half, what, 'Give both: `--client-cert` and `--client-key`.', 'CONFIG_TLS', `${missing}-missing`),
  );
}

/** The values that name a certificate and its key. */
export interface Places {
  readonly certificate: Given<string> | undefined;
  readonly key: Given<string> | undefined;
}

export interface GivenPair extends Places {
  readonly passphrase: Passphrase;
  /** The hint for an encrypted key. */
  readonly passphraseHint: string;
  /** Default: `client`. */
  readonly purpose?: Purpose;
  readonly cas?: readonly X509Certificate[];
}

/** The passphrase. `unread` means that it is configured but could not be read, which has been noted. */
export type Passphrase = { readonly value: string | undefined; readonly unread: boolean };

export async function readPassphrase(given: Given<string> | undefined, resolution: Resolution): Promise<Passphrase> {
  const value = given && (await readSecret(given, 'passphrase', resolution));
  return { value, unread: given !== undefined && value === undefined };
}

export type PairReading = MaterialReading<Identity> & { readonly certificates: readonly X509Certificate[] };

/**
 * Reads the certificate and the key, or only one of them if the other cannot be read. Unreadable files are noted. The
 * caller evaluates the findings, because an expired certificate is a problem for one caller and required by another.
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

  /** Returns the problems of each file, but skips a key whose passphrase is unread, to avoid a second problem. */
  function readAlone() {
    const ofKey =
      key === undefined || passphrase.unread
        ? []
        : readPrivateKey(key.bytes, { source: key.source, passphrase: passphrase.value }).problems;
    return [...(cert === undefined ? [] : readCertificates(cert.bytes, cert.source).problems), ...ofKey];
  }
}

/** Returns the certificate and the key as PEM text, with the chain in order and the key decrypted. */
export function pairPem({ chain, keyPem }: Identity): { readonly cert: string; readonly key: string } {
  return { cert: certificatesPem(chain), key: keyPem };
}

/**
 * Reads the file that a setting names. If that fails, notes the problem and returns undefined. Private keys are added
 * to the secrets.
 */
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

/** Whether a value is the certificate or key itself instead of a path. If so, no message may repeat it. */
function isMaterial({ value, base }: Given<string>): boolean {
  if (/BEGIN [A-Z0-9 ]+/.test(value) || /[\r\n]/.test(value)) return true;
  // A longer text of only these characters is base64 or hexadecimal rather than a path.
  return /^[A-Za-z0-9+/=_-]{40,}$/.test(value) && !existsSync(resolve(base, value));
}

/** Reads the CAs that a setting names. Returns undefined if that fails. Problems and advice are noted. */
async function readCas(given: Given<string>, resolution: Resolution): Promise<readonly X509Certificate[] | undefined> {
  const file = await readMaterial(given, resolution);
  if (file === undefined) return undefined;
  const { value, problems, advice } = readAuthorities(file.bytes, { source: file.source });
  const places = { certificate: given, key: given };
  noteProblems(problems, places, resolution);
  noteAdvice(advice, places, resolution);
  return value;
}

/** Returns the text that `config show` prints for TLS material. */
export function shownMaterial(given: Given<string> | undefined): string {
  if (given === undefined) return 'not set';
  return isMaterial(given) ? redacted(given.value) : given.value;
}

/** Notes the problems that the loader found, each at the setting that causes it. */
export function noteProblems(findings: readonly MaterialFinding[], places: Places, { problems }: Resolution): void {
  for (const { about, code, what, hint } of findings) {
    const place = places[about];
    if (place !== undefined) problems.push(problemWith(place, what, hint, 'CONFIG_TLS', reasonOf(code)));
  }
}

/** Notes the advice of the loader, each with its setting. */
export function noteAdvice(findings: readonly MaterialFinding[], places: Places, { advice }: Resolution): void {
  for (const { about, code, what, hint } of findings) {
    const place = places[about];
    if (place === undefined) continue;
    advice.push({ path: place.path, reason: reasonOf(code), message: `${place.where}: ${what}.`, hint });
  }
}

/** Converts a code to a reason: `KEY_OTHER_PAIR` becomes `key-other-pair`. */
function reasonOf(code: string): string {
  return code.toLowerCase().replaceAll('_', '-');
}

/** A PEM or DER file, and the flag that names it. Relative paths are relative to `cwd`. */
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
  /** The hint for an encrypted key. */
  readonly passphraseHint: string;
}

/**
 * The certificate and the key as PEM text, with the chain in order and the key decrypted. Each entry of `advice` is a
 * sentence.
 */
export interface ServerPair {
  readonly cert: string;
  readonly key: string;
  readonly advice: readonly string[];
}

/**
 * Reads the current certificate and key of `hookproof receiver`. Faults for which a correct client would reject them,
 * such as an expired certificate, are only advice, because the user may want to test them.
 *
 * @throws HookproofError of kind `usage`, which names the flag and the file
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
    throw new TypeError('The certificate and its key were not read, and no problem was reported.');
  }
  noteAdvice([...problems, ...advice], places, resolution);
  return { ...pairPem(value), advice: adviceTexts(resolution.advice) };
}

/** Reads the CAs of client certificates, and returns the whole file as PEM text. Throws like {@link readServerPair}. */
export async function readClientCa({
  flag,
  file,
  cwd,
}: FlagFile): Promise<{ readonly ca: string; readonly advice: readonly string[] }> {
  const resolution = startResolution({ env: {} });
  const cas = await readCas(givenByFlag(flag, file, cwd), resolution);
  throwIfAny(resolution.problems, ALL_LISTED);
  return { ca: certificatesPem(cas ?? []), advice: adviceTexts(resolution.advice) };
}
