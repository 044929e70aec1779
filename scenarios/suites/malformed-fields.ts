import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, lacking, plain } from '../changes/composing.ts';
import { survived } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { ProbeScenario } from '../scenario.ts';
import { composed } from './malformed-builder.ts';

const buy = (path: string, value: JsonValue): Composer => having(plain, path, value);
const failed: Composer = (kit) => order(kit, 'BUY', 'FAILED');
const onChain: Composer = (kit) => deposit(kit);
const returned: Composer = (kit) => refund(kit, 'SUCCESS');

/** A right envelope around data whose fields are missing or of another type. */
export const malformedFields: readonly ProbeScenario[] = [
  composed(
    'caas-type-missing',
    'an order without data.type',
    lacking(plain, 'data.type'),
    'CAAS alone does not say which shape data has, and a switch over undefined runs into its default.',
    'Refuse CAAS without data.type with 400, or log it and answer 200.',
  ),
  composed(
    'caas-type-object',
    'an order whose data.type is an object',
    buy('data.type', {}),
    'An object as key becomes "[object Object]", and the lookup of the handler fails with no hint why.',
    'Require text for data.type.',
  ),
  composed(
    'metadata-missing',
    'an order without metadata',
    lacking(plain, 'data.metadata'),
    'data.metadata.orderStatus is the access that most handlers start with.',
    'Validate metadata as an object before you read the status.',
  ),
  composed(
    'metadata-null',
    'an order whose metadata is null',
    buy('data.metadata', null),
    'Optional access protects against null only where somebody wrote it.',
    'Let the schema refuse null for metadata.',
  ),
  composed(
    'metadata-array',
    'an order whose metadata is an array',
    buy('data.metadata', []),
    'PHP cannot tell an empty array from an empty object and goes on with nothing in hand.',
    'Check for the fields that you need, and not only for "is set".',
  ),
  composed(
    'order-status-object',
    'an order status that is an object',
    buy('data.metadata.orderStatus', { is: 'COMPLETED' }),
    'toUpperCase() on it throws, and as text it is useless.',
    'Require text for orderStatus.',
  ),
  composed(
    'blockchain-data-string',
    'blockchainData that is text',
    buy('data.metadata.blockchainData', 'none'),
    'Fields of text are undefined, and a mapper to a class throws.',
    'Require an object, null or nothing for blockchainData.',
  ),
  composed(
    'wallet-address-number',
    'a wallet address that is a number',
    buy('data.metadata.blockchainData.targetWalletAddress', 12_345),
    'Text functions fail on it, such as the comparison without regard to case.',
    'Require text for addresses.',
  ),
  composed(
    'transaction-id-missing',
    'an order without transactionId',
    lacking(plain, 'data.transactionId'),
    'A lookup by undefined finds nothing, or worse, the first record.',
    'Refuse an order that cannot be matched with 400.',
  ),
  composed(
    'transaction-id-object',
    'a transactionId that is an object',
    buy('data.transactionId', { $gt: '' }),
    'As a query to a document database it matches all transactions.',
    'Check that transactionId is text before you look it up.',
  ),
  composed(
    'error-data-string',
    'errorData that is text',
    having(failed, 'data.errorData', 'failed'),
    'errorData.code of text is undefined, and the message to the user is empty or a crash.',
    'Require an object or null for errorData.',
  ),
  composed(
    'error-data-empty',
    'errorData without code and message',
    having(failed, 'data.errorData', {}),
    'A failed order without a code: splitting the code at its hyphens throws.',
    'Treat a missing code as unknown.',
    survived,
  ),
  composed(
    'error-code-number',
    'an error code that is a number',
    having(failed, 'data.errorData.code', 352),
    'code.split is not a function of numbers.',
    'Require text for code.',
  ),
  composed(
    'error-code-odd',
    'an error code without hyphens',
    having(failed, 'data.errorData.code', 'E'),
    'Code that takes the third group of the code reads past the end of the list.',
    'Do not take error codes apart without checking their form.',
    survived,
  ),
  composed(
    'tracking-metadata-of-an-order',
    'a tracking that has the metadata of an order',
    having((kit) => tracking(kit, 'BUY', 'COMPLETED'), 'data.metadata', {
      orderStatus: 'COMPLETED',
      blockchainData: {},
    }),
    'data.type and metadata contradict each other, and casts between their classes throw.',
    'Validate metadata against the shape that data.type names.',
  ),
  composed(
    'refund-metadata-missing',
    'a refund without metadata',
    lacking(returned, 'data.metadata'),
    'Amount and currency are read without a look, because a refund always has them.',
    'Validate a refund by its own shape.',
  ),
  composed(
    'refund-amount-number',
    'a refund whose amount is a number',
    having(returned, 'data.metadata.amount', 0.125),
    'A decimal parser for text gets a number; a receiver that takes it has lost digits already.',
    'Refuse amounts that are not text.',
  ),
  composed(
    'refund-amount-words',
    'a refund whose amount is no number',
    having(returned, 'data.metadata.amount', 'a lot'),
    'new BigDecimal("a lot") throws, deep in the handler.',
    'Check that an amount is decimal text before you convert it.',
  ),
  composed(
    'payment-method-empty',
    'a payment method without any field',
    having((kit) => paymentMethod(kit, 'DECLINED'), 'data', {}),
    'Without status and identifiers nothing can be looked up.',
    'Require status, paymentMethodId and accountId.',
  ),
  composed(
    'payment-method-code-object',
    'a decline whose errorCode is an object',
    having((kit) => paymentMethod(kit, 'DECLINED'), 'data.errorCode', { code: '313-701-S1' }),
    'Somebody mixed errorCode with errorData; the code column gets an object.',
    'Require text for errorCode.',
  ),
  composed(
    'wallet-operation-missing',
    'a wallet notification without operation',
    lacking((kit) => wallet(kit), 'data.operation'),
    'A wallet is stored although nobody said that one was created.',
    'Act only on WALLET_CREATED.',
  ),
  composed(
    'wallet-address-missing',
    'a wallet without an address',
    lacking((kit) => wallet(kit), 'data.walletAddress'),
    'A wallet without an address overwrites a good one when it is stored by customer.',
    'Require walletAddress.',
  ),
  composed(
    'deposit-asset-missing',
    'a deposit without its asset',
    lacking(onChain, 'data.metadata.asset'),
    'asset.amount sits two levels down, and the level above it is missing.',
    'Validate a deposit down to asset.amount before you credit it.',
  ),
  composed(
    'deposit-amount-number',
    'a deposit whose amount is a number',
    having(onChain, 'data.metadata.asset.amount', 125_000_000),
    'BigInt and Decimal differ in what they make of a number, and big ones are rounded before you see them.',
    'Refuse an amount that is not text.',
  ),
  composed(
    'deposit-amount-fraction',
    'a deposit of half an atomic unit',
    having(onChain, 'data.metadata.asset.amount', '0.5'),
    'BigInt("0.5") throws SyntaxError.',
    'Check for digits only before you convert atomic units.',
  ),
  composed(
    'deposit-amount-hexadecimal',
    'a deposit whose amount is hexadecimal',
    having(onChain, 'data.metadata.asset.amount', '0x1BC16D674EC80000'),
    'BigInt and Number read 0x text as a number, so a validation by conversion lets it through.',
    'Match amounts against decimal digits.',
  ),
];

