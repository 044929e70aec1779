import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAtomicAmount, toDisplayAmount } from '../../contract/index.ts';

const expectError = (call: () => unknown, code: string) =>
  expect(call).toThrow(expect.objectContaining({ name: 'HookproofError', code }));

describe('toDisplayAmount', () => {
  it.each([
    ['0', 0, '0'],
    ['0', 18, '0'],
    ['1', 0, '1'],
    ['1', 1, '0.1'],
    ['1', 18, '0.000000000000000001'],
    ['1500', 3, '1.5'],
    ['1000', 3, '1'],
    ['1001', 3, '1.001'],
    ['0001500', 3, '1.5'],
    ['-1500', 3, '-1.5'],
    ['-5', 3, '-0.005'],
    ['-0', 3, '0'],
    ['125000000000000000', 18, '0.125'],
    ['9007199254740993', 0, '9007199254740993'],
    ['9007199254740993000000000000000001', 18, '9007199254740993.000000000000000001'],
  ])('%s at precision %i is %s', (atomic, precision, display) => {
    expect(toDisplayAmount(atomic, precision)).toBe(display);
  });

  it.each(['', ' ', '1.5', '1e3', '0x10', '+1', '--1', '-', '1 ', '1\n', '1_000', '1,000', 'NaN', '\u0661'])(
    'rejects %j',
    (junk) => {
      expectError(() => toDisplayAmount(junk, 2), 'AMOUNT_INVALID');
    },
  );

  it.each([1, 1n, null, undefined, {}, ['1']])('rejects %s, which is not text', (junk) => {
    expectError(() => toDisplayAmount(junk as string, 2), 'AMOUNT_INVALID');
  });
});

describe('toAtomicAmount', () => {
  it.each([
    ['0', 0, '0'],
    ['0.000', 2, '0'],
    ['1.5', 3, '1500'],
    ['1.500000', 3, '1500'],
    ['007.5', 1, '75'],
    ['-0.005', 3, '-5'],
    ['-0', 3, '0'],
    ['0.000000000000000001', 18, '1'],
    ['9007199254740993.000000000000000001', 18, '9007199254740993000000000000000001'],
  ])('%s at precision %i is %s', (display, precision, atomic) => {
    expect(toAtomicAmount(display, precision)).toBe(atomic);
  });

  it.each(['', '.5', '5.', '.', '1.2.3', '1e3', '+1', '-', '- 1', '1,5', ' 1', '1\n', 'Infinity', '0x1'])(
    'rejects %j',
    (junk) => {
      expectError(() => toAtomicAmount(junk, 2), 'AMOUNT_INVALID');
    },
  );

  it.each([1.5, 1n, null, undefined, {}])('rejects %s, which is not text', (junk) => {
    expectError(() => toAtomicAmount(junk as string, 2), 'AMOUNT_INVALID');
  });

  it('rejects digits that the precision cannot hold, and never rounds', () => {
    expectError(() => toAtomicAmount('1.005', 2), 'AMOUNT_TOO_FINE');
    expectError(() => toAtomicAmount('0.1', 0), 'AMOUNT_TOO_FINE');
  });
});

describe('both conversions', () => {
  it.each([-1, 1.5, 256, Number.NaN, Number.POSITIVE_INFINITY, '2', null])('reject the precision %s', (precision) => {
    expectError(() => toDisplayAmount('1', precision as number), 'PRECISION_INVALID');
    expectError(() => toAtomicAmount('1', precision as number), 'PRECISION_INVALID');
  });
});

describe('a conversion and its reverse', () => {
  const precision = fc.integer({ min: 0, max: 255 });

  it('return any atomic amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 100n), max: 10n ** 100n }), precision, (amount, decimals) => {
        expect(toAtomicAmount(toDisplayAmount(String(amount), decimals), decimals)).toBe(String(amount));
      }),
    );
  });

  it('return any display amount, without trailing zeros', () => {
    const display = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.stringMatching(/^[0-9]{0,17}[1-9]$/));
    fc.assert(
      fc.property(display, fc.boolean(), fc.nat(5), ([whole, decimals], negative, zeros) => {
        const amount = `${negative ? '-' : ''}${whole}.${decimals}`;
        expect(toDisplayAmount(toAtomicAmount(`${amount}${'0'.repeat(zeros)}`, 18), 18)).toBe(amount);
      }),
    );
  });
});
