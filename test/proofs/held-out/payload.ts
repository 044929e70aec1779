/** Faults in reading the notification, written independently. */
import { ERROR_CODES, ORDER_STATUSES, TRACKING_STATUSES } from '../../../contract/index.ts';
import { Refusal } from './bare-receiver.ts';
import { type FaultMixins, uses, usesUnchecked } from './fault-mixins.ts';

const no = () => {
  throw new Refusal(400);
};
const inList = (value: unknown, list: string) => {
  if (!list.split(' ').includes(String(value))) no();
};
// biome-ignore lint/suspicious/noExplicitAny: any JSON.
type Any = any;
/** Returns the metadata of a BUY or SELL order. Undefined for other notifications. */
const orderOf = ({ type, data }: Any): Any =>
  type === 'CAAS' && ['BUY', 'SELL'].includes(data.type) ? (data.metadata ?? {}) : undefined;
const chainOf = (value: Any): Any => orderOf(value)?.blockchainData;
const trackingOf = ({ data }: Any): Any => (data.type === 'ORDER_TRACKING' ? (data.metadata ?? {}) : undefined);
const codeOf = ({ data }: Any): Any => data.errorData?.code ?? data.errorCode;
const when = (bad: unknown) => (bad ? no() : undefined);

const refuses = (type: string) => uses((value) => (value.type === type ? no() : undefined));
const knows = (of: unknown, fields: string) => {
  if (typeof of === 'object' && of !== null) for (const field of Object.keys(of)) inList(field, fields);
};

