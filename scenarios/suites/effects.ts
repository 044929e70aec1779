import type { EffectValues } from '../../contract/effects.ts';
import { type JsonObject, toDisplayAmount } from '../../contract/index.ts';
import { withField } from '../changes/bodies.ts';
import { accepted, refused } from '../expectations.ts';
import {
  deposit,
  epochSeconds,
  hash,
  order,
  ownId,
  paymentMethod,
  reference,
  refund,
  tracking,
  wallet,
} from '../samples.ts';
import type {
  Delivery,
  ExpectedEffect,
  Feature,
  FlowScenario,
  Kit,
  Observation,
  ObservationScenario,
  RunObservations,
  Scenario,
  Suite,
} from '../scenario.ts';
import { inTurn } from './delivery-order.ts';
import { effectsLog } from './effects-log.ts';

const needs = ['effects'] as const;
const needsRestart = ['effects', 'restart'] as const;

/** A valid delivery, and what it leaves behind. */
function event(label: string, notification: JsonObject, effect?: ExpectedEffect): Delivery {
  return { label, change: { compose: () => notification }, expect: accepted, ...(effect && { effect }) };
}

function once(values: EffectValues = {}, current?: ExpectedEffect['current']): ExpectedEffect {
  return { times: 1, values, ...(current && { current }) };
}

/** The notification with a signature of other bytes. */
function forged(label: string, notification: JsonObject, effect: ExpectedEffect): Delivery {
  const sign = { label: 'the signature of other bytes', make: (_: Uint8Array, kit: Kit) => kit.sign(kit.bytes(32)) };
  return { label, change: { compose: () => notification, sign }, expect: refused, effect };
}

/** A deposit of this many atomic units of an asset with these decimals. */
function depositOf(kit: Kit, decimals: number, atomic: string): Delivery {
  const currency = Object.entries(kit.decimals ?? {}).find(([, known]) => known === decimals)?.[0] ?? '';
  const notification = withField(deposit(kit), 'data.metadata.asset', { amount: atomic, currency });
  const amount = toDisplayAmount(atomic, decimals);
  return event(`${atomic} atomic units of ${currency}`, notification, once({ amount, currency }));
}

/** Above 2^53, where a float skips numbers; a float also prints the first with an exponent. */
const ATOMIC_AMOUNTS = ['1', '9007199254740993', '123456789012345678901234567'];
const DIGITS_38 = '12345678901234567890123456789012345678';
const DIGITS_78 = `${'1234567890'.repeat(7)}12345671`;

function amountScenario(decimals: number): FlowScenario {
  return {
    id: `effects/amount-${decimals}-decimals`,
    title: `Converts amounts of an asset with ${decimals} decimals without losing a digit`,
    defect: `Loses digits of amounts of an asset with ${decimals} decimals`,
    level: 'must',
    requirements: ['deposit-amount-precise'],
    needs,
    decimals,
    flow: (kit) => [ATOMIC_AMOUNTS.map((atomic) => depositOf(kit, decimals, atomic))],
    why: 'A float has 15 to 17 digits. The amounts of deposits have more, so a customer is credited another amount.',
    fix: 'Convert with integers of any size (BigInt, BigInteger, Decimal, int in Python), never with a float.',
  };
}

function amountOfDigits(digits: string, level: 'must' | 'should'): FlowScenario {
  return {
    id: `effects/amount-${digits.length}-digits`,
    title: `Converts an amount of ${digits.length} digits without losing one`,
    defect: `Loses digits of an amount of ${digits.length} digits`,
    level,
    requirements: level === 'must' ? ['deposit-amount-precise'] : ['amount-size', 'deposit-amount-precise'],
    needs,
    decimals: 18,
    flow: (kit) => [[depositOf(kit, 18, digits)]],
    why: 'A column such as DECIMAL(38, 18) holds twenty digits before the point, and cuts longer ones.',
    fix: 'Keep the atomic amount as text or as an integer of any size, and convert it only to show it.',
  };
}

