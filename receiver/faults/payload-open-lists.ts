/** Mutants that reject kinds, statuses, types or fields that they do not know. */
import { ERROR_CODES, NOTIFICATION_TYPES, ORDER_STATUSES } from '../../contract/index.ts';
import { containersIn, fault, fieldAt, readingAfter, refusing } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const KIND = { area: 'payload', stage: 'validate', forbidden: true } as const;

const typeOf = (payload: unknown) => fieldAt(payload, 'type');

/** A table of handlers in which one type was left out. */
function lacking(type: string, texts: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'severity'>): StageFault {
  return {
    ...KIND,
    ...texts,
    fix: {
      rule: `Add ${type} to the types that you take, and give the table of handlers a default that answers 200.`,
      express: `Add a branch for ${type} to the switch, and end it with \`default: res.sendStatus(200)\`.`,
    },
    replace: refusing((payload) => typeOf(payload) === type, 404),
  };
}

const LIST = { area: 'payload', stage: 'validate' } as const;

/** Whether a field is filled with something that is not in a list. */
function outside(path: string, list: readonly string[]): (payload: unknown) => boolean {
  return (payload) => {
    const value = fieldAt(payload, path);
    return typeof value === 'string' && value !== '' && !list.includes(value);
  };
}

const LISTED_CODES: readonly string[] = ERROR_CODES.map(({ code }) => code);

/** Whether the error code of a notification, wherever its type has it, is such a one. */
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
  express: `Use \`z.string()\` in place of \`z.enum([...])\` for ${what}, and map it to your own enum afterwards, with a default.`,
  spring: 'Jackson throws on an unknown enum constant: switch on READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE.',
  dotnet: `JsonStringEnumConverter throws on an unknown name: declare ${what} as string.`,
});