export const payloadFaults: FaultMixins = {
  'refuses-refunds': refuses('REFUND'),
  'refuses-payment-methods': refuses('PAYMENT_METHOD'),
  'refuses-wallets': refuses('WALLET'),
  'refuses-deposits': refuses('CAAS_BLOCKCHAIN'),
  'refuses-sells': uses(({ data }) => (data.type === 'SELL' ? no() : undefined)),
  'requires-data-type': uses(({ data }) => (data.type === undefined ? no() : undefined)),
  'requires-transaction-id-everywhere': uses(({ data }) => (data.transactionId === undefined ? no() : undefined)),
  'takes-only-caas': uses(({ type }) => (type === 'CAAS' ? undefined : no())),
  'closes-the-list-of-types': uses(({ type }) => inList(type, 'CAAS REFUND PAYMENT_METHOD WALLET CAAS_BLOCKCHAIN')),
  'closes-the-list-of-caas-types': uses(({ type, data }) =>
    type === 'CAAS' ? inList(data.type, 'BUY SELL ORDER_TRACKING') : undefined,
  ),
  'closes-the-list-of-wallet-operations': uses(({ type, data }) =>
    type === 'WALLET' ? inList(data.operation ?? 'WALLET_CREATED', 'WALLET_CREATED') : undefined,
  ),
  'closes-the-list-of-deposit-statuses': uses(({ type, data }) =>
    when(type === 'CAAS_BLOCKCHAIN' && data.status && data.status !== 'COMPLETED'),
  ),
  'closes-the-list-of-order-statuses': uses((value) => {
    const status = orderOf(value)?.orderStatus;
    if (status) inList(status, ORDER_STATUSES.join(' '));
  }),
  'closes-the-list-of-tracking-statuses': uses((value) => {
    const status = trackingOf(value)?.providerTransactionStatus;
    if (status) inList(status, 'PENDING COMPLETED EXPIRED'.concat(' ', TRACKING_STATUSES.join(' ')));
  }),
  'closes-the-list-of-error-codes': uses((value) => {
    const code = codeOf(value);
    if (code) inList(code, ERROR_CODES.map((one) => one.code).join(' '));
  }),
  'wants-three-digits-in-error-codes': uses((value) =>
    when(codeOf(value) && !/^[^-]+-\d{3}-[^-]+$/.test(codeOf(value))),
  ),
  'lacks-status-blockchain-accepted': uses((value) => when(orderOf(value)?.orderStatus === 'BLOCKCHAIN_ACCEPTED')),
  'lacks-status-staged': uses(({ type, data }) => when(type === 'PAYMENT_METHOD' && data.status === 'STAGED')),
  'lacks-status-expired': uses((value) => when(trackingOf(value)?.providerTransactionStatus === 'EXPIRED')),
  'forbids-unknown-fields-in-error-data': uses((value) => knows(value.data.errorData, 'code message')),
  'forbids-unknown-fields-in-wallets': uses(({ type, data }) =>
    type === 'WALLET' ? knows(data, 'operation customerId walletAddress assetId chain') : undefined,
  ),
  'reads-the-misspelt-key-only': uses(({ type, data }) =>
    type === 'CAAS_BLOCKCHAIN' ? data.metadata.blockchainTransctionId.length : undefined,
  ),
  'requires-the-hash-of-a-deposit': uses(({ type, data }) =>
    type === 'CAAS_BLOCKCHAIN' ? data.metadata.blockchainTransactionId.length : undefined,
  ),
  'refuses-the-misspelt-key': uses(({ data }) => when(data.metadata && 'blockchainTransctionId' in data.metadata)),
  'fails-on-both-spellings': uses(({ data }) => {
    const keys = Object.keys(data.metadata ?? {}).filter((key) => /^blockchainTransa?ctionId$/.test(key));
    if (keys.length > 1) throw new Error('Duplicate property: blockchainTransactionId');
  }),
  'forbids-unknown-fields-in-envelope': uses((value) => knows(value, 'id type at data')),
  'reads-tracking-as-order': uses(({ type, data }) =>
    type === 'CAAS' ? data.metadata.orderStatus.toLowerCase() : null,
  ),
  'refuses-iso-times': uses(({ at }) => (typeof at === 'string' ? no() : undefined)),
  'requires-milliseconds': uses(({ at }) => (typeof at === 'string' && /T[^.]*$/.test(at) ? no() : undefined)),
  'requires-the-letter-z': uses(({ at }) => (typeof at === 'string' && !at.endsWith('Z') ? no() : undefined)),
  'refuses-old-times': uses((_value, { at }) =>
    at !== null && Date.now() - Number(at) > 86_400_000 ? no() : undefined,
  ),
  'refuses-future-times': uses((_value, { at }) =>
    at !== null && Number(at) - Date.now() > 300_000 ? no() : undefined,
  ),
  'stores-times-in-32-bits': usesUnchecked(({ at }) =>
    typeof at === 'number' ? Buffer.alloc(4).writeInt32BE(Math.floor(at)) : null,
  ),
  'formats-times-unchecked': usesUnchecked(({ at }) => new Date(typeof at === 'number' ? at * 1000 : at).toISOString()),
  'reads-metadata-unguarded': usesUnchecked((value) =>
    value?.type === 'CAAS' && value.data ? value.data.metadata.orderStatus : undefined,
  ),
  'calls-text-functions-on-ids': usesUnchecked(({ id }) => id.trim()),
  'requires-uuid-version-4': uses(({ id }) =>
    /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(id) && id[14] !== '4'
      ? no()
      : undefined,
  ),
  'requires-ids-in-small-letters': uses(({ id }) => (id === id.toLowerCase() ? undefined : no())),
  'stores-ids-in-36-characters': uses(({ id }) => {
    if (id.length > 36) throw new Error('value too long for type character varying(36)');
  }),
  'pastes-ids-into-queries': uses(({ id }) => {
    if (id.includes("'")) throw new Error('unterminated quoted string');
  }),
  'reads-missing-error-data': uses(({ type, data }) => {
    if (type === 'CAAS' && data.errorData !== null) return data.errorData.code;
  }),
  'reads-missing-blockchain-data': uses((value) => orderOf(value)?.blockchainData.currency),
  'reads-asset-unguarded': usesUnchecked(({ type, data }) =>
    type === 'CAAS_BLOCKCHAIN' ? data.metadata.asset.amount : undefined,
  ),
  'takes-error-codes-apart': uses((value) => {
    if (codeOf(value)) return codeOf(value).split('-')[2].length;
  }),
  'expects-an-error-with-expired': uses((value) => {
    if (trackingOf(value)?.providerTransactionStatus === 'EXPIRED') return value.data.errorData.code;
  }),
  'requires-memo-key': uses((value) => when(chainOf(value) && !('blockchainMemo' in chainOf(value)))),
  'requires-target-wallet': uses((value) => when(orderOf(value) && !chainOf(value)?.targetWalletAddress)),
  'requires-hash-once-on-chain': uses((value) => {
    const on = ['BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED'].includes(orderOf(value)?.orderStatus);
    when(on && !chainOf(value)?.blockchainTransactionId && !chainOf(value)?.blockchainTransctionId);
  }),
  'refuses-empty-text': uses((value) => when(Object.values(chainOf(value) ?? {}).includes(''))),
  'requires-description': uses((value) => when(trackingOf(value) && !trackingOf(value).trackingStateDescription)),
  'reads-amounts-as-numbers': uses(({ data }) => {
    const amount = data.metadata?.amount ?? data.metadata?.asset?.amount;
    if (typeof amount === 'string' && !Number.isSafeInteger(Number(amount)) && String(Number(amount)) !== amount) no();
  }),
  'stores-deposits-in-64-bits': uses(({ data }) => {
    const amount = data.metadata?.asset?.amount;
    if (typeof amount === 'string' && /^\d+$/.test(amount)) Buffer.alloc(8).writeBigInt64BE(BigInt(amount));
  }),
  'converts-deposits-unchecked': uses(({ type, data }) =>
    type === 'CAAS_BLOCKCHAIN' ? BigInt(data.metadata?.asset?.amount ?? 0) : undefined,
  ),
  'requires-a-decimal-point': uses(({ type, data }) =>
    when(type === 'REFUND' && data.metadata?.amount && !String(data.metadata.amount).includes('.')),
  ),
  'limits-refunds-to-eight-decimals': uses(({ type, data }) =>
    when(type === 'REFUND' && /\.\d{9,}$/.test(data.metadata?.amount ?? '')),
  ),
};
