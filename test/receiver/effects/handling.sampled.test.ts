import { describe, expect, it } from 'vitest';
import { type Notification, readNotification } from '../../../contract/index.ts';
import { effectHandlers, effectOf, type Handlers, memoryEffects } from '../../../receiver/index.ts';
import { rig, until } from '../handling/rig.ts';
import { onEveryStore } from '../inbox/stores.ts';

const CORRECT = 'blockchainTransactionId';
const MISSPELT = 'blockchainTransctionId';

/** Returns the effect of a notification with this type and data. */
function valuesOf(type: string, data: object, decimals?: Record<string, number>) {
  const at: Notification['at'] =
    type === 'WALLET' || type === 'CAAS_BLOCKCHAIN' ? '2026-01-01T00:00:00Z' : 1_700_000_000;
  const reading = readNotification({ id: 'n', type, at, data });
  if (!reading.ok) throw new Error(reading.issues.join());
  const { notification, ...values } = effectOf(reading.notification, decimals).handled;
  expect(notification).toBe('n');
  return values;
}

const order = (blockchainData: object | null, more: object = {}) => ({
  type: 'BUY',
  transactionId: 't',
  metadata: { orderStatus: 'COMPLETED', blockchainData },
  ...more,
});

const deposit = (amount: string, currency: string, metadata: object = {}) => ({
  type: 'RECEIVE',
  status: 'COMPLETED',
  partnerTransactionId: 't',
  customerId: 'c',
  metadata: { asset: { amount, currency }, ...metadata },
});

describe('the values of an effect', () => {
  it.each([
    [{ [CORRECT]: '0xa' }, '0xa'],
    [{ [MISSPELT]: '0xb' }, '0xb'],
    [{ [MISSPELT]: '0xb', [CORRECT]: '0xa' }, '0xa'],
    [{ [MISSPELT]: '0xb', [CORRECT]: '' }, '0xb'],
    [{}, null],
    [null, null],
  ])('have the hash under either spelling: %j', (blockchainData, hash) => {
    expect(valuesOf('CAAS', order(blockchainData)).hash).toBe(hash);
    expect(valuesOf('CAAS_BLOCKCHAIN', deposit('1', 'BTC', blockchainData ?? {})).hash).toBe(hash);
    expect(valuesOf('SOMETHING_NEW', { metadata: blockchainData }).hash ?? null).toBe(hash);
  });

  it.each([
    ['NEO', '12345678901234567890123456789012345678', '12345678901234567890123456789012345678'],
    ['GUSD', '1', '0.01'],
    ['USDC', '9007199254740993', '9007199254.740993'],
    ['BTC', '12345678901234567890123456789012345678', '123456789012345678901234567890.12345678'],
    ['ETH', '1000000000000000000', '1'],
    ['DOGE', '1', undefined],
    ['constructor', '1', undefined],
    ['BTC', '1.5', undefined],
    ['BTC', '9'.repeat(1001), undefined],
  ])('have the amount of a deposit in display units: %s %s', (currency, atomic, amount) => {
    const values = valuesOf('CAAS_BLOCKCHAIN', deposit(atomic, currency));
    expect([values.amount, values.currency]).toEqual([amount, currency]);
  });

  it('use other decimals, and reject those that are none', () => {
    expect(valuesOf('CAAS_BLOCKCHAIN', deposit('15', 'DOGE'), { DOGE: 1 }).amount).toBe('1.5');
    expect(() => effectHandlers(memoryEffects(), { decimals: { BTC: 1.5 } })).toThrow(/precision/);
  });

  it('have what each kind states', () => {
    expect(valuesOf('CAAS', order({ currency: 'BTC' }, { errorData: { code: '352-202-S1' } }))).toEqual({
      kind: 'CAAS_BUY',
      status: 'COMPLETED',
      transaction: 't',
      hash: null,
      currency: 'BTC',
      errorCode: '352-202-S1',
    });
    const metadata = { amount: '0.10', currency: 'BTC', [CORRECT]: '0xa' };
    expect(valuesOf('REFUND', { transactionId: 't', status: 'SUCCESS', metadata })).toEqual({
      kind: 'REFUND',
      status: 'SUCCESS',
      transaction: 't',
      hash: '0xa',
      amount: '0.10',
      currency: 'BTC',
      errorCode: null,
    });
    const method = { status: 'DECLINED', paymentMethodId: 'p', accountId: 'c', errorCode: '204-004-S1' };
    expect(valuesOf('PAYMENT_METHOD', method)).toEqual({
      kind: 'PAYMENT_METHOD',
      status: 'DECLINED',
      customer: 'c',
      paymentMethod: 'p',
      errorCode: '204-004-S1',
    });
    expect(valuesOf('WALLET', { customerId: 'c', walletAddress: 'w', assetId: 'BTC' })).toEqual({
      kind: 'WALLET',
      customer: 'c',
      address: 'w',
      currency: 'BTC',
    });
    const tracking = { providerTransactionStatus: 'PROCESSING' };
    expect(valuesOf('CAAS', { type: 'ORDER_TRACKING', transactionId: 't', metadata: tracking })).toEqual({
      kind: 'CAAS_ORDER_TRACKING',
      status: 'PROCESSING',
      transaction: 't',
      errorCode: null,
    });
  });

  it('have what can be read of an unknown kind', () => {
    const data = {
      type: 'SWAP',
      transactionId: 't',
      status: 'NEW',
      metadata: [1],
      errorData: { code: 7 },
      walletAddress: '',
    };
    expect(valuesOf('CAAS', data)).toEqual({ kind: 'CAAS_SWAP', status: 'NEW', transaction: 't' });
    expect(valuesOf('CARD', { customerId: 'c' })).toEqual({ kind: 'CARD', customer: 'c' });
  });
});

