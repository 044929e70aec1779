import {
  ERROR_CODE_GROUPS,
  ERROR_CODES,
  type ErrorCodeGroup,
  findErrorCode,
  type JsonObject,
} from '../../contract/index.ts';
import { type Composer, having } from '../changes/bodies.ts';
import { accepted, acceptedOrRejected } from '../expectations.ts';
import { deposit, order, paymentMethod, refund } from '../samples.ts';
import type { Delivery, Expectation, FlowScenario, Kit, ProbeScenario } from '../scenario.ts';

const onChain: Composer = (kit) => deposit(kit);
const returned: Composer = (kit) => refund(kit, 'SUCCESS');

const atomic = { level: 'must', requirements: ['deposit-amount'], expect: accepted } as const;
const decimal = { level: 'must', requirements: ['refund-amount'], expect: accepted } as const;

/** The same notification with several amounts. */
function amounts(
  kind: string,
  path: string,
  base: Composer,
  values: readonly (readonly [what: string, amount: string])[],
  expect: Expectation = accepted,
): Pick<FlowScenario, 'flow'> {
  return {
    flow: () => [
      values.map(
        ([what, amount]): Delivery => ({
          label: `a ${kind} of ${what}`,
          change: { compose: having(base, path, amount) },
          expect,
        }),
      ),
    ],
  };
}

/** Amounts of every size. Specification: type = CAAS_BLOCKCHAIN (atomic units); type = REFUND (decimal text). */
export const validAmounts: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...atomic,
    id: 'valid/deposit-amount-38-digits',
    title: 'Accepts a deposit amount of 38 digits in atomic units',
    change: { compose: having(onChain, 'data.metadata.asset.amount', `1${'0123456789'.repeat(3)}0123456`) },
    why: 'Amounts of tokens with 18 decimals often exceed 64 bits, and a 64-bit column or parser fails on them.',
    fix: 'Keep amounts as strings or big integers, never as floating-point numbers or 64-bit integers.',
  },
  {
    ...atomic,
    id: 'valid/deposit-amount-long',
    title: 'Accepts a deposit amount of 78 digits in atomic units, or rejects it',
    level: 'should',
    requirements: ['amount-size'],
    expect: acceptedOrRejected,
    change: { compose: having(onChain, 'data.metadata.asset.amount', `1${'0123456789'.repeat(7)}0123456`) },
    why: 'A 256-bit integer, which most token contracts use, has up to 78 digits; decimal columns often have 38.',
    fix: 'Keep amounts as strings or big integers, and answer 422 to an amount that you cannot store.',
  },
  {
    ...atomic,
    id: 'valid/deposit-amount-odd',
    title: 'Accepts a deposit amount of 2^53 + 1 atomic units',
    change: { compose: having(onChain, 'data.metadata.asset.amount', '9007199254740993') },
    why:
      'A double cannot represent this number. A round trip changes the amount, and a comparison then reports an ' +
      'error.',
    fix: 'Convert atomic units with BigInt or an equivalent, not with Number or float.',
  },
  {
    ...atomic,
    id: 'valid/deposit-amount-one',
    title: 'Accepts a deposit amount of one atomic unit',
    change: { compose: having(onChain, 'data.metadata.asset.amount', '1') },
    why: 'Code that converts to display units first may round the amount to zero and reject the deposit.',
    fix: 'Validate the amount in atomic units, before any conversion.',
  },
  {
    ...amounts('refund', 'data.metadata.amount', returned, [
      ['38 digits before the decimal point', '12345678901234567890123456789012345678'],
      ['20 digits before the decimal point and 18 after it', '12345678901234567890.123456789012345678'],
    ]),
    id: 'valid/refund-amount-38-digits',
    title: 'Accepts refund amounts of 38 digits',
    level: 'must',
    requirements: ['refund-amount'],
    why:
      'Python calculates with 28 digits and .NET stores 28. Rounding a longer amount to a number of decimals then ' +
      'ends in an error.',
    fix: 'Keep amounts as text, or set the precision of decimals to at least 78 digits. The report names the amount.',
  },
  {
    ...amounts(
      'refund',
      'data.metadata.amount',
      returned,
      [
        [
          '78 digits before the decimal point and 18 after it',
          `1${'0123456789'.repeat(7)}0123456.${'123456789'.repeat(2)}`,
        ],
        ['400 digits', `1${'0'.repeat(399)}`],
      ],
      acceptedOrRejected,
    ),
    id: 'valid/refund-amount-long',
    title: 'Accepts refund amounts of more than 38 digits, or rejects them',
    level: 'should',
    requirements: ['amount-size'],
    why: 'Conversion to a number gives infinity or zero, and decimal types throw on what they cannot represent.',
    fix: 'Check the length of an amount before the conversion, and answer 422 to one that you cannot store.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-small',
    title: 'Accepts a refund amount with 18 decimals',
    change: { compose: having(returned, 'data.metadata.amount', '0.000000000000000001') },
    why: 'A pattern or column with eight decimals, as for Bitcoin, fails for currencies with more.',
    fix: 'Allow any number of decimals in the amount of a refund.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-eight-decimals',
    title: 'Accepts a refund amount of 0.00000001',
    change: { compose: having(returned, 'data.metadata.amount', '0.00000001') },
    why: 'As a number it is written 1e-8, which a pattern for decimals does not match.',
    fix: 'Keep the amount as a string, and do not convert it to a number and back.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-zeros',
    title: 'Accepts a refund amount with trailing zeros',
    change: { compose: having(returned, 'data.metadata.amount', '1.50000000') },
    why: 'A decimal type keeps trailing zeros and a number does not, so a comparison of strings reports tampering.',
    fix: 'Compare amounts by value, not as strings.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-whole',
    title: 'Accepts a refund amount without a decimal point',
    change: { compose: having(returned, 'data.metadata.amount', '2') },
    why: 'A whole amount needs no decimal point. A pattern that requires one rejects it.',
    fix: 'Make the decimal point and the decimals optional.',
  },
];

