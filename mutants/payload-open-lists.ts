/** Mutants that reject kinds, statuses, types or fields that they do not know. */
import { ERROR_CODES, NOTIFICATION_TYPES, ORDER_STATUSES } from '../contract/index.ts';
import { containersIn, fieldAt, readAfterValidation, refusing, throwTypeError } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const KIND = { area: 'payload', stage: 'validate', forbidden: true } as const;

const typeOf = (payload: unknown) => fieldAt(payload, 'type');

/** A table of handlers without one type. */
function withoutHandlerFor(
  type: string,
  texts: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'severity'>,
): StageFault {
  return {
    ...KIND,
    ...texts,
    fix: {
      rule: `Add ${type} to the accepted types, and give the table of handlers a default that answers 200.`,
      express: `Add a branch for ${type} to the switch, and end it with \`default: res.sendStatus(200)\`.`,
    },
    replace: refusing((payload) => typeOf(payload) === type, 404),
  };
}

const LIST = { area: 'payload', stage: 'validate' } as const;

/** Whether a field has a value outside a list. */
function outside(path: string, list: readonly string[]): (payload: unknown) => boolean {
  return (payload) => {
    const value = fieldAt(payload, path);
    return typeof value === 'string' && value !== '' && !list.includes(value);
  };
}

const LISTED_CODES: readonly string[] = ERROR_CODES.map(({ code }) => code);

/** Whether the error code of a notification, wherever its type has it, matches. */
function errorCode(such: (code: string) => boolean): (payload: unknown) => boolean {
  return (payload) =>
    ['data.errorData.code', 'data.errorCode'].some((path) => {
      const code = fieldAt(payload, path);
      return typeof code === 'string' && code !== '' && such(code);
    });
}

const ENVELOPE = ['id', 'type', 'at', 'data'];

const BLOCKCHAIN_DATA = [
  'targetWalletAddress',
  'blockchainTransactionId',
  'blockchainTransctionId',
  'blockchainMemo',
  'currency',
  'chain',
  'refundWalletAddress',
  'sourceWalletAddress',
];

const EVERY_FIELD = new Set([
  ...ENVELOPE,
  ...BLOCKCHAIN_DATA,
  ...['providerId', 'transactionId', 'metadata', 'orderStatus', 'blockchainData', 'errorData', 'code', 'message'],
  ...['orderType', 'providerTransactionId', 'providerTransactionRef', 'providerTransactionStatus', 'errorCode'],
  ...['trackingStateDescription', 'status', 'amount', 'walletAddress', 'paymentMethodId', 'accountId', 'operation'],
  ...['customerId', 'assetId', 'partnerTransactionId', 'sourceAddress', 'destinationAddress', 'asset'],
]);

const openList = (what: string) => ({
  rule: `Read ${what} as text, act on the values that you know, and accept the others.`,
  express:
    `Use \`z.string()\` instead of \`z.enum([...])\` for ${what}, and map it to your own enum afterwards, with a ` +
    'default.',
  spring: 'Jackson throws on an unknown enum constant: enable READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE.',
  dotnet: `JsonStringEnumConverter throws on an unknown name: declare ${what} as string.`,
});

