import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as contract from '../../contract/index.ts';

describe('the statuses', () => {
  it('are those of the specification', () => {
    expect(contract.ORDER_STATUSES).toEqual([
      'CREATED',
      'PENDING',
      'BLOCKCHAIN_ACCEPTED',
      'CONFIRMED',
      'COMPLETED',
      'FAILED',
    ]);
    expect(contract.REFUND_STATUSES).toEqual(['SUCCESS', 'FAIL']);
    expect(contract.TRACKING_STATUSES).toEqual(['COMPLETED', 'EXPIRED']);
    expect(contract.PAYMENT_METHOD_STATUSES).toEqual(['CREATED', 'STAGED', 'VERIFIED', 'DECLINED', 'DELETED']);
    expect(contract.NOTIFIED_PAYMENT_METHOD_STATUSES).toEqual(['DECLINED', 'STAGED']);
    expect(contract.DEPOSIT_STATUSES).toEqual(['COMPLETED']);
  });

  it.each([
    ['order', contract.ORDER_STATUSES, contract.ORDER_STATUS_MEANINGS],
    ['refund', contract.REFUND_STATUSES, contract.REFUND_STATUS_MEANINGS],
    ['tracking', contract.TRACKING_STATUSES, contract.TRACKING_STATUS_MEANINGS],
    ['payment method', contract.PAYMENT_METHOD_STATUSES, contract.PAYMENT_METHOD_STATUS_MEANINGS],
    ['deposit', contract.DEPOSIT_STATUSES, contract.DEPOSIT_STATUS_MEANINGS],
  ])('of %s each have a meaning', (_, statuses, meanings) => {
    expect(Object.keys(meanings)).toEqual([...statuses]);
    for (const meaning of Object.values(meanings)) expect(meaning).toMatch(/^[A-Z].+\.$/);
  });
});

it('types, kinds and limits are those of the specification', () => {
  expect(contract.NOTIFICATION_TYPES).toEqual(['CAAS', 'PAYMENT_METHOD', 'REFUND', 'CAAS_BLOCKCHAIN', 'WALLET']);
  expect(contract.NOTIFICATION_KINDS).toHaveLength(7);
  expect(contract.LIMITS).toEqual({
    recommendedSecretLength: 32,
    minimumRsaBits: 2048,
    minimumTlsVersion: 'TLSv1.2',
    answerTimeoutMs: 10_000,
    slowAnswerMs: 5_000,
  });
});

describe('what the command line loads at once', () => {
  const directory = new URL('../../contract/', import.meta.url);
  const importsOf = (file: string) =>
    [
      ...readFileSync(new URL(file, directory), 'utf8').matchAll(/^(?:import|export)(?! type)[^;]*? from '([^']+)';/gm),
    ].map(([, from]) => from ?? '');

  /** The modules that a file of the contract loads, itself included. */
  function loadedBy(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    for (const from of importsOf(file)) {
      if (from.startsWith('./')) loadedBy(from.slice(2), seen);
      else seen.add(from);
    }
    return seen;
  }

  const FILES = [
    'delivery.ts',
    'hookproof-error.ts',
    'error-codes.ts',
    'kinds.ts',
    'amounts.ts',
    'secret-spellings.ts',
  ];

  it.each(FILES)('%s does not load zod', (file) => {
    expect([...loadedBy(file)]).not.toContain('zod');
  });

  it('read-notification.ts loads it', () => {
    expect([...loadedBy('read-notification.ts')]).toContain('zod');
  });
});
