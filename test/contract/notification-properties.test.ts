import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  emittedNotification,
  jsonSchemas,
  kindOf,
  NOTIFICATION_KINDS,
  type NotificationKind,
  readNotification,
} from '../../contract/index.ts';
import { anyCharacter } from '../setup/any-character.ts';
import { SAMPLE_NAMES, SAMPLES } from './samples.ts';

const id = fc.uuid();
const at = fc.integer({ min: 1, max: 99_999_999_999 });
const iso = fc
  .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const filled = fc.string({ unit: anyCharacter, minLength: 1 });
const code = fc.stringMatching(/^[0-9]{3}-[0-9]{2,3}-[A-Z][0-9]$/);
const errorData = fc.record({ code, message: filled });
const digits = fc.bigInt({ min: 0n, max: 10n ** 78n }).map(String);

/** Generates text fields that may be absent or empty. */
function sometimes(...keys: string[]) {
  const values = Object.fromEntries(keys.map((key) => [key, fc.string()]));
  return fc.record(values, { requiredKeys: [] });
}

function order(type: 'BUY' | 'SELL') {
  const blockchainData = sometimes(
    'targetWalletAddress',
    'blockchainTransactionId',
    'blockchainMemo',
    'currency',
    'chain',
    'refundWalletAddress',
    'sourceWalletAddress',
  );
  const successful = fc.constantFrom('CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED', 'COMPLETED');
  const outcome = fc.oneof(
    fc.record({ orderStatus: successful, errorData: fc.constant(null) }),
    fc.record({ orderStatus: fc.constant('FAILED'), errorData }),
  );
  const data = fc
    .tuple(filled, filled, outcome, blockchainData)
    .map(([providerId, transactionId, { orderStatus, errorData }, blockchainData]) => ({
      type,
      providerId,
      transactionId,
      metadata: { orderStatus, blockchainData },
      errorData,
    }));
  return fc.record({ id, type: fc.constant('CAAS'), at, data });
}

const tracking = fc.record({
  id,
  type: fc.constant('CAAS'),
  at,
  data: fc.record({
    type: fc.constant('ORDER_TRACKING'),
    providerId: filled,
    transactionId: filled,
    metadata: fc.record({
      orderType: fc.constantFrom('BUY', 'SELL'),
      providerTransactionId: filled,
      providerTransactionRef: filled,
      providerTransactionStatus: fc.constantFrom('COMPLETED', 'EXPIRED'),
      trackingStateDescription: fc.string(),
    }),
    errorData: fc.constant(null),
  }),
});

const refundMetadata = { amount: fc.constantFrom('0', '0.125', '12'), currency: filled, walletAddress: filled };
const refund = fc.record({
  id,
  type: fc.constant('REFUND'),
  at,
  data: fc.oneof(
    fc.record({
      providerId: filled,
      transactionId: filled,
      status: fc.constant('SUCCESS'),
      metadata: fc.record({ ...refundMetadata, blockchainTransactionId: filled }),
    }),
    fc.record({
      providerId: filled,
      transactionId: filled,
      status: fc.constant('FAIL'),
      metadata: fc.record(refundMetadata),
      errorData,
    }),
  ),
});

const paymentMethod = fc.record({
  id,
  type: fc.constant('PAYMENT_METHOD'),
  at,
  data: fc.oneof(
    fc.record({ status: fc.constant('STAGED'), paymentMethodId: filled, accountId: filled }),
    fc.record({ status: fc.constant('DECLINED'), paymentMethodId: filled, accountId: filled, errorCode: code }),
  ),
});

const wallet = fc.record({
  id,
  type: fc.constant('WALLET'),
  at: iso,
  data: fc.record({
    operation: fc.constant('WALLET_CREATED'),
    customerId: filled,
    walletAddress: filled,
    assetId: filled,
    chain: filled,
  }),
});

const deposit = fc.record({
  id,
  type: fc.constant('CAAS_BLOCKCHAIN'),
  at: iso,
  data: fc.record({
    type: fc.constant('RECEIVE'),
    status: fc.constant('COMPLETED'),
    partnerTransactionId: filled,
    customerId: filled,
    metadata: fc.record(
      {
        sourceAddress: filled,
        destinationAddress: filled,
        asset: fc.record({ amount: digits, currency: filled }),
        blockchainTransactionId: fc.string(),
      },
      { requiredKeys: ['sourceAddress', 'destinationAddress', 'asset'] },
    ),
  }),
});

/** Valid notifications of every kind, written independently of the schemas. */
const ARBITRARIES: Record<NotificationKind, fc.Arbitrary<unknown>> = {
  CAAS_BUY: order('BUY'),
  CAAS_SELL: order('SELL'),
  CAAS_ORDER_TRACKING: tracking,
  REFUND: refund,
  PAYMENT_METHOD: paymentMethod,
  WALLET: wallet,
  CAAS_BLOCKCHAIN: deposit,
};

/** Expects that `read` contains every value of `sent` that is not empty. */
function expectKept(read: unknown, sent: unknown): void {
  if (sent === null || sent === undefined || sent === '') return;
  if (typeof sent !== 'object') {
    expect(read).toBe(sent);
    return;
  }
  for (const [key, value] of Object.entries(sent)) expectKept((read as Record<string, unknown> | null)?.[key], value);
}

const schemas = jsonSchemas();
const ajv = new Ajv2020({ strictTypes: false, strictRequired: false, validateFormats: false });

describe.each(NOTIFICATION_KINDS)('%s', (kind) => {
  it('matches its JSON Schemas, and is read from its JSON without loss', () => {
    const validators = [schemas.emitted, schemas.received].map((side) => ajv.compile(side[kind] as AnySchema));
    fc.assert(
      fc.property(ARBITRARIES[kind], (value) => {
        expect(validators.map((validate) => validate(value))).toEqual([true, true]);
        const notification = emittedNotification.parse(value);
        expect(kindOf(notification)).toBe(kind);
        const result = readNotification(JSON.parse(JSON.stringify(notification)));
        if (!result.ok) throw new Error(result.issues.join('; '));
        expect(result.notification.kind).toBe(kind);
        expect(result.notification.id).toBe(notification.id);
        const { at } = notification;
        expect(result.notification.at).toEqual(new Date(typeof at === 'number' ? at * 1000 : at));
        expectKept(result.notification.data, notification.data);
      }),
    );
  });
});

describe('readNotification', () => {
  const check = (value: unknown) => {
    const result = readNotification(value);
    if (result.ok) expect(result.notification.raw).toBe(value);
    else expect(result.issues.length).toBeGreaterThan(0);
  };

  it('never throws, whatever the value', () => {
    fc.assert(fc.property(fc.oneof(fc.jsonValue(), fc.anything()), check), { numRuns: 500 });
  });

  it('never throws for a valid notification with any JSON value in any place', () => {
    const paths = SAMPLE_NAMES.flatMap((name) => [...pathsOf(SAMPLES[name])].map((path) => [name, path] as const));
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), ([name, path], value) => {
        const copy: Record<string, unknown> = structuredClone(SAMPLES[name]);
        const keys = path.slice(0, -1);
        const parent = keys.reduce<Record<string, unknown>>((here, key) => here[key] as Record<string, unknown>, copy);
        parent[path.at(-1)!] = value;
        check(copy);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Yields the path of every key, at every depth. */
function* pathsOf(value: object): Generator<string[]> {
  for (const [key, inner] of Object.entries(value)) {
    yield [key];
    if (typeof inner === 'object' && inner !== null) for (const rest of pathsOf(inner)) yield [key, ...rest];
  }
}
