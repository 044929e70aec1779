/** Mutants that require optional data, and those that handle the misspelt hash key incorrectly. */
import {
  crashWhen,
  fieldAt,
  readAfterValidation,
  readBeforeValidation,
  readUnguarded,
  refusing,
  throwTypeError,
} from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const VALIDATION = { area: 'payload', stage: 'validate' } as const;

const isOrder = (payload: unknown) => fieldAt(payload, 'data.metadata.orderStatus') !== undefined;

const chainField = (payload: unknown, name: string) => fieldAt(payload, `data.metadata.blockchainData.${name}`);

const optional = (what: string) => ({
  rule: `Treat a missing, null or empty ${what} the same: there is none.`,
  express: `Use optional access (\`?.\`) and \`|| null\` for ${what}, or \`z.string().nullish()\` in the schema.`,
  spring: 'Do not use `@NotNull` and `@NotBlank` on optional fields.',
  go: 'Use a pointer, and test it for nil.',
  dotnet: 'Declare the property nullable and not `required`.',
});

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

const CORRECT = 'blockchainTransactionId';

const MISSPELT = 'blockchainTransctionId';

/** The metadata of a deposit, or null for any other notification. */
function depositMetadata(payload: unknown): Record<string, unknown> | null {
  if (fieldAt(payload, 'type') !== 'CAAS_BLOCKCHAIN') return null;
  return fieldAt(payload, 'data.metadata') as Record<string, unknown>;
}

const bothSpellings = {
  rule: 'Use the hash under the correct spelling if it is not empty, else the one under the misspelt key, else none.',
  express: `\`const hash = metadata.${CORRECT} || metadata.${MISSPELT} || null\`.`,
  python: `\`metadata.get("${CORRECT}") or metadata.get("${MISSPELT}")\`, without brackets.`,
  spring: 'Map both names to separate fields and choose afterwards: with `@JsonAlias` the last one wins.',
  go: 'Use one struct field for each of the two names.',
};