const kinds: readonly FlowScenario[] = [
  {
    id: 'effects/order',
    title: 'Handles an order once, with its status, hash and currency',
    defect: 'Does not handle an order once with its values',
    level: 'must',
    requirements: ['delivery-effect'],
    needs,
    owns: ['transaction'],
    flow: (kit) => {
      const [transactionId, transactionHash] = [ownId(kit, 'transaction'), hash(kit)];
      const bought = order(kit, 'BUY', 'CONFIRMED', { transactionId, hash: transactionHash });
      const values = { kind: 'CAAS_BUY', status: 'CONFIRMED', transaction: transactionId, hash: transactionHash };
      return inTurn(event('the order', bought, once({ ...values, currency: 'ETH' })));
    },
    why: 'An answer of 200 says that a delivery arrived, not that anything was done with it.',
    fix: 'Store the notification before you answer, and handle what is stored until it succeeded.',
  },
  {
    id: 'effects/failed-order',
    title: 'Handles a failed order with its error code',
    defect: 'Does not handle a failed order with its error code',
    level: 'must',
    requirements: ['delivery-effect', 'caas-failed'],
    needs,
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      const failed = order(kit, 'SELL', 'FAILED', { transactionId, code: '352-252-E1' });
      return inTurn(event('the order', failed, once({ kind: 'CAAS_SELL', status: 'FAILED', errorCode: '352-252-E1' })));
    },
    why: 'A failure that is not handled leaves a customer waiting for crypto or money that does not come.',
    fix: 'Read `errorData.code` of every order, and handle FAILED like any other status.',
  },
  {
    id: 'effects/tracking',
    title: 'Handles the cash step of an order with its status',
    defect: 'Does not handle the cash step of an order with its status',
    level: 'must',
    requirements: ['delivery-effect', 'caas-tracking'],
    needs,
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      const step = withField(tracking(kit, 'BUY', 'EXPIRED'), 'data.transactionId', transactionId);
      const values = { kind: 'CAAS_ORDER_TRACKING', status: 'EXPIRED', transaction: transactionId };
      return inTurn(event('the cash step', step, once(values)));
    },
    why: 'It has the type CAAS and the transaction of an order, and code for orders finds no orderStatus in it.',
    fix: 'Distinguish by `data.type`, and read `providerTransactionStatus`.',
  },
  {
    id: 'effects/payment-method',
    title: 'Handles a declined payment method with its error code',
    defect: 'Does not handle a declined payment method with its error code',
    level: 'must',
    requirements: ['delivery-effect', 'payment-method-shapes'],
    needs,
    flow: (kit) => {
      const declined = paymentMethod(kit, 'DECLINED', { code: '313-702-S3' });
      const { paymentMethodId } = declined.data as { paymentMethodId: string };
      const values = { kind: 'PAYMENT_METHOD', status: 'DECLINED', paymentMethod: paymentMethodId };
      return inTurn(event('the payment method', declined, once({ ...values, errorCode: '313-702-S3' })));
    },
    why: 'Its error code is a field of data, not of errorData, so code for orders does not find it.',
    fix: 'Read `data.errorCode` of a PAYMENT_METHOD.',
  },
  {
    id: 'effects/onboarding',
    title: 'Handles each of three concurrent wallets of one customer once',
    defect: 'Does not handle each wallet of a customer once',
    level: 'must',
    requirements: ['delivery-effect', 'wallet-shape'],
    needs,
    owns: ['customer'],
    flow: (kit) => {
      const customer = ownId(kit, 'customer');
      const assets = ['ETH', 'BTC', 'USDC'];
      return [
        assets.map((asset) => {
          const created = wallet(kit, customer, asset);
          const { walletAddress } = created.data as { walletAddress: string };
          return event(`the wallet for ${asset}`, created, once({ kind: 'WALLET', customer, address: walletAddress }));
        }),
      ];
    },
    why: 'The wallets of a customer are created together. A lost one receives deposits that no account gets.',
    fix: 'Handle each notification on its own; do not update one record of the customer from several at once.',
  },
  {
    id: 'effects/refund-pair',
    title: 'Handles a failed SELL and its REFUND, each once, with the amount as sent',
    defect: 'Does not handle a failed SELL and its REFUND, each once',
    level: 'must',
    requirements: ['delivery-effect', 'refund-order', 'refund-amount'],
    needs,
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      const amount = '1234567.890123456789012345';
      const returned = withField(refund(kit, 'SUCCESS', { transactionId }), 'data.metadata.amount', amount);
      return inTurn(
        event('the failed sell', order(kit, 'SELL', 'FAILED', { transactionId }), once({ status: 'FAILED' })),
        event('its refund', returned, once({ kind: 'REFUND', status: 'SUCCESS', amount, currency: 'ETH' })),
      );
    },
    why: 'Both have one transaction. A refund that is dropped as a copy, or rounded, is money that is missing.',
    fix: 'Identify notifications by their id, and keep the amount of a refund as decimal text.',
  },
  {
    id: 'effects/hash-follows',
    title: 'Has the hash of an order after the notification that brings it',
    defect: 'Does not have the hash of an order that a later notification brought',
    level: 'must',
    requirements: ['delivery-effect', 'caas-hash-follows'],
    needs,
    owns: ['transaction'],
    flow: (kit) => {
      const [transactionId, transactionHash] = [ownId(kit, 'transaction'), hash(kit)];
      const later = order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId, hash: transactionHash });
      return inTurn(
        event('without the hash', order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED', { transactionId })),
        event('with the hash', later, once({ hash: transactionHash }, { hash: transactionHash })),
      );
    },
    why: 'Both have the same status and transaction. Without the hash, support cannot find the transfer.',
    fix: 'Store the hash whenever a notification has one, also when the status is the same.',
  },
];