export const payloadOpenListsFaults: readonly StageFault[] = [
  // Receivers that take some kinds of notification and refuse others.
  lacking('REFUND', {
    name: 'refuses-refunds',
    title: 'Notifications of the type REFUND are refused.',
    seen: 'In receivers that were tried with buys and sells: refunds only exist after a sell has failed, so they are missed in the tests.',
    why: 'The crypto is back with the user, or stuck on its way, and the partner learns neither.',
    severity: 'high',
  }),
  lacking('PAYMENT_METHOD', {
    name: 'refuses-payment-methods',
    title: 'Notifications of the type PAYMENT_METHOD are refused.',
    seen: 'In receivers written by the team for orders, where cards belong to another team.',
    why: 'A card that was declined goes on looking usable, and one that waits for verification is never verified.',
    severity: 'high',
  }),
  lacking('WALLET', {
    name: 'refuses-wallets',
    title: 'Notifications of the type WALLET are refused.',
    seen: 'In receivers that were built before custodial wallets were switched on for the partner.',
    why: 'Addresses of customers never arrive, and deposits to them cannot be matched.',
    severity: 'high',
  }),
  lacking('CAAS_BLOCKCHAIN', {
    name: 'refuses-deposits',
    title: 'Notifications of the type CAAS_BLOCKCHAIN are refused.',
    seen: 'In tables of handlers that end at the four types of the first version.',
    why: 'Money that has arrived is not credited to the customer.',
    severity: 'high',
  }),
  {
    ...KIND,
    name: 'refuses-sells',
    title: 'Orders of the type SELL are refused.',
    seen: 'In receivers that went live with buys and got sells switched on later.',
    why: 'Every sell is lost from its first notification on, while buys look healthy.',
    fix: {
      rule: 'Handle BUY and SELL by the same code: their shape is the same.',
      express: 'Replace the comparison with BUY by a list of both, and log what is in neither.',
    },
    severity: 'high',
    replace: refusing((payload) => typeOf(payload) === 'CAAS' && fieldAt(payload, 'data.type') === 'SELL'),
  },
  {
    ...KIND,
    name: 'reads-tracking-as-order',
    title: 'The metadata of ORDER_TRACKING is read as if it were that of an order, and the missing status throws.',
    seen: 'In handlers that switch on the type CAAS alone and then read data.metadata.orderStatus.',
    why: 'The first cash pick-up ends in a 500 that repeats with every new attempt.',
    fix: {
      rule: 'Choose the shape of metadata by data.type, before reading any field of it.',
      express: 'Make a discriminated union of the three shapes (zod `discriminatedUnion`) and switch on `data.type`.',
      spring: 'Use `@JsonTypeInfo` with `EXTERNAL_PROPERTY` on data.type instead of one class for all of CAAS.',
    },
    severity: 'high',
    replace: readingAfter((payload) => {
      if (typeOf(payload) !== 'CAAS') return;
      if (typeof fieldAt(payload, 'data.metadata.orderStatus') !== 'string') fault('orderStatus is undefined');
    }),
  },
  {
    ...KIND,
    name: 'requires-data-type',
    title: 'A notification without data.type is refused, whatever its type is.',
    seen: 'In schemas that were made from the samples of orders, where data.type always stands.',
    why: 'Refunds, payment methods and wallets have no data.type, so all of them are refused.',
    fix: {
      rule: 'Require data.type under CAAS only.',
      express: 'Make one schema for each type, and require `data.type` in that of CAAS.',
    },
    severity: 'high',
    replace: refusing((payload) => fieldAt(payload, 'data.type') === undefined),
  },
  {
    ...KIND,
    name: 'requires-transaction-id-everywhere',
    title: 'A notification without data.transactionId is refused, whatever its type is.',
    seen: 'Where one table with a mandatory transaction column takes all notifications.',
    why: 'Wallets and payment methods belong to no transaction, and a deposit has its identifier under another name; none of them gets in.',
    fix: {
      rule: 'Key what you store by the identifier of its type: transactionId, partnerTransactionId, paymentMethodId, or the wallet.',
      express: 'Read the identifier inside the branch of each type, and let the column be null.',
    },
    severity: 'high',
    replace: refusing((payload) => fieldAt(payload, 'data.transactionId') === undefined, 422),
  },
  {
    ...KIND,
    name: 'takes-only-caas',
    title: 'Every type other than CAAS is refused.',
    seen: 'In first integrations, which were made for orders and end with "unexpected type".',
    why: 'Refunds, cards, wallets and deposits are lost together.',
    fix: {
      rule: 'Answer 200 to every type, and act on those that you know.',
      express: 'Replace the guard on `type` by a switch whose default logs and answers 200.',
    },
    severity: 'high',
    replace: refusing((payload) => typeOf(payload) !== 'CAAS'),
  },
  // Lists of values and fields that are taken for complete.
  {
    ...LIST,
    name: 'closes-the-list-of-types',
    title: 'A notification of a type that is not in the list is refused.',
    seen: 'In most integrations with an enum for the type, and in public webhook receivers that answer 400 or 404 to events that they do not handle.',
    why: 'On the day a new type is introduced, the endpoint begins to fail for it, and monitoring at the sender may switch the endpoint off.',
    fix: openList('type'),
    severity: 'medium',
    forbidden: false,
    replace: refusing(outside('type', NOTIFICATION_TYPES)),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-caas-types',
    title: 'A CAAS notification whose data.type is not BUY, SELL or ORDER_TRACKING is refused.',
    seen: 'Where a switch over data.type ends in an exception, as code reviews often ask.',
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
    title: 'An order at a status that is not in the list is refused.',
    seen: 'In enums and database check constraints for the status column.',
    why: 'An order that takes a new turn disappears from view until the enum is extended and deployed.',
    fix: openList('orderStatus'),
    severity: 'medium',
    forbidden: false,
    replace: refusing(outside('data.metadata.orderStatus', ORDER_STATUSES)),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-deposit-statuses',
    title: 'A deposit at any status other than COMPLETED is refused.',
    seen: 'In code that was written from the one sample of a deposit.',
    why: 'A deposit that is announced before it is complete is answered with an error over and over.',
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
    title: 'A tracking whose provider status is not in the list is refused.',
    seen: 'In enums for the status of payment providers, which each provider extends.',
    why: 'A new provider with a status of its own stops the tracking of its orders.',
    fix: openList('providerTransactionStatus'),
    severity: 'medium',
    forbidden: false,
    replace: refusing(outside('data.metadata.providerTransactionStatus', ['COMPLETED', 'EXPIRED'])),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-wallet-operations',
    title: 'A wallet notification with an operation other than WALLET_CREATED is refused.',
    seen: 'In validators with a literal where only one value is known.',
    why: 'The next operation on wallets fails for all customers at once.',
    fix: openList('operation'),
    severity: 'low',
    forbidden: false,
    replace: refusing(outside('data.operation', ['WALLET_CREATED'])),
  },
  {
    ...LIST,
    name: 'closes-the-list-of-error-codes',
    title: 'A failure with an error code that is not in the list is refused.',
    seen: 'Where the table of codes in the documentation was turned into an enum or a foreign key.',
    why: 'The list is of examples. A failure with another code never arrives, so the order stays open although it is dead.',
    fix: openList('the error code'),
    severity: 'high',
    forbidden: true,
    replace: refusing(errorCode((code) => !LISTED_CODES.includes(code))),
  },
  {
    ...LIST,
    name: 'wants-three-digits-in-error-codes',
    title: 'An error code is refused when its middle group does not have three digits.',
    seen: 'In patterns that were derived from the first page of the table, such as three digits, three digits, letter and digit.',
    why: 'One of the codes has two digits there, and it is the one for errors without a code of their own.',
    fix: {
      rule: 'Do not check the form of an error code; store it as text.',
      express: 'Drop the `.regex(...)` from the schema of the code.',
    },
    severity: 'medium',
    forbidden: true,
    replace: refusing(errorCode((code) => !/^\d{3}-\d{3}-[A-Z]\d$/.test(code))),
  },
  {
    ...LIST,
    name: 'lacks-one-error-code',
    title: 'One of the listed error codes is missing from the list of the receiver, and a failure with it is refused.',
    seen: 'In enums that were typed by hand from a table of more than fifty rows.',
    why: 'Everything works until exactly that failure occurs, perhaps months later, and then its notification is lost.',
    fix: openList('the error code'),
    severity: 'medium',
    forbidden: true,
    replace: refusing(errorCode((code) => code === '207-002-S3')),
  },
  {
    ...LIST,
    name: 'knows-error-codes-by-their-first-number',
    title: 'An error code is refused when its first number is not 204, 313 or 352.',
    seen: 'In routing tables that send a failure to a team by the first part of its code.',
    why: 'Failures of the ledger, of time limits and of risk screening have other first numbers and reach nobody.',
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
    title: 'An order at the status BLOCKCHAIN_ACCEPTED is refused.',
    seen: 'In lists of statuses that were copied from the happy path: created, pending, confirmed.',
    why: 'The transfer is on the blockchain, and the partner answers with an error each time that it is told.',
    fix: openList('orderStatus'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.orderStatus') === 'BLOCKCHAIN_ACCEPTED', 422),
  },
  {
    ...LIST,
    name: 'lacks-status-pending',
    title: 'An order at the status PENDING is refused.',
    seen: 'In code that knows the start and the end of an order.',
    why: 'The step in between is answered with an error each time, and the order is shown as if nothing had happened.',
    fix: openList('orderStatus'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.orderStatus') === 'PENDING'),
  },
  {
    ...LIST,
    name: 'lacks-status-failed',
    title: 'An order at the status FAILED is refused.',
    seen: 'In receivers that were tried with orders that went well.',
    why: 'Failed orders stay open, and the money of the customer with them.',
    fix: openList('orderStatus'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.orderStatus') === 'FAILED', 422),
  },
  {
    ...LIST,
    name: 'lacks-status-staged',
    title: 'A payment method at STAGED is refused.',
    seen: 'In code that takes PAYMENT_METHOD for the report of a decline.',
    why: 'The user is never asked for the amounts of the microtransactions, so no card can be verified.',
    fix: openList('the status of a payment method'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.status') === 'STAGED'),
  },
  {
    ...LIST,
    name: 'lacks-status-expired',
    title: 'A tracking at EXPIRED is refused.',
    seen: 'In receivers that were tried with cash steps that went well.',
    why: 'Orders whose user never came to the kiosk stay open for ever.',
    fix: openList('providerTransactionStatus'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.providerTransactionStatus') === 'EXPIRED'),
  },
  {
    ...LIST,
    name: 'forbids-unknown-fields',
    title: 'A notification with a field that the schema does not name is refused, at whatever depth it stands.',
    seen: 'With zod `strict()`, pydantic `extra="forbid"`, Jackson FAIL_ON_UNKNOWN_PROPERTIES, DisallowUnknownFields in Go, additionalProperties: false.',
    why: 'Adding a field is the most harmless change that a sender can make, and here it stops everything.',
    fix: {
      rule: 'Ignore what the schema does not name.',
      express:
        'Use `z.object` or `z.looseObject` in place of `z.strictObject`; in Ajv leave out `additionalProperties: false`.',
      django: 'Do not raise in `validate()` for keys of `initial_data` that no serializer field has.',
      spring:
        'Set `spring.jackson.deserialization.fail-on-unknown-properties=false`, and no `@JsonIgnoreProperties(ignoreUnknown = false)`.',
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
    title: 'A notification with an unknown field beside id, type, at and data is refused.',
    seen: 'Where the envelope is a strict class of its own and data is a free-form map.',
    why: 'A version number or a trace id in the envelope, the usual place for it, stops every kind at once.',
    fix: {
      rule: 'Let the envelope have fields that you do not know.',
      express: 'Use `z.looseObject` for the envelope as well as for data.',
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
    title: 'An order with an unknown field in blockchainData is refused.',
    seen: 'In mappers where strictness is an annotation of each class and was forgotten on the innermost one.',
    why: 'A network that brings a field of its own makes all its orders fail, and only its orders.',
    fix: {
      rule: 'Ignore unknown fields in every class, the inner ones too.',
      express: 'Look for `strict` in every nested schema, and remove it.',
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
    title: 'A failed order with an unknown field in errorData is refused.',
    seen: 'Where the error is a strict class that other modules share.',
    why: 'Adding a detail to errors hides the failures themselves, and only the failures.',
    fix: {
      rule: 'Ignore unknown fields in every class, that of errors too.',
      express: 'Look for `strict` in the schema of errorData, and remove it.',
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
    title: 'A wallet notification with an unknown field in data is refused, while all other kinds may have some.',
    seen: 'In code bases where each kind was added by somebody else, with another base class.',
    why: 'One kind stops on a change that is harmless everywhere else, so it is looked for in the wrong place.',
    fix: {
      rule: 'Set the mapper to ignore unknown fields as a whole, and not class by class.',
      express: 'Build the schemas of all kinds with one helper that makes loose objects.',
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
