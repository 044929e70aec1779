/** JSON that is not a valid notification, because of its root, its envelope, its id or its data. */
import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, lacking, plain, withField } from '../changes/bodies.ts';
import { anyClearAnswer, contentAcceptedOrRejected, handled } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { Change, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';

export const failed: Composer = (kit) => order(kit, 'BUY', 'FAILED');
export const onChain: Composer = (kit) => deposit(kit);
export const returned: Composer = (kit) => refund(kit, 'SUCCESS');
export const tracked: Composer = (kit) => tracking(kit, 'BUY', 'COMPLETED');
export const created: Composer = (kit) => wallet(kit);
export const declined: Composer = (kit) => paymentMethod(kit, 'DECLINED');

type Value = JsonValue | ((kit: Kit) => JsonValue);

const set = (base: Composer, path: string, value: Value): Change => ({ compose: having(base, path, value) });
const omit = (base: Composer, path: string): Change => ({ compose: lacking(base, path) });

/** Appends a hostile suffix to a new id. The prefix of the id keeps it recognisable. */
const hostileId = (tail: string | ((kit: Kit) => string)): Change =>
  set(plain, 'id', (kit) => `${kit.newId()}${typeof tail === 'string' ? tail : tail(kit)}`);

const shared = { suite: 'malformed', verb: 'Handles', level: 'must', requirements: ['delivery-malformed'] } as const;

/** JSON that is not a notification: not an object, or an object without the envelope fields. */
const values = family(
  { ...shared, expect: handled, mistake: 'payload-root-unchecked' },
  {
    null: ['the JSON value null', { compose: () => null }],
    string: [
      'a JSON string',
      { compose: () => 'test' },
      { note: 'A string has a length and indexes, so unchecked code continues and fails later.' },
    ],
    number: ['a JSON number', { compose: () => 42 }],
    boolean: ['the JSON value true', { compose: () => true }],
    array: ['an empty JSON array', { compose: () => [] }],
    'array-of-notifications': [
      'an array of notifications',
      { compose: (kit) => [kit.notification(), kit.notification()] },
    ],
    'empty-object': ['an empty object', { compose: () => ({}) }, 'missing-field-unchecked'],
    'id-missing': [
      'a notification without id',
      omit(plain, 'id'),
      'missing-field-unchecked',
      { note: 'With undefined as the de-duplication key, all such notifications look like copies.' },
    ],
    'type-missing': ['a notification without type', omit(plain, 'type'), 'missing-field-unchecked'],
    'at-missing': ['a notification without at', omit(plain, 'at'), 'missing-field-unchecked'],
    'data-missing': ['a notification without data', omit(plain, 'data'), 'missing-field-unchecked'],
  },
);

/** Envelopes in which the type, the time or the data has another type or is out of range. */
const envelope = family(
  { ...shared, expect: handled, mistake: 'time-conversion-unchecked' },
  {
    'type-null': ['a type that is null', set(plain, 'type', null), 'text-type-unchecked'],
    'type-number': [
      'a type that is a number',
      set(plain, 'type', 7),
      'text-type-unchecked',
      { note: 'Compare the type with names, not with ordinals: in some languages, an enum accepts the number 7.' },
    ],
    'type-empty': ['an empty type', set(plain, 'type', ''), 'text-form-unchecked'],
    'type-inherited': [
      'a type with the name of an inherited property',
      set(plain, 'type', 'constructor'),
      'inherited-name-lookup',
      { expect: anyClearAnswer },
    ],
    'type-proto': [
      'the type __proto__',
      set(plain, 'type', '__proto__'),
      'inherited-name-lookup',
      { expect: anyClearAnswer, note: 'As a key of a counter or a cache, it modifies the prototype of all objects.' },
    ],
    'at-null': ['an `at` that is null', set(plain, 'at', null)],
    'at-object': ['an `at` that is an object', set(plain, 'at', { seconds: 1 })],
    'at-words': ['an `at` that is not a time', set(created, 'at', 'yesterday at noon')],
    'at-out-of-range': ['an `at` beyond the supported range of dates', set(plain, 'at', 9_000_000_000_000)],
    'at-negative': ['an at before 1970', set(plain, 'at', -1), { expect: anyClearAnswer }],
    'at-fraction': ['an `at` with a fraction', set(plain, 'at', 1_700_000_000.5), { expect: anyClearAnswer }],
    'data-null': ['data that is null', set(plain, 'data', null), 'nested-object-unchecked'],
    'data-string': [
      'data that is a string',
      set(plain, 'data', '{"type":"BUY"}'),
      'nested-object-unchecked',
      { note: 'Code that parses JSON inside JSON processes unvalidated content.' },
    ],
    'data-array': ['data that is an array', set(plain, 'data', []), 'nested-object-unchecked'],
    'data-empty': ['data without any field', set(plain, 'data', {}), 'nested-object-unchecked'],
  },
);

/** Ids of another JSON type. */
const idTypes = family(
  { ...shared, expect: handled, mistake: 'text-type-unchecked' },
  {
    'id-null': [
      'an id that is null',
      set(plain, 'id', null),
      { note: 'A NOT NULL column turns it into a database error, which becomes a 500.' },
    ],
    'id-number': ['an id that is a number', set(plain, 'id', (kit) => kit.integer(1_000_000_000))],
    'id-object': ['an id that is an object', set(plain, 'id', { $ne: null }), 'query-operators-from-payload'],
    'id-array': ['an id that is an array', set(plain, 'id', (kit) => [kit.newId()])],
    'id-empty': [
      'an empty id',
      set(plain, 'id', ''),
      'text-form-unchecked',
      { note: 'All notifications with an empty id look like copies of the first one.' },
    ],
  },
);

/** Ids and other texts that are hostile to code that stores, logs or echoes them. */
const hostileTexts = family(
  { ...shared, expect: anyClearAnswer, mistake: 'payload-text-unencoded' },
  {
    'id-long': ['an id of 300 characters', hostileId((kit) => kit.nonce(264)), 'value-longer-than-column'],
    'id-very-long': ['an id of 10,000 characters', hostileId((kit) => kit.nonce(9964)), 'value-longer-than-column'],
    'id-path': ['an id that contains a path', hostileId('/../../../etc/passwd')],
    'id-quote': ['an id that contains a quote', hostileId("' OR '1'='1"), 'sql-from-payload-text'],
    'id-newline': ['an id that contains line breaks', hostileId('\r\nX-Test: injected\r\n\r\n')],
    'id-null-character': [
      'an id that contains U+0000',
      hostileId('\u0000'),
      'unstorable-characters',
      { note: 'C code ends the string at this character.' },
    ],
    'name-null-character': [
      'an unknown field whose name begins with U+0000',
      { compose: (kit) => ({ ...kit.notification(), '\u0000test': 1 }) },
      'names-from-payload-keys',
    ],
    'control-characters': [
      'a message and a memo with control characters',
      {
        compose: (kit) => {
          const text = 'printed \u0001\b\u000b\f\u001b[31m red \u001b[0m \u0085 \u2029 end';
          const printed = withField(failed(kit), 'data.errorData.message', text);
          return withField(printed, 'data.metadata.blockchainData.blockchainMemo', text);
        },
      },
      'unstorable-characters',
      { expect: contentAcceptedOrRejected },
    ],
    'id-template': ['an id that contains template syntax', hostileId('\u0024{7*7}{{7*7}}%s%n')],
  },
);

/** A valid envelope with data whose fields are missing or have another type. */
const fields = family(
  { ...shared, expect: handled, mistake: 'nested-object-unchecked' },
  {
    'caas-type-missing': ['an order without data.type', omit(plain, 'data.type'), 'missing-field-unchecked'],
    'caas-type-object': ['an order whose data.type is an object', set(plain, 'data.type', {}), 'text-type-unchecked'],
    'metadata-missing': ['an order without metadata', omit(plain, 'data.metadata')],
    'metadata-null': ['an order whose metadata is null', set(plain, 'data.metadata', null)],
    'metadata-array': ['an order whose metadata is an array', set(plain, 'data.metadata', [])],
    'order-status-object': [
      'an orderStatus that is an object',
      set(plain, 'data.metadata.orderStatus', { is: 'COMPLETED' }),
      'text-type-unchecked',
    ],
    'blockchain-data-string': [
      'blockchainData that is a string',
      set(plain, 'data.metadata.blockchainData', 'none'),
      { note: 'The field may be an object, null or absent.' },
    ],
    'wallet-address-number': [
      'a wallet address that is a number',
      set(plain, 'data.metadata.blockchainData.targetWalletAddress', 12_345),
      'text-type-unchecked',
    ],
    'transaction-id-missing': [
      'an order without transactionId',
      omit(plain, 'data.transactionId'),
      'missing-field-unchecked',
      { note: 'A lookup by undefined finds nothing, or the first record.' },
    ],
    'transaction-id-object': [
      'a transactionId that is an object',
      set(plain, 'data.transactionId', { $gt: '' }),
      'query-operators-from-payload',
    ],
    'error-data-string': [
      'errorData that is a string',
      set(failed, 'data.errorData', 'failed'),
      { note: 'The field may be an object or null.' },
    ],
    'error-data-empty': [
      'errorData without a code or a message',
      set(failed, 'data.errorData', {}),
      'missing-field-unchecked',
      {
        expect: anyClearAnswer,
        note: 'Treat a missing code as unknown: splitting an absent code at its hyphens throws.',
      },
    ],
    'error-code-number': [
      'an error code that is a number',
      set(failed, 'data.errorData.code', 352),
      'text-type-unchecked',
    ],
    'error-code-odd': [
      'an error code without hyphens',
      set(failed, 'data.errorData.code', 'E'),
      'text-form-unchecked',
      { expect: anyClearAnswer, note: 'Code that reads the third group of the code reads past the end of the list.' },
    ],
    'tracking-metadata-of-an-order': [
      'ORDER_TRACKING with the metadata of an order',
      set(tracked, 'data.metadata', { orderStatus: 'COMPLETED', blockchainData: {} }),
    ],
    'refund-metadata-missing': ['a refund without metadata', omit(returned, 'data.metadata')],
    'refund-amount-number': [
      'a refund whose amount is a number',
      set(returned, 'data.metadata.amount', 0.125),
      'number-conversion-unchecked',
      { note: 'A receiver that accepts a JSON number has already lost digits.' },
    ],
    'refund-amount-words': [
      'a refund whose amount is not a number',
      set(returned, 'data.metadata.amount', 'a lot'),
      'number-conversion-unchecked',
    ],
    'payment-method-empty': [
      'a payment method without any field',
      set(declined, 'data', {}),
      'missing-field-unchecked',
    ],
    'payment-method-code-object': [
      'a decline whose errorCode is an object',
      set(declined, 'data.errorCode', { code: '313-701-S1' }),
      'text-type-unchecked',
      { note: 'When errorCode is confused with errorData, the column for the code gets an object.' },
    ],
    'wallet-operation-missing': [
      'a wallet notification without operation',
      omit(created, 'data.operation'),
      'missing-field-unchecked',
      { note: 'Act only on WALLET_CREATED; otherwise a wallet is stored although none was created.' },
    ],
    'wallet-address-missing': [
      'a wallet notification without an address',
      omit(created, 'data.walletAddress'),
      'missing-field-unchecked',
      { note: 'A wallet without an address overwrites a valid one when it is stored by customer.' },
    ],
    'deposit-asset-missing': ['a deposit without asset', omit(onChain, 'data.metadata.asset')],
    'deposit-amount-number': [
      'a deposit whose amount is a number',
      set(onChain, 'data.metadata.asset.amount', 125_000_000),
      'number-conversion-unchecked',
    ],
    'deposit-amount-fraction': [
      'a deposit of half an atomic unit',
      set(onChain, 'data.metadata.asset.amount', '0.5'),
      'number-conversion-unchecked',
    ],
    'deposit-amount-hexadecimal': [
      'a deposit whose amount is hexadecimal',
      set(onChain, 'data.metadata.asset.amount', '0x1BC16D674EC80000'),
      'number-conversion-unchecked',
      { note: 'BigInt and Number convert strings with 0x, so a validation by conversion accepts them.' },
    ],
  },
);

export const malformedFields: readonly Scenario[] = [...values, ...envelope, ...idTypes, ...hostileTexts, ...fields];