const copies: readonly FlowScenario[] = [
  {
    id: 'effects/copies-in-turn',
    title: 'Handles a notification once that is delivered four times',
    defect: 'Handles a notification again when it is delivered again',
    level: 'must',
    requirements: ['repeat-once'],
    needs,
    flow: (kit) => {
      const notification = deposit(kit);
      return inTurn(...[1, 2, 3, 4].map((copy) => event(`copy ${copy}`, notification, once())));
    },
    why: 'A sender delivers again when it did not get the answer. Each copy that is handled credits the amount again.',
    fix: 'Record the id with a unique key in the transaction that handles the notification, and skip known ids.',
  },
  {
    id: 'effects/copies-at-once',
    title: 'Handles a notification once that is delivered on sixteen connections at the same time',
    defect: 'Handles a notification several times when copies arrive at the same time',
    level: 'must',
    requirements: ['repeat-once'],
    needs,
    flow: (kit) => {
      const notification = deposit(kit);
      return [Array.from({ length: 16 }, (_, copy) => event(`copy ${copy + 1}`, notification, once()))];
    },
    why: 'A query for the id followed by an insert finds nothing in both of two concurrent copies.',
    fix: 'Let the database decide: insert the id with a unique key first, and handle only what was inserted.',
  },
  {
    id: 'effects/other-layout-of-a-copy',
    title: 'Handles a notification once that is delivered again with other white space',
    defect: 'Handles a copy of a notification whose bytes differ',
    level: 'must',
    requirements: ['repeat-once', 'repeat-by-id'],
    needs,
    flow: (kit) => {
      const notification = deposit(kit);
      const copy = event('the copy', notification, once());
      const serialise = () => Buffer.from(JSON.stringify(notification, null, 2));
      return inTurn(event('the first', notification, once()), { ...copy, change: { ...copy.change, serialise } });
    },
    why: 'A receiver that recognises copies by a digest of the body or by the signature takes it for a new one.',
    fix: 'Recognise copies by the `id` of the notification.',
  },
  {
    id: 'effects/forged-before-valid',
    title: 'Handles the valid notification alone when a forged one with its id came first',
    defect: 'Handles a forged notification, or not the valid one with the same id',
    level: 'must',
    requirements: ['delivery-effect', 'repeat-not-poisoned'],
    needs: ['effects', 'hmac'],
    flow: (kit) => {
      const valid = deposit(kit);
      const altered = withField(valid, 'data.metadata.blockchainTransactionId', hash(kit));
      const effect = once({ hash: hashOf(valid) });
      return inTurn(forged('the forged copy', altered, effect), event('the valid one', valid, effect));
    },
    why: 'A receiver that stores a notification before it verifies the signature lets a forger block or change it.',
    fix: 'Verify the signature before you read, store or remember anything of a body.',
  },
  {
    id: 'effects/forged-after-valid',
    title: 'Keeps the values of a valid notification when a forged copy follows',
    defect: 'Changes a notification by a forged copy',
    level: 'must',
    requirements: ['delivery-effect'],
    needs: ['effects', 'hmac'],
    flow: (kit) => {
      const valid = deposit(kit);
      const altered = withField(valid, 'data.metadata.blockchainTransactionId', hash(kit));
      const effect = once({ hash: hashOf(valid) });
      return inTurn(event('the valid one', valid, effect), forged('the forged copy', altered, effect));
    },
    why: 'An update by id that runs before the verification lets a forger change what was already handled.',
    fix: 'Verify the signature before you read, store or remember anything of a body.',
  },
  {
    id: 'effects/survives-kill',
    title: 'Handles every acknowledged notification once when it is killed right after',
    defect: 'Loses acknowledged notifications, or handles them twice, when it is killed',
    level: 'must',
    requirements: ['delivery-effect', 'repeat-once'],
    needs: needsRestart,
    alone: true,
    restartBefore: 1,
    flow: (kit) => [
      Array.from({ length: 24 }, (_, at) => event(`notification ${at + 1}`, deposit(kit), once())),
      [event('after the restart', deposit(kit), once())],
    ],
    why: 'A receiver that answers before it stores loses what it has in memory. The sender does not deliver it again.',
    fix: 'Answer 200 after the notification is on disk, and handle what is stored when the receiver starts.',
  },
  {
    id: 'effects/copies-after-restart',
    title: 'Handles a notification once that is delivered again after a restart',
    defect: 'Handles a notification again after a restart',
    level: 'must',
    requirements: ['repeat-once'],
    needs: needsRestart,
    alone: true,
    restartBefore: 1,
    flow: (kit) => {
      const notifications = Array.from({ length: 4 }, () => deposit(kit));
      const delivered = (when: string) =>
        notifications.map((one, at) => event(`notification ${at + 1} ${when}`, one, once()));
      return [delivered('before'), delivered('after the restart')];
    },
    why: 'A set of known ids in memory is empty after a restart, when a sender delivers again what was not answered.',
    fix: 'Keep the ids where the effects are: in the database, with a unique key.',
  },
];

