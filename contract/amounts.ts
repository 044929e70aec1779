/**
 * Converts amounts between atomic units and display units. Uses BigInt, because a Number is exact only up to 2^53, and
 * one unit of an asset with 18 decimals exceeds that. Specification: CAAS_BLOCKCHAIN, data.metadata.asset.amount.
 */
import { HookproofError } from './hookproof-error.ts';

/** Decimals of the assets whose amounts the effects checks use, unless the configuration overrides them. */
export const EFFECT_DECIMALS: Readonly<Record<string, number>> = { NEO: 0, GUSD: 2, USDC: 6, BTC: 8, ETH: 18 };

/** Maximum number of decimals of an asset. */
const MAX_PRECISION = 255;

const ATOMIC = /^-?[0-9]+$/;
const DISPLAY = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;

/**
 * Converts atomic units to display units: `toDisplayAmount('1500', 3)` is `'1.5'`.
 *
 * @param atomic decimal digits, with an optional minus sign
 * @param precision number of decimals of the asset, a whole number from 0 to 255
 * @returns plain decimal text without an exponent, leading zeros or trailing zeros
 * @throws HookproofError AMOUNT_INVALID or PRECISION_INVALID
 */
export function toDisplayAmount(atomic: string, precision: number): string {
  checkPrecision(precision);
  if (typeof atomic !== 'string' || !ATOMIC.test(atomic)) {
    throw invalid('atomic', 'Give a string of digits, such as "1500000".');
  }
  const amount = BigInt(atomic);
  const size = amount < 0n ? -amount : amount;
  const unit = 10n ** BigInt(precision);
  const decimals = withoutTrailingZeros((size % unit).toString().padStart(precision, '0'));
  const point = decimals === '' ? '' : `.${decimals}`;
  return `${amount < 0n ? '-' : ''}${size / unit}${point}`;
}

/**
 * Converts display units to atomic units: `toAtomicAmount('1.5', 3)` is `'1500'`. Digits beyond the precision are
 * rejected, never rounded; trailing zeros are ignored.
 *
 * @param display digits, with an optional minus sign and an optional point that has digits on both sides
 * @param precision number of decimals of the asset, a whole number from 0 to 255
 * @throws HookproofError AMOUNT_INVALID, AMOUNT_TOO_FINE or PRECISION_INVALID
 */
export function toAtomicAmount(display: string, precision: number): string {
  checkPrecision(precision);
  const found = typeof display === 'string' ? DISPLAY.exec(display) : null;
  if (found === null)
    throw invalid('display', 'Give a string such as "1.5": digits, optionally with a decimal point between them.');
  const [, sign = '', whole = '', fraction = ''] = found;
  const decimals = withoutTrailingZeros(fraction);
  if (decimals.length > precision) {
    throw new HookproofError(
      'AMOUNT_TOO_FINE',
      `The amount has ${decimals.length} decimals, but the asset has ${precision}.`,
      { hint: 'Check the precision of the asset, or round the amount explicitly.' },
    );
  }
  return BigInt(`${sign}${whole}${decimals.padEnd(precision, '0')}`).toString();
}

function invalid(units: 'atomic' | 'display', hint: string): HookproofError {
  return new HookproofError('AMOUNT_INVALID', `The amount is not decimal text in ${units} units.`, { hint });
}

function checkPrecision(precision: number): void {
  if (Number.isInteger(precision) && precision >= 0 && precision <= MAX_PRECISION) return;
  throw new HookproofError('PRECISION_INVALID', `The precision is not a whole number from 0 to ${MAX_PRECISION}.`, {
    hint: 'Give the number of decimals of the asset, such as 8 or 18.',
  });
}

/** Uses a loop because `/0+$/` takes quadratic time on long runs of zeros. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
