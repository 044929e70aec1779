/**
 * Verifies the folder of a finished partner before it is used, because it may come from another machine: nothing in it
 * may be a link, the certificate must be signed, and everything else must agree with it and with `fleet.json`.
 */
import type { KeyObject } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { visible } from '../../../contract/visible.ts';
import { KNOWN_REVISIONS, sha256, verifyCertificate } from '../../certify/index.ts';
import { OUTPUT_FILES } from '../../config/index.ts';
import { readFile } from '../../config/read-file.ts';
import { type FleetDocument, type FleetPartner, factsOf, fleetPartner, NO_FACTS, shownUrl } from '../../fleet.ts';
import { resultDocument } from '../../report/result-document.ts';
import { CERTIFICATE_FILES, MAX_RESULT_BYTES } from './certify-files.ts';

/** The file with the partner's entry in `fleet.json` and the start time of the certification, which identifies it. */
export const OUTCOME = 'outcome.json';

/** A finished partner. `--resume` keeps it if the certification and `key` are the same. */
export interface Finished {
  readonly certification: string;
  readonly key: string;
  readonly partner: FleetPartner;
}

/**
 * The verified files of a partner by name, or the reason for rejecting them, as the end of a sentence about the folder.
 */
export type CheckedFiles = { readonly files: ReadonlyMap<string, Buffer> } | { readonly problem: string };

/** The values that the folder must agree with. `fleet` is absent when a certification is resumed. */
interface Claim {
  readonly certification: string;
  readonly partner: FleetPartner;
  readonly fleet?: Pick<FleetDocument, 'tool' | 'catalogue'>;
  /** The public keys of the issuer. */
  readonly keys: readonly KeyObject[];
}

/** Reads and checks the folder of a partner. Never throws. */
export async function checkFinished(folder: string, claim: Claim): Promise<CheckedFiles> {
  const read = await readOwnFiles(folder, [...claim.partner.files, OUTCOME]);
  if ('problem' in read) return read;
  const problem =
    outcomeProblem(read.files, claim) ?? documentProblem(read.files, claim) ?? certificateProblem(read.files, claim);
  return problem === null ? read : { problem };
}

/** Reads the result of a partner from its folder; null if no readable result exists. */
export async function readFinished(folder: string): Promise<Finished | null> {
  const content = await readFile(join(folder, OUTCOME), MAX_RESULT_BYTES);
  if ('reason' in content) return null;
  const value = jsonIn(content.bytes) as Partial<Finished> | null;
  const partner = fleetPartner.safeParse(value?.partner);
  if (!partner.success || typeof value?.certification !== 'string' || typeof value.key !== 'string') return null;
  return { certification: value.certification, key: value.key, partner: partner.data };
}

/** Reads exactly these files, and rejects links, which could lead to any file on this machine. */
async function readOwnFiles(folder: string, names: readonly string[]): Promise<CheckedFiles> {
  const found = await lstat(folder).catch(() => null);
  if (found === null) return { problem: 'does not exist' };
  if (!found.isDirectory()) return { problem: 'is not a folder' };
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true });
  const other = entries.find(({ name }) => !names.includes(name));
  if (other !== undefined) return { problem: `contains ${visible(other.name)}, which is not part of the result` };
  const files = new Map<string, Buffer>();
  for (const name of names) {
    const path = join(folder, name);
    const entry = await lstat(path).catch(() => null);
    if (entry === null) return { problem: `does not contain ${name}` };
    if (!entry.isFile() || entry.nlink > 1) return { problem: `contains ${name}, which is a link or not a file` };
    const content = await readFile(path, MAX_RESULT_BYTES);
    if ('reason' in content) return { problem: `contains ${name}, which ${content.reason}` };
    files.set(name, content.bytes);
  }
  return { files };
}

type Files = ReadonlyMap<string, Buffer>;

