import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, lacking, plain } from '../changes/composing.ts';
import { accepted } from '../expectations.ts';
import type { Level, RequirementId } from '../requirements.ts';
import { deposit, order, paymentMethod, refund, tracking } from '../samples.ts';
import type { ProbeScenario } from '../scenario.ts';

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

/** One field of blockchainData as missing, null and empty: which of them are filled when is not stated. */
function threeWays(field: string, slug: string, inPractice: string): ProbeScenario[] {
  const path = `data.metadata.blockchainData.${field}`;
  const set = (value: JsonValue) => having(plain, path, value);
  return [
    optional(
      `${slug}-missing`,
      `Accepts an order without ${field}`,
      'must',
      'caas-optional',
      lacking(plain, path),
      `${inPractice} A receiver that requires the field refuses such orders for good.`,
      `Make ${field} optional in your schema or class.`,
    ),
    optional(
      `${slug}-null`,
      `Accepts an order whose ${field} is null`,
      'must',
      'caas-optional',
      set(null),
      `${inPractice} Null is one way to send that, and code that calls a method on it breaks.`,
      `Allow null for ${field}, and check it before you use it.`,
    ),
    optional(
      `${slug}-empty`,
      `Accepts an order whose ${field} is empty`,
      'must',
      'caas-optional',
      set(''),
      `${inPractice} An empty text is another way to send that, and a minimum length or a pattern refuses it.`,
      `Take an empty ${field} for an absent one; drop the minimum length.`,
    ),
  ];
}

const buyPending: Composer = (kit) => order(kit, 'BUY', 'PENDING');
const refunded: Composer = (kit) => refund(kit, 'SUCCESS');
const staged: Composer = (kit) => paymentMethod(kit, 'STAGED');
const cashStep: Composer = (kit) => tracking(kit, 'BUY', 'COMPLETED');

/** Optional and unfilled fields. Specification: type = CAAS, type = REFUND, type = PAYMENT_METHOD, type = CAAS_BLOCKCHAIN. */
export const validOptional: readonly ProbeScenario[] = [
  ...threeWays('targetWalletAddress', 'target-wallet', 'A sell pays out money, so it may have no target wallet.'),
  ...threeWays('blockchainTransactionId', 'hash', 'The hash exists only after the transfer.'),
  ...threeWays('blockchainMemo', 'memo', 'Most networks have no memo.'),
  ...threeWays('refundWalletAddress', 'refund-wallet', 'A refund address is given for external sells only.'),
  ...threeWays('sourceWalletAddress', 'source-wallet', 'A buy is paid in money, so it may have no source wallet.'),
  optional(
    'currency-missing',
    'Accepts an order without currency in blockchainData',
    'must',
    'caas-optional',
    lacking(plain, 'data.metadata.blockchainData.currency'),
    'An order that never reached a blockchain may not name a currency there.',
    'Take the currency from your own record of the transaction when the notification has none.',
  ),
  optional(
    'chain-null',
    'Accepts an order whose chain is null',
    'must',
    'caas-optional',
    having(plain, 'data.metadata.blockchainData.chain', null),
    'An early status may not know the network yet, and a lookup by a null network throws.',
    'Look the network up only when it is given.',
  ),
  optional(
    'blockchain-data-empty',
    'Accepts an order whose blockchainData is an empty object',
    'must',
    'caas-optional',
    having(buyPending, 'data.metadata.blockchainData', {}),
    'Before the blockchain is involved there may be nothing to say about it.',
    'Make every field of blockchainData optional, all at once too.',
  ),
  optional(
    'blockchain-data-missing',
    'Accepts an order without blockchainData',
    'should',
    'caas-optional',
    lacking(buyPending, 'data.metadata.blockchainData'),
    'Code that reads blockchainData.chain without a look at blockchainData dies on the first order that lacks it.',
    'Use optional access (`?.`, a default of {}) on blockchainData.',
  ),
  optional(
    'error-data-null',
    'Accepts a successful order whose errorData is null',
    'must',
    'caas-failed',
    having(plain, 'data.errorData', null),
    'Null is what stands there when nothing failed; reading errorData.code from it crashes on every success.',
    'Test errorData for null before you read code from it.',
  ),
  optional(
    'error-data-missing',
    'Accepts a successful order without errorData',
    'should',
    'caas-failed',
    lacking(plain, 'data.errorData'),
    'A field without content may be left out; a strict class then refuses every order that went well.',
    'Give errorData a default of null.',
  ),
  optional(
    'tracking-error-data-null',
    'Accepts the tracking of an expired cash step whose errorData is null',
    'must',
    'caas-tracking',
    having((kit) => tracking(kit, 'BUY', 'EXPIRED'), 'data.errorData', null),
    'EXPIRED looks like a failure, and code that then expects an error object breaks: tracking never has one.',
    'Do not derive the presence of errorData from the status of a tracking.',
  ),
  optional(
    'tracking-description-empty',
    'Accepts a tracking with an empty description',
    'should',
    'caas-tracking',
    having(cashStep, 'data.metadata.trackingStateDescription', ''),
    'The description is free text of the payment provider, who may have nothing to say.',
    'Put no minimum length on trackingStateDescription.',
  ),
  optional(
    'refund-error-data-missing',
    'Accepts a refund that worked without errorData',
    'should',
    'refund-shapes',
    lacking(refunded, 'data.errorData'),
    'errorData is filled at FAIL; at SUCCESS it may as well not be there.',
    'Require errorData only when the status of the refund is FAIL.',
  ),
  optional(
    'refund-hash-null',
    'Accepts a refund that failed and whose hash is null',
    'should',
    'refund-shapes',
    having((kit) => refund(kit, 'FAIL'), 'data.metadata.blockchainTransactionId', null),
    'A refund that never reached the blockchain has no hash to give.',
    'Allow null for the hash of a refund that failed.',
  ),
  optional(
    'payment-method-error-code-null',
    'Accepts a staged payment method whose errorCode is null',
    'should',
    'payment-method-shapes',
    having(staged, 'data.errorCode', null),
    'A serialiser that writes every field sends errorCode as null when nothing was declined.',
    'Allow null for errorCode, and look at it only at DECLINED.',
  ),
  optional(
    'deposit-hash-null',
    'Accepts a deposit whose hash is null',
    'should',
    'deposit-shape',
    (kit) => deposit(kit, { blockchainTransactionId: null }),
    'A deposit in the custodial ledger has no hash; null says so as well as leaving it out.',
    'Allow null for blockchainTransactionId of a deposit.',
  ),
];