function hashOf(notification: JsonObject): string {
  return (notification.data as { metadata: { blockchainTransactionId: string } }).metadata.blockchainTransactionId;
}

/** A deposit with these hash members, which has this hash. */
function depositWith(label: string, kit: Kit, hashes: JsonObject, expected: string): Delivery {
  return event(label, deposit(kit, hashes), once({ hash: expected }));
}

const values: readonly FlowScenario[] = [
  {
    id: 'effects/hash-keys',
    title: 'Has the hash of a deposit under either spelling of its key',
    defect: 'Does not read the hash of a deposit under both spellings of its key',
    level: 'must',
    requirements: ['deposit-typo'],
    needs,
    flow: (kit) => {
      const [right, wrong] = [hash(kit), hash(kit)];
      return [
        [
          depositWith('blockchainTransactionId', kit, { blockchainTransactionId: right }, right),
          depositWith('blockchainTransctionId', kit, { blockchainTransctionId: wrong }, wrong),
        ],
      ];
    },
    why: 'The sample of the specification misspells the key. With one spelling, some deposits have no hash.',
    fix: 'Read `blockchainTransactionId ?? blockchainTransctionId`.',
  },
  {
    id: 'effects/hash-both-keys',
    title: 'Takes the hash under the correct key when a deposit has both',
    defect: 'Takes the hash under the misspelt key when a deposit has both',
    level: 'should',
    requirements: ['deposit-both-keys'],
    needs,
    flow: (kit) => {
      const [right, wrong] = [hash(kit), hash(kit)];
      const both = { blockchainTransactionId: right, blockchainTransctionId: wrong };
      const reversed = { blockchainTransctionId: wrong, blockchainTransactionId: right };
      return [
        [
          depositWith('the correct key first', kit, both, right),
          depositWith('the misspelt key first', kit, reversed, right),
        ],
      ];
    },
    why: 'Which of them wins should not depend on their order. By ruling, the correct spelling wins.',
    fix: 'Read `blockchainTransactionId ?? blockchainTransctionId`.',
  },
  ...[0, 2, 6, 8, 18].map(amountScenario),
  amountOfDigits(DIGITS_38, 'must'),
  amountOfDigits(DIGITS_78, 'should'),
  {
    id: 'effects/unknown-fields',
    title: 'Handles a notification once that has unknown fields',
    defect: 'Does not handle a notification that has unknown fields',
    level: 'should',
    requirements: ['envelope-open'],
    needs,
    flow: (kit) => {
      const transactionHash = hash(kit);
      const plain = deposit(kit, { blockchainTransactionId: transactionHash });
      const more = withField(withField(plain, 'version', 2), 'data.metadata.network', { name: 'test', fee: '0.1' });
      return inTurn(event('with unknown fields', more, once({ hash: transactionHash })));
    },
    why: 'A receiver that answers 200 to a notification that it then cannot read loses it without a trace.',
    fix: 'Ignore unknown fields where notifications are handled, too.',
  },
  {
    id: 'effects/unknown-status',
    title: 'Handles the next notification of an order after an unknown status',
    defect: 'Does not handle an order after an unknown status',
    level: 'should',
    requirements: ['envelope-open', 'transitions-open'],
    needs,
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      const unknown = withField(
        order(kit, 'BUY', 'PENDING', { transactionId }),
        'data.metadata.orderStatus',
        'ON_HOLD',
      );
      const next = order(kit, 'BUY', 'CONFIRMED', { transactionId });
      return inTurn(event('ON_HOLD', unknown), event('CONFIRMED', next, once({ status: 'CONFIRMED' })));
    },
    why: 'A handler that fails at an unknown status is tried again and again, and the rest of the order waits.',
    fix: 'Record an unknown status and go on: the lists of the specification are open.',
  },
  {
    id: 'effects/unknown-type',
    title: 'Handles the next notification after one of an unknown type',
    defect: 'Does not handle a notification after one of an unknown type',
    level: 'should',
    requirements: ['envelope-open'],
    needs,
    flow: (kit) => {
      const unknown = { ...deposit(kit), type: 'STAKING', data: { reference: reference(kit, 'stake') } };
      return inTurn(event('the unknown type', unknown), event('the next one', deposit(kit), once()));
    },
    why: 'A worker that stops at a type that it does not know stops for everything that follows.',
    fix: 'Record a notification of an unknown type as done, or set it aside, and go on with the next.',
  },
  {
    id: 'effects/final-status-kept',
    title: 'Keeps the final status of an order when an earlier one arrives later',
    defect: 'Overwrites the final status of an order by an earlier one',
    level: 'should',
    requirements: ['repeat-order'],
    needs,
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      const late = withField(order(kit, 'BUY', 'PENDING', { transactionId }), 'at', epochSeconds(kit) - 600);
      const current = { status: 'COMPLETED' };
      const final = order(kit, 'BUY', 'COMPLETED', { transactionId });
      return inTurn(event('COMPLETED', final, once({}, current)), event('PENDING of ten minutes ago', late));
    },
    why: 'Deliveries can overtake each other. An order that falls back to PENDING is sent or paid again.',
    fix: 'Compare the rank of the status and `at` with what is stored, and keep the later one.',
  },
];

