/** Everything that the page shows of one delivery. */
import { type DiffRun, diffBytes } from './byte-diff.ts';
import { type Explanation, explainOutcome, wordOf } from './explain-outcome.ts';
import { maskedHeaders, maskedTarget, type ShownHeader } from './masked-headers.ts';
import type { Slip } from './mismatch/slip.ts';
import type { RecordedDelivery } from './recorded-delivery.ts';
import { createRedactor } from './redact.ts';
import { findSignature, type SigningConfig } from './shown-signature.ts';
import type { DeliverySummary } from './summary.ts';
import { whyKeyMismatch } from './why-key-mismatch.ts';

/** How much of a body is shown, in bytes. All of it can be downloaded. */
const SHOWN_BYTES = 64 * 1024;

interface ShownBody {
  readonly size: number;
  readonly base64: string;
  /** Only the first part is here. */
  readonly cut: boolean;
  /** A credential stood in it and was masked, so these are not quite the bytes that came. */
  readonly masked: boolean;
}

export interface DeliveryView extends DeliverySummary {
  readonly request: { readonly method: string; readonly target: string; readonly httpVersion: string };
  readonly remoteAddress: string;
  readonly explanation: Explanation;
  readonly slips: readonly Pick<Slip, 'name' | 'title' | 'fix'>[];
  /** What was signed, where it is not the body that came. */
  readonly diff?: { readonly signed: ShownBody; readonly runs: readonly DiffRun[] };
  /** The signature does not match and no known slip explains it. */
  readonly unexplained: boolean;
  readonly headers: readonly ShownHeader[];
  readonly body?: ShownBody;
  /** Why there is no body. */
  readonly noBody?: string;
  /** During a rotation: that an older secret or key was used. */
  readonly rotation: readonly string[];
}

/** What the page may know of the configuration, and what it must never show. */
export interface ViewConfig {
  readonly signing: SigningConfig | undefined;
  readonly apiKey: { readonly keys: readonly string[]; readonly header: string };
  readonly names: { readonly signature: string; readonly apiKey: string };
}

export async function viewDelivery(
  delivery: RecordedDelivery,
  summary: DeliverySummary,
  config: ViewConfig,
): Promise<DeliveryView> {
  const { names } = config;
  const signature = await findSignature(delivery, config.signing);
  const redactor = createRedactor([...credentialsOf(config), ...signature.right]);
  const reason = wordOf(delivery.reason ?? '');
  const isMismatch = reason === 'signature-mismatch' || reason === 'signature-malformed';
  const slips = isMismatch ? (signature.why?.slips ?? []) : keySlips(delivery, reason, config);

  const body = delivery.rawBody && shown(delivery.rawBody, redactor.bytes(delivery.rawBody));
  const signed = isMismatch ? signature.why?.signed : undefined;
  const view = {
    ...summary,
    request: { method: delivery.method, target: maskedTarget(delivery.target), httpVersion: delivery.httpVersion },
    remoteAddress: delivery.remoteAddress,
    explanation: explainOutcome(delivery, names),
    slips,
    unexplained: reason === 'signature-mismatch' && slips.length === 0,
    headers: maskedHeaders(delivery.headers, names, signature.withheld),
    rotation: rotationOf(delivery),
    ...(body === undefined ? { noBody: whyNoBody(delivery) } : {}),
  };
  const safe = redactor.value(view);
  return {
    ...safe,
    ...(body === undefined ? {} : { body }),
    ...(signed === undefined || delivery.rawBody === undefined
      ? {}
      : { diff: differenceOf(redactor.bytes(delivery.rawBody), signed, redactor.bytes(signed)) }),
  };
}

/** The body without credentials, for the download and for the search. */
export function bodyWithoutCredentials(rawBody: Buffer, config: ViewConfig): Buffer {
  return createRedactor(credentialsOf(config)).bytes(rawBody);
}

export function credentialsOf({ signing, apiKey }: ViewConfig): string[] {
  return [...(signing?.secrets ?? []), ...apiKey.keys];
}

function shown(raw: Buffer, masked: Buffer): ShownBody {
  return {
    size: raw.length,
    base64: masked.subarray(0, SHOWN_BYTES).toString('base64'),
    cut: masked.length > SHOWN_BYTES,
    masked: masked !== raw,
  };
}

function differenceOf(received: Buffer, raw: Buffer, signed: Buffer): NonNullable<DeliveryView['diff']> {
  return {
    signed: shown(raw, signed),
    runs: diffBytes(received.subarray(0, SHOWN_BYTES), signed.subarray(0, SHOWN_BYTES)),
  };
}

function keySlips(delivery: RecordedDelivery, reason: string, { apiKey }: ViewConfig): DeliveryView['slips'] {
  if (!reason.startsWith('api-key-')) return [];
  const title = whyKeyMismatch({ ...delivery, ...apiKey });
  return title === null
    ? []
    : [{ name: 'api-key', title, fix: 'Send the key as it is, in its own header and nowhere else.' }];
}

function rotationOf({ secretIndex = 0, keyIndex = 0 }: RecordedDelivery): string[] {
  return [
    ...(secretIndex > 0
      ? [`The signature was made with secret number ${secretIndex + 1} of this receiver, not the first.`]
      : []),
    ...(keyIndex > 0 ? [`The API key is number ${keyIndex + 1} of this receiver, not the first.`] : []),
  ];
}

function whyNoBody({ bodyLength, reason, outcome }: RecordedDelivery): string {
  if (bodyLength !== undefined) return 'The body is larger than what the inspector keeps.';
  if (reason === 'body-too-large') return 'The body was not read: it is over the limit.';
  if (outcome === 'aborted') return 'The body did not arrive whole.';
  return 'The body was not read: the delivery was refused before.';
}
