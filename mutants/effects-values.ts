/** Mutants that handle a notification with incorrect amounts, hashes, kinds, statuses or error codes. */
import { EFFECT_DECIMALS, type JsonObject, toDisplayAmount } from '../contract/index.ts';
import { effectHandlers } from '../receiver/effects/effect-of.ts';
import { fieldAt, textAt } from './careless-handling.ts';
import { changing, changingValues, EFFECT, isOrder } from './effect-changes.ts';
import { family } from './family.ts';
import type { EffectFault } from './fault.ts';

type Convert = (atomic: string, decimals: number) => string;

/** Converts the amount of a deposit, if the decimals of its asset are known. */
function converting(convert: Convert): EffectFault['replace'] {
  return changingValues((handled, notification) => {
    if (notification.kind !== 'CAAS_BLOCKCHAIN' || handled.amount == null) return handled;
    const { amount, currency } = notification.data.metadata.asset;
    return { ...handled, amount: convert(amount, EFFECT_DECIMALS[currency] ?? 0) };
  });
}

/** Prints a number as decimal libraries do: with an exponent if it is below 1e-6, or at least 1e21. */
const withExponent: Convert = (atomic, decimals) => {
  const digits = atomic.replace(/^0+(?=.)/, '');
  const exponent = digits.length - 1 - decimals;
  if (exponent > -7 && exponent < 21) return toDisplayAmount(atomic, decimals);
  const rest = digits.slice(1).replace(/0+$/, '');
  return `${digits[0]}${rest === '' ? '' : `.${rest}`}e${exponent < 0 ? '' : '+'}${exponent}`;
};

/** Converts amounts with a changed number of decimals for each asset. */
function withDecimals(change: (decimals: number, symbol: string) => number): EffectFault['replace'] {
  const decimals = Object.fromEntries(
    Object.entries(EFFECT_DECIMALS).map(([symbol, own]) => [symbol, change(own, symbol)]),
  );
  return ({ apply }) => ({ handlers: effectHandlers({ apply }, { decimals }) });
}

const MAX_DECIMAL_38_18 = `${'9'.repeat(20)}.${'9'.repeat(18)}`;

/** Mutants that convert amounts of deposits and refunds incorrectly. */
const amounts = family<EffectFault>(
  { ...EFFECT, mistake: 'narrow-amount-type' },
  {
    'amount-through-float': [
      'Converts the amount of a deposit with floating-point numbers',
      converting((atomic, decimals) => String(Number(atomic) / 10 ** decimals)),
      'amount-as-float',
    ],
    'amount-through-float-fixed': [
      'Converts the amount of a deposit with floating-point numbers, and prints eight decimals',
      converting((atomic, decimals) => (Number.parseFloat(atomic) / 10 ** decimals).toFixed(8)),
      'amount-as-float',
      {
        note: '`toFixed(8)` hides the exponent, not the lost digits.',
        equivalentTo: {
          name: 'amount-through-float',
          reason: 'Both lose digits of the largest amount of every asset.',
        },
      },
    ],
    'amount-always-18-decimals': [
      'Divides every amount by 10^18, whatever the asset is',
      withDecimals(() => 18),
      'wrong-asset-decimals',
    ],
    'amount-in-atomic-units': [
      'Shows the atomic amount of a deposit as if it were in display units',
      withDecimals(() => 0),
      'wrong-asset-decimals',
    ],
    'usdc-as-18-decimals': [
      'Has one incorrect entry in its table of decimals: USDC as 18',
      withDecimals((own, name) => (name === 'USDC' ? 18 : own)),
      'wrong-asset-decimals',
      { note: 'One incorrect entry in a table that is otherwise correct.' },
    ],
    'amount-in-decimal-38-18': [
      'Stores amounts in a DECIMAL(38, 18) column, which replaces larger values with its maximum',
      converting((atomic, decimals) => {
        const amount = toDisplayAmount(atomic, decimals);
        return amount.replace(/\..*/, '').length > 20 ? MAX_DECIMAL_38_18 : amount;
      }),
      { note: 'MySQL without strict mode stores the largest number that fits.' },
    ],
    'amount-in-128-bits': [
      'Keeps atomic amounts in 128 bits, which drops the highest digits of longer ones',
      converting((atomic, decimals) => toDisplayAmount((BigInt(atomic) & ((1n << 128n) - 1n)).toString(), decimals)),
      { forbidden: false },
    ],
    'amount-of-28-digits': [
      'Rounds amounts to 28 digits',
      converting((atomic, decimals) => toDisplayAmount(atomic.slice(0, 28).padEnd(atomic.length, '0'), decimals)),
    ],
    'amount-cut-after-8-decimals': [
      'Truncates amounts to eight decimals',
      converting((atomic, decimals) => toDisplayAmount(atomic, decimals).replace(/(\.\d{8})\d+$/, '$1')),
    ],
    'amount-with-exponent': [
      'Shows very small and very large amounts with an exponent',
      converting(withExponent),
      'exponent-in-amount',
    ],
    'refund-amount-through-float': [
      'Reads the amount of a REFUND as a floating-point number',
      changingValues((handled) =>
        handled.kind === 'REFUND' && handled.amount != null
          ? { ...handled, amount: String(Number(handled.amount)) }
          : handled,
      ),
      'amount-as-float',
    ],
  },
);

