import { type Composer, having, lacking, plain } from '../changes/bodies.ts';
import { accepted } from '../expectations.ts';
import { deposit } from '../samples.ts';
import type { Delivery, FlowScenario, Scenario } from '../scenario.ts';
import { family, type Row } from './family.ts';
import { composed, inSequence } from './flows.ts';
import { buy, card, cashStep, onChain, refunded, sell } from './valid-kinds.ts';

const MISTAKE = 'optional-data-required';
const BLOCKCHAIN_DATA = 'data.metadata.blockchainData';
const HASH = 'data.metadata.blockchainTransactionId';

/** The specification makes these fields optional. By ruling, a field without a value may also be absent or null. */
const optional = {
  suite: 'valid',
  verb: 'Accepts',
  level: 'must',
  requirements: ['caas-optional'],
  expect: accepted,
} as const;
const absent = { level: 'should', requirements: ['values-absent'] } as const;

/**
 * Sends orders in which one field of blockchainData is missing, null or empty. The specification does not say which
 * fields have a value at which status.
 */
function missingNullAndEmpty(field: string, slug: string, emptyIn: Composer = plain): Record<string, Row> {
  const path = `${BLOCKCHAIN_DATA}.${field}`;
  return {
    [`${slug}-missing`]: [`an order without ${field}`, { compose: lacking(plain, path) }],
    [`${slug}-null`]: [`an order whose ${field} is null`, { compose: having(plain, path, null) }, absent],
    [`${slug}-empty`]: [`an order whose ${field} is empty`, { compose: having(emptyIn, path, '') }],
  };
}

/** Sends a notification in which these fields are empty. */
function withEmptyFields(label: string, base: Composer, ...paths: readonly string[]): Delivery {
  return composed(
    label,
    paths.reduce((composer, path) => having(composer, path, ''), base),
  );
}

/** Optional texts that no other check sends empty. */
const emptyTexts: FlowScenario = {
  ...absent,
  id: 'valid/empty-texts',
  title: 'Accepts empty messages, codes, hashes, addresses and references',
  flow: () =>
    inSequence(
      withEmptyFields(
        'an order: currency, chain and message',
        sell('FAILED'),
        ...[`${BLOCKCHAIN_DATA}.currency`, `${BLOCKCHAIN_DATA}.chain`, 'data.errorData.message'],
      ),
      withEmptyFields('a failed refund: hash and message', refunded('FAIL'), HASH, 'data.errorData.message'),
      withEmptyFields('a payment method: errorCode', card('STAGED'), 'data.errorCode'),
      withEmptyFields('a deposit: source address and hash', onChain, 'data.metadata.sourceAddress', HASH),
    ),
  mistake: MISTAKE,
  note: 'Laravel turns empty strings into null.',
};

/**
 * Optional fields, and fields without a value. Specification: type = CAAS, type = REFUND, type = PAYMENT_METHOD, type =
 * CAAS_BLOCKCHAIN.
 */
export const validOptional: readonly Scenario[] = [
  ...family(
    { ...optional, mistake: MISTAKE },
    {
      ...missingNullAndEmpty('targetWalletAddress', 'target-wallet'),
      ...missingNullAndEmpty('blockchainTransactionId', 'hash', buy('CONFIRMED')),
      ...missingNullAndEmpty('blockchainMemo', 'memo'),
      ...missingNullAndEmpty('refundWalletAddress', 'refund-wallet'),
      ...missingNullAndEmpty('sourceWalletAddress', 'source-wallet'),
      'currency-missing': [
        'an order without currency in blockchainData',
        { compose: lacking(plain, `${BLOCKCHAIN_DATA}.currency`) },
      ],
      'chain-null': [
        'an order whose chain is null',
        { compose: having(plain, `${BLOCKCHAIN_DATA}.chain`, null) },
        absent,
      ],
      'blockchain-data-empty': [
        'an order whose blockchainData is an empty object',
        { compose: having(buy('PENDING'), BLOCKCHAIN_DATA, {}) },
      ],
      'blockchain-data-missing': [
        'an order without blockchainData',
        { compose: lacking(buy('PENDING'), BLOCKCHAIN_DATA) },
        absent,
      ],
      'error-data-null': [
        'a successful order whose errorData is null',
        { compose: having(plain, 'data.errorData', null) },
        { requirements: ['caas-failed'] },
      ],
      'error-data-missing': [
        'a successful order without errorData',
        { compose: lacking(plain, 'data.errorData') },
        absent,
      ],
      'tracking-error-data-null': [
        'ORDER_TRACKING with status EXPIRED and errorData null',
        { compose: having(cashStep('BUY', 'EXPIRED'), 'data.errorData', null) },
        {
          requirements: ['caas-tracking'],
          note: 'EXPIRED looks like a failure, but tracking never has an error object.',
        },
      ],
    },
  ),
  ...family(
    { ...optional, ...absent, mistake: MISTAKE },
    {
      'tracking-description-empty': [
        'ORDER_TRACKING with an empty description',
        { compose: having(cashStep('BUY', 'COMPLETED'), 'data.metadata.trackingStateDescription', '') },
      ],
      'refund-error-data-missing': [
        'a successful REFUND without errorData',
        { compose: lacking(refunded('SUCCESS'), 'data.errorData') },
      ],
      'refund-hash-null': [
        'a failed REFUND whose transaction hash is null',
        { compose: having(refunded('FAIL'), HASH, null) },
      ],
      'payment-method-error-code-null': [
        'a staged PAYMENT_METHOD whose errorCode is null',
        { compose: having(card('STAGED'), 'data.errorCode', null) },
      ],
      'deposit-hash-null': [
        'a deposit whose transaction hash is null',
        { compose: (kit) => deposit(kit, { blockchainTransactionId: null }) },
      ],
    },
  ),
  emptyTexts,
];
