import type { JsonValue } from '../../contract/index.ts';
import { type Composer, having, lacking, plain } from '../changes/bodies.ts';
import { survived } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { ProbeScenario } from '../scenario.ts';
import { composed } from './malformed-builder.ts';

const buy = (path: string, value: JsonValue): Composer => having(plain, path, value);
const failed: Composer = (kit) => order(kit, 'BUY', 'FAILED');
const onChain: Composer = (kit) => deposit(kit);
const returned: Composer = (kit) => refund(kit, 'SUCCESS');
const tracked: Composer = (kit) => tracking(kit, 'BUY', 'COMPLETED');

/** A valid envelope with data whose fields are missing or have another type. */
export const malformedFields: readonly ProbeScenario[] = [
  composed(
    'caas-type-missing',
    'an order without data.type',
    lacking(plain, 'data.type'),
    'Without data.type, the shape of data is unknown, and a switch reaches its default branch.',
    'Answer 400 to CAAS without data.type, or log it and answer 200.',
  ),
  composed(
    'caas-type-object',
    'an order whose data.type is an object',
    buy('data.type', {}),
    'As a key, the object becomes "[object Object]", and the lookup of the handler fails.',
    'Require data.type to be a string.',
  ),
  composed(
    'metadata-missing',
    'an order without metadata',
    lacking(plain, 'data.metadata'),
    'Most handlers start by reading data.metadata.orderStatus.',
    'Validate metadata as an object before you read the status.',
  ),
  composed(
    'metadata-null',
    'an order whose metadata is null',
    buy('data.metadata', null),
    'Optional access protects against null only where it is used.',
    'Reject null for metadata in the schema.',
  ),
  composed(
    'metadata-array',
    'an order whose metadata is an array',
    buy('data.metadata', []),
    'PHP cannot distinguish an empty array from an empty object.',
    'Check for the fields that you need, not only whether metadata is set.',
  ),
  composed(
    'order-status-object',
    'an orderStatus that is an object',
    buy('data.metadata.orderStatus', { is: 'COMPLETED' }),
    'toUpperCase() throws on it.',
    'Require orderStatus to be a string.',
  ),
  composed(
    'blockchain-data-string',
    'blockchainData that is a string',
    buy('data.metadata.blockchainData', 'none'),
    'Fields of a string are undefined, and a mapper to a class throws.',
    'Require an object or null for blockchainData, or allow it to be absent.',
  ),
  composed(
    'wallet-address-number',
    'a wallet address that is a number',
    buy('data.metadata.blockchainData.targetWalletAddress', 12_345),
    'String functions fail on it, such as a case-insensitive comparison.',
    'Require addresses to be strings.',
  ),
  composed(
    'transaction-id-missing',
    'an order without transactionId',
    lacking(plain, 'data.transactionId'),
    'A lookup by undefined finds nothing, or the first record.',
    'Answer 400 to an order that cannot be matched.',
  ),
  composed(
    'transaction-id-object',
    'a transactionId that is an object',
    buy('data.transactionId', { $gt: '' }),
    'As a query to a document database, it can match all transactions.',
    'Check that transactionId is a string before you look it up.',
  ),
  composed(
    'error-data-string',
    'errorData that is a string',
    having(failed, 'data.errorData', 'failed'),
    'errorData.code of a string is undefined, so the message to the user is empty or the code fails.',
    'Require an object or null for errorData.',
  ),
  composed(
    'error-data-empty',
    'errorData without code and message',
    having(failed, 'data.errorData', {}),
    'Splitting an absent code at its hyphens throws.',
    'Treat a missing code as unknown.',
    survived,
  ),
  composed(
    'error-code-number',
    'an error code that is a number',
    having(failed, 'data.errorData.code', 352),
    'Numbers have no split function, so code.split throws.',
    'Require code to be a string.',
  ),
  composed(
    'error-code-odd',
    'an error code without hyphens',
    having(failed, 'data.errorData.code', 'E'),
    'Code that reads the third group of the code reads past the end of the list.',
    'Check the form of an error code before you split it.',
    survived,
  ),
  composed(
    'tracking-metadata-of-an-order',
    'ORDER_TRACKING with the metadata of an order',
    having(tracked, 'data.metadata', {
      orderStatus: 'COMPLETED',
      blockchainData: {},
    }),
    'data.type and metadata contradict each other, and a cast between their classes throws.',
    'Validate metadata against the shape for data.type.',
  ),
  composed(
    'refund-metadata-missing',
    'a refund without metadata',
    lacking(returned, 'data.metadata'),
    'Amount and currency are read without a check.',
    'Validate a refund against its own schema.',
  ),
  composed(
    'refund-amount-number',
    'a refund whose amount is a number',
    having(returned, 'data.metadata.amount', 0.125),
    'A decimal parser expects a string. A receiver that accepts a number has already lost digits.',
    'Reject amounts that are not strings.',
  ),
  composed(
    'refund-amount-words',
    'a refund whose amount is not a number',
    having(returned, 'data.metadata.amount', 'a lot'),
    'new BigDecimal("a lot") throws inside the handler.',
    'Check that an amount is a decimal string before you convert it.',
  ),
  composed(
    'payment-method-empty',
    'a payment method without any field',
    having((kit) => paymentMethod(kit, 'DECLINED'), 'data', {}),
    'Without status and identifiers, nothing can be looked up.',
    'Require status, paymentMethodId and accountId.',
  ),
  composed(
    'payment-method-code-object',
    'a decline whose errorCode is an object',
    having((kit) => paymentMethod(kit, 'DECLINED'), 'data.errorCode', { code: '313-701-S1' }),
    'When errorCode is confused with errorData, the column for the code gets an object.',
    'Require errorCode to be a string.',
  ),
  composed(
    'wallet-operation-missing',
    'a wallet notification without operation',
    lacking((kit) => wallet(kit), 'data.operation'),
    'A wallet is stored although none was created.',
    'Act only on WALLET_CREATED.',
  ),
  composed(
    'wallet-address-missing',
    'a wallet notification without an address',
    lacking((kit) => wallet(kit), 'data.walletAddress'),
    'A wallet without an address overwrites a valid one when it is stored by customer.',
    'Require walletAddress.',
  ),
  composed(
    'deposit-asset-missing',
    'a deposit without asset',
    lacking(onChain, 'data.metadata.asset'),
    'asset.amount is two levels down, and the level above it is missing.',
    'Validate a deposit down to asset.amount before you credit it.',
  ),
  composed(
    'deposit-amount-number',
    'a deposit whose amount is a number',
    having(onChain, 'data.metadata.asset.amount', 125_000_000),
    'BigInt and Decimal convert numbers differently, and large numbers are rounded before you read them.',
    'Reject an amount that is not a string.',
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
    'BigInt and Number convert strings with 0x, so a validation by conversion accepts them.',
    'Match amounts against decimal digits.',
  ),
];

