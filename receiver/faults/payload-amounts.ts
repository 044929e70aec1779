import { fault, fieldAt, readingAfter, readingBefore, refusing } from './careless-reading.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'payload', stage: 'validate' } as const;

/** The amount of a deposit or a refund, when it is text. */
function amountOf(payload: unknown): string | null {
  const deposited = fieldAt(payload, 'data.metadata.asset.amount');
  const refunded = fieldAt(payload, 'data.metadata.amount');
  const amount = deposited ?? refunded;
  return typeof amount === 'string' ? amount : null;
}

const depositOf = (payload: unknown) => (fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' ? amountOf(payload) : null);
const refundOf = (payload: unknown) => (fieldAt(payload, 'type') === 'REFUND' ? amountOf(payload) : null);

const IS_DECIMAL = /^\d+(?:\.\d+)?$/;

const asText = {
  rule: 'Keep amounts as text or as a decimal or big integer of any size, and check that they are decimal digits before converting.',
  express: 'Use `z.string().regex(/^\\d+(\\.\\d+)?$/)` and BigInt or a decimal library, never `Number`.',
  django: 'Use `Decimal(amount)` inside a guard, and a NUMERIC column without a limit of digits.',
  spring: 'Use BigInteger or BigDecimal, and NUMERIC(78, 0) at least.',
  go: 'Use math/big.',
  dotnet: 'Use BigInteger: decimal ends at 28 digits.',
};

/** Mistakes with amounts. */
export const amounts: readonly StageFault[] = [
  {
    ...base,
    name: 'reads-amounts-as-numbers',
    title: 'An amount is converted to a floating-point number and refused when that does not give the same text again.',
    seen: 'With Number() or float() and a plausibility check behind it.',
    why: 'Amounts above 2^53 atomic units, small ones that turn into an exponent, and zeros at the end are all refused.',
    fix: asText,
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => {
      const amount = amountOf(payload);
      return amount !== null && IS_DECIMAL.test(amount) && String(Number(amount)) !== amount;
    }, 422),
  },
  {
    ...base,
    name: 'stores-deposits-in-64-bits',
    title: 'A deposit whose amount does not fit into a 64-bit integer throws.',
    seen: 'With BIGINT columns, long in Java and int64 in Go.',
    why: 'A token with 18 decimals passes this limit at less than ten units of it.',
    fix: asText,
    severity: 'high',
    forbidden: true,
    replace: readingAfter((payload) => {
      const amount = depositOf(payload);
      if (amount !== null && /^\d+$/.test(amount) && BigInt(amount) > 2n ** 63n - 1n) fault('bigint out of range');
    }),
  },
  {
    ...base,
    name: 'converts-deposits-unchecked',
    title: 'The amount of a deposit is converted to a big integer without a check, which throws on a fraction.',
    seen: 'With BigInt(), int() and new BigInteger() straight from the payload.',
    why: 'A malformed amount is a 500 in place of a refusal.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: readingAfter((payload) => {
      const amount = depositOf(payload);
      if (amount !== null) BigInt(amount);
    }),
  },
  {
    ...base,
    name: 'converts-refunds-unchecked',
    title: 'The amount of a refund is converted to a decimal without a check, which throws on words.',
    seen: 'With new BigDecimal() in Java, Decimal() in Python and decimal.Parse in .NET.',
    why: 'A malformed amount is a 500 in place of a refusal.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: readingAfter((payload) => {
      const amount = refundOf(payload);
      if (amount !== null && !IS_DECIMAL.test(amount)) fault('not a decimal');
    }),
  },
  {
    ...base,
    name: 'refuses-dust',
    title: 'A deposit is refused when its amount, rounded for display, is zero.',
    seen: 'Where atomic units are converted to display units with a fixed number of decimals before the check for zero.',
    why: 'Small deposits are money too, and the books no longer match the chain.',
    fix: {
      rule: 'Check the atomic amount as it came, before any conversion or rounding.',
      express: 'Compare `BigInt(amount) > 0n`, and round for display only.',
    },
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => {
      const amount = depositOf(payload);
      return amount !== null && /^\d{1,9}$/.test(amount);
    }),
  },
  {
    ...base,
    name: 'limits-refunds-to-eight-decimals',
    title: 'The amount of a refund is refused when it has more than eight decimals.',
    seen: 'In patterns and columns that were made for Bitcoin.',
    why: 'Coins with 18 decimals are refunded with all of them, and such a refund is never booked.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => /\.\d{9,}$/.test(refundOf(payload) ?? '')),
  },
  {
    ...base,
    name: 'requires-a-decimal-point',
    title: 'The amount of a refund is refused when it has no decimal point.',
    seen: 'In patterns for money with two groups of digits, neither of them optional.',
    why: 'A refund of a whole number of coins is refused.',
    fix: asText,
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => /^\d+$/.test(refundOf(payload) ?? '')),
  },
  {
    ...base,
    name: 'trims-amounts-unchecked',
    title: 'Amounts are trimmed before anything has made sure that they are text.',
    seen: 'In normalising code in front of the conversion to a decimal.',
    why: 'An amount that is a JSON number ends in a TypeError and a 500.',
    fix: {
      rule: 'Make sure that an amount is text before you work with it, and answer 400 when it is not.',
      express: 'Parse with the schema first (`z.string()`), and trim inside of it.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingBefore((payload) => {
      for (const path of ['data.metadata.amount', 'data.metadata.asset.amount']) {
        if (typeof fieldAt(payload, path) === 'number') fault('trim is not a function');
      }
    }),
  },
];
