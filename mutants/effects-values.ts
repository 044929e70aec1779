/** Mutants that handle a notification, with wrong amounts, hashes, kinds, statuses or error codes. */
import { EFFECT_DECIMALS, type JsonObject, toDisplayAmount } from '../contract/index.ts';
import { effectHandlers } from '../receiver/effects/effect-of.ts';
import { fieldAt } from './careless-handling.ts';
import { changing, changingValues, EFFECT } from './effect-changes.ts';
import type { EffectFault } from './fault.ts';

const AMOUNT = {
  ...EFFECT,
  severity: 'critical',
  forbidden: true,
  fix: {
    rule: 'Keep the atomic amount as text or an integer of any size, and move the point by the decimals of the asset.',
    express: 'Use BigInt for the atomic amount, and divide it by `10n ** BigInt(decimals)`.',
    python: 'Use `int` for the atomic amount, and insert the point into its text.',
    php: 'Use bcmath or GMP.',
    rails: 'Use `Integer` and `BigDecimal(text)`, and never `to_f`.',
    spring: 'Use `new BigDecimal(new BigInteger(text), decimals)`.',
    go: 'Use `big.Int`.',
    dotnet: 'Use `BigInteger`.',
  },
} as const;

const wrongBalance = 'A customer is credited another amount than was deposited, without an error.';

type Convert = (atomic: string, decimals: number) => string;

/** Converts the amount of a deposit in an asset of known decimals. */
function converting(convert: Convert): EffectFault['replace'] {
  return changingValues((handled, notification) => {
    if (notification.kind !== 'CAAS_BLOCKCHAIN' || handled.amount == null) return handled;
    const { amount, currency } = notification.data.metadata.asset;
    return { ...handled, amount: convert(amount, EFFECT_DECIMALS[currency] ?? 0) };
  });
}

/** As libraries for decimals print numbers: with an exponent below 1e-6 and from 1e21 on. */
const withExponent: Convert = (atomic, decimals) => {
  const digits = atomic.replace(/^0+(?=.)/, '');
  const exponent = digits.length - 1 - decimals;
  if (exponent > -7 && exponent < 21) return toDisplayAmount(atomic, decimals);
  const rest = digits.slice(1).replace(/0+$/, '');
  return `${digits[0]}${rest === '' ? '' : `.${rest}`}e${exponent < 0 ? '' : '+'}${exponent}`;
};

const MAX_DECIMAL_38_18 = `${'9'.repeat(20)}.${'9'.repeat(18)}`;