/** JSON that is no notification: another value than an object, or an object without the fields of the envelope. */
export const malformedValues: readonly ProbeScenario[] = [
  composed(
    'null',
    'the JSON value null',
    () => null,
    'null is valid JSON and has no fields: reading payload.id from it throws.',
    'Check that the parsed value is an object before you read it.',
  ),
  composed(
    'string',
    'a JSON string',
    () => 'test',
    'A string has a length and indexes, so sloppy code goes on with it and fails later.',
    'Require an object by type, and not by "is not empty".',
  ),
  composed(
    'number',
    'a JSON number',
    () => 42,
    'Fields of a number are undefined in JavaScript, and an error everywhere else.',
    'Validate the whole payload against a schema whose root is an object.',
  ),
  composed(
    'boolean',
    'the JSON value true',
    () => true,
    'true passes a check such as `if (payload)`.',
    'Do not take a truthy value for an object.',
  ),
  composed(
    'array',
    'an empty JSON array',
    () => [],
    'An array is an object to typeof, and to PHP an object is an array.',
    'Exclude arrays where you check for an object.',
  ),
  composed(
    'array-of-notifications',
    'several notifications in an array',
    (kit) => [kit.notification(), kit.notification()],
    'Deliveries hold one notification. A handler that loops over an array by accident runs on what it should refuse.',
    'Take exactly one envelope for each request.',
  ),
  composed(
    'empty-object',
    'an empty object',
    () => ({}),
    'Everything is absent at once, and the first access to data.type throws.',
    'Require id, type, at and data before anything else.',
  ),
  composed(
    'id-missing',
    'a notification without id',
    lacking(plain, 'id'),
    'undefined as key of the de-duplication makes all such notifications one.',
    'Refuse a notification without id with 400.',
  ),
  composed(
    'type-missing',
    'a notification without type',
    lacking(plain, 'type'),
    'A lookup of the handler by undefined gives undefined, and calling that throws.',
    'Require type, and give the lookup of the handler a default.',
  ),
  composed(
    'at-missing',
    'a notification without a time',
    lacking(plain, 'at'),
    'new Date(undefined) is an invalid date, and formatting it throws.',
    'Require `at`, or store it as absent; do not format it unchecked.',
  ),
  composed(
    'data-missing',
    'a notification without data',
    lacking(plain, 'data'),
    'Every handler reads data first.',
    'Require data to be an object.',
  ),
];
