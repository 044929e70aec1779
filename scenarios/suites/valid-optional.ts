import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, lacking, plain } from '../changes/bodies.ts';
import { accepted } from '../expectations.ts';
import type { Level, RequirementId } from '../requirements.ts';
import { deposit, order, paymentMethod, refund, tracking } from '../samples.ts';
import type { Delivery, FlowScenario, ProbeScenario } from '../scenario.ts';

function optional(
  slug: string,
  title: string,
  level: Level,
  requirement: RequirementId,
  compose: Composer,
  why: string,
  fix: string,
): ProbeScenario {
  return {
    id: `valid/${slug}`,
    title,
    level,
    requirements: [requirement],
    change: { compose },
    expect: accepted,
    why,
    fix,
  };
}

/**
 * One field of blockchainData missing, null and empty. The specification does not say which are filled at which status.
 */
function threeWays(field: string, slug: string, inPractice: string, emptyIn: Composer = plain): ProbeScenario[] {
  const path = `data.metadata.blockchainData.${field}`;
  const set = (base: Composer, value: JsonValue) => having(base, path, value);
  return [
    optional(
      `${slug}-missing`,
      `Accepts an order without ${field}`,
      'must',
      'caas-optional',
      lacking(plain, path),
      `${inPractice} A receiver that requires the field rejects such orders.`,
      `Make ${field} optional in your schema or class.`,
    ),
    optional(
      `${slug}-null`,
      `Accepts an order whose ${field} is null`,
      'should',
      'values-absent',
      set(plain, null),
      `${inPractice} The field may then be null, and code that calls a method on it fails.`,
      `Allow null for ${field}, and check it before you use it.`,
    ),
    optional(
      `${slug}-empty`,
      `Accepts an order whose ${field} is empty`,
      'must',
      'caas-optional',
      set(emptyIn, ''),
      `${inPractice} The field may then be empty, and a minimum length or a pattern rejects it.`,
      `Treat an empty ${field} like an absent one, and remove the minimum length.`,
    ),
  ];
}

/** A notification in which these fields are empty. */
function emptied(label: string, base: Composer, ...paths: readonly string[]): Delivery {
  const compose = paths.reduce((composer, path) => having(composer, path, ''), base);
  return { label, change: { compose }, expect: accepted };
}

/** Optional texts that no other check sends empty. */
const emptyTexts: FlowScenario = {
  id: 'valid/empty-texts',
  title: 'Accepts empty messages, codes, hashes, addresses and references',
  level: 'should',
  requirements: ['values-absent'],
  flow: () =>
    [
      emptied(
        'an order: currency, chain and message',
        (kit) => order(kit, 'SELL', 'FAILED'),
        ...['currency', 'chain'].map((name) => `data.metadata.blockchainData.${name}`),
        'data.errorData.message',
      ),
      emptied(
        'a failed refund: hash and message',
        (kit) => refund(kit, 'FAIL'),
        ...['data.metadata.blockchainTransactionId', 'data.errorData.message'],
      ),
      emptied('a payment method: errorCode', staged, 'data.errorCode'),
      emptied(
        'a deposit: source address and hash',
        (kit) => deposit(kit),
        ...['data.metadata.sourceAddress', 'data.metadata.blockchainTransactionId'],
      ),
    ].map((delivery) => [delivery]),
  why:
    'Serialisers write fields without content as empty strings. Joi, `@IsNotEmpty` and `required` in Go reject them, ' +
    'and Laravel turns them into null.',
  fix: 'Allow empty strings in every optional text, and treat them like absent ones. The report names the fields.',
};

const buyConfirmed: Composer = (kit) => order(kit, 'BUY', 'CONFIRMED');
const buyPending: Composer = (kit) => order(kit, 'BUY', 'PENDING');
const refunded: Composer = (kit) => refund(kit, 'SUCCESS');
const staged: Composer = (kit) => paymentMethod(kit, 'STAGED');
const cashStep: Composer = (kit) => tracking(kit, 'BUY', 'COMPLETED');

/**
 * Optional and unfilled fields. Specification: type = CAAS, type = REFUND, type = PAYMENT_METHOD, type =
 * CAAS_BLOCKCHAIN.
 */
