/** Mutants with a unique key over something that may occur in several notifications. */
import { fieldAt, throwDuplicateKey, uniqueBy } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const KEY = { area: 'delivery', stage: 'store' } as const;

const keyOnId: StageFault['fix'] = {
  rule: 'Put the unique key on the id of the notification, and update other rows when they exist.',
  express: 'Insert the notification with ON CONFLICT (id) DO NOTHING, and upsert what you derive from it.',
  django: 'Use `update_or_create`, and remove `unique=True` from fields of the payload.',
  rails: 'Use `upsert`, and remove `validates_uniqueness_of` from fields of the payload.',
};

const insertOnce = (keyOf: (payload: unknown) => string | undefined) => uniqueBy(keyOf, throwDuplicateKey);

const joined = (payload: unknown, ...paths: readonly string[]) =>
  paths.map((path) => String(fieldAt(payload, path))).join(' ');

const ofWallets = (...paths: readonly string[]) =>
  insertOnce((payload) => (fieldAt(payload, 'type') === 'WALLET' ? joined(payload, ...paths) : undefined));

export const deliveryKeysFaults: readonly StageFault[] = [
  {
    ...KEY,
    name: 'wallet-addresses-are-unique',
    title: 'Answers 500 to a second wallet with the same address, because of a unique key on the address',
    seen: 'Tables of wallets from a time with one asset, and networks that share addresses (Ethereum, Polygon, Base).',
    why: 'The customer gets the first wallet only, and deposits of the other assets cannot be matched.',
    fix: keyOnId,
    severity: 'high',
    forbidden: true,
    replace: ofWallets('data.customerId', 'data.walletAddress'),
  },
  {
    ...KEY,
    name: 'one-wallet-for-each-asset',
    title: 'Answers 500 to a second wallet of a customer for the same asset on another chain',
    seen: 'A unique key on customer and asset, from a time when each asset had one chain.',
    why: 'A stablecoin exists on several chains, and the wallets on all but one are lost.',
    fix: keyOnId,
    severity: 'high',
    forbidden: true,
    equivalentTo: {
      name: 'wallet-addresses-are-unique',
      reason: 'Both reject a second wallet for the same asset at the same address.',
    },
    replace: ofWallets('data.customerId', 'data.assetId'),
  },
  {
    ...KEY,
    name: 'hashes-of-deposits-are-unique',
    title: 'Answers 500 to a second deposit with the same transaction hash',
    seen: 'A unique key on the hash as a guard against double credits.',
    why: 'One transfer can pay several deposits, and all but the first are not credited.',
    fix: keyOnId,
    severity: 'high',
    forbidden: true,
    replace: insertOnce((payload) => {
      const hash = fieldAt(payload, 'data.metadata.blockchainTransactionId');
      return fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' && typeof hash === 'string' && hash !== ''
        ? hash
        : undefined;
    }),
  },
  {
    ...KEY,
    name: 'deposits-without-hash-collide',
    title: 'Answers 500 to a second deposit without a hash between the same addresses',
    seen: 'A fallback key of source and destination for deposits within the custodial ledger, which have no hash.',
    why: 'A customer who pays another one twice is credited once.',
    fix: keyOnId,
    severity: 'high',
    forbidden: true,
    equivalentTo: {
      name: 'deposits-collide-on-the-balance',
      reason: 'Both reject one of several deposits of a customer. The report shows which.',
    },
    replace: insertOnce((payload) => {
      const [hash, from, to] = ['blockchainTransactionId', 'sourceAddress', 'destinationAddress'].map((name) =>
        fieldAt(payload, `data.metadata.${name}`),
      );
      const isLedger = fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' && typeof hash !== 'string';
      return isLedger && typeof from === 'string' && typeof to === 'string' ? `${from} ${to}` : undefined;
    }),
  },
  {
    ...KEY,
    name: 'deposits-created-again',
    title: 'Answers 500 to the second notification of a deposit, because it inserts the row again',
    seen: 'Handlers that insert a deposit by partnerTransactionId, written when there was one status.',
    why: 'A deposit that is reported at two statuses is never credited.',
    fix: keyOnId,
    severity: 'medium',
    forbidden: false,
    replace: insertOnce((payload) => {
      const id = fieldAt(payload, 'data.partnerTransactionId');
      return typeof id === 'string' ? id : undefined;
    }),
  },
];
