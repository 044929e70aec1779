/** Keeps the latest deliveries in memory, limited in number and in bytes. The oldest are removed first. */
import { randomBytes } from 'node:crypto';
import type { ForwardedAnswer, HeaderLine } from '../../contract/index.ts';
import type { DeliveryObserver, DeliveryReport } from '../delivery-report.ts';

export interface Recorder {
  readonly observe: DeliveryObserver;
  /** Adds a delivery that did not come from the receiver of this process. */
  add(make: (number: number, maxBytes: number) => RecordedDelivery): RecordedDelivery;
  /** Prefix of the ids of deliveries. It distinguishes this process from earlier ones. */
  readonly instance: string;
  readonly maxDeliveries: number;
  /**
   * Returns the number of the oldest delivery that is kept: 1 before the first delivery. The newest is then 0, because
   * the next number is always `newest() + 1`.
   */
  oldest(): number;
  newest(): number;
  get(number: number): RecordedDelivery | undefined;
  /** Returns the kept deliveries in the order of arrival. */
  all(): Iterable<RecordedDelivery>;
  idOf(delivery: RecordedDelivery): string;
  /** Returns the number in an id of this process. Returns undefined for any other text. */
  numberOf(id: string): number | undefined;
  /** Calls the listener after each recorded delivery. */
  onRecorded(listener: () => void): void;
}

export function createRecorder(limits: { maxDeliveries?: number; maxBytes?: number } = {}): Recorder {
  const { maxDeliveries = 500, maxBytes = 32 * 1024 * 1024 } = limits;
  const instance = randomBytes(3).toString('hex');
  const kept = new Map<number, RecordedDelivery>();
  const listeners: (() => void)[] = [];
  let newest = 0;
  let oldest = 1;
  let weight = 0;

  function add(make: (number: number, maxBytes: number) => RecordedDelivery): RecordedDelivery {
    newest += 1;
    const delivery = make(newest, maxBytes);
    kept.set(newest, delivery);
    weight += delivery.weight;
    // The newest delivery is kept, whatever its size.
    while (kept.size > 1 && (kept.size > maxDeliveries || weight > maxBytes)) {
      weight -= kept.get(oldest)?.weight ?? 0;
      kept.delete(oldest);
      oldest += 1;
    }
    for (const listener of listeners) listener();
    return delivery;
  }

  const record = (report: DeliveryReport) => {
    add((number) => recordDelivery(report, number, maxBytes));
  };

  return {
    instance,
    maxDeliveries,
    observe: Object.assign(record, { needsRejectedBodies: true as const }),
    add,
    oldest: () => oldest,
    newest: () => newest,
    get: (number) => kept.get(number),
    all: () => kept.values(),
    idOf: ({ number }) => `${instance}-${number}`,
    numberOf(id) {
      const [, before, number] = /^([0-9a-f]{6})-(\d{1,15})$/.exec(id) ?? [];
      return before === instance ? Number(number) : undefined;
    },
    onRecorded: (listener) => {
      listeners.push(listener);
    },
  };
}

/** A recorded delivery. It is a copy, so that the request and its connection can be freed. */
export interface RecordedDelivery
  extends Pick<
    DeliveryReport,
    | 'outcome'
    | 'status'
    | 'reason'
    | 'reasonCode'
    | 'reasonDetail'
    | 'duplicate'
    | 'secretIndex'
    | 'keyIndex'
    | 'receivedAt'
    | 'durationMs'
  > {
  /** Number of the delivery in this process, counted from 1. */
  readonly number: number;
  readonly method: string;
  /** Path and query, as received. */
  readonly target: string;
  readonly httpVersion: string;
  readonly remoteAddress: string;
  /** Header lines in their original order and letter case. */
  readonly headers: readonly HeaderLine[];
  /** Undefined when the body was not read completely or is too large to be kept. */
  readonly rawBody: Buffer | undefined;
  /** Length of the body in bytes. Undefined when it was not read completely. */
  readonly bodyLength: number | undefined;
  /** Kind of the notification. Undefined unless the delivery passed every check. */
  readonly kind: string | undefined;
  readonly notificationId: string | undefined;
  readonly transactionId: string | undefined;
  /** Approximate size in memory, in bytes. */
  readonly weight: number;
  /** Set for a delivery to another receiver, whose answer decides `outcome` and `status`. */
  readonly forwarded?: Forwarded;
}

/**
 * Whether another receiver answered as the specification requires: 200 to a valid delivery, 4xx to a delivery with
 * invalid credentials. `unsafe` means that it answered 2xx to invalid credentials.
 */
export type AnswerVerdict = 'correct' | 'incorrect' | 'unsafe';

/** The parts of an exchange that are kept in addition to those of a delivery. */
interface Forwarded {
  readonly answer: ForwardedAnswer | undefined;
  /** Every byte of the request, for a replay. Undefined when some were not kept. */
  readonly raw: Buffer | undefined;
  readonly replayOf: string | undefined;
  /** True when a secret or an API key is configured here, so that credentials are checked. */
  readonly checked: boolean;
  /** Verdict on the answer. Undefined when it is not known which answer is expected. */
  readonly answered: AnswerVerdict | undefined;
}

/** Memory for the object itself, in addition to its headers and body, in bytes. */
const OBJECT_WEIGHT = 1000;

export function recordDelivery(report: DeliveryReport, number: number, maxBodyLength: number): RecordedDelivery {
  const { request, rawBody, notification, outcome, status, reason, reasonCode, reasonDetail, duplicate } = report;
  const { secretIndex, keyIndex, receivedAt, durationMs } = report;
  const headers = headerLines(request.rawHeaders);
  // `url` lacks the path at which the app is mounted. Express keeps the complete URL in `originalUrl`.
  const { originalUrl, url = '' }: typeof request & { originalUrl?: string } = request;
  const target = originalUrl ?? url;
  const kept = rawBody !== undefined && rawBody.length <= maxBodyLength ? rawBody : undefined;
  return {
    number,
    outcome,
    status,
    reason,
    reasonCode,
    reasonDetail,
    duplicate,
    secretIndex,
    keyIndex,
    receivedAt,
    durationMs,
    method: request.method ?? '',
    target,
    httpVersion: request.httpVersion,
    remoteAddress: request.socket.remoteAddress ?? '',
    headers,
    rawBody: kept,
    bodyLength: rawBody?.length,
    kind: notification?.kind,
    notificationId: notification?.id,
    transactionId: textIn(notification?.data, 'transactionId'),
    weight: weightOf(target, headers) + (kept?.length ?? 0),
  };
}

/** Returns the approximate memory for a delivery without its body, in bytes. */
export function weightOf(target: string, headers: readonly HeaderLine[]): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length, OBJECT_WEIGHT + target.length);
}

function headerLines(raw: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) lines.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return lines;
}

/** Returns the value of a property if it is a string. Returns undefined otherwise. */
export function textIn(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const field = (value as Record<string, unknown>)[name];
  return typeof field === 'string' ? field : undefined;
}
