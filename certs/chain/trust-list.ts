/**
 * The trusted certificates, by subject. Some 145 roots are looked into once for each list: only for their names, which takes
 * a few milliseconds, and a root is read whole when a chain names it.
 */
import type { X509Certificate } from 'node:crypto';
import { type ReadCertificate, readCertificate, readSubject } from '../facts/read-certificate.ts';
import { certificateBlocks } from '../loader/pem.ts';

export interface TrustList {
  /** The certificates with this subject ({@link DistinguishedName.key}). */
  bySubject(key: string): readonly ReadCertificate[];
  /** Organisations of all subjects, as {@link DistinguishedName.organisation} has them. */
  readonly organisations: ReadonlySet<string>;
}

/** What a caller gives: PEM with one certificate or several, or certificates that are read already. */
export type TrustedCertificates = readonly (string | X509Certificate)[];

interface Entry {
  readonly der: Uint8Array;
  readonly known: X509Certificate | undefined;
}

function entriesOf(trusted: TrustedCertificates): Entry[] {
  return trusted.flatMap((item): Entry[] => {
    if (typeof item !== 'string') return [{ der: item.raw, known: item }];
    return certificateBlocks(item).map(({ der }) => ({ der, known: undefined }));
  });
}

function index(trusted: TrustedCertificates): TrustList {
  const entries = new Map<string, Entry[]>();
  const organisations = new Set<string>();
  for (const entry of entriesOf(trusted)) {
    try {
      const { key, organisation } = readSubject(entry.der);
      if (organisation !== null) organisations.add(organisation);
      entries.set(key, [...(entries.get(key) ?? []), entry]);
    } catch {
      // What cannot be read can be nobody's issuer. That it is in the list is for the loader to say.
    }
  }
  const read = new Map<string, readonly ReadCertificate[]>();
  return {
    organisations,
    bySubject(key) {
      const found = read.get(key) ?? (entries.get(key) ?? []).flatMap(readEntry);
      read.set(key, found);
      return found;
    },
  };
}

function readEntry({ der, known }: Entry): ReadCertificate[] {
  try {
    return [readCertificate(der, known)];
  } catch {
    return [];
  }
}

const LISTS = new WeakMap<TrustedCertificates, { readonly length: number; readonly list: TrustList }>();

/** The index of the list, made at the first call with this array and again when its length has changed. */
export function trustListOf(trusted: TrustedCertificates): TrustList {
  const made = LISTS.get(trusted);
  if (made?.length === trusted.length) return made.list;
  const list = index(trusted);
  LISTS.set(trusted, { length: trusted.length, list });
  return list;
}
