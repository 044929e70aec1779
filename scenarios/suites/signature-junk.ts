import { derived, joined, literal, randomSignature, type SigningScheme } from '../changes/signing.ts';
import { refusedUnusualHeader } from '../expectations.ts';
import type { Change, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { oneByOne, rejected, sending } from './signature-family.ts';

const text = (value: string): Change => ({ sign: literal(value) });
const texts = (...values: readonly string[]) => oneByOne(values.map((value) => literal(value)));

const printA = (count: number) => `head -c ${count} /dev/zero | tr '\\0' 'A'`;
const timesA = (count: number): Change => ({
  sign: literal('A'.repeat(count), `the letter A ${count} times`, printA(count)),
});

const randomBytes = sending((_body, kit) => randomSignature(kit));
const zeroBytes = (label: string): Change => ({
  sign: literal(Buffer.alloc(32).toString('base64'), label, joined(printA(43), "printf %s '='")),
});

const nonAscii: Change = {
  sign: literal('\u00e9'.repeat(44), '44 bytes of value E9', "head -c 44 /dev/zero | tr '\\0' '\\351'"),
};
const nonAsciiStart: Change = {
  sign: literal(
    `\u00c3\u00a9${'A'.repeat(42)}`,
    'the bytes C3 A9 and the letter A 42 times',
    joined("printf '\\303\\251'", printA(42)),
  ),
};

/** Patterns that match every signature in SQL, LIKE, globs or regular expressions. */
const PATTERNS = [
  "' OR '1'='1",
  '%',
  '%=',
  '_'.repeat(44),
  '?'.repeat(44),
  '[A-Za-z0-9+/]*=',
  '^.*$',
  '.{44}',
  '^',
  '/.*/',
];

/**
 * Values that are not signatures: random values, values of other lengths, non-ASCII values, and results of programming
 * mistakes.
 */
export function junkSignatures(scheme: SigningScheme): Scenario[] {
  const nonAsciiEnd = (label: string): Change => ({
    sign: derived(label, (valid) => `${valid}\u00ff`, joined(scheme.shell, "printf '\\377'")),
  });
  return [
    ...family(
      { ...rejected(scheme, 'invalid'), mistake: 'signature-check-throws' },
      {
        'random-bytes': ['32 random bytes in Base64 as the signature', randomBytes, 'signature-format-only'],
        'zero-bytes': [
          '32 zero bytes in Base64 as the signature',
          zeroBytes,
          'verification-fails-open',
          { note: 'When the HMAC fails silently, the header is compared with a buffer of zeros.' },
        ],
        '1-character': ['a signature of one character', text('A')],
        '43-characters': [
          'the letter A 43 times as the signature, without padding',
          timesA(43),
          { note: 'Without its padding, it still decodes to 32 bytes.' },
        ],
        '44-characters': [
          'the letter A 44 times as the signature, without padding',
          timesA(44),
          { note: 'It has the length of a signature and decodes to 33 bytes instead of 32.' },
        ],
        '45-characters': [
          'a signature of 45 characters',
          timesA(45),
          { note: '45 characters are never valid Base64, so a strict decoder throws.' },
        ],
        '88-characters': ['a signature of double length', timesA(88)],
      },
    ),
    ...family(
      { ...rejected(scheme, 'invalid'), expect: refusedUnusualHeader, mistake: 'signature-check-throws' },
      {
        '4000-characters': [
          'a signature of 4,000 characters',
          timesA(4000),
          { note: 'A long header must not slow down or stop the process either.' },
        ],
        'non-ascii-same-length': ['a signature of 44 non-ASCII characters', nonAscii],
        'non-ascii-start': ['a signature that starts with an accented letter in UTF-8', nonAsciiStart],
      },
    ),
    ...family(
      { ...rejected(scheme, 'encoding'), level: 'should', expect: refusedUnusualHeader },
      {
        'non-ascii-behind': ['the valid signature followed by the byte 0xFF', nonAsciiEnd, 'base64-variant'],
      },
    ),
    ...family(
      { ...rejected(scheme, 'invalid'), mistake: 'absent-signature-passes' },
      {
        'text-undefined': [
          'the signature "undefined"',
          text('undefined'),
          { note: 'A missing value that is converted to text equals this word, so two missing values match.' },
        ],
        'text-null': ['the signature "null"', text('null')],
      },
    ),
    ...family(rejected(scheme, 'algorithm', 'invalid'), {
      'text-none': [
        'the signatures "none", "true", "test" and "skip"',
        texts('none', 'true', 'test', 'skip'),
        'test-mode-from-request',
      ],
    }),
    ...family(
      { ...rejected(scheme, 'invalid'), mistake: 'signature-used-as-pattern' },
      {
        'pattern-star': ['the signature "*"', text('*')],
        'pattern-any': ['the signature ".*"', text('.*')],
        patterns: ['SQL, LIKE patterns, globs and regular expressions as the signature', texts(...PATTERNS)],
      },
    ),
    ...family(rejected(scheme, 'missing', 'invalid'), {
      'lists-without-signature': [
        'an empty list as the signature',
        texts(',', ';', '|', '[]', '""'),
        'several-signatures',
        { note: '"Every entry is valid" is true for an empty list, such as a header of commas.' },
      ],
      'prefixes-without-signature': [
        'the prefix of a signature with nothing after it',
        texts('sha256=', 'v1,'),
        'foreign-signature-format',
        { note: 'After the prefix is removed, the rest may count as a missing, optional signature.' },
      ],
    }),
  ];
}