const amounts: readonly EffectFault[] = [
  {
    ...AMOUNT,
    name: 'amount-through-float',
    title: 'Converts the amount of a deposit with floating-point numbers',
    seen: 'JavaScript `Number(amount) / 10 ** decimals`, Python `float(amount) / 1e18`.',
    why: wrongBalance,
    replace: converting((atomic, decimals) => String(Number(atomic) / 10 ** decimals)),
  },
  {
    ...AMOUNT,
    name: 'amount-through-float-fixed',
    title: 'Converts the amount of a deposit with floating-point numbers, and prints eight decimals',
    seen: '`parseFloat(amount).toFixed(8)`, `round(float(amount), 8)`, to get rid of exponents.',
    why: wrongBalance,
    equivalentTo: { name: 'amount-through-float', reason: 'Both lose digits of the largest amount of every asset.' },
    replace: converting((atomic, decimals) => (Number.parseFloat(atomic) / 10 ** decimals).toFixed(8)),
  },
  {
    ...AMOUNT,
    name: 'amount-always-18-decimals',
    title: 'Divides every amount by 10^18, whatever the asset is',
    seen: 'Code that was written for ether (`formatEther`), and later got other assets.',
    why: 'Amounts of assets with fewer decimals are far too small.',
    replace: ({ apply }) => ({ handlers: effectHandlers({ apply }, { decimals: decimalsOf(() => 18) }) }),
  },
  {
    ...AMOUNT,
    name: 'amount-in-atomic-units',
    title: 'Shows the atomic amount of a deposit as if it were in display units',
    seen: 'Integrations that were tested with amounts of 1 and with assets without decimals.',
    why: 'Amounts are far too large: one ether is credited as 10^18.',
    replace: ({ apply }) => ({ handlers: effectHandlers({ apply }, { decimals: decimalsOf(() => 0) }) }),
  },
  {
    ...AMOUNT,
    name: 'usdc-as-18-decimals',
    title: 'Has one wrong entry in its table of decimals: USDC as 18',
    seen: 'Tables in which 18 is the default, or which were copied from another chain.',
    why: 'Every deposit of that asset is credited as nearly nothing.',
    replace: ({ apply }) => ({
      handlers: effectHandlers({ apply }, { decimals: decimalsOf((own, name) => (name === 'USDC' ? 18 : own)) }),
    }),
  },
  {
    ...AMOUNT,
    name: 'amount-in-decimal-38-18',
    title: 'Stores amounts in a column DECIMAL(38, 18), which cuts what is larger',
    seen: 'MySQL without strict mode, whose columns take the largest number that fits.',
    why: 'Assets with few decimals, or tokens with a large supply, need more than twenty digits before the point.',
    replace: converting((atomic, decimals) => {
      const amount = toDisplayAmount(atomic, decimals);
      return amount.replace(/\..*/, '').length > 20 ? MAX_DECIMAL_38_18 : amount;
    }),
  },
  {
    ...AMOUNT,
    name: 'amount-in-128-bits',
    title: 'Keeps atomic amounts in 128 bits, which loses the highest digits of longer ones',
    seen: 'Rust `u128`, Java code with two `long`.',
    why: 'Amounts on a chain have up to 256 bits: 78 digits.',
    severity: 'medium',
    forbidden: false,
    replace: converting((atomic, decimals) =>
      toDisplayAmount((BigInt(atomic) & ((1n << 128n) - 1n)).toString(), decimals),
    ),
  },
  {
    ...AMOUNT,
    name: 'amount-of-28-digits',
    title: 'Rounds amounts to 28 digits',
    seen: 'Python `Decimal` with the default context, and .NET `decimal`.',
    why: wrongBalance,
    severity: 'high',
    replace: converting((atomic, decimals) =>
      toDisplayAmount(atomic.slice(0, 28).padEnd(atomic.length, '0'), decimals),
    ),
  },
  {
    ...AMOUNT,
    name: 'amount-cut-after-8-decimals',
    title: 'Cuts amounts after eight decimals',
    seen: 'Columns such as NUMERIC(30, 8), which were made for Bitcoin.',
    why: 'The sum of what is credited is smaller than what was deposited.',
    severity: 'high',
    replace: converting((atomic, decimals) => toDisplayAmount(atomic, decimals).replace(/(\.\d{8})\d+$/, '$1')),
  },
  {
    ...AMOUNT,
    name: 'amount-with-exponent',
    title: 'Shows very small and very large amounts with an exponent',
    seen: 'decimal.js, bignumber.js, and Java `BigDecimal.toString()` with their default settings.',
    why: 'What reads the amount next takes `1e-18` for 1, or fails.',
    severity: 'high',
    fix: { ...AMOUNT.fix, express: 'Use `toFixed()` of the library, which prints no exponent.' },
    replace: converting(withExponent),
  },
  {
    ...AMOUNT,
    name: 'refund-amount-through-float',
    title: 'Reads the amount of a REFUND as a floating-point number',
    seen: 'JSON mappers with a field of the type double, which also read the number from a text.',
    why: 'Another amount is booked than the one that was returned.',
    replace: changingValues((handled) =>
      handled.kind === 'REFUND' && handled.amount != null
        ? { ...handled, amount: String(Number(handled.amount)) }
        : handled,
    ),
  },
];

function decimalsOf(change: (decimals: number, symbol: string) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(EFFECT_DECIMALS).map(([symbol, own]) => [symbol, change(own, symbol)]));
}

const HASH = {
  ...EFFECT,
  severity: 'medium',
  forbidden: true,
  fix: {
    rule: 'Read `blockchainTransactionId`, and where it is missing `blockchainTransctionId`.',
    express: 'Write `metadata.blockchainTransactionId ?? metadata.blockchainTransctionId`.',
  },
} as const;

const noHash = 'Deposits have no hash, so they cannot be found on the blockchain or by their hash.';

/** Reads the hash of a deposit from its `metadata`. */
function readingHash(read: (metadata: JsonObject) => unknown): EffectFault['replace'] {
  return changingValues((handled, { kind, raw }) => {
    const metadata = fieldAt(raw, 'data.metadata');
    if (kind !== 'CAAS_BLOCKCHAIN' || typeof metadata !== 'object' || metadata === null) return handled;
    const found = read(metadata as JsonObject);
    return { ...handled, hash: typeof found === 'string' ? found : null };
  });
}

