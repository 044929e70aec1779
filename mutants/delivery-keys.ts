/** Mutants with a unique key on a field that may occur in several notifications. */
import { fieldAt, textAt, throwDuplicateKey, uniqueBy } from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';

const insertOnce = (keyOf: (payload: unknown) => string | undefined) => uniqueBy(keyOf, throwDuplicateKey);

const ofWallets = (...paths: readonly string[]) =>
  insertOnce((payload) =>
    fieldAt(payload, 'type') === 'WALLET' ? paths.map((path) => String(fieldAt(payload, path))).join(' ') : undefined,
  );

/** Mutants whose unique key collides for different notifications. */
export const deliveryKeysFaults = family<StageFault>(
  { area: 'delivery', stage: 'store', mistake: 'unique-payload-field' },
  {
    'wallet-addresses-are-unique': [
      'Answers 500 to a second wallet with the same address, because of a unique key on the address',
      ofWallets('data.customerId', 'data.walletAddress'),
    ],
    'one-wallet-for-each-asset': [
      'Answers 500 to a second wallet of a customer for the same asset on another chain',
      ofWallets('data.customerId', 'data.assetId'),
      {
        equivalentTo: {
          name: 'wallet-addresses-are-unique',
          reason: 'Both reject a second wallet for the same asset at the same address.',
        },
      },
    ],
    'hashes-of-deposits-are-unique': [
      'Answers 500 to a second deposit with the same transaction hash',
      insertOnce((payload) =>
        fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN'
          ? textAt(payload, 'data.metadata.blockchainTransactionId') || undefined
          : undefined,
      ),
    ],
    'deposits-without-hash-collide': [
      'Answers 500 to a second deposit without a hash between the same addresses',
      insertOnce((payload) => {
        const [hash, from, to] = ['blockchainTransactionId', 'sourceAddress', 'destinationAddress'].map((name) =>
          textAt(payload, `data.metadata.${name}`),
        );
        const isLedger = fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' && hash === undefined;
        return isLedger && from !== undefined && to !== undefined ? `${from} ${to}` : undefined;
      }),
      {
        note: 'If a customer pays another one twice, the second payment is not credited.',
        equivalentTo: {
          name: 'deposits-collide-on-the-balance',
          reason: 'Both reject one of several deposits of a customer. The report shows which.',
        },
      },
    ],
    'deposits-created-again': [
      'Answers 500 to the second notification of a deposit, because it inserts the row again',
      insertOnce((payload) => textAt(payload, 'data.partnerTransactionId')),
      { forbidden: false },
    ],
  },
);
