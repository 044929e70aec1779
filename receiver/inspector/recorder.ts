/** The last deliveries, in memory: bounded in number and in bytes, the oldest go first. */
import { randomBytes } from 'node:crypto';
import type { DeliveryObserver } from '../delivery-report.ts';
import { type RecordedDelivery, recordDelivery } from './recorded-delivery.ts';

export interface Recorder {
  readonly observe: DeliveryObserver;
  /** Tells this process from one before it. Ids of deliveries begin with it. */
  readonly instance: string;
  readonly maxDeliveries: number;
  /** The number of the oldest that is kept, and of the newest. With none: 1 and 0, so that the next is always `newest() + 1`. */
  oldest(): number;
  newest(): number;
  get(number: number): RecordedDelivery | undefined;
  /** In order of arrival. */
  all(): Iterable<RecordedDelivery>;
  idOf(delivery: RecordedDelivery): string;
  /** The number in an id of this process; undefined for any other text. */
  numberOf(id: string): number | undefined;
  /** Is called after each delivery that was recorded. */
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

  return {
    instance,
    maxDeliveries,
    observe(report) {
      newest += 1;
      const delivery = recordDelivery(report, newest, maxBytes);
      kept.set(newest, delivery);
      weight += delivery.weight;
      // The newest stays, whatever it weighs.
      while (kept.size > 1 && (kept.size > maxDeliveries || weight > maxBytes)) {
        weight -= kept.get(oldest)?.weight ?? 0;
        kept.delete(oldest);
        oldest += 1;
      }
      for (const listener of listeners) listener();
    },
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
