/** A certificate and its key, as two settings name them. */
import type { X509Certificate } from 'node:crypto';
import {
  certificatesPem,
  type Identity,
  type MaterialProblem,
  type MaterialReading,
  type Purpose,
  readCertificates,
  readIdentity,
  readPrivateKey,
} from '../../certs/index.ts';
import type { Given } from './given.ts';
import { noteProblems, type Places, readMaterial } from './read-material.ts';
import { readSecret } from './read-secret.ts';
import type { Resolution } from './resolution.ts';

export interface GivenPair extends Places {
  readonly passphrase: Passphrase;
  /** What to do about a key that is encrypted. */
  readonly howToGivePassphrase: string;
  /** For clients unless told otherwise. */
  readonly purpose?: Purpose;
  readonly authorities?: readonly X509Certificate[] | undefined;
}

/** `unread`: one is configured and could not be read, which has been noted. */
export type Passphrase = { readonly value: string | undefined; readonly unread: boolean };

export async function readPassphrase(given: Given<string> | undefined, resolution: Resolution): Promise<Passphrase> {
  const value = given && (await readSecret(given, 'passphrase', resolution));
  return { value, unread: given !== undefined && value === undefined };
}

/**
 * Reads both. undefined when one of them cannot be had; the problem is noted. What the reading has to say is for the caller to
 * note: an expired certificate is a fault to one and what is wanted to another.
 */
export async function readPair(
  pair: GivenPair,
  resolution: Resolution,
): Promise<MaterialReading<Identity> | undefined> {
  const { passphrase, howToGivePassphrase, purpose = 'client', authorities = [] } = pair;
  const cert = await readMaterial(pair.certificate, resolution);
  const key = await readMaterial(pair.key, resolution);
  // Without its passphrase the key would only look like another mistake.
  if (cert === undefined || key === undefined || passphrase.unread) {
    const readable = key !== undefined && !passphrase.unread;
    const alone = [
      ...(cert === undefined ? [] : readCertificates(cert.bytes, cert.source).problems),
      ...(readable ? readPrivateKey(key.bytes, { source: key.source, passphrase: passphrase.value }).problems : []),
    ];
    noteProblems(alone.map(withHint), pair, resolution);
    return undefined;
  }
  const reading = readIdentity({ cert, key, passphrase: passphrase.value, purpose, authorities });
  if (reading.value !== undefined) resolution.secrets.push(reading.value.keyPem);
  return { ...reading, problems: reading.problems.map(withHint) };

  function withHint(problem: MaterialProblem): MaterialProblem {
    return problem.code === 'KEY_ENCRYPTED' ? { ...problem, hint: howToGivePassphrase } : problem;
  }
}

/** Certificate and key as PEM, the chain in order and the key opened. */
export function pairPem({ chain, keyPem }: Identity): { readonly cert: string; readonly key: string } {
  return { cert: certificatesPem(chain), key: keyPem };
}
