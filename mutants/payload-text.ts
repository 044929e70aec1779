/** Mutants that expect one family of networks, or that fail on free text. */
import { fieldAt, hasText, readAfterValidation, refusing, throwTypeError } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const NETWORK = { area: 'payload', stage: 'validate', severity: 'high', forbidden: true } as const;

/** The non-empty texts in fields with these names, at any depth of `data`. */
function filled(payload: unknown, names: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const open: unknown[] = [fieldAt(payload, 'data')];
  while (open.length > 0) {
    const here = open.pop();
    if (typeof here !== 'object' || here === null) continue;
    for (const [name, value] of Object.entries(here)) {
      if (typeof value !== 'string') open.push(value);
      else if (value !== '' && names.has(name)) found.push(value);
    }
  }
  return found;
}

const ADDRESSES: ReadonlySet<string> = new Set([
  'targetWalletAddress',
  'refundWalletAddress',
  'sourceWalletAddress',
  'walletAddress',
  'sourceAddress',
  'destinationAddress',
]);
const HASHES: ReadonlySet<string> = new Set(['blockchainTransactionId', 'blockchainTransctionId']);
const CURRENCIES: ReadonlySet<string> = new Set(['currency', 'assetId']);
const CHAINS: ReadonlySet<string> = new Set(['chain']);

const KNOWN_CHAINS = /^(?:ethereum|bitcoin|polygon|solana|tron|ripple|stellar)$/i;

/** Rejects a payload in which one of the fields does not match. */
const requiring = (names: ReadonlySet<string>, pattern: RegExp) =>
  refusing((payload) => filled(payload, names).some((value) => !pattern.test(value)));

const anyNetwork: StageFault['fix'] = {
  rule: 'Read addresses, hashes, currencies and chains as free-form text. Check support for a chain separately.',
  express: 'Use `z.string()` without a pattern or an enum.',
  django: 'Use CharField(max_length=255) without validators or choices.',
  spring: 'Remove @Pattern, @Size and enums from these fields.',
};

const nextNetwork = (what: string) => `Every test with ETH on Ethereum passes, but the receiver rejects ${what}.`;

const TEXT = { area: 'payload', stage: 'validate', severity: 'high', forbidden: true } as const;

const exempt: StageFault['fix'] = {
  rule: 'Exempt the endpoint from filters of the request body: it is verified by its signature.',
  express: 'Remove the sanitising middleware from this route, and escape text where you display it.',
  django: 'Remove the body inspection of the firewall (ModSecurity, AWS WAF) from this path.',
  laravel: 'Exclude the route from XSS middleware.',
};

const FIREWALL = 'Ordinary text from a user or a provider causes the notification to be rejected on every attempt.';

const bind: StageFault['fix'] = {
  rule: 'Use bound parameters for all values.',
  express: "Write `db.query('... SET memo = $1', [memo])`.",
};

/** The free text of a notification: memo, description, reference and error message. */
const FREE_TEXT: ReadonlySet<string> = new Set([
  'blockchainMemo',
  'trackingStateDescription',
  'providerTransactionRef',
  'message',
]);
const freeText = (payload: unknown) => filled(payload, FREE_TEXT);

