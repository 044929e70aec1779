/** Issues certificates, for `certify` with one partner or many: refusals, allowed addresses, files. */
import type { KeyObject } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVICE_SCHEME } from '../../../contract/signing/schemes/schemes.ts';
import {
  configurationBytes,
  type EndpointIdentity,
  issueCertificate,
  type Recheck,
  type RecheckOptions,
  type Refusal,
  recheck,
  refusalsBefore,
} from '../../certify/index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import { createRedactor } from '../../report/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { featuresOf } from '../../run/index.ts';
import type { AddressPolicy } from '../../transport/index.ts';
import { namedSecrets } from '../conduct.ts';
import { CERTIFICATE_FILES, writeNew } from './certify-files.ts';

/** Returns every reason why this configuration rules out a certificate, before anything is sent. */
export function configurationRefusals({
  run,
  partner,
  clientFixtures,
  evidenceSources,
  settings,
}: ResolvedConfig): Refusal[] {
  const named = settings.find(({ path }) => path === 'scheme')?.value;
  return refusalsBefore({
    profile: run.profile,
    unusedScheme: partner.signing === undefined && named !== SERVICE_SCHEME.name ? named : undefined,
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
 * Returns the addresses that `certify` may deliver to. URLs come from partners, who must not make the operator's
 * machine send requests to its own network; a private address must be allowed by name.
 */
export function certifiable({ run }: Pick<ResolvedConfig, 'run'>): AddressPolicy {
  return { reach: 'public-only', allowPrivate: run.allowPrivate };
}

/**
 * Rechecks a configured endpoint against its certificate, which the caller has verified. Secrets are removed from the
 * messages.
 */
export async function recheckConfigured(
  config: ResolvedConfig,
  statement: RecheckOptions['statement'],
  signal: AbortSignal,
): Promise<Pick<Recheck, 'drift' | 'document'>> {
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const { concurrency, timeoutMs, recoveryMs } = config.run;
  const { drift, document } = await recheck({
    statement,
    partner: config.partner,
    addresses: certifiable(config),
    limits: { concurrency, timeoutMs, recoveryMs },
    signal,
    onSignature: (signature) => redactor.addSignature(signature),
  });
  return { drift: drift.map((one) => ({ ...one, message: redactor.text(one.message) })), document };
}

interface CertificateContent {
  readonly config: ResolvedConfig;
  readonly document: ResultDocument;
  /** The bytes of the result document as saved. */
  readonly documentBytes: Buffer;
  readonly identity: EndpointIdentity;
  /** Default: now. */
  readonly issuedAt?: Date;
  readonly validForMs: number;
  readonly privateKey: KeyObject;
}

/** Issues a certificate and writes it to the folder with the configuration that it refers to: both files or neither. */
export async function writeCertificate(
  folder: string,
  { config, document, documentBytes, identity, issuedAt = new Date(), validForMs, privateKey }: CertificateContent,
): Promise<{ issuedAt: string; expiresAt: string }> {
  const settings = configurationBytes(config.settings);
  const certificate = issueCertificate({
    document,
    documentBytes,
    url: config.partner.url,
    scheme: config.partner.signing?.scheme,
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