/** JSON that is not a notification: not an object, or an object without the envelope fields. */
export const malformedValues: readonly ProbeScenario[] = [
  composed(
    'null',
    'the JSON value null',
    () => null,
    'null is valid JSON without fields, so reading payload.id throws.',
    'Check that the parsed value is an object before you read it.',
  ),
  composed(
    'string',
    'a JSON string',
    () => 'test',
    'A string has a length and indexes, so unchecked code continues and fails later.',
    'Check that the value is an object, not that it is not empty.',
  ),
  composed(
    'number',
    'a JSON number',
    () => 42,
    'Reading a field of a number gives undefined in JavaScript and an error in other languages.',
    'Validate the payload against a schema whose root is an object.',
  ),
  composed(
    'boolean',
    'the JSON value true',
    () => true,
    'true passes a check such as `if (payload)`.',
    'Check that the value is an object, not that it is truthy.',
  ),
  composed(
    'array',
    'an empty JSON array',
    () => [],
    'In JavaScript, typeof an array is "object". In PHP, an object becomes an array.',
    'Exclude arrays when you check for an object.',
  ),
  composed(
    'array-of-notifications',
    'an array of notifications',
    (kit) => [kit.notification(), kit.notification()],
    'A delivery contains one notification. A handler that loops over an array processes what it should reject.',
    'Accept exactly one envelope per request.',
  ),
  composed(
    'empty-object',
    'an empty object',
    () => ({}),
    'All fields are absent, so the first access to data.type throws.',
    'Require id, type, at and data before anything else.',
  ),
  composed(
    'id-missing',
    'a notification without id',
    lacking(plain, 'id'),
    'With undefined as the de-duplication key, all such notifications look like copies.',
    'Answer 400 to a notification without id.',
  ),
  composed(
    'type-missing',
    'a notification without type',
    lacking(plain, 'type'),
    'A lookup of the handler by undefined returns undefined, and calling that throws.',
    'Require type, and add a default to the lookup of the handler.',
  ),
  composed(
    'at-missing',
    'a notification without at',
    lacking(plain, 'at'),
    'new Date(undefined) is an invalid date, and formatting it throws.',
    'Require `at`, or store it as absent without formatting it.',
  ),
  composed(
    'data-missing',
    'a notification without data',
    lacking(plain, 'data'),
    'Every handler reads data first.',
    'Require data to be an object.',
  ),
];
