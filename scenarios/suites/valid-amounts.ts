import { type Composer, having } from '../changes/composing.ts';
import { accepted } from '../expectations.ts';
import { deposit, refund } from '../samples.ts';
import type { ProbeScenario } from '../scenario.ts';

const onChain: Composer = (kit) => deposit(kit);
const returned: Composer = (kit) => refund(kit, 'SUCCESS');

const atomic = { level: 'must', requirements: ['deposit-amount'], expect: accepted } as const;
const decimal = { level: 'must', requirements: ['refund-amount'], expect: accepted } as const;

/** Amounts of every size. Specification: type = CAAS_BLOCKCHAIN (atomic units); type = REFUND (decimal text). */
export const validAmounts: readonly ProbeScenario[] = [
  {
    ...atomic,
    id: 'valid/deposit-amount-long',
    title: 'Accepts a deposit of 78 digits in atomic units',
    change: { compose: having(onChain, 'data.metadata.asset.amount', `1${'0123456789'.repeat(7)}0123456`) },
    why: 'Tokens with 18 decimals pass every machine integer soon, and a 64-bit column or parser fails on them.',
    fix: 'Keep amounts as text or as a big integer, never as a number.',
  },
  {
    ...atomic,
    id: 'valid/deposit-amount-odd',
    title: 'Accepts a deposit of one atomic unit more than 2 to the power of 53',
    change: { compose: having(onChain, 'data.metadata.asset.amount', '9007199254740993') },
    why: 'A floating-point number cannot hold it. A conversion there and back gives another amount, which a check takes for an error.',
    fix: 'Convert atomic units with BigInt or its like, and not with Number or float.',
  },
  {
    ...atomic,
    id: 'valid/deposit-amount-one',
    title: 'Accepts a deposit of a single atomic unit',
    change: { compose: having(onChain, 'data.metadata.asset.amount', '1') },
    why: 'Dust is a normal deposit. Code that converts it to display units first may round it to zero and refuse it.',
    fix: 'Validate the atomic amount as it comes, before any conversion.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-small',
    title: 'Accepts a refund of the smallest unit of a coin with 18 decimals',
    change: { compose: having(returned, 'data.metadata.amount', '0.000000000000000001') },
    why: 'A pattern or a column with eight decimals, as Bitcoin has them, fails on coins that have more.',
    fix: 'Allow any number of decimals in the amount of a refund.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-eight-decimals',
    title: 'Accepts a refund of 0.00000001',
    change: { compose: having(returned, 'data.metadata.amount', '0.00000001') },
    why: 'As a number it is written 1e-8, and that is no longer what came nor what a pattern for decimals allows.',
    fix: 'Keep the text of the amount; do not write a number in its place.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-zeros',
    title: 'Accepts a refund whose amount ends in zeros',
    change: { compose: having(returned, 'data.metadata.amount', '1.50000000') },
    why: 'Decimal types of the sender keep the scale. A comparison of texts after a conversion takes the lost zeros for tampering.',
    fix: 'Compare amounts by value and not as text.',
  },
  {
    ...decimal,
    id: 'valid/refund-amount-whole',
    title: 'Accepts a refund whose amount has no decimal point',
    change: { compose: having(returned, 'data.metadata.amount', '2') },
    why: 'A whole number of coins needs no point, and a pattern that wants one refuses it.',
    fix: 'Make the decimal point and what follows it optional in the check of amounts.',
  },
];
