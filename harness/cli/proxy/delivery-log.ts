/** Prints one line on standard error for each delivery that the proxy forwards. */
import { counted } from '../../report/index.ts';
import type { ForwardedDelivery } from '../receiver-entry.ts';

/** Maximum number of lines per second; further deliveries are only counted. */
const MAX_LINES = 20;
const WINDOW_MS = 1000;

interface DeliveryLog {
  add(delivery: ForwardedDelivery): void;
  /** Prints how many deliveries were only counted. */
  close(): void;
}

/** Creates the log. `write` is called with whole lines. */
export function createDeliveryLog(write: (text: string) => void): DeliveryLog {
  let printed = 0;
  let left = 0;
  let alarms = 0;
  let timer: NodeJS.Timeout | undefined;

  function endWindow(): void {
    clearTimeout(timer);
    timer = undefined;
    if (left > 0) {
      const more = counted(left, 'more delivery', 'more deliveries');
      write(`${more}${alarms === 0 ? '' : `, ${counted(alarms, 'ALARM')}`}: see the inspector\n`);
    }
    printed = 0;
    left = 0;
    alarms = 0;
  }

  return {
    add(delivery) {
      timer ??= setTimeout(endWindow, WINDOW_MS).unref();
      if (printed < MAX_LINES) {
        printed += 1;
        write(`${deliveryLine(delivery)}\n`);
        return;
      }
      left += 1;
      if (delivery.alarm !== undefined) alarms += 1;
    },
    close: endWindow,
  };
}

/**
 * Formats a delivery: "14:02:11  7e57ca-12  buy  401  signature-mismatch". The fields are masked and
 * contain nothing that the sender chose.
 */
export function deliveryLine({ alarm, answered, at, id, kind, outcome, reason, status }: ForwardedDelivery): string {
  const clock = new Date(at).toTimeString().slice(0, 8);
  const judged = answered === undefined ? '' : ANSWERED[answered];
  const word = alarm === undefined ? judged : ANSWERED.unsafe;
  const why = reason === undefined ? word : word === '' ? reason : `${word}: ${reason}`;
  return [clock, id, kind ?? '-', answerInWord({ status: outcome === 'aborted' ? undefined : status }), why]
    .join('  ')
    .trimEnd();
}

/** Returns the status as text, or "no answer". */
export function answerInWord({ status }: { readonly status?: number | undefined }): string {
  if (status === undefined) return 'no answer';
  return status === 0 ? 'not HTTP' : `${status}`;
}

/** Labels for whether the answer was the expected one. */
export const ANSWERED = { correct: 'correct', incorrect: 'INCORRECT', unsafe: 'ALARM' } as const;
