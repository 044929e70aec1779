/** The doctor: examines everything that a delivery needs, and reports findings. It gives no verdict. */

import { HookproofError, type JsonValue, type Notification } from '../../contract/index.ts';
import { maskUrl } from '../../contract/masked-url.ts';
import { type CollectedConfig, collectConfig, type LoadOptions } from '../config/index.ts';
import { type Partner, samplesOf } from '../partner.ts';
import type { Redactor } from '../report/index.ts';
import { prepareBody, serialise, sign, signaturesIn } from '../sender/index.ts';
import { type AddressPolicy, endpointOf, LOCAL_TOO } from '../transport/index.ts';
import { version } from '../version.ts';
import { type Cleaner, cleanSection, createCleaner } from './clean.ts';
import { clientSection, NOT_PROBED } from './client-certificate.ts';
import { examineConfiguration, hasMaterial, type LocalExamination, throwOtherProblems } from './configuration.ts';
import type { DoctorDocument, DoctorFinding, DoctorSection } from './doctor-document.ts';
import { type DeliveryView, endpointSections } from './endpoint-sections.ts';
import { type EndpointProbe, probeEndpoint } from './probe-endpoint.ts';

export interface DoctorOptions {
  /** The sources of the settings. */
  readonly sources: LoadOptions;
  /** Creates the notification to deliver; null delivers nothing. */
  readonly makeNotification: (() => Notification) | null;
  /** Creates the redactor once every secret is known. */
  readonly createRedactor: (secrets: readonly string[]) => Redactor;
  /** Called at each stage with a short description of it. */
  readonly onStage: (stage: string) => void;
  readonly signal: AbortSignal;
  /** Which addresses of the endpoint may be connected to. Default: any, including this machine and private networks. */
  readonly addresses?: AddressPolicy;
}

/**
 * Examines the endpoint and its configuration. Without a URL, it examines only secrets and certificates.
 *
 * @returns the redacted document
 * @throws HookproofError of kind `usage` if there is nothing to examine, or if the configuration has a problem that the
 * doctor does not examine
 */
export async function examine(options: DoctorOptions): Promise<DoctorDocument> {
  const started = Date.now();
  const collected = await collectConfig(options.sources);
  throwOtherProblems(collected);
  requireSubject(collected, options);
  const local = await examineConfiguration(collected);
  const { url, secret } = collected.values;
  const redactor = options.createRedactor(collected.secrets);
  // An endpoint may reveal the signature that it expected: for a request without a delivery, that of an empty body.
  if (secret !== undefined) redactor.addSignature(sign(new Uint8Array(), secret));
  const cleaner = createCleaner(redactor);
  const inputs = { options, collected, local, redactor, cleaner };
  const endpoint = url === undefined ? null : await examineEndpoint(url, inputs);
  // Without an endpoint, only the client certificate is examined, if one is configured.
  const alone = local.client === null ? [] : [clientSection(local.client, placesOf(collected), NOT_PROBED).section];
  const found = [...(endpoint?.sections ?? alone), ...local.sections];
  const sections = found.map((section) => cleanSection(section, cleaner));
  const all = sections.flatMap(({ findings }) => findings);
  const count = (wanted: DoctorFinding['severity']) => all.filter(({ severity }) => severity === wanted).length;
  return {
    schemaVersion: 1,
    tool: { name: 'hookproof', version },
    url: url === undefined ? null : cleaner.text(maskUrl(url)),
    reached: endpoint?.reached ?? null,
    interrupted: options.signal.aborted,
    startedAt: new Date(started).toISOString(),
    durationMs: Date.now() - started,
    counts: { problem: count('problem'), advice: count('advice'), info: count('info') },
    sections,
  };
}

function requireSubject(collected: CollectedConfig, { makeNotification }: DoctorOptions): void {
  if (collected.values.url !== undefined) return;
  if (makeNotification !== null) {
    throw new HookproofError('CONFIG_URL_MISSING', '`--deliver` was given, but there is no URL to deliver to', {
      hint: 'Give one as `hookproof doctor URL --deliver`, as HOOKPROOF_URL, or as `url` in hookproof.yaml.',
    });
  }
  if (hasMaterial(collected)) return;
  throw new HookproofError('CONFIG_URL_MISSING', 'there is nothing to examine: no URL, secret or certificate', {
    hint:
      'Give a URL as `hookproof doctor URL`, as HOOKPROOF_URL, or as `url` in hookproof.yaml; or name the files to ' +
      'examine.',
  });
}

interface Inputs {
  readonly options: DoctorOptions;
  readonly collected: CollectedConfig;
  readonly local: LocalExamination;
  readonly redactor: Redactor;
  readonly cleaner: Cleaner;
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

async function examineEndpoint(
  url: string,
  inputs: Inputs,
): Promise<{ sections: DoctorSection[]; reached: boolean | null }> {
  const { options, collected, local, cleaner } = inputs;
  const { addresses = LOCAL_TOO, signal, onStage, sources } = options;
  const { delivery, view } = planDelivery(inputs);
  const limits = { timeoutMs: collected.run.timeoutMs, signal };
  const probe = { url, tls: local.tls, identity: local.client?.pem ?? null, delivery, addresses };
  const endpoint = await probeEndpoint(probe, limits, (stage) => onStage(cleaner.text(stage)));
  const sections = endpointSections({
    endpoint,
    secure: endpointOf(url).secure,
    client: local.client,
    hasMaterial: Object.keys(local.tls).length > 0,
    ...placesOf(collected),
    proxied: PROXIES.some((name) => (sources.env[name] ?? '') !== ''),
    delivery: view,
    interrupted: signal.aborted,
    cleaner,
  });
  const connected = endpoint.connection?.addresses.some(({ outcome }) => outcome === 'connected') ?? false;
  return { sections, reached: signal.aborted && !connected ? null : connected };
}

/** Returns what is delivered, or why nothing is. The redactor learns the signature, because an answer may repeat it. */
function planDelivery({ options: { makeNotification }, collected: { config }, redactor }: Inputs): {
  delivery: EndpointProbe['delivery'];
  view: DeliveryView;
} {
  if (makeNotification === null)
    return { delivery: null, view: { skipped: 'not requested; use `--deliver` to send one' } };
  if (config === null) {
    const reason = 'nothing is sent with this configuration, which `hookproof run` also rejects';
    return { delivery: null, view: { skipped: reason } };
  }
  const { partner } = config;
  const { id, type, body } = bodyToDeliver(partner, makeNotification);
  const prepared = prepareBody(body, partner);
  for (const signature of signaturesIn(prepared, partner)) redactor.addSignature(signature);
  const credentials = partner.signing !== undefined || partner.apiKey !== undefined;
  return { delivery: { partner, prepared }, view: { id, type, credentials } };
}

/** Returns a notification, or in a scheme the first delivery of its sender. */
function bodyToDeliver(partner: Partner, makeNotification: () => Notification) {
  const [sample] = samplesOf(partner);
  if (sample !== undefined) return { id: sample.name, type: sample.name, body: Buffer.from(sample.body) };
  const notification = makeNotification();
  return { id: notification.id, type: notification.type, body: serialise(notification as unknown as JsonValue) };
}

function placesOf({ given }: CollectedConfig): { certificateFrom: string | null; keyFrom: string | null } {
  return {
    certificateFrom: given.get('tls.client-cert')?.[0]?.where ?? null,
    keyFrom: given.get('tls.client-key')?.[0]?.where ?? null,
  };
}