function outcomeProblem(files: Files, { certification, partner }: Claim): string | null {
  const found = jsonIn(files.get(OUTCOME)) as Partial<Finished> | null;
  if (found?.certification !== certification) return 'is the result of another certification';
  // The outcome of the previous certification is known only after all partners are finished.
  const own = fleetPartner.safeParse(found.partner);
  const agrees = own.success && isDeepStrictEqual({ ...own.data, previous: null }, { ...partner, previous: null });
  return agrees ? null : `contains an ${OUTCOME} that differs from fleet.json`;
}

/** Returns why the result document does not match the partner's entry; null if it does. */
function documentProblem(files: Files, { fleet, partner }: Claim): string | null {
  const bytes = files.get(OUTPUT_FILES.json);
  if (bytes === undefined) {
    return isDeepStrictEqual(factsIn(partner), NO_FACTS) ? null : `has a verdict, but no ${OUTPUT_FILES.json}`;
  }
  const parsed = resultDocument.safeParse(jsonIn(bytes));
  if (!parsed.success) return `contains a ${OUTPUT_FILES.json} that is not the report of a run`;
  const { catalogue, profile, scoring, target, tool } = parsed.data;
  const differs = (what: string) => `contains a ${OUTPUT_FILES.json} whose ${what} differs from fleet.json`;
  if (!isDeepStrictEqual(factsOf(parsed.data), factsIn(partner))) return differs('result');
  if (!URL.canParse(target.url) || shownUrl(target.url) !== partner.url) return differs('endpoint');
  if (target.scheme !== partner.scheme) return differs('scheme');
  if (profile !== partner.profile || scoring?.revision !== partner.revision) return differs('profile or revision');
  if (fleet === undefined) return null;
  const same = tool.version === fleet.tool.version && catalogue.digest === fleet.catalogue.digest;
  return same ? null : differs('version or catalogue');
}

function factsIn({ counts, diagnosis, evidenceLevel, suites, verdict }: FleetPartner) {
  return { verdict, counts, suites, diagnosis, evidenceLevel };
}

/**
 * Returns why the certificate does not match the outcome; null if it does. A partner is certified if and only if its
 * certificate is valid for this run, endpoint and profile.
 */
function certificateProblem(files: Files, { keys, partner }: Claim): string | null {
  const { certificate, outcome, profile, refusals } = partner;
  const bytes = files.get(CERTIFICATE_FILES.certificate);
  const certified = outcome === 'certified';
  if ((bytes !== undefined) !== certified || (certificate !== null) !== certified) {
    return certified
      ? 'belongs to a certified partner, but has no certificate'
      : 'has a certificate, but the partner is not certified';
  }
  if (bytes === undefined || certificate === null) return null;
  const result = files.get(OUTPUT_FILES.json);
  const configuration = files.get(CERTIFICATE_FILES.configuration);
  if (result === undefined || configuration === undefined) return 'has a certificate without its evidence';
  const { reasons, statement } = verifyCertificate(bytes, {
    keys,
    at: new Date(),
    revisions: KNOWN_REVISIONS,
    result,
    profile,
  });
  if (statement === null || reasons.length > 0) {
    return `has an invalid certificate: ${reasons.map(({ message }) => message).join('; ')}`;
  }
  const { configuration: digests, hookproofCertificate: signed } = statement.predicate;
  const agrees =
    signed.endpoint.url === partner.url &&
    signed.revision === partner.revision &&
    signed.scheme?.name === partner.scheme &&
    secondOf(signed.issuedAt) === secondOf(certificate.issuedAt) &&
    secondOf(signed.expiresAt) === secondOf(certificate.expiresAt) &&
    refusals.length === 0;
  if (!agrees) return 'has a certificate whose endpoint, revision or time differs from fleet.json';
  return digests[1].digest.sha256 === sha256(configuration)
    ? null
    : `contains a ${CERTIFICATE_FILES.configuration} that is not the certified one`;
}

/** Returns a time in whole seconds since the epoch, rounded down like the times in a certificate. */
const secondOf = (time: string) => Math.floor(Date.parse(time) / 1000);

function jsonIn(bytes: Buffer | undefined): unknown {
  try {
    return JSON.parse(bytes?.toString() ?? '');
  } catch {
    return null;
  }
}
