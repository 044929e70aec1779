/** The effects window of each language, over a real receiver and the journal that it writes. */
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { effectsAnswer, effectsQueryText } from '../../contract/effects.ts';
import { recipeOf } from '../../contract/index.ts';
import { copyRecipe, type RecipeProcess, removeCopy, startEffects, startRecipe, whyNotRun } from './recipe-process.ts';

const token = randomBytes(16).toString('hex');
const apiKey = randomBytes(24).toString('base64url');
const LONG = '12345678901234567890123456789012345678';

const deposit = (amount: string, currency: string, hash: object = {}) => ({
  type: 'CAAS_BLOCKCHAIN',
  data: {
    type: 'RECEIVE',
    status: 'COMPLETED',
    partnerTransactionId: 'deposit',
    metadata: { asset: { amount, currency }, ...hash },
  },
});

const order = (orderStatus: string, hash: string) => ({
  type: 'CAAS',
  data: {
    type: 'BUY',
    transactionId: 'order',
    metadata: { orderStatus, blockchainData: { blockchainTransactionId: hash, currency: 'ETH' } },
    errorData: null,
  },
});

/** What is delivered, by its id. */
const DELIVERED = {
  'a,b &é': order('PENDING', ''),
  second: order('CONFIRMED', '0xorder'),
  neo: deposit(LONG, 'NEO', { blockchainTransactionId: '0xright' }),
  gusd: deposit('5', 'GUSD', { blockchainTransctionId: '0xmisspelt' }),
  usdc: deposit('1500000', 'USDC', { blockchainTransctionId: '0xmisspelt', blockchainTransactionId: '0xright' }),
  btc: deposit('100', 'BTC'),
  eth: deposit(LONG, 'ETH'),
  zero: deposit('0', 'NEO'),
  other: deposit('5', 'UNKNOWN'),
  refund: {
    type: 'REFUND',
    data: {
      status: 'FAIL',
      transactionId: 'sold',
      metadata: { amount: '0.10', currency: 'BTC' },
      errorData: { code: 'E-1' },
    },
  },
  odd: { type: 'NEW', data: { status: 5, metadata: 'text' } },
};

describe.each(['express', 'python', 'go', 'php', 'ruby'] as const)('the effects window of %s', (stack) => {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the effects window of ${stack}: ${reason}`);
  let folder = '';
  let receiver: RecipeProcess;
  let effects: RecipeProcess;

  beforeAll(async () => {
    if (reason !== null) return;
    folder = copyRecipe(stack);
    receiver = await startRecipe(stack, { folder, apiKey });
    effects = await startEffects(stack, folder, token);
    for (const [id, notification] of Object.entries(DELIVERED)) await delivered(receiver.url, { id, ...notification });
  });
  afterAll(async () => {
    await receiver?.kill();
    await effects?.kill();
    if (folder !== '') removeCopy(folder);
  });

  const get = (query: string, authorization = `Bearer ${token}`) =>
    fetch(`${effects.url}?${query}`, { headers: { Authorization: authorization } });
  const asked = async (query: Parameters<typeof effectsQueryText>[0]) =>
    effectsAnswer.parse(await (await get(effectsQueryText(query))).json());
  const handledOf = async (...notifications: string[]) => (await asked({ notifications })).handled;

  it.skipIf(reason !== null)('answers 401 without its token, and 400 to another query', async () => {
    const allowed = effectsQueryText({ notifications: ['neo'] });
    const statuses = [await fetch(`${effects.url}?${allowed}`), await get(allowed, `Bearer ${token}x`)];
    expect(statuses.map(({ status }) => status)).toEqual([401, 401]);
    const many = Array.from({ length: 51 }, (_, n) => n).join(',');
    for (const query of ['', 'all=1', `notification=${many}`]) expect((await get(query)).status).toBe(400);
  });

  it.skipIf(reason !== null)('does not start without a token, and is not on the delivery port', async () => {
    const start = startEffects(stack, folder, 'too-short');
    await expect(start).rejects.toThrow(/ended with [1-9][\s\S]*WEBHOOK_EFFECTS_TOKEN/);
    const served = await fetch(receiver.url.replace('/hooks', '/effects?notification=neo'), {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(served.status).toBe(404);
  });

  it.skipIf(reason !== null)('lists a notification once after copies, and nothing of an unknown id', async () => {
    const copies = Array.from({ length: 5 }, () => delivered(receiver.url, { id: 'neo', ...DELIVERED.neo }));
    await Promise.all(copies);
    const { total, handled } = await asked({ notifications: ['neo', 'never', 'a,b &é'] });
    expect({ total, ids: handled.map(({ notification }) => notification) }).toEqual({
      total: Object.keys(DELIVERED).length,
      ids: ['a,b &é', 'neo'],
    });
  });

  it.skipIf(reason !== null)('keeps every digit at 0, 2, 6, 8 and 18 decimals', async () => {
    const handled = await handledOf('neo', 'gusd', 'usdc', 'btc', 'eth', 'zero', 'other', 'refund');
    expect(handled.map(({ amount }) => amount)).toEqual([
      LONG,
      '0.05',
      '1.5',
      '0.000001',
      `${LONG.slice(0, 20)}.${LONG.slice(20)}`,
      '0',
      undefined,
      '0.10',
    ]);
  });

  it.skipIf(reason !== null)('reads the hash under both spellings, and the correct one wins', async () => {
    const handled = await handledOf('neo', 'gusd', 'usdc', 'btc');
    expect(handled.map(({ hash }) => hash)).toEqual(['0xright', '0xmisspelt', '0xright', undefined]);
  });

  it.skipIf(reason !== null)('states the flow of a transaction, a refund and a type that is not known', async () => {
    const flow = (await asked({ transaction: 'order' })).handled;
    expect(flow.map(({ kind, status, hash }) => ({ kind, status, hash }))).toEqual([
      { kind: 'CAAS_BUY', status: 'PENDING', hash: undefined },
      { kind: 'CAAS_BUY', status: 'CONFIRMED', hash: '0xorder' },
    ]);
    expect(await handledOf('refund', 'odd')).toEqual([
      expect.objectContaining({
        kind: 'REFUND',
        status: 'FAIL',
        transaction: 'sold',
        currency: 'BTC',
        errorCode: 'E-1',
      }),
      { notification: 'odd', kind: 'NEW' },
    ]);
    expect((await asked({ transaction: 'deposit' })).handled).toHaveLength(7);
  });

  it.skipIf(reason !== null)('ignores a last line that is not complete', async () => {
    appendFileSync(join(folder, 'journal.ndjson'), '{"id":"cut","bo');
    expect(await asked({ notifications: ['cut'] })).toEqual({ total: Object.keys(DELIVERED).length, handled: [] });
  });
});

it('has the window of its language in every recipe that the tests run', () => {
  expect(recipeOf('fastapi').effects).toBe(recipeOf('python').effects);
  expect(recipeOf('rails').effects).toBe(recipeOf('ruby').effects);
});

async function delivered(url: string, notification: { readonly id: string }): Promise<void> {
  const body = JSON.stringify({ at: 1_767_225_600, ...notification });
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': apiKey };
  const { status } = await fetch(url, { method: 'POST', headers, body });
  expect(status).toBe(200);
}
