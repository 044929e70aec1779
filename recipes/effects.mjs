/**
 * Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only.
 * `node effects.mjs notification=ID,ID` or `node effects.mjs transaction=ID`
 */
import { readFileSync } from 'node:fs';

const DECIMALS = { BTC: 8, ETH: 18, USDC: 6, GUSD: 2, NEO: 0 };
/** Amounts with more digits are omitted. */
const MAX_DIGITS = 1000;

function handling({ id, type, data }) {
  const at = (path) => path.split('.').reduce((value, key) => value?.[key], data);
  const first = (...paths) => paths.map(at).find((value) => typeof value === 'string' && value !== '');
  const atomic = first('metadata.asset.amount');
  const currency = first('metadata.asset.currency', 'metadata.currency', 'metadata.blockchainData.currency', 'assetId');
  return {
    notification: id,
    kind: type === 'CAAS' && first('type') ? `CAAS_${data.type}` : type,
    status: first('metadata.orderStatus', 'metadata.providerTransactionStatus', 'status'),
    transaction: first('transactionId', 'partnerTransactionId'),
    customer: first('customerId', 'accountId'),
    paymentMethod: first('paymentMethodId'),
    address: first('walletAddress'),
    hash: ['blockchainTransactionId', 'blockchainTransctionId']
      .map((key) => first(`metadata.blockchainData.${key}`, `metadata.${key}`))
      .find(Boolean),
    amount: atomic === undefined ? first('metadata.amount') : displayAmount(atomic, currency),
    currency,
    errorCode: first('errorData.code', 'errorCode'),
  };
}

/**
 * Moves the decimal point in the string, because a float would lose digits. An asset without known decimals has no
 * amount.
 */
function displayAmount(atomic, currency) {
  if (!Object.hasOwn(DECIMALS, currency) || atomic.length > MAX_DIGITS || !/^\d+$/.test(atomic)) return undefined;
  const digits = atomic.padStart(DECIMALS[currency] + 1, '0');
  const point = digits.length - DECIMALS[currency];
  return `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0*$/, '');
}

const [, name, given] = /^(notification|transaction)=(.+)$/.exec(process.argv[2]) ?? [];
if (name === undefined) throw new Error('Give notification=ID,ID or transaction=ID.');
const ids = given.split(',').map(decodeURIComponent);
const lines = readFileSync(process.env.WEBHOOK_JOURNAL ?? 'journal.ndjson', 'utf8').split('\n');
// An incomplete last line is still being written.
const all = lines.slice(0, -1).map((line) => handling(JSON.parse(JSON.parse(line).body)));
console.log(JSON.stringify({ total: all.length, handled: all.filter((one) => ids.includes(one[name])) }));
