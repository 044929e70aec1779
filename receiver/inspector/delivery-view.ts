/** Assembles everything that the page shows about one delivery. */
import type { ForwardedAnswer } from '../../contract/index.ts';
import { type DiffRun, diffBytes } from './byte-diff.ts';
import { explainKeyMismatch, findSignature, type ShownMistake, type SigningConfig } from './credential-findings.ts';
import { explainOutcome, type OutcomeExplanation } from './explain-outcome.ts';
import { type HeaderNames, type Masker, maskHeaders, maskTarget, type ShownHeader } from './masking.ts';
import type { RecordedDelivery } from './recorder.ts';
import type { DeliverySummary } from './summary.ts';

/** Maximum number of body bytes that the page shows. A download contains all of them. */
const SHOWN_BYTES = 64 * 1024;

interface ShownBody {
  readonly size: number;
  readonly base64: string;
  /** True when only the beginning of the body is included. */
  readonly cut: boolean;
  /** True when a credential was masked, so the text differs from the received bytes. */
  readonly masked: boolean;
}

export interface DeliveryView extends DeliverySummary {
  readonly request: { readonly method: string; readonly target: string; readonly httpVersion: string };
  readonly remoteAddress: string;
  readonly explanation: OutcomeExplanation;
  readonly mistakes: readonly ShownMistake[];
  /**
   * The difference between the received body and the bytes that were signed. Absent when they are equal or not known.
   */
  readonly diff?: { readonly signed: ShownBody; readonly runs: readonly DiffRun[] };
  /** Set when the signature does not match and no known mistake explains it: a command that tries more. */
  readonly verifyCommand?: string;
  readonly headers: readonly ShownHeader[];
  readonly body?: ShownBody;
  /** Why there is no body to show. */
  readonly noBody?: string;
  /** Sentences that report the use of an older secret or API key, during a rotation. */
  readonly rotation: readonly string[];
  /** The answer of the other receiver, if the delivery was forwarded to one. */
  readonly answer?: ShownAnswer;
  /** True when all bytes of the request were kept, so the delivery can be replayed. */
  readonly replayable: boolean;
  /** Id of the delivery that this one replays. */
  readonly replayOf?: string;
}

interface ShownAnswer {
  readonly status: number;
  readonly reasonPhrase: string;
  readonly headers: readonly ShownHeader[];
  readonly body: ShownBody;
}

/** The parts of the configuration that the page uses, including values that it must never show. */
export interface ViewConfig {
  readonly signing: SigningConfig | undefined;
  readonly apiKey: { readonly keys: readonly string[]; readonly header: string };
  readonly names: HeaderNames;
  /** Masks the credentials in the list, the download and the search. */
  readonly masker: Masker;
}

export async function viewDelivery(
  delivery: RecordedDelivery,
  summary: DeliverySummary,
  config: ViewConfig,
): Promise<DeliveryView> {
  const { names } = config;
  const signature = await findSignature(delivery, config.signing);
  const masker = config.masker.with(signature.correct);
  const reason = delivery.reasonCode ?? '';
  const isMismatch = reason === 'signature-mismatch' || reason === 'signature-malformed';
  const mistakes = isMismatch ? signature.mistakes : keyMistakes(delivery, reason, config);

  const body = delivery.rawBody && (await shownPart(delivery.rawBody, masker));
  const signed = isMismatch ? signature.signed : undefined;
  const view = {
    ...summary,
    request: { method: delivery.method, target: maskTarget(delivery.target), httpVersion: delivery.httpVersion },
    remoteAddress: delivery.remoteAddress,
    explanation: explainOutcome(delivery, names, signature.inScheme),
    mistakes,
    ...(reason === 'signature-mismatch' && mistakes.length === 0 && signature.inScheme === undefined
      ? { verifyCommand: verifyCommandFor(summary.id, signature.shown) }
      : {}),
    headers: maskHeaders(delivery.headers, names, signature.withheld),
    rotation: rotationOf(delivery),
    ...(body === undefined ? { noBody: whyNoBody(delivery) } : {}),
    replayable: delivery.forwarded?.raw !== undefined,
    ...(delivery.forwarded?.replayOf === undefined ? {} : { replayOf: delivery.forwarded.replayOf }),
  };
  const answer = delivery.forwarded?.answer;
  const safe = masker.value(view);
  const other = signed && (await shownPart(signed, masker));
  return {
    ...safe,
    ...(body === undefined ? {} : { body: body.shown }),
    ...(other && body && { diff: { signed: other.shown, runs: diffBytes(body.masked, other.masked) } }),
    ...(answer === undefined ? {} : { answer: await shownAnswer(answer, config, masker) }),
  };
}

/** Returns the command for the downloaded body. If the page hides the signature, the user sets it as `HEADER`. */
export function verifyCommandFor(id: string, shown: string | undefined): string {
  const value = shown === undefined ? '"$HEADER"' : `'${shown.replaceAll("'", "'\\''")}'`;
  return `hookproof verify delivery-${id}.bin --signature ${value} --secret-file secret.txt`;
}

/** Masks credentials in the answer as in the request, because a receiver can echo them. */
async function shownAnswer(answer: ForwardedAnswer, { names }: ViewConfig, masker: Masker): Promise<ShownAnswer> {
  const { status, reasonPhrase, headers, body, bodyLength } = answer;
  const { shown } = await shownPart(body, masker);
  const safe = masker.value({ status, reasonPhrase, headers: maskHeaders(headers, names, ECHOED) });
  return { ...safe, body: { ...shown, size: bodyLength, cut: shown.cut || bodyLength > body.length } };
}

const ECHOED = 'it may be correct';

export function credentialsOf({ signing, apiKey }: Pick<ViewConfig, 'signing' | 'apiKey'>): string[] {
  return [...(signing?.secrets ?? []), ...apiKey.keys];
}

interface ShownPart {
  readonly masked: Buffer;
  readonly shown: ShownBody;
}

/** Masks only the part of the body that is shown, because masking a large body takes time. */
async function shownPart(raw: Buffer, masker: Masker): Promise<ShownPart> {
  const part = raw.subarray(0, SHOWN_BYTES);
  const masked = await masker.bytes(raw, part.length);
  const base64 = masked.toString('base64');
  return { masked, shown: { size: raw.length, base64, cut: raw.length > SHOWN_BYTES, masked: !masked.equals(part) } };
}

function keyMistakes(delivery: RecordedDelivery, reason: string, { apiKey }: ViewConfig): ShownMistake[] {
  if (!reason.startsWith('api-key-')) return [];
  const title = explainKeyMismatch({ ...delivery, ...apiKey });
  return title === null
    ? []
    : [{ name: 'api-key', title, fix: 'Send the unchanged key in its own header, and nowhere else.' }];
}

function rotationOf({ secretIndex = 0, keyIndex = 0 }: RecordedDelivery): string[] {
  return [
    ...(secretIndex > 0
      ? [`The signature was made with secret number ${secretIndex + 1} of this receiver, not the first.`]
      : []),
    ...(keyIndex > 0 ? [`The API key is number ${keyIndex + 1} of this receiver, not the first.`] : []),
  ];
}

function whyNoBody({ bodyLength, reasonCode, outcome }: RecordedDelivery): string {
  if (bodyLength !== undefined) return 'The body is larger than what the inspector keeps.';
  if (reasonCode === 'body-too-large') return 'The body was not read: it is over the limit.';
  if (outcome === 'aborted') return 'The body did not arrive completely.';
  return 'The body was not read: the delivery had already been rejected.';
}