/** Concurrent deliveries of the flow with every code. */
const CONCURRENT = 9;

/**
 * A notification with this error code: digital payments in a PAYMENT_METHOD, codes about a sell in a SELL order, all
 * others in a BUY order. The specification does not say which code occurs in which flow.
 */
export function carrying(kit: Kit, code: string, group: ErrorCodeGroup): JsonObject {
  if (group === 'digital-payments') return paymentMethod(kit, 'DECLINED', { code });
  const isSell = group === 'external-sell' || /\bsell\b/i.test(findErrorCode(code)?.meaning ?? '');
  return order(kit, isSell ? 'SELL' : 'BUY', 'FAILED', { code });
}

function one(group: ErrorCodeGroup, code: string, why: string, fix: string): ProbeScenario {
  return {
    id: `valid/error-${group}`,
    title: `Accepts an error code of the group "${ERROR_CODE_GROUPS[group]}"`,
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
  title: `Accepts all ${ERROR_CODES.length} listed error codes`,
  defect: 'Rejects listed error codes',
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
    return Array.from({ length: Math.ceil(deliveries.length / CONCURRENT) }, (_, group) =>
      deliveries.slice(group * CONCURRENT, (group + 1) * CONCURRENT),
    );
  },
  why: 'A code that is missing from an enum shows only when that failure occurs, possibly months later.',
  fix: 'Read the code as a string. The report names the rejected code.',
};

/** The listed error codes. Specification: Error codes. */
export const validErrors: readonly (ProbeScenario | FlowScenario)[] = [
  one(
    'system',
    '352-001-S2',
    'Two codes of this group differ only in their suffix. A lookup without the suffix confuses them.',
    'Use the whole code as the key, including the suffix.',
  ),
  one(
    'custody',
    '352-104-S3',
    'A buy that the custody wallet rejected is final. A receiver that keeps waiting never informs the user.',
    'Close the order on FAILED, whatever the code is.',
  ),
  one(
    'external-sell',
    '352-253-S1',
    'These failures concern calls to the partner, so the partner is the one who can fix them.',
    'Accept the failed sell, and raise an alert for this group.',
  ),
  one(
    'blockchain',
    '207-007-E3',
    'This is the largest group. Its codes start with 204, 207 or 209, so a check for one of them misses the others.',
    'Do not derive the meaning of a failure from the first number of its code.',
  ),
  one(
    'digital-payments',
    '313-702-S3',
    'A declined payment method has its code in errorCode. Code that looks only for errorData does not find it.',
    'Read errorCode for PAYMENT_METHOD and errorData.code for all other types.',
  ),
  one(
    'crypto-send',
    '204-015-S2',
    'These codes occur although there is no order type SEND, so a mapping by order type has no entry for them.',
    'Do not tie error codes to the order types that you know.',
  ),
  one(
    'risk-screening',
    '152-015-E3',
    'A transfer that was stopped by risk screening must reach the compliance team.',
    'Accept the failure, and route codes that start with 152 to the compliance team.',
  ),
  everyCode,
];
