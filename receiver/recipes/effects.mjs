/**
 * The effects window, for test environments only: what the receiver stored, by its journal. `node effects.mjs`
 * Environment: WEBHOOK_EFFECTS_TOKEN (16 characters or more), WEBHOOK_EFFECTS_PORT (3001), WEBHOOK_JOURNAL.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { unescape as decode } from 'node:querystring';

const { WEBHOOK_EFFECTS_TOKEN = '', WEBHOOK_EFFECTS_PORT = '3001', WEBHOOK_JOURNAL = 'journal.ndjson' } = process.env;
if (WEBHOOK_EFFECTS_TOKEN.length < 16) throw new Error('Set WEBHOOK_EFFECTS_TOKEN to 16 characters or more.');

const DECIMALS = { BTC: 8, ETH: 18, USDC: 6, GUSD: 2, NEO: 0 };
const HASHES = ['metadata.blockchainData.', 'metadata.'];
/** Where `data` has a value: the first place that is filled. */
const PLACES = {
  status: ['metadata.orderStatus', 'metadata.providerTransactionStatus', 'status'],
  transaction: ['transactionId', 'partnerTransactionId'],
  hash: ['blockchainTransactionId', 'blockchainTransctionId'].flatMap((key) => HASHES.map((at) => at + key)),
  amount: ['metadata.asset.amount', 'metadata.amount'],
  currency: ['metadata.asset.currency', 'metadata.currency', 'metadata.blockchainData.currency'],
  errorCode: ['errorData.code', 'errorCode'],
};

function handling({ id, type, data }) {
  const at = (path) => path.split('.').reduce((value, key) => value?.[key], data);
  const isFilled = (value) => typeof value === 'string' && value !== '';
  const found = Object.entries(PLACES).map(([name, paths]) => [name, paths.map(at).find(isFilled)]);
  const values = Object.fromEntries(found);
  if (data.metadata?.asset) values.amount = displayAmount(values.amount, DECIMALS[values.currency]);
  return { notification: id, kind: type === 'CAAS' && isFilled(data.type) ? `CAAS_${data.type}` : type, ...values };
}

/** Moves the point in the text: a float would lose digits. An unknown asset, or what is no number, has no amount. */
function displayAmount(atomic, decimals) {
  if (decimals === undefined || !/^\d+$/.test(atomic)) return undefined;
  const digits = atomic.padStart(decimals + 1, '0');
  return `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`.replace(/\.?0*$/, '');
}

const digest = (text) => createHash('sha256').update(text).digest();

createServer(({ method, url, headers }, res) => {
  const answer = (status, json) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json));
  const isAllowed = timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${WEBHOOK_EFFECTS_TOKEN}`));
  if (!isAllowed) return answer(401, { error: 'unauthorized' });
  const [, name, given = ''] = /^\/effects\?(notification|transaction)=([^&=]+)$/.exec(url) ?? [];
  const ids = given.split(',').map(decode);
  if (method !== 'GET' || name === undefined || ids.length > 50) return answer(400, { error: 'not a query' });
  const journal = existsSync(WEBHOOK_JOURNAL) ? readFileSync(WEBHOOK_JOURNAL, 'utf8') : '';
  const lines = journal.split('\n').slice(0, -1); // What follows the last line is being written.
  const all = lines.map((line) => handling(JSON.parse(JSON.parse(line).body)));
  answer(200, { total: all.length, handled: all.filter((one) => ids.includes(one[name])) });
}).listen(Number(WEBHOOK_EFFECTS_PORT), '127.0.0.1', () => {
  console.log(`effects on http://127.0.0.1:${WEBHOOK_EFFECTS_PORT}/effects`);
});
