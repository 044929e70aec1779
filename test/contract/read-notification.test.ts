import { describe, expect, it } from 'vitest';
import { type ReceivedOf, readNotification } from '../../contract/index.ts';
import { having, KIND_OF_SAMPLE, SAMPLE_NAMES, SAMPLES } from './samples.ts';

function reading(value: unknown) {
  const result = readNotification(value);
  if (!result.ok) throw new Error(result.issues.join('; '));
  return result.notification;
}

function readingOf<K extends 'CAAS_BLOCKCHAIN' | 'CAAS_BUY' | 'REFUND'>(kind: K, value: unknown): ReceivedOf<K> {
  const notification = reading(value);
  expect(notification.kind).toBe(kind);
  return notification as ReceivedOf<K>;
}

const time = new Date('2023-11-14T22:13:20.000Z');

describe('a known kind', () => {
  it.each(SAMPLE_NAMES)('reads %s with its kind, time and unchanged raw value', (name) => {
    const { kind, id, type, at, raw } = reading(SAMPLES[name]);
    const { id: sentId, type: sentType } = SAMPLES[name];
    expect({ kind, id, type, at }).toEqual({ kind: KIND_OF_SAMPLE[name], id: sentId, type: sentType, at: time });
    expect(raw).toBe(SAMPLES[name]);
  });

  it('reads absent, null and empty values as null, and keeps unknown fields', () => {
    const { id, type } = SAMPLES.buy;
    const raw = {
      id,
      type,
      at: 1_700_000_000,
      later: 1,
      data: {
        type: 'BUY',
        transactionId: 't',
        providerId: '',
        more: [1],
        metadata: { orderStatus: 'ON_HOLD', blockchainData: { chain: null, currency: 'ETH', extra: { a: 1 } } },
      },
    };
    expect(reading(raw)).toEqual({
      kind: 'CAAS_BUY',
      id,
      type,
      at: time,
      data: {
        type: 'BUY',
        transactionId: 't',
        providerId: null,
        more: [1],
        metadata: {
          orderStatus: 'ON_HOLD',
          blockchainData: {
            targetWalletAddress: null,
            blockchainTransactionId: null,
            blockchainMemo: null,
            currency: 'ETH',
            chain: null,
            refundWalletAddress: null,
            sourceWalletAddress: null,
            extra: { a: 1 },
          },
        },
        errorData: null,
      },
      raw,
    });
  });

  it('rejects a date that does not exist', () => {
    expect(readNotification(having('wallet', 'at', '2023-13-14T22:13:20Z'))).toEqual({
      ok: false,
      issues: ['at: must be an existing date and time'],
    });
  });
});

describe('a value that is not a notification', () => {
  it.each([[null], [undefined], [true], [42], ['text'], [[]], [[SAMPLES.buy]], [() => 1], [Symbol('x')], [10n]])(
    'is rejected: %s',
    (value) => {
      expect(readNotification(value)).toEqual({
        ok: false,
        issues: [expect.stringMatching(/^notification: Invalid input: expected object, received /)],
      });
    },
  );

  it('is rejected with the name of every missing field', () => {
    expect(readNotification({})).toEqual({
      ok: false,
      issues: ['id', 'type', 'data'].map((field) => expect.stringMatching(`^${field}: `)),
    });
  });

  it('is never quoted in the message', () => {
    const secret = 'do-not-quote-me';
    const wrong = [
      having('buy', 'id', `${secret}\n`),
      having('buy', 'at', secret),
      having('buy', 'data', secret),
      having('buy', 'data.metadata.blockchainData', secret),
      having('buy', 'data.metadata.orderStatus', [secret]),
    ];
    for (const value of wrong) {
      const result = readNotification(value);
      expect(result.ok).toBe(false);
      expect(JSON.stringify(result)).not.toContain(secret);
    }
  });

  it('may throw when it is read', () => {
    const hostile = Object.defineProperty({}, 'id', {
      get() {
        throw new Error('boom');
      },
    });
    expect(readNotification(hostile)).toEqual({ ok: false, issues: ['notification: cannot be read'] });
  });

  it('may be nested deeply', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    expect(reading({ ...SAMPLES.buy, deep }).kind).toBe('CAAS_BUY');
    expect(readNotification({ ...SAMPLES.buy, data: deep }).ok).toBe(false);
  });
});

