import {
  ERROR_CODE_GROUPS,
  ERROR_CODES,
  type ErrorCodeGroup,
  findErrorCode,
  type JsonObject,
} from '../../contract/index.ts';
import { having } from '../changes/bodies.ts';
import { accepted, acceptedOrRejected } from '../expectations.ts';
import { order, paymentMethod } from '../samples.ts';
import type { Change, FlowScenario, Kit, Scenario } from '../scenario.ts';
import { family, type Row } from './family.ts';
import { composed } from './flows.ts';
import { onChain, refunded } from './valid-kinds.ts';

/** Sends a deposit of this many atomic units. */
const deposited = (atomic: string): Change => ({ compose: having(onChain, 'data.metadata.asset.amount', atomic) });

const returned = (amount: string) => having(refunded('SUCCESS'), 'data.metadata.amount', amount);

const tenDigits = '0123456789';
const DIGITS_78 = `1${tenDigits.repeat(7)}0123456`;
const long = { level: 'should', requirements: ['amount-size'] } as const;

/** Amounts of every size. Specification: type = CAAS_BLOCKCHAIN (atomic units); type = REFUND (decimal text). */
export const validAmounts: readonly Scenario[] = [
  ...family(
    {
      suite: 'valid',
      verb: 'Accepts',
      level: 'must',
      requirements: ['deposit-amount'],
      expect: accepted,
      mistake: 'narrow-amount-type',
    },
    {
      'deposit-amount-38-digits': [
        'a deposit amount of 38 digits in atomic units',
        deposited(`1${tenDigits.repeat(3)}0123456`),
      ],
      'deposit-amount-long': [
        'a deposit amount of 78 digits in atomic units, or rejects it',
        deposited(DIGITS_78),
        {
          ...long,
          expect: acceptedOrRejected,
          note: 'A 256-bit integer, as in most token contracts, has up to 78 digits.',
        },
      ],
      'deposit-amount-odd': ['a deposit amount of 2^53 + 1 atomic units', deposited('9007199254740993')],
      'deposit-amount-one': [
        'a deposit amount of one atomic unit',
        deposited('1'),
        { note: 'Code that converts to display units first may round the amount to zero.' },
      ],
    },
  ),
  ...family(
    { suite: 'valid', verb: 'Accepts', level: 'must', requirements: ['refund-amount'], mistake: 'narrow-amount-type' },
    {
      'refund-amount-38-digits': [
        'refund amounts of 38 digits',
        {
          flow: () => [
            [
              composed(
                'a refund of 38 digits before the decimal point',
                returned('12345678901234567890123456789012345678'),
              ),
              composed(
                'a refund of 20 digits before the decimal point and 18 after it',
                returned('12345678901234567890.123456789012345678'),
              ),
            ],
          ],
        },
      ],
      'refund-amount-long': [
        'refund amounts of more than 38 digits, or rejects them',
        {
          flow: () => [
            [
              composed(
                'a refund of 78 digits before the decimal point and 18 after it',
                returned(`${DIGITS_78}.${'123456789'.repeat(2)}`),
                acceptedOrRejected,
              ),
              composed('a refund of 400 digits', returned(`1${'0'.repeat(399)}`), acceptedOrRejected),
            ],
          ],
        },
        long,
      ],
    },
  ),
  ...family(
    {
      suite: 'valid',
      verb: 'Accepts',
      of: 'a refund amount',
      level: 'must',
      requirements: ['refund-amount'],
      expect: accepted,
      mistake: 'narrow-value-format',
    },
    {
      'refund-amount-small': ['with 18 decimals', { compose: returned('0.000000000000000001') }],
      'refund-amount-eight-decimals': [
        'of 0.00000001',
        { compose: returned('0.00000001') },
        'narrow-amount-type',
        { note: 'As a number, it is written as 1e-8, which a pattern for decimals does not match.' },
      ],
      'refund-amount-zeros': [
        'with trailing zeros',
        { compose: returned('1.50000000') },
        'narrow-amount-type',
        { note: 'A number loses trailing zeros, so a comparison of strings reports tampering.' },
      ],
      'refund-amount-whole': ['without a decimal point', { compose: returned('2') }],
    },
  ),
];

/** Number of concurrent deliveries in the flow that sends every error code. */
const CONCURRENT = 9;

/**
 * Creates a notification with this error code: in a PAYMENT_METHOD for digital payments, in a SELL order for codes
 * about a sell, otherwise in a BUY order. The specification does not say which code occurs in which flow.
 */
export function withErrorCode(kit: Kit, code: string, group: ErrorCodeGroup): JsonObject {
  if (group === 'digital-payments') return paymentMethod(kit, 'DECLINED', { code });
  const isSell = group === 'external-sell' || /\bsell\b/i.test(findErrorCode(code)?.meaning ?? '');
  return order(kit, isSell ? 'SELL' : 'BUY', 'FAILED', { code });
}

const LISTED = { level: 'must', requirements: ['error-codes-listed'] } as const;

const everyCode: FlowScenario = {
  ...LISTED,
  id: 'valid/error-codes-all',
  title: `Accepts all ${ERROR_CODES.length} listed error codes`,
  defect: 'Rejects listed error codes',
  flow: (kit) => {
    const deliveries = ERROR_CODES.map(({ code, group }) => composed(code, () => withErrorCode(kit, code, group)));
    return Array.from({ length: Math.ceil(deliveries.length / CONCURRENT) }, (_, group) =>
      deliveries.slice(group * CONCURRENT, (group + 1) * CONCURRENT),
    );
  },
  mistake: 'error-code-restricted',
};

/** Sends one code of a group, with a note about the group. */
function one(group: ErrorCodeGroup, code: string, note: string): Row {
  const change: Change = { compose: (kit) => withErrorCode(kit, code, group) };
  return [`"${ERROR_CODE_GROUPS[group]}"`, change, 'error-code-restricted', { note }];
}

/** The listed error codes. Specification: Error codes. */
export const validErrors: readonly Scenario[] = [
  ...family(
    { ...LISTED, suite: 'valid', verb: 'Accepts', of: 'an error code of the group', expect: accepted },
    {
      'error-system': one('system', '352-001-S2', 'Two codes of this group differ only in their suffix.'),
      'error-custody': one('custody', '352-104-S3', 'Close the order on FAILED, whatever the code is.'),
      'error-external-sell': one(
        'external-sell',
        '352-253-S1',
        'These failures concern calls to the partner, so the partner can fix them.',
      ),
      'error-blockchain': one('blockchain', '207-007-E3', 'The codes of this group start with 204, 207 or 209.'),
      'error-digital-payments': one(
        'digital-payments',
        '313-702-S3',
        'A declined payment method has its code in errorCode, not in errorData.',
      ),
      'error-crypto-send': one('crypto-send', '204-015-S2', 'These codes occur although there is no order type SEND.'),
      'error-risk-screening': one(
        'risk-screening',
        '152-015-E3',
        'Codes that start with 152 must reach the compliance team.',
      ),
    },
  ),
  everyCode,
];
