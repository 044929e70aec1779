import { spelt } from '../changes/bytes.ts';
import { acceptedUnlessStrict, takenOrRejected } from '../payload-expectations.ts';
import type { ProbeScenario } from '../scenario.ts';

const base = {
  level: 'must',
  requirements: ['hmac-raw-body'],
  needs: ['hmac'],
  expect: acceptedUnlessStrict,
} as const;

/**
 * Numbers that come out differently when they are parsed and written again. No listed field holds a fraction, so they stand in a
 * field of their own, and a receiver with a strict schema only warns.
 */
const number = (token: string) => ({ serialise: spelt('data.metadata.testNumber', token) });

export const rawBodyNumbers: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/float-1-0',
    title: 'Accepts a signed body with the number 1.0',
    change: number('1.0'),
    why: 'JavaScript and PHP write it back as 1. Receivers have lost half of their deliveries to this one spelling.',
    fix: 'Verify the raw bytes. Patching the text with a regular expression for .0, as some have done, breaks on the next spelling.',
  },
  {
    ...base,
    id: 'raw-body/exponent',
    title: 'Accepts a signed body with the number 1e3',
    change: number('1e3'),
    why: 'Every serialiser that was tried writes 1000 or 1000.0 instead.',
    fix: 'Take the body before a parser turns the exponent into plain digits.',
  },
  {
    ...base,
    id: 'raw-body/exponent-plus',
    title: 'Accepts a signed body with the number 1E+2',
    change: number('1E+2'),
    why: 'Java and .NET write exponents with a capital E and a sign; others never give that back.',
    fix: 'Do not try to imitate how the sender writes exponents: hash what it wrote.',
  },
  {
    ...base,
    id: 'raw-body/exponent-21',
    title: 'Accepts a signed body with the number 1e+21',
    change: number('1e+21'),
    why: 'JavaScript writes it just so, while PHP and Ruby write 1.0e+21: the check fails only with amounts of that size.',
    fix: 'Do not rely on tests with small numbers: only the raw bytes are right at every size.',
  },
  {
    ...base,
    id: 'raw-body/negative-zero',
    title: 'Accepts a signed body with the number -0',
    change: number('-0'),
    why: 'The sign of zero is lost by JavaScript and by every integer type.',
    fix: 'Keep the bytes that came; a parsed zero has lost its sign for good.',
  },
  {
    ...base,
    id: 'raw-body/negative-zero-float',
    title: 'Accepts a signed body with the number -0.0',
    change: number('-0.0'),
    why: 'Python keeps it and JavaScript does not, so the failure depends on which service does the check.',
    fix: 'Let the service that receives the bytes verify them, before it hands JSON on to another one.',
  },
  {
    ...base,
    id: 'raw-body/trailing-zero',
    title: 'Accepts a signed body with the number 0.10',
    change: number('0.10'),
    why: 'Prices are written with two decimals, and no parser keeps the last zero.',
    fix: 'Hash the raw body; a decimal type for prices helps later on, and not with the signature.',
  },
  {
    ...base,
    id: 'raw-body/integer-20-digits',
    title: 'Accepts a signed body with an integer of 20 digits',
    change: number('12345678901234567890'),
    why: 'Beyond 2^53 JavaScript rounds, so the text that it signs holds another number than the one that was sent.',
    fix: 'Verify before JSON.parse, and read large integers as text or BigInt afterwards.',
  },
  {
    ...base,
    id: 'raw-body/integer-2-53-plus-1',
    title: 'Accepts a signed body with the integer 9007199254740993',
    change: number('9007199254740993'),
    why: 'The first integer that JavaScript cannot hold is off by one after a round trip, and nothing warns about it.',
    fix: 'Verify before parsing; afterwards treat integers beyond 2^53 as text.',
  },
  {
    ...base,
    id: 'raw-body/long-decimal',
    title: 'Accepts a signed body with a fraction of 22 digits',
    change: number('0.1234567890123456789012'),
    why: 'Floating point keeps 17 digits; a signature over the rest fails for a few amounts and not for most.',
    fix: 'Verify the bytes that came, and use a decimal type where the digits matter.',
  },
  {
    ...base,
    id: 'raw-body/exponent-400',
    title: 'Takes or rejects a signed body with the number 1e400, and does not call its signature wrong',
    change: number('1e400'),
    expect: takenOrRejected,
    why: 'It is legal JSON and becomes infinity in most languages: some serialisers throw on that while they compute the signature.',
    fix: 'Check the signature on the bytes first; then a number that is out of range is a bad payload (400) or harmless (200).',
  },
];
