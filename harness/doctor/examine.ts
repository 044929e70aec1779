/** The doctor: looks at everything that a delivery needs, and says what it finds. It gives no verdict. */
import { HookproofError, type JsonValue, type Notification } from '../../contract/index.ts';
import type { Redactor } from '../report/index.ts';
import { serialise, sign } from '../sender/index.ts';
import { endpointOf } from '../transport/index.ts';
import { version } from '../version.ts';
import { type Cleaner, cleanSection, countFindings, createCleaner } from './clean.ts';
import { clientSection, NOT_ASKED } from './client-section.ts';
import type { DoctorDocument, DoctorSection } from './doctor-document.ts';
import { type DeliveryView, endpointSections } from './endpoint-sections.ts';
import { examineLocal, type LocalExamination } from './examine-local.ts';
import { gather, type Visit } from './look/gather.ts';
import { type CheckedConfig, checkConfig, timeoutOf } from './told/check-config.ts';
import { readFileValues } from './told/read-file-values.ts';
import { type Input, settlePipes } from './told/settle-pipes.ts';
import { type AllTold, allTold, type Sources } from './told/told.ts';

export interface DoctorOptions {
  readonly sources: Omit<Sources, 'piped'>;
  readonly stdin: Input;
  /** Makes the notification to deliver; null delivers nothing. */
  readonly makeNotification: (() => Notification) | null;
  /** Makes the redactor once every secret is known. */
  readonly createRedactor: (secrets: readonly string[]) => Redactor;
  /** Is told what comes next, in a few words. */
  readonly onStage: (stage: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Looks at the endpoint, and at what is configured for it. Without a URL it looks at secrets and certificates alone.
 *
 * @returns the document, redacted
 * @throws HookproofError of kind `usage` when there is nothing to look at, or the configuration is wrong in another way than a
 *   doctor is for
 */
export async function examine(options: DoctorOptions): Promise<DoctorDocument> {
  const started = Date.now();
  const sources = await settlePipes({ ...options.sources, piped: new Map() }, options.stdin);
  const checked = await checkConfig(sources);
  const told = allTold(sources, await readFileValues(sources));
  requireSomething(told, options);
  const local = await examineLocal(told, sources, checked);
  const redactor = options.createRedactor(local.secrets);
  const { signingSecret } = local.credentials;
  // An endpoint may tell what it expected: over no body too, which is what it gets without a delivery.
  if (signingSecret !== undefined) redactor.addSignature(sign(new Uint8Array(), signingSecret));
  const cleaner = createCleaner(redactor);
  const url = told.url?.value ?? null;
  const endpoint =
    url === null ? null : await examineEndpoint(url, { options, sources, told, checked, local, redactor, cleaner });
  const sections = [
    ...(endpoint?.sections ?? withoutEndpoint(local, told)),
    ...(local.authorities === null ? [] : [local.authorities]),
    ...local.credentials.sections,
    ...(local.configuration === null ? [] : [local.configuration]),
  ].map((section) => cleanSection(section, cleaner));
  return {
    schemaVersion: 1,
    tool: { name: 'hookproof', version },
    url: url === null ? null : cleaner.text(url),
    reached: endpoint?.reached ?? null,
    interrupted: options.signal.aborted,
    startedAt: new Date(started).toISOString(),
    durationMs: Date.now() - started,
    counts: countFindings(sections),
    sections,
  };
}

interface Known {
  readonly options: DoctorOptions;
  readonly sources: Sources;
  readonly told: AllTold;
  readonly checked: CheckedConfig;
  readonly local: LocalExamination;
  readonly redactor: Redactor;
  readonly cleaner: Cleaner;
}

async function examineEndpoint(
  url: string,
  { options, sources, told, checked, local, redactor, cleaner }: Known,
): Promise<{ sections: DoctorSection[]; reached: boolean | null }> {
  const { signal, onStage } = options;
  const { delivery, view } = planDelivery(options, checked, redactor);
  const identity = local.client?.pem ?? null;
  const limits = { timeoutMs: await timeoutOf(told), signal };
  const gathered = await gather({ url, tls: local.tls, identity, delivery }, limits, (stage) =>
    onStage(cleaner.text(stage)),
  );
  const sections = endpointSections({
    gathered,
    secure: endpointOf(url).secure,
    client: local.client,
    hasMaterial: Object.keys(local.tls).length > 0,
    certificateFrom: told.clientCert?.where ?? null,
    keyFrom: told.clientKey?.where ?? null,
    proxied: PROXIES.some((name) => (sources.env[name] ?? '') !== ''),
    delivery: view,
    interrupted: signal.aborted,
    cleaner,
  });
  const connected = gathered.connection?.addresses.some(({ outcome }) => outcome === 'connected') ?? false;
  const reached = signal.aborted && !connected ? null : connected;
  return { sections, reached };
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

/** What is delivered, or why nothing is. The signature is for the redactor: an answer may repeat it. */
function planDelivery(
  { makeNotification }: DoctorOptions,
  { config }: CheckedConfig,
  redactor: Redactor,
): { delivery: Visit['delivery']; view: DeliveryView } {
  if (makeNotification === null) return { delivery: null, view: { skipped: 'not asked for: --deliver sends one' } };
  if (config === null) {
    const reason = 'nothing is sent with this configuration: `hookproof run` would not start either';
    return { delivery: null, view: { skipped: reason } };
  }
  const { partner } = config;
  const notification = makeNotification();
  if (partner.signing !== undefined) {
    redactor.addSignature(sign(serialise(notification as unknown as JsonValue), partner.signing.secret));
  }
  const credentials = partner.signing !== undefined || partner.apiKey !== undefined;
  const { id, type } = notification;
  return { delivery: { partner, notification }, view: { id, type, credentials } };
}

/** Without an endpoint there is the client certificate alone, when one is configured. */
function withoutEndpoint({ client }: LocalExamination, told: AllTold): DoctorSection[] {
  if (client === null) return [];
  const from = { certificateFrom: told.clientCert?.where ?? null, keyFrom: told.clientKey?.where ?? null };
  return [clientSection(client, from, NOT_ASKED).section];
}

function requireSomething(told: AllTold, { makeNotification }: DoctorOptions): void {
  const { timeout: _, passphrase: __, ...things } = told;
  if (makeNotification !== null && told.url === undefined) {
    throw new HookproofError('CONFIG_URL_MISSING', 'there is no URL to deliver to, and --deliver was given', {
      hint: 'Give one as `hookproof doctor URL --deliver`, as HOOKPROOF_URL, or as url in hookproof.yaml.',
    });
  }
  if (Object.keys(things).length > 0) return;
  throw new HookproofError('CONFIG_URL_MISSING', 'there is no URL to look at, and no secret or certificate either', {
    hint: 'Give a URL as `hookproof doctor URL`, as HOOKPROOF_URL, or as url in hookproof.yaml; or name the files to look at.',
  });
}
