/** Mutants that require optional data, and mutants that mishandle the misspelt hash key. */
import {
  all,
  type Condition,
  crashWhen,
  isContainer,
  isNullish,
  isPresent,
  refusing,
  statusOf,
  throwAfter,
  throwBefore,
  where,
} from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';

const STATUS = 'data.metadata.orderStatus';
const CODE = 'data.errorData.code';
const ERROR_DATA = 'data.errorData';
const BLOCKCHAIN_DATA = 'data.metadata.blockchainData';
const CORRECT = 'blockchainTransactionId';
const MISSPELT = 'blockchainTransctionId';

const isOrder = where(STATUS, isPresent);
const isUnfilled: Condition = (value) => typeof value !== 'string' || value === '';

/** Returns the paths of fields of `blockchainData`. */
const chain = (...names: string[]) => names.map((name) => `${BLOCKCHAIN_DATA}.${name}`);

/** Matches deposits if `such` returns true for their metadata. Throws if the metadata is missing. */
function whereDeposit(such: (metadata: Record<string, unknown>) => boolean): Condition {
  const matches: Condition = (metadata) => metadata !== null && such(metadata as Record<string, unknown>);
  return all(where('type', 'CAAS_BLOCKCHAIN'), where('data.metadata', matches));
}

export const payloadMissingDataFaults = family<StageFault>(
  { area: 'payload', stage: 'validate', mistake: 'optional-data-required' },
  {
    // Mutants that rely on optional data.
    'reads-missing-error-data': [
      'Compares errorData with null and answers 500 when it is missing',
      throwAfter('errorData is undefined', all(where('type', /^(?:CAAS|REFUND)$/), where(ERROR_DATA, undefined))),
      { forbidden: false },
    ],
    'expects-an-error-with-expired': [
      'Expects an error with every tracking status other than COMPLETED, such as EXPIRED, and answers 500 without one',
      throwAfter(
        'errorData is undefined',
        all(
          where('data.metadata.providerTransactionStatus', (status) => status !== undefined && status !== 'COMPLETED'),
          where(ERROR_DATA, isNullish),
        ),
      ),
      { note: 'The code treats every status other than COMPLETED as a failure with an error.' },
    ],
    'takes-error-codes-apart': [
      'Splits error codes at their hyphens and uses the parts without a check',
      throwAfter(
        'the third part is undefined',
        all(where(ERROR_DATA, isContainer), (payload) => !where(CODE, /-[^-]*-/)(payload)),
      ),
      'error-code-restricted',
    ],
    'reads-missing-blockchain-data': [
      'Reads blockchainData without checking that it is present',
      throwAfter('blockchainData is undefined', all(isOrder, where(BLOCKCHAIN_DATA, isNullish))),
      { forbidden: false },
    ],
    'reads-metadata-unguarded': [
      'Reads the status from data.metadata without checking that metadata is present',
      throwBefore(
        'metadata is undefined',
        all(where('type', 'CAAS'), where('data.type', isPresent), where('data.metadata', isNullish)),
      ),
      'nested-object-unchecked',
    ],
    'reads-asset-unguarded': [
      'Reads the amount of a deposit two levels deep without checking the levels above',
      throwBefore('asset is undefined', all(where('type', 'CAAS_BLOCKCHAIN'), where('data.metadata.asset', isNullish))),
      'nested-object-unchecked',
    ],
    'crashes-on-refund-without-error-data': [
      'Ends the process on a refund without errorData',
      crashWhen(all(where('type', 'REFUND'), where(ERROR_DATA, undefined))),
      { note: 'A promise that the handler does not await reads the field, so the process ends.' },
    ],
    'requires-target-wallet': [
      'Rejects an order without a targetWalletAddress',
      refusing(all(isOrder, where(chain('targetWalletAddress'), isUnfilled))),
    ],
    'requires-the-hash-of-an-order': [
      'Rejects an order that has no transaction hash yet, whatever its status',
      refusing(all(isOrder, where(chain(CORRECT), isUnfilled))),
    ],
    'reads-null-chain-fields': [
      'Trims the memo and the chain without checking for null',
      throwAfter('trim is not a function', all(isOrder, where(chain('blockchainMemo', 'chain'), null))),
      { forbidden: false },
    ],
    'requires-hash-once-on-chain': [
      'Rejects an order without a hash from status BLOCKCHAIN_ACCEPTED on',
      refusing(all(where(STATUS, 'BLOCKCHAIN_ACCEPTED'), where(chain(CORRECT), isUnfilled)), 422),
      { note: 'The hash comes only in the notification after that status.' },
    ],
    'requires-memo-key': [
      'Rejects an order without the key blockchainMemo, even though it may be null or empty',
      refusing(all(where(BLOCKCHAIN_DATA, isContainer), where(chain('blockchainMemo'), undefined))),
    ],
    'calls-text-functions-on-null-addresses': [
      'Converts addresses to lower case even if they are null or not text',
      throwBefore(
        'toLowerCase is not a function',
        where(
          chain('targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress'),
          (address) => address !== undefined && typeof address !== 'string',
        ),
      ),
    ],
    'refuses-empty-text': [
      'Rejects an empty optional field of blockchainData',
      refusing(where(chain('targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress', 'blockchainMemo'), '')),
    ],
    'requires-every-chain-field': [
      'Rejects an order unless blockchainData has every key, whatever the status',
      refusing(
        all(
          isOrder,
          where(
            chain('currency', 'chain', 'targetWalletAddress', 'sourceWalletAddress', 'refundWalletAddress'),
            undefined,
          ),
        ),
      ),
    ],
    'requires-description': [
      'Rejects a tracking notification with an empty description',
      refusing(where('data.metadata.trackingStateDescription', '')),
      { forbidden: false },
    ],
    'forbids-null-outside-orders': [
      'Rejects null as the hash of a refund or deposit and as the error code of a payment method',
      refusing(where(['data.metadata.blockchainTransactionId', 'data.errorCode'], null)),
      { forbidden: false },
    ],
    'requires-hash-when-confirmed': [
      'Rejects an order at status CONFIRMED with an empty transaction hash',
      refusing(all(where(STATUS, 'CONFIRMED'), where(chain(CORRECT), ''))),
    ],
    'refuses-empty-text-elsewhere': [
      'Rejects an empty message, code, hash, currency or source address',
      refusing(
        where(
          [
            ...chain('currency'),
            ...['data.errorData.message', 'data.errorCode', 'data.metadata.blockchainTransactionId'],
            'data.metadata.sourceAddress',
          ],
          '',
        ),
      ),
      { forbidden: false },
    ],
    'failures-need-an-error': [
      'Answers 500 to a failed order or refund whose errorData is null',
      throwAfter(
        'errorData is null',
        all((payload) => ['FAILED', 'FAIL'].some((status) => status === statusOf(payload)), where(ERROR_DATA, null)),
      ),
      {
        equivalentTo: {
          name: 'reads-fields-of-null-objects',
          reason: 'Both read a field of an object that is null; the report names the object.',
        },
      },
    ],
    // Mutants that mishandle the hash of a deposit. Its key has two spellings, and the hash may be missing.
    'requires-the-hash-of-a-deposit': [
      'Crashes on a deposit without a hash under the correct spelling',
      throwAfter(
        'the hash is undefined',
        whereDeposit((metadata) => typeof metadata[CORRECT] !== 'string'),
      ),
      'misspelt-hash-key',
      { note: 'Transfers inside the custodial ledger have no hash at all.' },
    ],
    'reads-the-misspelt-key-only': [
      'Reads the hash of a deposit only under its misspelt key and answers 500 without it',
      throwAfter(
        'the hash is undefined',
        whereDeposit((metadata) => typeof metadata[MISSPELT] !== 'string'),
      ),
      'misspelt-hash-key',
    ],
    'requires-the-misspelt-key': [
      'Rejects a deposit without a hash under the misspelt key',
      refusing(whereDeposit((metadata) => typeof metadata[MISSPELT] !== 'string')),
      'misspelt-hash-key',
    ],
    'refuses-the-misspelt-key': [
      'Rejects a deposit with the misspelt key',
      refusing(whereDeposit((metadata) => Object.hasOwn(metadata, MISSPELT))),
      'misspelt-hash-key',
    ],
    'fails-on-both-spellings': [
      'Crashes on a deposit with the hash under both spellings',
      throwAfter(
        'the hash is set twice',
        whereDeposit((metadata) => Object.hasOwn(metadata, CORRECT) && Object.hasOwn(metadata, MISSPELT)),
      ),
      'misspelt-hash-key',
      { forbidden: false },
    ],
    'refuses-two-different-hashes': [
      'Rejects a deposit with different values under the two spellings',
      refusing(
        whereDeposit(({ [CORRECT]: correct, [MISSPELT]: misspelt }) =>
          Boolean(correct && misspelt && correct !== misspelt),
        ),
        422,
      ),
      'misspelt-hash-key',
      { note: 'The payload is signed, so a difference is not an attack.', forbidden: false },
    ],
    'takes-the-first-hash-that-is-not-null': [
      'Prefers the misspelt key and rejects a deposit if its value is empty',
      refusing(whereDeposit((metadata) => (metadata[MISSPELT] ?? metadata[CORRECT]) === '')),
      'misspelt-hash-key',
      { forbidden: false },
    ],
  },
);
