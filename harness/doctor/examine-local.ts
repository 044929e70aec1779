/** Everything that needs no network: secrets, certificates and keys as they are configured. */
import { HookproofError } from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { tlsOptionsFor } from '../transport/index.ts';
import type { DoctorFinding, DoctorSection } from './doctor-document.ts';
import { advice, problem } from './findings/finding.ts';
import { type ClientIdentity, clientIdentity } from './local/client-identity.ts';
import { type Credentials, examineCredentials } from './local/examine-credential.ts';
import { type ExtraAuthorities, extraAuthorities } from './local/extra-authorities.ts';
import { looked } from './sections.ts';
import type { CheckedConfig } from './told/check-config.ts';
import type { AllTold, Sources } from './told/told.ts';

export interface LocalExamination {
  readonly client: ClientIdentity | null;
  /** What can be used of the TLS material. */
  readonly tls: NonNullable<Partner['tls']>;
  readonly authorities: DoctorSection | null;
  readonly credentials: Credentials;
  readonly configuration: DoctorSection | null;
  /** Every value that must not be written, for the redactor. */
  readonly secrets: readonly string[];
}

/** What the configuration advises and no section has. */
const OF_NO_SECTION = /^The environment variable |^hookproof\.yml is not read|a header is named|fixture|mtls\.fixtures/;

export async function examineLocal(
  told: AllTold,
  { env }: Sources,
  { config, fixtures }: CheckedConfig,
): Promise<LocalExamination> {
  const extra = told.ca === undefined ? null : await extraAuthorities(told.ca);
  const read = await clientIdentity(told, env, extra?.certificates ?? []);
  const trusted = extra && usableAuthorities(extra);
  const trust = trusted?.pem == null ? {} : { ca: trusted.pem };
  const client = read && usableClient(read);
  const credentials = await examineCredentials(told, env);
  const findings = [
    ...fixtures.map(({ message, hint }) => problem('client-fixture', `${message}.`, hint)),
    ...(config?.advice ?? []).filter((text) => OF_NO_SECTION.test(text)).map(adviceOf),
    ...(isOpen(told) ? [noCredentials()] : []),
  ];
  return {
    client,
    tls: { ...trust, ...client?.pem },
    authorities: trusted?.section ?? null,
    credentials,
    configuration: findings.length === 0 ? null : looked('configuration', null, findings),
    secrets: [...(config?.secrets ?? []), ...credentials.secrets, ...(client?.secrets ?? [])],
  };
}

/** Of what can be read, OpenSSL does not take everything: a key of 512 bits, for one. */
function refusalOf(tls: NonNullable<Partner['tls']>, code: string): DoctorFinding | null {
  try {
    tlsOptionsFor({ tls });
    return null;
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    return problem(code, error.message, error.hint);
  }
}

function usableClient(client: ClientIdentity): ClientIdentity {
  const refused = client.pem === null ? null : refusalOf(client.pem, 'client-certificate-unusable');
  return refused === null ? client : { ...client, pem: null, findings: [refused, ...client.findings] };
}

function usableAuthorities(extra: ExtraAuthorities): ExtraAuthorities {
  const refused = extra.pem === null ? null : refusalOf({ ca: extra.pem }, 'ca-unusable');
  if (refused === null) return extra;
  return { ...extra, pem: null, section: { ...extra.section, findings: [refused, ...extra.section.findings] } };
}

function adviceOf(text: string): DoctorFinding {
  return advice('configuration', text, 'Correct it, or remove it.');
}

function isOpen({ url, secret, apiKey, clientCert }: AllTold): boolean {
  return url !== undefined && secret === undefined && apiKey === undefined && clientCert === undefined;
}

function noCredentials(): DoctorFinding {
  return advice(
    'no-credentials',
    'No signature secret, API key or client certificate is configured: the receiver cannot tell who delivers.',
    'Set HOOKPROOF_SECRET or name a file with --secret-file, as it is agreed with the receiver.',
  );
}
