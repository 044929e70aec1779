/** What `certify` does in the same way for one endpoint and for each of many: refusals, addresses, the certificate. */
import type { KeyObject } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  configurationBytes,
  type EndpointIdentity,
  issueCertificate,
  type Refusal,
  refusalsBefore,
} from '../../certify/index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { featuresOf } from '../../run/index.ts';
import type { AddressPolicy } from '../../transport/index.ts';
import { CERTIFICATE_FILES, writeNew } from './certify-files.ts';

/** Every reason in the configuration that prevents a certificate, before anything is sent. */
export function configurationRefusals({ run, partner, clientFixtures, evidenceSources }: ResolvedConfig): Refusal[] {
  return refusalsBefore({
    profile: run.profile,
    features: featuresOf(partner, clientFixtures, evidenceSources),
    selected: [...run.suites, ...run.scenarios, ...run.greps],
    shard: run.shard !== null,
    bail: run.bail,
    baseline: run.baseline !== null,
    extraCa: partner.tls?.ca !== undefined,
    evidenceLevel: run.evidenceLevel,
    environment: process.env,
  });
}

/**
 * The addresses that `certify` may deliver to. URLs come from partners, who must not make the operator's machine send
 * requests to its own network; a private address must be allowed by name.
 */
export function certifiable({ run }: Pick<ResolvedConfig, 'run'>): AddressPolicy {
  return { reach: 'public-only', allowPrivate: run.allowPrivate };
}

interface Evidence {
  readonly config: ResolvedConfig;
  readonly document: ResultDocument;
  /** The document as it was saved. */
  readonly documentBytes: Buffer;
  readonly identity: EndpointIdentity;
  readonly validForMs: number;
  readonly privateKey: KeyObject;
}

/** Issues a certificate and writes it to the folder, with the configuration that it refers to: both files or none. */
export async function writeCertificate(
  folder: string,
  { config, document, documentBytes, identity, validForMs, privateKey }: Evidence,
): Promise<{ issuedAt: string; expiresAt: string }> {
  const settings = configurationBytes(config.settings);
  const issuedAt = new Date();
  const certificate = issueCertificate({
    document,
    documentBytes,
    url: config.partner.url,
    leafKey: identity.leafKey,
    trust: identity.publiclyTrusted ? 'public' : 'configured',
    configurationBytes: settings,
    issuedAt,
    validForMs,
    privateKey,
  });
  await mkdir(folder, { recursive: true });
  const configuration = join(folder, CERTIFICATE_FILES.configuration);
  await writeNew(configuration, settings);
  await writeNew(join(folder, CERTIFICATE_FILES.certificate), certificate).catch(async (error) => {
    await rm(configuration, { force: true });
    throw error;
  });
  return { issuedAt: issuedAt.toISOString(), expiresAt: new Date(issuedAt.getTime() + validForMs).toISOString() };
}
