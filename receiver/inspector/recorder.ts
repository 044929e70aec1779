/** The last deliveries, in memory: bounded in number and in bytes, the oldest go first. */
import { randomBytes } from 'node:crypto';
import type { ForwardedAnswer, HeaderLine } from '../../contract/index.ts';
import type { DeliveryObserver, DeliveryReport } from '../delivery-report.ts';

export interface Recorder {
  readonly observe: DeliveryObserver;
  /** Adds a delivery that did not come from the receiver of this process. */
  add(make: (number: number, maxBytes: number) => RecordedDelivery): RecordedDelivery;
  /** Distinguishes this process from earlier ones. Ids of deliveries begin with it. */
  readonly instance: string;
  readonly maxDeliveries: number;
  /**
   * The number of the oldest that is kept, and of the newest. With none: 1 and 0, so that the next is always `newest()
   * + 1`.
   */
  oldest(): number;
  newest(): number;
  get(number: number): RecordedDelivery | undefined;
  /** In order of arrival. */
  all(): Iterable<RecordedDelivery>;
  idOf(delivery: RecordedDelivery): string;
  /** The number in an id of this process; undefined for any other text. */
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
    // The newest is kept, whatever its size.
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

/** What is kept of a delivery: a copy, so that the request and its connection can be freed. */
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
  /** Counts from 1 in a process. */
  readonly number: number;
  readonly method: string;
  /** Path and query, as received. */
  readonly target: string;
  readonly httpVersion: string;
  readonly remoteAddress: string;
  /** In their order and letter case. */
  readonly headers: readonly HeaderLine[];
  /** Undefined when it was not read to its end, and when it is too large to be kept. */
  readonly rawBody: Buffer | undefined;
  /** Length of the body that was read, in bytes. */
  readonly bodyLength: number | undefined;
  /** For a notification that passed every check. */
  readonly kind: string | undefined;
  readonly notificationId: string | undefined;
  readonly transactionId: string | undefined;
  /** Approximate size in memory, in bytes. */
  readonly weight: number;
  /** Of a delivery to another receiver, whose answer decides `outcome` and `status`. */
  readonly forwarded?: Forwarded;
}

/**
 * Whether another receiver answered as the specification demands: 200 to a valid delivery, 4xx to one whose credentials
 * are not valid. `unsafe`: 2xx to such a delivery.
 */
export type AnswerVerdict = 'correct' | 'incorrect' | 'unsafe';

/** What is kept of an exchange in addition to the delivery. */
interface Forwarded {
  readonly answer: ForwardedAnswer | undefined;
  /** Every byte of the request, so that it can be sent again. */
  readonly raw: Buffer | undefined;
  readonly replayOf: string | undefined;
  /** Whether a secret or a key is configured here, so that a request without finding is a valid delivery. */
  readonly checked: boolean;
  /** Whether the answer is the one that is expected; undefined where this is not known. */
  readonly answered: AnswerVerdict | undefined;
}

/** The size of the object itself, in addition to headers and body. */
const OBJECT_WEIGHT = 1000;

export function recordDelivery(report: DeliveryReport, number: number, maxBodyLength: number): RecordedDelivery {
  const { request, rawBody, notification, outcome, status, reason, reasonCode, reasonDetail, duplicate } = report;
  const { secretIndex, keyIndex, receivedAt, durationMs } = report;
  const headers = headerLines(request.rawHeaders);
  // Express removes the mount point from `url`.
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

/** Of a delivery without its body, in bytes. */
export function weightOf(target: string, headers: readonly HeaderLine[]): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length, OBJECT_WEIGHT + target.length);
}

function headerLines(raw: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) lines.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return lines;
}

/** A field of an object, when it is a string. */
export function textIn(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const field = (value as Record<string, unknown>)[name];
  return typeof field === 'string' ? field : undefined;
}
