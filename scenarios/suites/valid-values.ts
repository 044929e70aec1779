import { ERROR_CODE_GROUPS, ERROR_CODES, type ErrorCodeGroup, type JsonObject } from '../../contract/index.ts';
import { type Composer, having } from '../changes/composing.ts';
import { accepted } from '../expectations.ts';
import { deposit, order, paymentMethod, refund } from '../samples.ts';
import type { Delivery, FlowScenario, Kit, ProbeScenario } from '../scenario.ts';

const onChain: Composer = (kit) => deposit(kit);
const returned: Composer = (kit) => refund(kit, 'SUCCESS');

const atomic = { level: 'must', requirements: ['deposit-amount'], expect: accepted } as const;
const decimal = { level: 'must', requirements: ['refund-amount'], expect: accepted } as const;

/** Amounts of every size. Specification: type = CAAS_BLOCKCHAIN (atomic units); type = REFUND (decimal text). */
export const validAmounts: readonly ProbeScenario[] = [
  {
    ...atomic,
    id: 'valid/deposit-amount-long',
    title: 'Accepts a deposit of 78 digits in atomic units',
    change: { compose: having(onChain, 'data.metadata.asset.amount', `1${'0123456789'.repeat(7)}0123456`) },
    why: 'Tokens with 18 decimals pass every machine integer soon, and a 64-bit column or parser fails on them.',
    fix: 'Keep amounts as text or as a big integer, never as a number.',
  },
  {
    ...atomic,
    id: 'valid/deposit-amount-odd',
    title: 'Accepts a deposit of one atomic unit more than 2 to the power of 53',
    change: { compose: having(onChain, 'data.metadata.asset.amount', '9007199254740993') },
    why: 'A floating-point number cannot hold it. A conversion there and back gives another amount, which a check takes for an error.',
    fix: 'Convert atomic units with BigInt or its like, and not with Number or float.',
  },
  {
    ...atomic,
    id: 'valid/deposit-amount-one',
    title: 'Accepts a deposit of a single atomic unit',
    change: { compose: having(onChain, 'data.metadata.asset.amount', '1') },
    why: 'Dust is a normal deposit. Code that converts it to display units first may round it to zero and refuse it.',
    fix: 'Validate the atomic amount as it comes, before any conversion.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-small',
    title: 'Accepts a refund of the smallest unit of a coin with 18 decimals',
    change: { compose: having(returned, 'data.metadata.amount', '0.000000000000000001') },
    why: 'A pattern or a column with eight decimals, as Bitcoin has them, fails on coins that have more.',
    fix: 'Allow any number of decimals in the amount of a refund.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-eight-decimals',
    title: 'Accepts a refund of 0.00000001',
    change: { compose: having(returned, 'data.metadata.amount', '0.00000001') },
    why: 'As a number it is written 1e-8, and that is no longer what came nor what a pattern for decimals allows.',
    fix: 'Keep the text of the amount; do not write a number in its place.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-zeros',
    title: 'Accepts a refund whose amount ends in zeros',
    change: { compose: having(returned, 'data.metadata.amount', '1.50000000') },
    why: 'Decimal types of the sender keep the scale. A comparison of texts after a conversion takes the lost zeros for tampering.',
    fix: 'Compare amounts by value and not as text.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-whole',
    title: 'Accepts a refund whose amount has no decimal point',
    change: { compose: having(returned, 'data.metadata.amount', '2') },
    why: 'A whole number of coins needs no point, and a pattern that wants one refuses it.',
    fix: 'Make the decimal point and what follows it optional in the check of amounts.',
  },
];

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