export const payloadOpenListsFaults: readonly StageFault[] = [
  // Receivers that accept some kinds of notification and reject others.
  withoutHandlerFor('REFUND', {
    name: 'refuses-refunds',
    title: 'Rejects notifications of type REFUND',
    seen: 'Receivers tested with buys and sells: refunds exist only after a failed sell, so tests miss them.',
    why: 'The customer has the crypto back, or it is stuck in transit, and the partner learns neither.',
    severity: 'high',
  }),
  withoutHandlerFor('PAYMENT_METHOD', {
    name: 'refuses-payment-methods',
    title: 'Rejects notifications of type PAYMENT_METHOD',
    seen: 'Receivers written by the orders team, while cards belong to another team.',
    why: 'A declined card still looks usable, and a card that waits for verification is never verified.',
    severity: 'high',
  }),
  withoutHandlerFor('WALLET', {
    name: 'refuses-wallets',
    title: 'Rejects notifications of type WALLET',
    seen: 'Receivers built before custodial wallets were enabled for the partner.',
    why: 'Customer addresses never arrive, and deposits to them cannot be matched.',
    severity: 'high',
  }),
  withoutHandlerFor('CAAS_BLOCKCHAIN', {
    name: 'refuses-deposits',
    title: 'Rejects all or most notifications of type CAAS_BLOCKCHAIN',
    seen: 'Handler tables that end at the four types of the first version, and amounts read as numbers.',
    why: 'Deposited money is not credited to the customer.',
    severity: 'high',
  }),
  {
    ...KIND,
    name: 'refuses-sells',
    title: 'Rejects orders of type SELL',
    seen: 'Receivers that went live with buys and got sells enabled later.',
    why: 'Every sell is lost from its first notification on, while buys look healthy.',
    fix: {
      rule: 'Handle BUY and SELL with the same code: they have the same shape.',
      express: 'Replace the comparison with BUY by a list of both, and log other values.',
    },
    severity: 'high',
    replace: refusing((payload) => typeOf(payload) === 'CAAS' && fieldAt(payload, 'data.type') === 'SELL'),
  },
  {
    ...KIND,
    name: 'reads-tracking-as-order',
    title: 'Reads the metadata of ORDER_TRACKING as that of an order and crashes on the missing status',
    seen: 'Handlers that switch only on the type CAAS and then read data.metadata.orderStatus.',
    why: 'The first cash pick-up causes a 500 on every retry.',
    fix: {
      rule: 'Select the shape of metadata by data.type before you read its fields.',
      express: 'Make a discriminated union of the three shapes (zod `discriminatedUnion`), and switch on `data.type`.',
      spring: 'Use `@JsonTypeInfo` with `EXTERNAL_PROPERTY` on data.type instead of one class for all of CAAS.',
    },
    severity: 'high',
    replace: readAfterValidation((payload) => {
      if (typeOf(payload) !== 'CAAS') return;
      if (typeof fieldAt(payload, 'data.metadata.orderStatus') !== 'string') throwTypeError('orderStatus is undefined');
    }),
  },
  {
    ...KIND,
    name: 'requires-data-type',
    title: 'Rejects a notification without data.type, whatever its type',
    seen: 'Schemas made from order samples, which always have data.type.',
    why: 'Refunds, payment methods and wallets have no data.type, so all of them are rejected.',
    fix: {
      rule: 'Require data.type only for CAAS.',
      express: 'Make one schema for each type, and require `data.type` only in the one for CAAS.',
    },
    severity: 'high',
    replace: refusing((payload) => fieldAt(payload, 'data.type') === undefined),
  },
  {
    ...KIND,
    name: 'requires-transaction-id-everywhere',
    title: 'Rejects a notification without data.transactionId, whatever its type',
    seen: 'One table with a mandatory transaction column for all notifications.',
    why:
      'Wallets and payment methods belong to no transaction, and a deposit has another identifier; all of them are ' +
      'rejected.',
    fix: {
      rule:
        'Use the identifier of each type as the key: transactionId, partnerTransactionId, paymentMethodId, or the ' +
        'wallet.',
      express: 'Read the identifier inside the branch of each type, and make the column nullable.',
    },
    severity: 'high',
    replace: refusing((payload) => fieldAt(payload, 'data.transactionId') === undefined, 422),
  },
  {
    ...KIND,
    name: 'takes-only-caas',
    title: 'Rejects every type other than CAAS',
    seen: 'First integrations, which were made for orders and reject an "unexpected type".',
    why: 'Refunds, cards, wallets and deposits are all lost.',
    fix: {
      rule: 'Answer 200 to every type, and act on those that you know.',
      express: 'Replace the guard on `type` with a switch whose default logs and answers 200.',
    },
    severity: 'high',
    replace: refusing((payload) => typeOf(payload) !== 'CAAS'),
  },
  // Lists of values and fields that are taken for complete.
  {
    ...LIST,
    name: 'closes-the-list-of-types',
    title: 'Rejects a notification of an unlisted type',
    seen:
      'Most integrations with an enum for the type, and public webhook receivers that answer 400 or 404 to events ' +
      'they do not handle.',
    why: 'When a new type is introduced, the endpoint starts to fail for it, and the sender may disable the endpoint.',
    fix: openList('type'),
    severity: 'medium',
    forbidden: false,
    replace: refusing(outside('type', NOTIFICATION_TYPES)),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-caas-types',
    title: 'Rejects a CAAS notification whose data.type is not BUY, SELL or ORDER_TRACKING',
    seen: 'A switch over data.type whose default throws, as code reviews often ask for.',
    why: 'A new kind of order cannot be introduced without an outage at this partner.',
    fix: openList('data.type'),
    severity: 'medium',
    forbidden: false,
    replace: refusing(
      (payload) =>
        fieldAt(payload, 'type') === 'CAAS' && outside('data.type', ['BUY', 'SELL', 'ORDER_TRACKING'])(payload),
      422,
    ),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-order-statuses',
    title: 'Rejects an order with an unlisted status',
    seen: 'Enums and database check constraints for the status column.',
    why: 'An order with a new status disappears until the enum is extended and deployed.',
    fix: openList('orderStatus'),
    severity: 'medium',
    forbidden: false,
    replace: refusing(outside('data.metadata.orderStatus', ORDER_STATUSES)),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-deposit-statuses',
    title: 'Rejects a deposit with any status other than COMPLETED',
    seen: 'Code written from the single sample of a deposit.',
    why: 'A deposit that is announced before it is complete is rejected on every retry.',
    fix: openList('the status of a deposit'),
    severity: 'medium',
    forbidden: false,
    replace: refusing(
      (payload) => fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' && outside('data.status', ['COMPLETED'])(payload),
    ),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-tracking-statuses',
    title: 'Rejects a tracking notification with an unlisted provider status',
    seen: 'Enums for the status of payment providers, which each provider extends.',
    why: 'A new provider with its own status stops the tracking of its orders.',
    fix: openList('providerTransactionStatus'),
    severity: 'medium',
    forbidden: false,
    replace: refusing(outside('data.metadata.providerTransactionStatus', ['COMPLETED', 'EXPIRED'])),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-wallet-operations',
    title: 'Rejects a wallet notification with an operation other than WALLET_CREATED',
    seen: 'Validators with a literal where only one value is known.',
    why: 'The next wallet operation fails for all customers at once.',
    fix: openList('operation'),
    severity: 'low',
    forbidden: false,
    replace: refusing(outside('data.operation', ['WALLET_CREATED'])),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-error-codes',
    title: 'Rejects a failure with an unlisted error code',
    seen: 'A table of codes from the documentation that was turned into an enum or a foreign key.',
    why: 'The list contains examples only. A failure with another code is lost, and the order stays open.',
    fix: openList('the error code'),
    severity: 'high',
    forbidden: true,
    replace: refusing(errorCode((code) => !LISTED_CODES.includes(code))),
  },
  {
    ...LIST,
    name: 'closes-the-rarer-lists',
    title: 'Rejects an unlisted status of a refund or payment method, or an unlisted data.type of a deposit',
    seen: 'Enums for the fields that have two values today, in code that accepts unknown types and order statuses.',
    why: 'Three more statuses of payment methods exist, and none of them can be sent to this partner.',
    fix: openList('every status and type'),
    severity: 'low',
    forbidden: false,
    replace: refusing(
      (payload) =>
        (typeOf(payload) === 'REFUND' && outside('data.status', ['SUCCESS', 'FAIL'])(payload)) ||
        (typeOf(payload) === 'PAYMENT_METHOD' && outside('data.status', ['STAGED', 'DECLINED'])(payload)) ||
        (typeOf(payload) === 'CAAS_BLOCKCHAIN' && outside('data.type', ['RECEIVE'])(payload)),
    ),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-refund-codes',
    title: 'Rejects a failed refund with an unlisted error code',
    seen: 'An enum in the class of refunds, while the class of orders has text.',
    why: 'A failed refund needs manual action, but the notification about it is rejected.',
    fix: openList('the error code'),
    severity: 'high',
    forbidden: true,
    replace: refusing(
      (payload) => typeOf(payload) === 'REFUND' && errorCode((code) => !LISTED_CODES.includes(code))(payload),
    ),
  },
  {
    ...LIST,
    name: 'wants-codes-of-cards-from-their-group',
    title: 'Rejects a declined payment method whose error code does not begin with 313',
    seen: 'Patterns that were derived from the group "Digital payments" of the list.',
    why: 'A decline for a general error or after risk screening is lost, and the card still looks usable.',
    fix: openList('the error code'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => {
      const code = fieldAt(payload, 'data.errorCode');
      return typeof code === 'string' && code !== '' && !code.startsWith('313-');
    }),
  },
  {
    ...LIST,
    name: 'wants-three-digits-in-error-codes',
    title: 'Rejects an error code whose middle group does not have three digits',
    seen: 'Patterns derived from the first rows of the table: three digits, three digits, letter and digit.',
    why: 'One code has two digits there, the one for all errors without a specific code.',
    fix: {
      rule: 'Do not check the format of an error code; store it as text.',
      express: 'Remove the `.regex(...)` from the schema of the code.',
    },
    severity: 'medium',
    forbidden: true,
    replace: refusing(errorCode((code) => !/^\d{3}-\d{3}-[A-Z]\d$/.test(code))),
  },
  {
    ...LIST,
    name: 'lacks-one-error-code',
    title: 'Rejects a failure with one of the listed error codes, which is missing from its own list',
    seen: 'Enums typed by hand from a table of more than fifty rows.',
    why: 'Everything works until exactly that failure occurs, perhaps months later, and its notification is lost.',
    fix: openList('the error code'),
    severity: 'medium',
    forbidden: true,
    replace: refusing(errorCode((code) => code === '207-002-S3')),
  },
  {
    ...LIST,
    name: 'knows-error-codes-by-their-first-number',
    title: 'Rejects an error code whose first number is not 204, 313 or 352',
    seen: 'Routing tables that assign a failure to a team by the first part of its code.',
    why: 'Failures of the ledger, of timeouts and of risk screening have other first numbers and reach no team.',
    fix: {
      rule: 'Route by the first number if you like, with a default route for all others.',
      express: 'Give the lookup a default: `teams.get(code.slice(0, 3)) ?? teams.get("other")`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: refusing(errorCode((code) => !/^(?:204|313|352|999)-/.test(code))),
  },
  {
    ...LIST,
    name: 'lacks-status-blockchain-accepted',
    title: 'Rejects an order with status BLOCKCHAIN_ACCEPTED',
    seen: 'Status lists copied from the happy path: created, pending, confirmed.',
    why: 'The transfer is on the blockchain, and every notification about it is rejected.',
    fix: openList('orderStatus'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.orderStatus') === 'BLOCKCHAIN_ACCEPTED', 422),
  },
  {
    ...LIST,
    name: 'lacks-status-pending',
    title: 'Rejects an order with status PENDING',
    seen: 'Code that handles only the start and the end of an order.',
    why: 'Every intermediate notification is rejected, and the order shows no progress.',
    fix: openList('orderStatus'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.orderStatus') === 'PENDING'),
  },
  {
    ...LIST,
    name: 'lacks-status-failed',
    title: 'Rejects an order with status FAILED',
    seen: 'Receivers tested only with successful orders.',
    why: "Failed orders stay open, and the customer's money with them.",
    fix: openList('orderStatus'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.orderStatus') === 'FAILED', 422),
  },
  {
    ...LIST,
    name: 'lacks-status-staged',
    title: 'Rejects a payment method with status STAGED',
    seen: 'Code that treats PAYMENT_METHOD as the report of a decline.',
    why: 'The customer is never asked for the microtransaction amounts, so no card can be verified.',
    fix: openList('the status of a payment method'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.status') === 'STAGED'),
  },
  {
    ...LIST,
    name: 'lacks-status-expired',
    title: 'Rejects a tracking notification with status EXPIRED',
    seen: 'Receivers tested only with successful cash steps.',
    why: 'Orders whose customer never came to the kiosk stay open forever.',
    fix: openList('providerTransactionStatus'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.providerTransactionStatus') === 'EXPIRED'),
  },
  {
    ...LIST,
    name: 'forbids-unknown-fields',
    title: 'Rejects unknown fields at any depth',
    seen:
      'zod `strict()`, pydantic `extra="forbid"`, Jackson FAIL_ON_UNKNOWN_PROPERTIES, DisallowUnknownFields in Go, ' +
      'additionalProperties: false.',
    why: 'Adding a field is the most harmless change that a sender can make, and here it stops everything.',
    fix: {
      rule: 'Ignore fields that the schema does not name.',
      express:
        'Use `z.object` or `z.looseObject` instead of `z.strictObject`; in Ajv leave out `additionalProperties: ' +
        'false`.',
      django: 'Do not raise in `validate()` for keys of `initial_data` without a serializer field.',
      spring:
        'Set `spring.jackson.deserialization.fail-on-unknown-properties=false`, and remove ' +
        '`@JsonIgnoreProperties(ignoreUnknown = false)`.',
      go: 'Remove `decoder.DisallowUnknownFields()`.',
      dotnet: 'Remove `JsonUnmappedMemberHandling.Disallow`.',
    },
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => {
      for (const container of containersIn(payload)) {
        if (!Array.isArray(container) && !Object.keys(container).every((key) => EVERY_FIELD.has(key))) return true;
      }
      return false;
    }),
  },
  {
    ...LIST,
    name: 'forbids-unknown-fields-in-envelope',
    title: 'Rejects unknown fields in the envelope, next to id, type, at and data',
    seen: 'A strict class for the envelope, with data as a free-form map.',
    why: 'A version number or a trace id is usually added to the envelope; here it stops every kind at once.',
    fix: {
      rule: 'Allow unknown fields in the envelope.',
      express: 'Use `z.looseObject` for the envelope and for data.',
    },
    severity: 'medium',
    forbidden: false,
    replace: refusing(
      (payload) =>
        typeof payload === 'object' && payload !== null && !Object.keys(payload).every((key) => ENVELOPE.includes(key)),
    ),
  },
  {
    ...LIST,
    name: 'forbids-unknown-fields-in-blockchain-data',
    title: 'Rejects unknown fields in blockchainData',
    seen: 'Mappers with a strictness annotation per class that was forgotten on the innermost one.',
    why: 'When a network adds a field, all of its orders fail, and only those.',
    fix: {
      rule: 'Ignore unknown fields in every class, including nested ones.',
      express: 'Search for `strict` in every nested schema, and remove it.',
      spring: 'Configure the ObjectMapper once instead of annotating class by class.',
    },
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => {
      const blockchainData = fieldAt(payload, 'data.metadata.blockchainData');
      if (typeof blockchainData !== 'object' || blockchainData === null) return false;
      return !Object.keys(blockchainData).every((key) => BLOCKCHAIN_DATA.includes(key));
    }),
  },
  {
    ...LIST,
    name: 'forbids-unknown-fields-in-error-data',
    title: 'Rejects unknown fields in errorData',
    seen: 'A strict error class that is shared with other modules.',
    why: 'A new detail in errors hides exactly the failures.',
    fix: {
      rule: 'Ignore unknown fields in every class, including the one for errors.',
      express: 'Search for `strict` in the schema of errorData, and remove it.',
    },
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => {
      const errorData = fieldAt(payload, 'data.errorData');
      if (typeof errorData !== 'object' || errorData === null) return false;
      return !Object.keys(errorData).every((key) => key === 'code' || key === 'message');
    }),
  },
  {
    ...LIST,
    name: 'forbids-unknown-fields-in-wallets',
    title: 'Rejects unknown fields in the data of wallet notifications',
    seen: 'Code bases where different people added each kind with another base class.',
    why: 'One kind stops on a harmless change, so the search starts in the wrong place.',
    fix: {
      rule: 'Configure the mapper to ignore unknown fields globally instead of class by class.',
      express: 'Build the schemas of all kinds with one function that makes loose objects.',
    },
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => {
      const data = fieldAt(payload, 'data');
      if (fieldAt(payload, 'type') !== 'WALLET' || typeof data !== 'object' || data === null) return false;
      return !Object.keys(data).every((key) => EVERY_FIELD.has(key));
    }),
  },
];