/** Invisible characters: zero width, direction marks, soft hyphen. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/;

export const payloadTextFaults: readonly StageFault[] = [
  // Networks.
  {
    ...NETWORK,
    name: 'requires-hex-addresses',
    title: 'Rejects an address that is not 0x and 40 hexadecimal digits',
    seen: 'isAddress of ethers or web3, and patterns that were copied from samples.',
    why: nextNetwork('orders on Bitcoin, Solana, Tron and other networks with another address format'),
    fix: anyNetwork,
    replace: requiring(ADDRESSES, /^0x[0-9a-f]{40}$/i),
  },
  {
    ...NETWORK,
    name: 'addresses-of-letters-and-digits',
    title: 'Rejects an address with a dot, hyphen or underscore',
    seen: 'Patterns such as /^[A-Za-z0-9]+$/, written with Bitcoin, Ethereum and Solana in mind.',
    why: nextNetwork('addresses on Hedera, NEAR and TON'),
    fix: anyNetwork,
    replace: requiring(ADDRESSES, /^[A-Za-z0-9]+$/),
  },
  {
    ...NETWORK,
    name: 'addresses-without-checksum',
    title: 'Rejects an Ethereum address with capital letters',
    seen: 'Patterns such as /^0x[0-9a-f]{40}$/ for addresses that begin with 0x.',
    why: 'Most wallets write addresses with a checksum, which is in the capital letters.',
    fix: anyNetwork,
    replace: requiring(ADDRESSES, /^(?!0x)|^0x[0-9a-f]*$/),
  },
  {
    ...NETWORK,
    name: 'stores-addresses-in-64-characters',
    title: 'Answers 500 to an address of more than 64 characters, because storing it fails',
    seen: 'Columns of VARCHAR(64), which are enough for most networks.',
    why: nextNetwork('Cardano addresses, which can have 103 characters'),
    fix: { ...anyNetwork, rule: 'Store addresses in a column of at least 255 characters.' },
    replace: readAfterValidation((payload) => {
      if (filled(payload, ADDRESSES).some(({ length }) => length > 64)) throwTypeError('value too long');
    }),
  },
  {
    ...NETWORK,
    name: 'requires-hex-hashes',
    title: 'Rejects a transaction hash that is not 0x and 64 hexadecimal digits',
    seen: 'isHexString(hash, 32), and patterns that were copied from samples.',
    why: nextNetwork('hashes without 0x (Bitcoin, Tron) or in another encoding (Solana)'),
    fix: anyNetwork,
    replace: requiring(HASHES, /^0x[0-9a-f]{64}$/i),
  },
  {
    ...NETWORK,
    name: 'requires-three-capital-letters',
    title: 'Rejects a currency that is not three capital letters',
    seen: 'Validators and column types for currencies of ISO 4217, such as CHAR(3).',
    why: nextNetwork('USDT, MATIC and other symbols that are longer or contain digits'),
    fix: anyNetwork,
    replace: requiring(CURRENCIES, /^[A-Z]{3}$/),
  },
  {
    ...NETWORK,
    name: 'requires-currencies-in-capitals',
    title: 'Rejects a currency with lower-case letters or digits',
    seen: 'Patterns such as /^[A-Z]+$/.',
    why: nextNetwork('symbols such as stETH, 1INCH and USDC.e'),
    fix: anyNetwork,
    severity: 'medium',
    replace: requiring(CURRENCIES, /^[A-Z]+$/),
  },
  {
    ...NETWORK,
    name: 'currencies-of-letters-and-digits',
    title: 'Rejects a currency of one character, or with an underscore',
    seen: 'Patterns such as /^[A-Za-z0-9.]{2,}$/.',
    why: nextNetwork('symbols such as S and USDT_TRX'),
    fix: anyNetwork,
    severity: 'medium',
    equivalentTo: {
      name: 'requires-currencies-in-capitals',
      reason: 'Both reject other forms of symbols; the report names the currency.',
    },
    replace: requiring(CURRENCIES, /^[A-Za-z0-9.]{2,}$/),
  },
  {
    ...NETWORK,
    name: 'closed-list-of-chains',
    title: 'Rejects a chain that is not on its list of seven',
    seen: 'Enums of networks that were complete when the integration was written.',
    why: nextNetwork('the next network that the operator supports'),
    fix: anyNetwork,
    replace: requiring(CHAINS, KNOWN_CHAINS),
  },
  // Text.
  {
    ...TEXT,
    name: 'firewall-blocks-tags',
    title: 'Answers 403 to text with an HTML tag',
    seen: 'Rules of web application firewalls against cross-site scripting, which inspect JSON bodies as well.',
    why: FIREWALL,
    fix: exempt,
    replace: refusing((payload) => hasText(payload, (text) => /<\s*\/?(?:script|img|iframe|svg)\b/i.test(text)), 403),
  },
  {
    ...TEXT,
    name: 'firewall-blocks-sql',
    title: 'Answers 403 to text that looks like SQL',
    seen: 'Rules of web application firewalls against SQL injection: quotes, comments, UNION SELECT.',
    why: FIREWALL,
    fix: exempt,
    replace: refusing(
      (payload) => hasText(payload, (text) => /'\s*or\s|--\s|;\s*drop\s|union\s+select/i.test(text)),
      403,
    ),
  },
  {
    ...TEXT,
    name: 'firewall-blocks-paths',
    title: 'Answers 403 to text with ../',
    seen: 'Rules of web application firewalls against path traversal.',
    why: FIREWALL,
    fix: exempt,
    replace: refusing((payload) => hasText(payload, (text) => text.includes('../')), 403),
  },
  {
    ...TEXT,
    name: 'pastes-text-into-queries',
    title: 'Concatenates free text into an SQL query, so an apostrophe breaks the query',
    seen: 'Hand-written SQL with template strings that was tested with UUIDs, which contain no quotes.',
    why: 'The first description with an apostrophe ends in a 500, and free text can change the query (SQL injection).',
    fix: bind,
    severity: 'critical',
    replace: readAfterValidation((payload) => {
      if (freeText(payload).some((text) => text.includes("'"))) throwTypeError('syntax error at or near "s"');
    }),
  },
  {
    ...TEXT,
    name: 'rejects-text-of-several-lines',
    title: 'Rejects free text with a line break or a tab',
    seen: 'Patterns such as /^.*$/ (a dot matches no line break), and rules against control characters.',
    why: 'A provider writes a description of two lines, and the notification is rejected on every attempt.',
    fix: {
      rule: 'Accept every character in free text, and replace line breaks where you show or log it.',
      express: 'Use `z.string()`, or add the flag `s` to the pattern.',
    },
    severity: 'medium',
    replace: refusing((payload) => freeText(payload).some((text) => !/^[^\t\n\r]*$/.test(text))),
  },
  {
    ...TEXT,
    name: 'rejects-invisible-characters',
    title: 'Rejects free text with zero-width characters',
    seen: 'Filters against look-alike names, applied to every text.',
    why: 'Family emoji, and Persian and Indic text, contain such characters.',
    fix: {
      rule: 'Accept every character in free text. Filter names of accounts only.',
      express: 'Use `z.string()` without a pattern for Unicode classes.',
    },
    severity: 'medium',
    replace: refusing((payload) => freeText(payload).some((text) => INVISIBLE.test(text))),
  },
  {
    ...TEXT,
    name: 'reads-text-as-dates',
    title: 'Answers 500 to text that looks like a time, because the parser makes a date of it',
    seen: 'Json.NET, which reads such text as dates by default, and revivers for JSON.parse.',
    why: 'A description or reference that is a time ends in an exception.',
    fix: {
      rule: 'Turn off the recognition of dates in the parser.',
      express: 'Call JSON.parse without a reviver.',
      dotnet: 'Use System.Text.Json, or `DateParseHandling.None`.',
    },
    severity: 'medium',
    replace: readAfterValidation((payload) => {
      if (freeText(payload).some((text) => /^\d{4}-\d\d-\d\dT/.test(text)))
        throwTypeError('text.trim is not a function');
    }),
  },
  {
    ...TEXT,
    name: 'cuts-text-inside-characters',
    title: 'Answers 500 to long text, which it cuts after 255 bytes, even inside a character',
    seen: 'Slices of bytes in Rust and Go, and `mb_`-less functions of PHP, in front of a column of 255 bytes.',
    why: 'The database or the language rejects the half character. Short text and plain ASCII work.',
    fix: {
      rule: 'Cut text by characters, or do not cut it.',
      express: 'Use `[...text].slice(0, 255).join("")`.',
      php: 'Use `mb_substr`.',
      go: 'Cut at `utf8.RuneStart`.',
    },
    severity: 'medium',
    replace: readAfterValidation((payload) => {
      const isCut = freeText(payload).some((text) => ((Buffer.from(text)[255] ?? 0) & 0xc0) === 0x80);
      if (isCut) throwTypeError('invalid byte sequence for encoding "UTF8"');
    }),
  },
];
