/** Mutants that expect the formats of one family of networks, or fail on free text. */
import { type Condition, containersIn, fieldAt, hasText, refusing, throwAfter } from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';

/** Returns the non-empty texts in fields with these names, at any depth of `data`. */
function filled(payload: unknown, names: readonly string[]): string[] {
  const objects = [...containersIn(fieldAt(payload, 'data'))];
  const texts = objects.flatMap((object) => Object.entries(object).filter(([name]) => names.includes(name)));
  return texts.flatMap(([, value]) => (typeof value === 'string' && value !== '' ? [value] : []));
}

const ADDRESSES = [
  ...['targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress'],
  ...['walletAddress', 'sourceAddress', 'destinationAddress'],
];
const HASHES = ['blockchainTransactionId', 'blockchainTransctionId'];
const CURRENCIES = ['currency', 'assetId'];
const CHAINS = ['chain'];

const KNOWN_CHAINS = /^(?:ethereum|bitcoin|polygon|solana|tron|ripple|stellar)$/i;

/** Rejects a payload in which one of the fields does not match. */
function requiring(names: readonly string[], pattern: RegExp): StageFault['replace'] {
  return refusing((payload) => filled(payload, names).some((value) => !pattern.test(value)));
}

const FREE_TEXT = ['blockchainMemo', 'trackingStateDescription', 'providerTransactionRef', 'message'];

/** Matches if the free text of a notification fits the pattern: memo, description, reference or error message. */
function freeText(pattern: RegExp): Condition {
  return (payload) => filled(payload, FREE_TEXT).some((text) => pattern.test(text));
}

/** Invisible characters: zero-width characters, direction marks, soft hyphens. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/;

export const payloadTextFaults = family<StageFault>(
  { area: 'payload', stage: 'validate', mistake: 'narrow-value-format' },
  {
    // Mutants that expect the formats of certain networks.
    'requires-hex-addresses': [
      'Rejects an address that is not 0x and 40 hexadecimal digits',
      requiring(ADDRESSES, /^0x[0-9a-f]{40}$/i),
      { note: 'Orders on Bitcoin, Solana, Tron and other networks have another address format.' },
    ],
    'addresses-of-letters-and-digits': [
      'Rejects an address with a dot, hyphen or underscore',
      requiring(ADDRESSES, /^[A-Za-z0-9]+$/),
      { note: 'Addresses on Hedera, NEAR and TON contain these characters.' },
    ],
    'addresses-without-checksum': [
      'Rejects an Ethereum address with capital letters',
      requiring(ADDRESSES, /^(?!0x)|^0x[0-9a-f]*$/),
      { note: 'Most wallets write addresses with a checksum, which is in the capital letters.' },
    ],
    'stores-addresses-in-64-characters': [
      'Answers 500 to an address of more than 64 characters, because storing it fails',
      throwAfter('value too long', (payload) => filled(payload, ADDRESSES).some(({ length }) => length > 64)),
      { note: 'Cardano addresses can have 103 characters: use a column of at least 255.' },
    ],
    'requires-hex-hashes': [
      'Rejects a transaction hash that is not 0x and 64 hexadecimal digits',
      requiring(HASHES, /^0x[0-9a-f]{64}$/i),
      { note: 'Hashes on Bitcoin and Tron have no 0x, and those on Solana have another encoding.' },
    ],
    'requires-three-capital-letters': [
      'Rejects a currency that is not three capital letters',
      requiring(CURRENCIES, /^[A-Z]{3}$/),
      { note: 'A column or validator for ISO 4217, such as CHAR(3), rejects USDT and MATIC.' },
    ],
    'requires-currencies-in-capitals': [
      'Rejects a currency with lower-case letters or digits',
      requiring(CURRENCIES, /^[A-Z]+$/),
      { note: 'Symbols such as stETH, 1INCH and USDC.e exist.' },
    ],
    'currencies-of-letters-and-digits': [
      'Rejects a currency of one character, or with an underscore',
      requiring(CURRENCIES, /^[A-Za-z0-9.]{2,}$/),
      {
        note: 'Symbols such as S and USDT_TRX exist.',
        equivalentTo: {
          name: 'requires-currencies-in-capitals',
          reason: 'Both reject other forms of symbols; the report names the currency.',
        },
      },
    ],
    'closed-list-of-chains': [
      'Rejects a chain that is not on its list of seven',
      requiring(CHAINS, KNOWN_CHAINS),
      'unknown-values-rejected',
    ],
    // Mutants that fail on free text.
    'firewall-blocks-tags': [
      'Answers 403 to text with an HTML tag',
      refusing(hasText(/<\s*\/?(?:script|img|iframe|svg)\b/i), 403),
      'body-content-filter',
    ],
    'firewall-blocks-sql': [
      'Answers 403 to text that looks like SQL',
      refusing(hasText(/'\s*or\s|--\s|;\s*drop\s|union\s+select/i), 403),
      'body-content-filter',
    ],
    'firewall-blocks-paths': ['Answers 403 to text with ../', refusing(hasText(/\.\.\//), 403), 'body-content-filter'],
    'pastes-text-into-queries': [
      'Concatenates free text into an SQL query, so an apostrophe breaks the query',
      throwAfter('syntax error at or near "s"', freeText(/'/)),
      'sql-from-payload-text',
    ],
    'rejects-text-of-several-lines': [
      'Rejects free text with a line break or a tab',
      refusing(freeText(/[\t\n\r]/)),
      'valid-text-rejected',
      { note: 'A pattern such as /^.*$/ matches no line break: add the flag s or remove the pattern.' },
    ],
    'rejects-invisible-characters': [
      'Rejects free text with zero-width characters',
      refusing(freeText(INVISIBLE)),
      'valid-text-rejected',
      { note: 'Family emoji, and Persian and Indic text, contain such characters.' },
    ],
    'reads-text-as-dates': [
      'Answers 500 to text that looks like a time, because the parser turns it into a date',
      throwAfter('text.trim is not a function', freeText(/^\d{4}-\d\d-\d\dT/)),
      'lenient-parser',
    ],
    'cuts-text-inside-characters': [
      'Answers 500 to long text, which it truncates to 255 bytes, even inside a character',
      throwAfter('invalid byte sequence for encoding "UTF8"', (payload) =>
        filled(payload, FREE_TEXT).some((text) => ((Buffer.from(text)[255] ?? 0) & 0xc0) === 0x80),
      ),
      'unstorable-characters',
    ],
  },
);