export const validOptional: readonly (ProbeScenario | FlowScenario)[] = [
  ...threeWays('targetWalletAddress', 'target-wallet', 'A sell pays out money and may have no target wallet.'),
  ...threeWays('blockchainTransactionId', 'hash', 'The hash exists only after the transfer.', buyConfirmed),
  ...threeWays('blockchainMemo', 'memo', 'Most networks have no memo.'),
  ...threeWays('refundWalletAddress', 'refund-wallet', 'Only external sells have a refund address.'),
  ...threeWays('sourceWalletAddress', 'source-wallet', 'A buy is paid in money and may have no source wallet.'),
  optional(
    'currency-missing',
    'Accepts an order without currency in blockchainData',
    'must',
    'caas-optional',
    lacking(plain, 'data.metadata.blockchainData.currency'),
    'An order that never reached a blockchain may have no currency there.',
    'Take the currency from your own record of the transaction when the notification has none.',
  ),
  optional(
    'chain-null',
    'Accepts an order whose chain is null',
    'should',
    'values-absent',
    having(plain, 'data.metadata.blockchainData.chain', null),
    'The network may still be unknown at an early status, and a lookup with null fails.',
    'Look the network up only when the field has a value.',
  ),
  optional(
    'blockchain-data-empty',
    'Accepts an order whose blockchainData is an empty object',
    'must',
    'caas-optional',
    having(buyPending, 'data.metadata.blockchainData', {}),
    'Before the order reaches a blockchain, there may be no blockchain data.',
    'Make every field of blockchainData optional, including all of them at once.',
  ),
  optional(
    'blockchain-data-missing',
    'Accepts an order without blockchainData',
    'should',
    'values-absent',
    lacking(buyPending, 'data.metadata.blockchainData'),
    'Code that reads blockchainData.chain without checking blockchainData fails on the first order without it.',
    'Use optional access (`?.`, a default of {}) for blockchainData.',
  ),
  optional(
    'error-data-null',
    'Accepts a successful order whose errorData is null',
    'must',
    'caas-failed',
    having(plain, 'data.errorData', null),
    'errorData is null when nothing failed, so code that reads errorData.code fails on every successful order.',
    'Check errorData for null before you read its code.',
  ),
  optional(
    'error-data-missing',
    'Accepts a successful order without errorData',
    'should',
    'values-absent',
    lacking(plain, 'data.errorData'),
    'A field without content may be omitted, and a strict class then rejects every successful order.',
    'Give errorData a default of null.',
  ),
  optional(
    'tracking-error-data-null',
    'Accepts ORDER_TRACKING with status EXPIRED and errorData null',
    'must',
    'caas-tracking',
    having((kit) => tracking(kit, 'BUY', 'EXPIRED'), 'data.errorData', null),
    'EXPIRED looks like a failure, but tracking never has an error object.',
    'Do not derive the presence of errorData from the tracking status.',
  ),
  optional(
    'tracking-description-empty',
    'Accepts ORDER_TRACKING with an empty description',
    'should',
    'values-absent',
    having(cashStep, 'data.metadata.trackingStateDescription', ''),
    'The description is free text from the payment provider and may be empty.',
    'Do not require a minimum length for trackingStateDescription.',
  ),
  optional(
    'refund-error-data-missing',
    'Accepts a successful REFUND without errorData',
    'should',
    'values-absent',
    lacking(refunded, 'data.errorData'),
    'errorData is filled for FAIL. For SUCCESS it may be absent.',
    'Require errorData only when the status of the refund is FAIL.',
  ),
  optional(
    'refund-hash-null',
    'Accepts a failed REFUND whose transaction hash is null',
    'should',
    'values-absent',
    having((kit) => refund(kit, 'FAIL'), 'data.metadata.blockchainTransactionId', null),
    'A refund that never reached the blockchain has no hash.',
    'Allow null for the hash of a failed refund.',
  ),
  optional(
    'payment-method-error-code-null',
    'Accepts a staged PAYMENT_METHOD whose errorCode is null',
    'should',
    'values-absent',
    having(staged, 'data.errorCode', null),
    'A serialiser that writes every field sends errorCode as null when nothing was declined.',
    'Allow null for errorCode, and read it only for DECLINED.',
  ),
  optional(
    'deposit-hash-null',
    'Accepts a deposit whose transaction hash is null',
    'should',
    'values-absent',
    (kit) => deposit(kit, { blockchainTransactionId: null }),
    'A deposit within the custodial ledger has no hash. It may be null or absent.',
    'Allow null for blockchainTransactionId of a deposit.',
  ),
  emptyTexts,
];
