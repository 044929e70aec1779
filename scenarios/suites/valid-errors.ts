import { ERROR_CODE_GROUPS, ERROR_CODES, type ErrorCodeGroup, type JsonObject } from '../../contract/index.ts';
import { accepted } from '../expectations.ts';
import { order, paymentMethod } from '../samples.ts';
import type { Delivery, FlowScenario, Kit, ProbeScenario } from '../scenario.ts';

/** How many deliveries of the long flow go at the same time. */
const AT_ONCE = 9;

/** A notification that carries an error code where the code's group has its place: payments in PAYMENT_METHOD, all others in an order. */
export function carrying(kit: Kit, code: string, group: ErrorCodeGroup): JsonObject {
  if (group === 'digital-payments') return paymentMethod(kit, 'DECLINED', { code });
  return order(kit, group === 'external-sell' ? 'SELL' : 'BUY', 'FAILED', { code });
}

function one(group: ErrorCodeGroup, code: string, why: string, fix: string): ProbeScenario {
  return {
    id: `valid/error-${group}`,
    title: `Accepts a failure of the group "${ERROR_CODE_GROUPS[group]}"`,
    level: 'must',
    requirements: ['error-codes-listed'],
    change: { compose: (kit) => carrying(kit, code, group) },
    expect: accepted,
    why,
    fix,
  };
}

const everyCode: FlowScenario = {
  id: 'valid/error-codes-all',
  title: `Accepts each of the ${ERROR_CODES.length} listed error codes`,
  level: 'must',
  requirements: ['error-codes-listed'],
  flow: (kit) => {
    const deliveries = ERROR_CODES.map(
      ({ code, group }): Delivery => ({
        label: code,
        change: { compose: () => carrying(kit, code, group) },
        expect: accepted,
      }),
    );
    return Array.from({ length: Math.ceil(deliveries.length / AT_ONCE) }, (_, group) =>
      deliveries.slice(group * AT_ONCE, (group + 1) * AT_ONCE),
    );
  },
  why: 'A code that was left out of an enum shows only when that failure occurs, which may be months later.',
  fix: 'Read the code as text. The report names the code that was refused.',
};

/** Failures with the listed codes. Specification: Error codes. */
export const validErrors: readonly (ProbeScenario | FlowScenario)[] = [
  one(
    'system',
    '352-001-S2',
    'Two codes of this group share their first two parts and differ in the suffix alone; a lookup without the suffix mixes them up.',
    'Use the whole code as the key, suffix included.',
  ),
  one(
    'custody',
    '352-104-S3',
    'A buy that the custody wallet turned down is final; a receiver that waits for more never tells the user.',
    'Close the order on FAILED, whatever the code is.',
  ),
  one(
    'external-sell',
    '352-253-S1',
    'These failures are about calls to the partner, so the partner is the one who can mend them, if the notification gets through.',
    'Accept the failed sell and raise an alarm on this group.',
  ),
  one(
    'blockchain',
    '207-007-E3',
    'The biggest group of codes; they start with 204, 207 or 209, and a check for one first number misses the rest.',
    'Do not derive the meaning of a failure from the first number of its code.',
  ),
  one(
    'digital-payments',
    '313-702-S3',
    'This group comes as errorCode of a payment method and not inside errorData, so one shared reader for both finds nothing.',
    'Read errorCode for PAYMENT_METHOD and errorData.code for the others.',
  ),
  one(
    'crypto-send',
    '204-015-S2',
    'Codes about sending and receiving turn up although no order type is called SEND; a mapping by order type has no row for them.',
    'Do not tie error codes to the order types that you know.',
  ),
  one(
    'risk-screening',
    '152-015-E3',
    'A transfer that was stopped for its risk must reach the people who handle compliance.',
    'Accept the failure, and route codes that start with 152 to them.',
  ),
  everyCode,
];