export const payloadMissingDataFaults: readonly StageFault[] = [
  // Code that relies on optional data.
  {
    ...VALIDATION,
    name: 'reads-missing-error-data',
    title: 'Compares errorData with null and crashes when it is missing',
    seen: 'JavaScript with `!== null`, and other code that distinguishes null from missing.',
    why: 'Omitting empty fields is a common serialiser option; with it, every success causes a crash.',
    fix: optional('errorData'),
    severity: 'medium',
    forbidden: false,
    replace: readAfterValidation((payload) => {
      const type = fieldAt(payload, 'type');
      if ((type !== 'CAAS' && type !== 'REFUND') || fieldAt(payload, 'data.errorData') === null) return;
      readUnguarded(payload, 'data.errorData.code');
    }),
  },
  {
    ...VALIDATION,
    name: 'expects-an-error-with-expired',
    title: 'Expects an error with every tracking status other than COMPLETED, such as EXPIRED, and crashes without one',
    seen: 'Code with two groups of statuses, good and bad, in which every bad one has an error.',
    why: 'A missed cash step causes a 500 on every retry, and the reserved money is not released.',
    fix: {
      rule: 'Test errorData itself for an error, not the status.',
      express: 'Use `data.errorData?.code ?? null` for every status.',
    },
    severity: 'high',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const status = fieldAt(payload, 'data.metadata.providerTransactionStatus');
      if (status !== undefined && status !== 'COMPLETED') readUnguarded(payload, 'data.errorData.code');
    }),
  },
  {
    ...VALIDATION,
    name: 'takes-error-codes-apart',
    title: 'Splits error codes at their hyphens and uses the parts without a check',
    seen: 'Logging and alerting code that reads the severity from the end of the code.',
    why: 'An error code of another format, or none, turns the report of a failure into a failure of the receiver.',
    fix: {
      rule: 'Treat an error code as opaque text; if you split it, handle other formats.',
      express: "Write `code?.split('-')[2]?.[0] ?? 'unknown'`.",
    },
    severity: 'medium',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const errorData = fieldAt(payload, 'data.errorData');
      if (typeof errorData !== 'object' || errorData === null) return;
      const code = fieldAt(errorData, 'code');
      if (typeof code !== 'string' || code.split('-')[2] === undefined) throwTypeError('the third part is undefined');
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-missing-blockchain-data',
    title: 'Reads blockchainData without checking that it is present',
    seen: 'Handlers written for orders with a transfer.',
    why: 'Before the blockchain is involved the object may be missing, and such an order crashes the handler.',
    fix: optional('blockchainData'),
    severity: 'medium',
    forbidden: false,
    replace: readAfterValidation((payload) => {
      if (isOrder(payload)) readUnguarded(payload, 'data.metadata.blockchainData.chain');
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-metadata-unguarded',
    title: 'Reads the status from data.metadata without checking that metadata is present',
    seen: 'Handlers without a schema; in public projects a missing webhook field has brought down a whole API server.',
    why: 'One incomplete delivery causes an unhandled error.',
    fix: {
      rule: 'Validate the shape of data before the handler reads it, and answer 400 if it is invalid.',
      express: 'Run `schema.safeParse(payload)` first, and answer 400 unless it succeeded.',
    },
    severity: 'medium',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      if (fieldAt(payload, 'type') === 'CAAS' && fieldAt(payload, 'data.type') !== undefined) {
        readUnguarded(payload, 'data.metadata.orderStatus');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-asset-unguarded',
    title: 'Reads the amount of a deposit two levels deep without checking the levels above',
    seen: 'Handlers that validate the fields of orders but not those of rarer kinds.',
    why: 'An incomplete deposit crashes the handler instead of being rejected.',
    fix: {
      rule: 'Write a schema for every kind, down to the fields that you read.',
      express: 'Add `asset: z.object({ amount: z.string(), currency: z.string() })` to the schema of deposits.',
    },
    severity: 'medium',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      if (fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN') readUnguarded(payload, 'data.metadata.asset.amount');
    }),
  },
  {
    ...VALIDATION,
    name: 'crashes-on-refund-without-error-data',
    title: 'Ends the process on a refund without errorData',
    seen: 'Workers that read the error of a refund in an unawaited background promise.',
    why: 'This shape is rare, so the crash first happens in production, and each retry repeats it.',
    fix: {
      rule: 'Support refunds without errorData, and catch exceptions of background work.',
      express: 'Await or `.catch()` every promise that a handler starts, and use `data.errorData?.code`.',
    },
    severity: 'high',
    forbidden: true,
    replace: crashWhen(
      (payload) => fieldAt(payload, 'type') === 'REFUND' && fieldAt(payload, 'data.errorData') === undefined,
    ),
  },
  {
    ...VALIDATION,
    name: 'requires-target-wallet',
    title: 'Rejects an order without a targetWalletAddress',
    seen: 'Schemas made from buys, which always have a target wallet.',
    why: 'A sell pays out money and may have no target wallet.',
    fix: optional('targetWalletAddress'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => isOrder(payload) && !isFilled(chainField(payload, 'targetWalletAddress'))),
  },
  {
    ...VALIDATION,
    name: 'requires-the-hash-of-an-order',
    title: 'Rejects an order that has no transaction hash yet, whatever its status',
    seen: 'Schemas made from the notification of a completed buy.',
    why: 'An order has a hash only once it is on the blockchain, so its start and its failure are rejected.',
    fix: optional('blockchainTransactionId'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => isOrder(payload) && !isFilled(chainField(payload, 'blockchainTransactionId'))),
  },
  {
    ...VALIDATION,
    name: 'reads-null-chain-fields',
    title: 'Trims the memo and the chain without checking for null',
    seen: 'Code that tests for undefined or for the key, but not for null.',
    why: 'Most networks have no memo, and a serialiser that writes null makes each of their orders crash.',
    fix: optional('blockchainMemo and chain'),
    severity: 'medium',
    forbidden: false,
    replace: readAfterValidation((payload) => {
      if (!isOrder(payload)) return;
      if (chainField(payload, 'blockchainMemo') === null || chainField(payload, 'chain') === null) {
        throwTypeError('trim is not a function');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'requires-hash-once-on-chain',
    title: 'Rejects an order without a hash from status BLOCKCHAIN_ACCEPTED on',
    seen: 'Validation that ties the hash to the status, which looks correct on paper.',
    why: 'The hash is in the next notification after that status, so every order is rejected on its way.',
    fix: optional('blockchainTransactionId'),
    severity: 'high',
    forbidden: true,
    replace: refusing(
      (payload) =>
        fieldAt(payload, 'data.metadata.orderStatus') === 'BLOCKCHAIN_ACCEPTED' &&
        !isFilled(chainField(payload, 'blockchainTransactionId')),
      422,
    ),
  },
  {
    ...VALIDATION,
    name: 'requires-memo-key',
    title: 'Rejects an order without the key blockchainMemo, even though it may be null or empty',
    seen: 'Schemas with `nullable()` but without `optional()`.',
    why: 'Most networks have no memo, and with a serialiser that omits empty fields all their orders fail.',
    fix: optional('blockchainMemo'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => {
      const blockchainData = fieldAt(payload, 'data.metadata.blockchainData');
      if (typeof blockchainData !== 'object' || blockchainData === null) return false;
      return !Object.hasOwn(blockchainData, 'blockchainMemo');
    }),
  },
  {
    ...VALIDATION,
    name: 'calls-text-functions-on-null-addresses',
    title: 'Converts addresses to lower case even if they are null or not text',
    seen: 'Case-insensitive comparison of addresses, as for networks with checksummed addresses.',
    why: 'The first order with a null address causes a TypeError and a 500.',
    fix: optional('addresses'),
    severity: 'high',
    forbidden: true,
    replace: readBeforeValidation((payload) => {
      for (const name of ['targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress']) {
        const address = chainField(payload, name);
        if (address !== undefined && typeof address !== 'string') throwTypeError('toLowerCase is not a function');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'refuses-empty-text',
    title: 'Rejects an empty optional field of blockchainData',
    seen: 'Validators with a minimum length of one, or a pattern for addresses, on fields that may be missing or null.',
    why: 'The sender may write an empty string for "none", and such orders are never accepted.',
    fix: optional('fields'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) =>
      ['targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress', 'blockchainMemo'].some(
        (name) => chainField(payload, name) === '',
      ),
    ),
  },
  {
    ...VALIDATION,
    name: 'requires-every-chain-field',
    title: 'Rejects an order unless blockchainData has every key, whatever the status',
    seen: 'Classes generated from one sample payload, with every field mandatory.',
    why: 'The specification does not say which fields have values when, so almost any real order may be rejected.',
    fix: optional('fields of blockchainData'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => {
      if (!isOrder(payload)) return false;
      return ['currency', 'chain', 'targetWalletAddress', 'sourceWalletAddress', 'refundWalletAddress'].some(
        (name) => chainField(payload, name) === undefined,
      );
    }),
  },
  {
    ...VALIDATION,
    name: 'requires-description',
    title: 'Rejects a tracking notification with an empty description',
    seen: 'Forms and columns that treat empty text as missing.',
    why: 'The description is free text of a provider and may be empty.',
    fix: optional('trackingStateDescription'),
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.trackingStateDescription') === ''),
  },
  {
    ...VALIDATION,
    name: 'forbids-null-outside-orders',
    title: 'Rejects null as the hash of a refund or deposit and as the error code of a payment method',
    seen: 'Schemas with `optional()` but without `nullable()`.',
    why: 'A serialiser that writes every field sends null for missing values, and these kinds fail.',
    fix: optional('fields'),
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) =>
      ['data.metadata.blockchainTransactionId', 'data.errorCode'].some((path) => fieldAt(payload, path) === null),
    ),
  },
  {
    ...VALIDATION,
    name: 'requires-hash-when-confirmed',
    title: 'Rejects an order at status CONFIRMED with an empty transaction hash',
    seen: 'Rules for single statuses: "confirmed" is taken to mean "confirmed on the blockchain".',
    why: 'A transfer within the custodial ledger has no hash, and the end of the order is lost.',
    fix: optional('hash'),
    severity: 'medium',
    forbidden: true,
    replace: refusing(
      (payload) =>
        fieldAt(payload, 'data.metadata.orderStatus') === 'CONFIRMED' &&
        fieldAt(payload, 'data.metadata.blockchainData.blockchainTransactionId') === '',
    ),
  },
  {
    ...VALIDATION,
    name: 'refuses-empty-text-elsewhere',
    title: 'Rejects an empty message, code, hash, currency or source address',
    seen: '`Joi.string()`, `@IsNotEmpty()` and `binding:"required"`, which do not allow empty strings.',
    why: 'A failure without a message, or a transfer within the ledger, is rejected on every retry.',
    fix: optional('text'),
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) =>
      [
        ...['data.metadata.blockchainData.currency', 'data.errorData.message', 'data.errorCode'],
        ...['data.metadata.blockchainTransactionId', 'data.metadata.sourceAddress'],
      ].some((path) => fieldAt(payload, path) === ''),
    ),
  },
  {
    ...VALIDATION,
    name: 'failures-need-an-error',
    title: 'Answers 500 to a failed order or refund whose errorData is null',
    seen: 'Code that reads errorData.code whenever the status is FAILED or FAIL.',
    why: 'A failure without a code, for example of a new kind, is lost.',
    fix: optional('errorData'),
    severity: 'medium',
    forbidden: true,
    equivalentTo: {
      name: 'reads-fields-of-null-objects',
      reason: 'Both read a field of an object that is null; the report names the object.',
    },
    replace: readAfterValidation((payload) => {
      const status = fieldAt(payload, 'data.metadata.orderStatus') ?? fieldAt(payload, 'data.status');
      if ((status === 'FAILED' || status === 'FAIL') && fieldAt(payload, 'data.errorData') === null)
        throwTypeError('errorData is null');
    }),
  },
  // Faults with the hash of a deposit, whose key has two spellings and may be missing.
  {
    ...VALIDATION,
    name: 'requires-the-hash-of-a-deposit',
    title: 'Crashes on a deposit without a hash under the correct spelling',
    seen: 'Handlers that use the hash for a link or a lookup at once, tested with a deposit from a blockchain.',
    why:
      'Transfers inside the custodial ledger have no hash, and the misspelt key hides one; each such deposit causes ' +
      'a 500 and is not credited.',
    fix: bothSpellings,
    severity: 'high',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const metadata = depositMetadata(payload);
      if (metadata !== null && typeof metadata[CORRECT] !== 'string') throwTypeError('the hash is undefined');
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-the-misspelt-key-only',
    title: 'Reads the hash of a deposit only under its misspelt key and crashes without it',
    seen: 'Classes generated from the sample payload, where the key lacks a letter.',
    why: 'Deposits with the documented key, and those without any hash, fail as soon as the sender sends them.',
    fix: bothSpellings,
    severity: 'high',
    forbidden: true,
    replace: readAfterValidation((payload) => {
      const metadata = depositMetadata(payload);
      if (metadata !== null && typeof metadata[MISSPELT] !== 'string') throwTypeError('the hash is undefined');
    }),
  },
  {
    ...VALIDATION,
    name: 'refuses-the-misspelt-key',
    title: 'Rejects a deposit with the misspelt key',
    seen: 'Strict schemas made from the documented field names.',
    why: 'Real deposits use that key, and none of them is credited.',
    fix: bothSpellings,
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => {
      const metadata = depositMetadata(payload);
      return metadata !== null && Object.hasOwn(metadata, MISSPELT);
    }),
  },
  {
    ...VALIDATION,
    name: 'fails-on-both-spellings',
    title: 'Crashes on a deposit with the hash under both spellings',
    seen:
      'Mappers with an alias that report a field that is set twice, and records with a constructor for either ' +
      'name.',
    why: 'A sender that fixes a typo sends both names for a while, and then every deposit fails.',
    fix: bothSpellings,
    severity: 'medium',
    forbidden: false,
    replace: readAfterValidation((payload) => {
      const metadata = depositMetadata(payload);
      if (metadata !== null && Object.hasOwn(metadata, CORRECT) && Object.hasOwn(metadata, MISSPELT)) {
        throwTypeError('the hash is set twice');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'refuses-two-different-hashes',
    title: 'Rejects a deposit with different values under the two spellings',
    seen: 'Code that compares both values as a precaution and takes a difference for tampering.',
    why: 'The payload is signed, so this is not an attack; a deposit is lost because of a key that should not exist.',
    fix: bothSpellings,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => {
      const metadata = depositMetadata(payload);
      if (metadata === null || !metadata[CORRECT] || !metadata[MISSPELT]) return false;
      return metadata[CORRECT] !== metadata[MISSPELT];
    }, 422),
  },
  {
    ...VALIDATION,
    name: 'takes-the-first-hash-that-is-not-null',
    title: 'Prefers the misspelt key and rejects a deposit if its value is empty',
    seen: 'One-liners with ?? or getOrDefault, which treat empty text as a value.',
    why: 'A deposit with a valid hash is rejected because of the empty one before it.',
    fix: bothSpellings,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => {
      const metadata = depositMetadata(payload);
      return metadata !== null && (metadata[MISSPELT] ?? metadata[CORRECT]) === '';
    }),
  },
];