const hashes: readonly EffectFault[] = [
  {
    ...HASH,
    name: 'misspelt-hash-key-not-read',
    title: 'Reads the hash of a deposit only under the correctly spelt key',
    seen: 'Types that are written from the table of fields, not from the sample.',
    why: noHash,
    replace: readingHash(({ blockchainTransactionId }) => blockchainTransactionId),
  },
  {
    ...HASH,
    name: 'correct-hash-key-not-read',
    title: 'Reads the hash of a deposit only under the misspelt key',
    seen: 'Types that are generated from the sample, with its spelling mistake.',
    why: noHash,
    replace: readingHash(({ blockchainTransctionId }) => blockchainTransctionId),
  },
  {
    ...HASH,
    name: 'misspelt-hash-key-wins',
    title: 'Takes the hash under the misspelt key when a deposit has both',
    seen: '`metadata.blockchainTransctionId || metadata.blockchainTransactionId`, with the key of the sample first.',
    why: 'Once the service sends the correct key, the other one may hold an old or empty value.',
    severity: 'low',
    forbidden: false,
    replace: readingHash(
      ({ blockchainTransctionId, blockchainTransactionId }) => blockchainTransctionId || blockchainTransactionId,
    ),
  },
  {
    ...HASH,
    name: 'order-hash-not-read',
    title: 'Does not read the hash of an order',
    seen: 'Code for orders that looks for the hash next to `orderStatus`, as deposits have it.',
    why: 'Customers cannot be shown the transfer of their order.',
    fix: {
      rule: 'Read `metadata.blockchainData.blockchainTransactionId` of an order.',
      express: 'Read `data.metadata.blockchainData?.blockchainTransactionId`.',
    },
    replace: changingValues((handled) => (isOrder(handled.kind) ? { ...handled, hash: null } : handled)),
  },
];

const isOrder = (kind: string | null | undefined) => kind === 'CAAS_BUY' || kind === 'CAAS_SELL';

const MEANING = { ...EFFECT, severity: 'high', forbidden: true } as const;

const readErrorCode = {
  rule: 'Read `errorData.code` of orders, cash steps and refunds, and `data.errorCode` of a PAYMENT_METHOD.',
  express: 'Use one function for each kind: the place of the code differs.',
};

const meanings: readonly EffectFault[] = [
  {
    ...MEANING,
    name: 'sell-recorded-as-buy',
    title: 'Records a SELL as a BUY',
    seen: 'One handler for both, with a default for the direction.',
    why: 'A customer who sold crypto is shown a purchase, and the books have the wrong sign.',
    fix: { rule: 'Distinguish orders by `data.type`.', express: 'Switch on `data.type`, without a default.' },
    replace: changingValues((handled) => (handled.kind === 'CAAS_SELL' ? { ...handled, kind: 'CAAS_BUY' } : handled)),
  },
  {
    ...MEANING,
    name: 'order-error-code-not-read',
    title: 'Does not read the error code of a failed order',
    seen: 'Handlers that read only the status, or `data.errorCode`, where a PAYMENT_METHOD has it.',
    why: 'Support and customers are not told why the order failed.',
    fix: readErrorCode,
    severity: 'medium',
    replace: changingValues((handled) => (isOrder(handled.kind) ? { ...handled, errorCode: null } : handled)),
  },
  {
    ...MEANING,
    name: 'payment-method-error-code-not-read',
    title: 'Reads the error code of a payment method from errorData, which it does not have',
    seen: 'One function for the error code of all notifications.',
    why: 'A declined card looks like one without a reason.',
    fix: readErrorCode,
    severity: 'medium',
    replace: changingValues((handled, { raw }) =>
      handled.kind === 'PAYMENT_METHOD'
        ? { ...handled, errorCode: textAt(raw, 'data.errorData.code') ?? null }
        : handled,
    ),
  },
  {
    ...MEANING,
    name: 'tracking-status-not-read',
    title: 'Reads the status of a cash step from orderStatus, which it does not have',
    seen: 'One handler for the type CAAS.',
    why: 'An order whose cash step has expired stays open.',
    fix: {
      rule: 'Read `metadata.providerTransactionStatus` where `data.type` is ORDER_TRACKING.',
      express: 'Switch on `data.type` before you read a status.',
    },
    severity: 'medium',
    replace: changingValues((handled, { raw }) =>
      handled.kind === 'CAAS_ORDER_TRACKING'
        ? { ...handled, status: textAt(raw, 'data.metadata.orderStatus') ?? null }
        : handled,
    ),
  },
  {
    ...MEANING,
    name: 'final-status-overwritten',
    title: 'Overwrites the final status of an order by an earlier one that arrives later',
    seen: '`UPDATE orders SET status = ... WHERE id = ...` for every notification.',
    why: 'An order that falls back to PENDING is sent, paid or cancelled again.',
    fix: {
      rule: 'Compare the rank of the status and `at` with what is stored, and keep the later one.',
      express: 'Add `AND rank <= $rank` to the update.',
    },
    forbidden: false,
    replace: (record) => {
      let handled = 0;
      return changing((effect) => {
        handled += 1;
        return { ...effect, place: { rank: 0, at: handled } };
      })(record);
    },
  },
];

function textAt(payload: unknown, path: string): string | undefined {
  const value = fieldAt(payload, path);
  return typeof value === 'string' ? value : undefined;
}

export const effectsValuesFaults: readonly EffectFault[] = [...amounts, ...hashes, ...meanings];
