import { describe, expect, it } from 'vitest';
import { emittedNotification, kindOf, NOTIFICATION_KINDS } from '../../contract/index.ts';
import { EMITTED, REFUSED, RULES, TOLERATED } from './changed-samples.ts';
import { having, KIND_OF_SAMPLE, SAMPLE_NAMES, SAMPLES } from './samples.ts';

const accepts = (value: unknown) => emittedNotification.safeParse(value).success;

/** Where and why the strict schema refuses. */
function refusals(value: unknown): string[] {
  const issues = emittedNotification.safeParse(value).error?.issues ?? [];
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('emittedNotification', () => {
  it.each(SAMPLE_NAMES)('accepts %s and changes nothing of it', (name) => {
    expect(emittedNotification.parse(SAMPLES[name])).toEqual(SAMPLES[name]);
  });

  it.each(EMITTED)('accepts %s with %s = %j', (name, path, value) => {
    expect(refusals(having(name, path, value))).toEqual([]);
  });

  it.each([...TOLERATED, ...RULES, ...REFUSED])('refuses %s with %s = %j', (name, path, value) => {
    expect(accepts(having(name, path, value))).toBe(false);
  });

  it.each([
    ['buy', 'type', 'SWAP'],
    ['buy', 'type', undefined],
    ['buy', 'data.type', 'SWAP'],
    ['buy', 'data.type', 'ORDER_TRACKING'],
    ['refund', 'type', 'WALLET'],
  ] as const)('refuses %s with the discriminator %s = %j', (name, path, value) => {
    expect(accepts(having(name, path, value))).toBe(false);
  });

  it('names the field and the rule', () => {
    expect(refusals(having('buyFailed', 'data.errorData', null))).toEqual([
      'data.errorData: must be filled when metadata.orderStatus is FAILED',
    ]);
    expect(refusals(having('buy', 'data.errorData', { code: '352-000-S1', message: 'x' }))).toEqual([
      'data.errorData: is filled only when metadata.orderStatus is FAILED',
    ]);
    expect(refusals(having('refund', 'data.metadata.blockchainTransactionId', undefined))).toEqual([
      'data.metadata.blockchainTransactionId: must be filled when status is SUCCESS',
    ]);
    expect(refusals(having('declined', 'data.errorCode', undefined))).toEqual([
      'data.errorCode: must be filled when status is DECLINED',
    ]);
  });

  it('refuses the misspelt hash, which a sender that is right does not write', () => {
    expect(refusals(having('deposit', 'data.metadata.blockchainTransctionId', '0xbb'))).toEqual([
      'data.metadata: Unrecognized key: "blockchainTransctionId"',
    ]);
  });
});

describe('kindOf', () => {
  it('finds the kind of every sample, and the samples have every kind', () => {
    const found = SAMPLE_NAMES.map((name) => [name, kindOf(emittedNotification.parse(SAMPLES[name]))]);
    expect(Object.fromEntries(found)).toEqual(KIND_OF_SAMPLE);
    expect(new Set(Object.values(KIND_OF_SAMPLE))).toEqual(new Set(NOTIFICATION_KINDS));
  });
});
