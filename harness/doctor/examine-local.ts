/** Everything that needs no network: secrets, certificates and keys as they are configured. */
import { HookproofError } from '../../contract/index.ts';
import { type Partner, tlsOptionsFor } from '../sender/index.ts';
import type { DoctorFinding, DoctorSection } from './doctor-document.ts';
import { advice, problem } from './findings/finding.ts';
import { type ClientIdentity, clientIdentity } from './local/client-identity.ts';
import { type Credentials, examineCredentials } from './local/examine-credential.ts';
import { extraAuthorities } from './local/extra-authorities.ts';
import { looked } from './sections.ts';
import type { CheckedConfig } from './told/check-config.ts';
import type { AllTold, Sources } from './told/told.ts';

export interface LocalExamination {
  readonly client: ClientIdentity | null;
  /** What can be used of the TLS material: with the client certificate, and without it. */
  readonly tls: NonNullable<Partner['tls']>;
  readonly trust: NonNullable<Partner['tls']>;
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
  const trust = extra?.pem == null ? {} : { ca: extra.pem };
  const client = read && usable(read);
  const credentials = await examineCredentials(told, env);
  const findings = [
    ...fixtures.map(({ message, hint }) => problem('client-fixture', `${message}.`, hint)),
    ...(config?.advice ?? []).filter((text) => OF_NO_SECTION.test(text)).map(adviceOf),
    ...(isOpen(told) ? [noCredentials()] : []),
  ];
  return {
    client,
    tls: { ...trust, ...client?.pem },
    trust,
    authorities: extra?.section ?? null,
    credentials,
    configuration: findings.length === 0 ? null : looked('configuration', null, findings),
    secrets: [...(config?.secrets ?? []), ...credentials.secrets, ...(client?.secrets ?? [])],
  };
}

/** Of what can be read, OpenSSL does not take everything: a key of 512 bits, for one. */
function usable(client: ClientIdentity): ClientIdentity {
  if (client.pem === null) return client;
  try {
    tlsOptionsFor({ tls: client.pem });
    return client;
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    const refused = problem('client-certificate-unusable', error.message, error.hint);
    return { ...client, pem: null, findings: [refused, ...client.findings] };
  }
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