/** Reads the hash of a deposit from its `metadata`. */
function readingHash(read: (metadata: JsonObject) => unknown): EffectFault['replace'] {
  return changingValues((handled, { kind, raw }) => {
    const metadata = fieldAt(raw, 'data.metadata');
    if (kind !== 'CAAS_BLOCKCHAIN' || typeof metadata !== 'object' || metadata === null) return handled;
    const found = read(metadata as JsonObject);
    return { ...handled, hash: typeof found === 'string' ? found : null };
  });
}

/** Mutants that read hashes from the wrong key. */
const hashes = family<EffectFault>(
  { ...EFFECT, mistake: 'misspelt-hash-key' },
  {
    'misspelt-hash-key-not-read': [
      'Reads the hash of a deposit only under the correctly spelt key',
      readingHash(({ blockchainTransactionId }) => blockchainTransactionId),
    ],
    'correct-hash-key-not-read': [
      'Reads the hash of a deposit only under the misspelt key',
      readingHash(({ blockchainTransctionId }) => blockchainTransctionId),
    ],
    'misspelt-hash-key-wins': [
      'Takes the hash under the misspelt key when a deposit has both',
      readingHash(
        ({ blockchainTransctionId, blockchainTransactionId }) => blockchainTransctionId || blockchainTransactionId,
      ),
      { forbidden: false, note: 'It reads both keys, but the misspelt one first.' },
    ],
    'order-hash-not-read': [
      'Does not read the hash of an order',
      changingValues((handled) => (isOrder(handled) ? { ...handled, hash: null } : handled)),
      'mapping-shared-by-kinds',
    ],
  },
);

/** Mutants that read kinds, statuses and error codes incorrectly. */
const meanings = family<EffectFault>(
  { ...EFFECT, mistake: 'mapping-shared-by-kinds' },
  {
    'sell-recorded-as-buy': [
      'Records a SELL as a BUY',
      changingValues((handled) => (handled.kind === 'CAAS_SELL' ? { ...handled, kind: 'CAAS_BUY' } : handled)),
    ],
    'order-error-code-not-read': [
      'Does not read the error code of a failed order',
      changingValues((handled) => (isOrder(handled) ? { ...handled, errorCode: null } : handled)),
    ],
    'payment-method-error-code-not-read': [
      'Reads the error code of a payment method from errorData, a field that payment methods do not have',
      changingValues((handled, { raw }) =>
        handled.kind === 'PAYMENT_METHOD'
          ? { ...handled, errorCode: textAt(raw, 'data.errorData.code') ?? null }
          : handled,
      ),
    ],
    'tracking-status-not-read': [
      'Reads the status of a cash step from orderStatus, a field that cash steps do not have',
      changingValues((handled, { raw }) =>
        handled.kind === 'CAAS_ORDER_TRACKING'
          ? { ...handled, status: textAt(raw, 'data.metadata.orderStatus') ?? null }
          : handled,
      ),
    ],
    'final-status-overwritten': [
      'Overwrites the final status of an order with an earlier one that arrives later',
      (record) => {
        let handled = 0;
        return changing((effect) => {
          handled += 1;
          return { ...effect, place: { rank: 0, at: handled } };
        })(record);
      },
      'status-goes-back',
      { forbidden: false },
    ],
  },
);

export const effectsValuesFaults: readonly EffectFault[] = [...amounts, ...hashes, ...meanings];