onEveryStore('a receiver that records its effects', (name) => {
  it('records every notification once, late statuses too, and keeps the furthest status', async () => {
    const record = memoryEffects();
    const { give, handling } = await rig(name, effectHandlers(record));
    for (const [status, at] of [
      ['PENDING', 2],
      ['COMPLETED', 3],
      ['CREATED', 1],
    ] as const) {
      const delivery = { id: status, transactionId: 't', status, at };
      await give('BUY', delivery);
      await handling.settled();
      expect(await give('BUY', delivery)).toBe('duplicate');
    }
    const { handled, current, total } = await record.answer({ transaction: 't' });
    expect(handled.map(({ notification }) => notification)).toEqual(['PENDING', 'COMPLETED', 'CREATED']);
    expect([current, total]).toEqual([{ status: 'COMPLETED', hash: null }, 3]);
  });

  it('records after the handler of the application, once, also when that or the record fails', async () => {
    const record = memoryEffects();
    const calls: string[] = [];
    const failing = (what: string, times: number) => {
      calls.push(what);
      if (calls.filter((call) => call === what).length <= times) throw new Error(`${what} failed`);
    };
    const handlers: Handlers = { CAAS_BUY: () => failing('handler', 2) };
    const unreliable: Pick<typeof record, 'apply'> = {
      async apply(effect, key) {
        failing('before it is recorded', 1);
        const applied = await record.apply(effect, key);
        failing('after it is recorded', 1);
        return applied;
      },
    };
    const { give, handling, outcomes } = await rig(name, effectHandlers(unreliable, { handlers }));
    await give('BUY', { id: 'a' });
    await until(() => outcomes.includes('CAAS_BUY done'));
    await handling.settled();
    expect(calls.filter((call) => call === 'handler')).toHaveLength(5);
    expect(calls.filter((call) => call === 'after it is recorded')).toHaveLength(2);
    expect((await record.answer({ notifications: ['a'] })).handled).toHaveLength(1);
  });

  it('retries a SUPERSEDED handler that fails, and then settles the entry as superseded', async () => {
    let attempts = 0;
    const { give, handling, outcomes, states } = await rig(name, {
      CAAS_BUY() {},
      SUPERSEDED() {
        attempts += 1;
        if (attempts === 1) throw new Error('broke');
      },
    });
    await give('BUY', { id: 'a', transactionId: 't', status: 'COMPLETED', at: 5 });
    await handling.settled();
    await give('BUY', { id: 'b', transactionId: 't', status: 'CREATED', at: 1 });
    await until(() => outcomes.includes('CAAS_BUY superseded'));
    await handling.settled();
    expect(outcomes).toEqual(['CAAS_BUY done', 'CAAS_BUY failed', 'CAAS_BUY superseded']);
    if (name !== 'memory') expect(await states()).toEqual({ a: 'done', b: 'superseded' });
  });
});