/** Rejected deliveries by the suites that sent them. */
const FAMILIES: readonly {
  readonly family: string;
  readonly what: string;
  readonly suites: readonly string[];
  readonly need?: Feature;
}[] = [
  {
    family: 'signature',
    what: 'an invalid or missing signature',
    suites: ['signature', 'combination'],
    need: 'hmac',
  },
  { family: 'api-key', what: 'an invalid or missing API key', suites: ['api-key'], need: 'api-key' },
  { family: 'raw-body', what: 'a changed body', suites: ['raw-body'], need: 'hmac' },
  { family: 'malformed', what: 'a malformed payload', suites: ['malformed'] },
  {
    family: 'http',
    what: 'another method, target, framing or header',
    suites: ['http', 'valid', 'delivery', 'leaks', 'typo-key'],
  },
  { family: 'mtls', what: 'an invalid or missing client certificate', suites: ['mtls', 'tls'], need: 'mtls' },
];

/** Ids in a message. */
const MAX_SHOWN = 3;

type Audit = NonNullable<RunObservations['effects']>;

const unknownEffects = (problem = 'there is no effects window'): Observation => ({
  verdict: 'inconclusive',
  observed: 'nothing',
  reason: problem,
});

/** A run of a part of the catalogue may have nothing to examine. */
const nothing = (reason: string): Observation => ({ verdict: 'pass', observed: 'nothing', reason });

function audited(run: RunObservations, conclude: (audit: Audit) => Observation): Observation {
  if (run.effects === undefined) return unknownEffects();
  return run.effects.problem === null ? conclude(run.effects) : unknownEffects(run.effects.problem);
}