describe('an unknown kind', () => {
  const data = { anything: [1, null] };

  it.each([
    ...['SWAP', 'caas', 'constructor', '__proto__', 'toString'].map((type) => [type, data] as const),
    ...['SWAP', 'buy', 'constructor', '__proto__'].map((type) => ['CAAS', { type }] as const),
  ])('is read by its envelope alone: %s %j', (type, given) => {
    const raw = { id: 'a', type, at: '2023-11-14T22:13:20Z', data: given };
    expect(reading(raw)).toEqual({ kind: 'UNKNOWN', id: 'a', type, at: time, data: given, raw });
  });

  it.each([undefined, null, 'soon', {}, Number.NaN])('has no time when at is %s', (at) => {
    expect(reading({ id: 'a', type: 'SWAP', at, data }).at).toBeNull();
  });

  it.each([undefined, null, '', 5])('rejects CAAS with the data.type %j', (dataType) => {
    expect(readNotification({ id: 'a', type: 'CAAS', at: 1, data: { type: dataType } })).toEqual({
      ok: false,
      issues: ['data.type: must be filled when type is CAAS'],
    });
  });

  it.each([
    ['id', { type: 'SWAP', data }],
    ['id', { id: '', type: 'SWAP', data }],
    ['type', { id: 'a', data }],
    ['type', { id: 'a', type: '', data }],
    ['type', { id: 'a', type: 5, data }],
    ['data', { id: 'a', type: 'SWAP' }],
    ['data', { id: 'a', type: 'SWAP', data: [] }],
  ])('requires %s', (field, value) => {
    expect(readNotification(value)).toEqual({ ok: false, issues: [expect.stringMatching(`^${field}: `)] });
  });
});

describe('a misspelt blockchainTransactionId', () => {
  const right = 'blockchainTransactionId';
  const misspelt = 'blockchainTransctionId';

  it.each([
    [{ [right]: '0xaa' }, '0xaa'],
    [{ [misspelt]: '0xbb' }, '0xbb'],
    [{ [right]: '0xaa', [misspelt]: '0xbb' }, '0xaa'],
    [{ [misspelt]: '0xbb', [right]: '0xaa' }, '0xaa'],
    [{ [right]: null, [misspelt]: '0xbb' }, '0xbb'],
    [{ [right]: '', [misspelt]: '0xbb' }, '0xbb'],
    [{ [right]: '0xaa', [misspelt]: '' }, '0xaa'],
    [{ [right]: '0xaa', [misspelt]: null }, '0xaa'],
    [{ [right]: '', [misspelt]: '' }, null],
    [{}, null],
  ])('reads a deposit with %j as %j', (hashes, expected) => {
    const sent = having('deposit', 'data.metadata', { asset: { amount: '1', currency: 'ETH' }, ...hashes });
    const notification = readingOf('CAAS_BLOCKCHAIN', sent);
    expect(notification.data.metadata).toEqual({
      sourceAddress: null,
      destinationAddress: null,
      asset: { amount: '1', currency: 'ETH' },
      blockchainTransactionId: expected,
    });
    expect(notification.raw).toBe(sent);
  });

  it('is read in orders and refunds too', () => {
    const buy = readingOf('CAAS_BUY', having('buy', 'data.metadata.blockchainData', { [misspelt]: '0xbb' }));
    const refund = readingOf('REFUND', having('refund', 'data.metadata', { [misspelt]: '0xbb' }));
    expect(buy.data.metadata.blockchainData?.blockchainTransactionId).toBe('0xbb');
    expect(refund.data.metadata?.blockchainTransactionId).toBe('0xbb');
  });
});

describe('prototype pollution', () => {
  it.each(SAMPLE_NAMES)('is not possible with %s', (name) => {
    const poison = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}';
    const sent: unknown = JSON.parse(JSON.stringify(SAMPLES[name]).replaceAll('{', `{${poison},`));
    const notification = reading(sent);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const objects: object[] = [notification];
    for (const object of objects) {
      if ((object as unknown) === notification.raw) continue;
      expect((object as Record<string, unknown>).polluted).toBeUndefined();
      for (const [key, value] of Object.entries(object)) {
        if (key === 'constructor' || typeof value !== 'object' || value === null) continue;
        objects.push(value);
      }
    }
    expect(objects.length).toBeGreaterThan(2);
  });
});