/** Names the scenarios of these notifications. */
function scenariosOf(found: Audit['notifications']): string {
  const names = [...new Set(found.flatMap(({ scenarios }) => scenarios))];
  const more = names.length > MAX_SHOWN ? `, and ${names.length - MAX_SHOWN} more` : '';
  return `${names.slice(0, MAX_SHOWN).join(', ')}${more}`;
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const audits: readonly ObservationScenario[] = [
  ...FAMILIES.map(
    ({ family, what, suites, need }): ObservationScenario => ({
      id: `effects/rejected-${family}`,
      title: `Rejected deliveries with ${what} leave nothing behind`,
      defect: `Handles deliveries that it rejected: ${what}`,
      level: 'must',
      requirements: ['delivery-effect'],
      needs: need === undefined ? needs : [...needs, need],
      expected: 'none handled',
      observe: (run) =>
        audited(run, ({ notifications }) => {
          const rejected = notifications.filter(
            ({ outcome, scenarios }) =>
              outcome === 'rejected' && scenarios.some((id) => suites.includes(id.split('/', 1)[0] ?? '')),
          );
          if (rejected.length === 0) return nothing('no such delivery was rejected in this run');
          const found = rejected.filter(({ times }) => times > 0);
          if (found.length === 0) {
            return { verdict: 'pass', observed: `${rejected.length} rejected, none handled`, reason: '' };
          }
          const observed = `${found.length} of ${rejected.length} rejected deliveries handled`;
          return { verdict: 'fail', observed, reason: `${observed}: ${scenariosOf(found)}`, outcome: 'handled' };
        }),
      why: 'The answer is 401 or 400, and the amount is credited all the same: a forger needs no answer.',
      fix: 'Do nothing with a delivery before every check has passed: no insert, no queue, no event.',
    }),
  ),
  {
    id: 'effects/accepted-handled',
    title: 'Handles every plain valid notification of the run',
    defect: 'Does not handle every notification that it accepted',
    level: 'must',
    requirements: ['delivery-effect'],
    needs,
    expected: 'all handled',
    observe: (run) =>
      audited(run, ({ notifications }) => {
        const plain = notifications.filter(({ outcome, isControl }) => isControl && outcome === 'accepted');
        if (plain.length === 0) return nothing('no plain valid notification was accepted');
        const lost = plain.filter(({ times }) => times === 0);
        if (lost.length === 0) return { verdict: 'pass', observed: `${plain.length} handled`, reason: '' };
        const observed = `${lost.length} of ${counted(plain.length, 'accepted notification')} not handled`;
        return { verdict: 'fail', observed, reason: observed, outcome: 'not-handled' };
      }),
    why: 'Notifications that are lost under load are found by customers who miss their money.',
    fix: 'Store the notification before you answer, and handle what is stored until it succeeded.',
  },
  {
    id: 'effects/accepted-once',
    title: 'Handles no notification of the run twice',
    defect: 'Handles a notification more than once',
    level: 'must',
    requirements: ['repeat-once'],
    needs,
    expected: 'none',
    observe: (run) =>
      audited(run, ({ notifications }) => {
        const found = notifications.filter(({ outcome, times }) => outcome === 'accepted' && times > 1);
        if (found.length === 0) return { verdict: 'pass', observed: 'none handled twice', reason: '' };
        const observed = `${counted(found.length, 'notification')} handled more than once`;
        return { verdict: 'fail', observed, reason: `${observed}: ${scenariosOf(found)}`, outcome: 'handled-twice' };
      }),
    why: 'Each further handling credits, refunds or pays again.',
    fix: 'Record the id with a unique key in the transaction that handles the notification, and skip known ids.',
  },
  {
    id: 'effects/nothing-else',
    title: 'Handles nothing but what was delivered with valid credentials',
    defect: 'Handles something that no valid delivery explains',
    level: 'should',
    requirements: ['delivery-effect'],
    needs,
    expected: 'none',
    observe: (run) =>
      audited(run, ({ unexplained }) => {
        if (unexplained === 0) return { verdict: 'pass', observed: 'nothing else', reason: '' };
        const observed = `${counted(unexplained, 'handling')} without a valid delivery`;
        const reason = `${observed}: of deliveries without a readable id, or of another sender during the run`;
        return { verdict: 'fail', observed, reason, outcome: 'handled' };
      }),
    why: 'A body without an id, or with two, can be handled although it was rejected, and no id shows it.',
    fix: 'Do nothing with a delivery before every check has passed. Let nothing else deliver during the run.',
  },
];

/** What the receiver did and logged. Specification: Delivery endpoint (a valid webhook is processed). */
export const effectsSuite: Suite = {
  name: 'effects',
  title: 'What the receiver did, by its own effects window and its log',
  scenarios: [...kinds, ...copies, ...values, ...audits, ...effectsLog] satisfies readonly Scenario[],
};
