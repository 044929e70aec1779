/** Networks other than the one in the sample, and unusual free text. Specification: Resources and their fields. */
import type { JsonObject } from '../../contract/index.ts';
import { withField } from '../changes/bodies.ts';
import { accepted, takenOrRejected } from '../expectations.ts';
import { deposit, order, refund, tracking, wallet } from '../samples.ts';
import type { Delivery, FlowScenario, Kit } from '../scenario.ts';

/** A network with valid sample values: an address with its checksum, and a hash in its usual spelling. */
interface Network {
  readonly name: string;
  readonly chain: string;
  readonly currency: string;
  readonly address: string;
  readonly hash: string;
  readonly memo?: string;
}

const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const NETWORKS: readonly [Network, ...Network[]] = [
  {
    name: 'Bitcoin with a legacy address',
    chain: 'BITCOIN',
    currency: 'BTC',
    address: '12a21oquAmcTSQHnyeLg8hL9JSfQxH7i5y',
    hash: HEX,
  },
  {
    name: 'Bitcoin with a bech32 address',
    chain: 'BITCOIN',
    currency: 'BTC',
    address: 'bc1pr2j8h3ns8ww5945tq6qg422y0eu7um30cf6kr9mxv7y203ly4kys4mmjwd',
    hash: HEX,
  },
  {
    name: 'Solana',
    chain: 'SOLANA',
    currency: 'SOL',
    address: '6aqwDXAmKjP9apLy8EiZeUqjC4jwB2aE15BmHrM22XxR',
    hash: '4TiaZctCaYKUzuxtoiDHFncB9ZJ9ztpQVoy9qtvXcwYxp2VmNt8YfGq2UvoTqC2tTT5pRCbZ52dJ2LEhCD3UJtxW',
  },
  { name: 'Tron', chain: 'TRON', currency: 'TRX', address: 'TUk2ppBL3tjdgiVGNR2A8m4fozmKB4EBk3', hash: HEX },
  {
    name: 'XRP with a destination tag',
    chain: 'XRP',
    currency: 'XRP',
    address: 'rPpqHwLa1kbGpJyqBoeAS1uRRTLtPkMwzP',
    hash: HEX.toUpperCase(),
    memo: '4294967295',
  },
  {
    name: 'Cosmos with a memo',
    chain: 'COSMOS',
    currency: 'ATOM',
    address: 'cosmos1dks4vpda608vp86037vfqtc5jg5s35tvn8m494',
    hash: HEX.toUpperCase(),
    memo: 'memo 7',
  },
  {
    name: 'Cardano',
    chain: 'CARDANO',
    currency: 'ADA',
    address: 'addr1q9fguluey6ql884sese62lndrqze46hl53az0cj563vgzhqnehlc06nf96ux7jfewejxxmlvw88nhk9x06szmaykk7dqp32xs5',
    hash: HEX,
  },
  {
    name: 'Hedera',
    chain: 'HEDERA',
    currency: 'HBAR',
    address: '0.0.4821337',
    hash: '0.0.4821337@1709251199.000000042',
    memo: '0',
  },
  {
    name: 'TON',
    chain: 'TON',
    currency: 'TON',
    address: 'EQAvDfWFG0oYX19jwNDNBBL1rKNT9XfaGP9HyTb5nb2Eml6y',
    hash: 'l7dfxc+QbtW2zZBH3kMzFpVT3kjbd1h5n5iPB5sjS/0=',
  },
  {
    name: 'Ethereum with a checksum in the address',
    chain: 'ETHEREUM',
    currency: 'ETH',
    address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    hash: `0x${HEX}`,
  },
];

/** Sets several fields, each by its dotted path. */
function withFields(notification: JsonObject, fields: Readonly<Record<string, string>>): JsonObject {
  return Object.entries(fields).reduce((result, [path, value]) => withField(result, path, value), notification);
}

function orderOn(kit: Kit, { chain, currency, address, hash, memo = '' }: Network): JsonObject {
  const at = 'data.metadata.blockchainData';
  return withFields(order(kit, 'BUY', 'COMPLETED'), {
    [`${at}.targetWalletAddress`]: address,
    [`${at}.refundWalletAddress`]: address,
    [`${at}.sourceWalletAddress`]: address,
    [`${at}.blockchainTransactionId`]: hash,
    [`${at}.blockchainMemo`]: memo,
    [`${at}.currency`]: currency,
    [`${at}.chain`]: chain,
  });
}

const walletOn = (kit: Kit, { chain, currency, address }: Network): JsonObject =>
  withFields(wallet(kit), { 'data.assetId': currency, 'data.chain': chain, 'data.walletAddress': address });

const refundOn = (kit: Kit, { currency, address, hash }: Network): JsonObject =>
  withFields(refund(kit, 'SUCCESS'), {
    'data.metadata.currency': currency,
    'data.metadata.walletAddress': address,
    'data.metadata.blockchainTransactionId': hash,
  });

const depositOn = (kit: Kit, { currency, address, hash }: Network): JsonObject =>
  withFields(deposit(kit, { blockchainTransactionId: hash }), {
    'data.metadata.sourceAddress': address,
    'data.metadata.destinationAddress': address,
    'data.metadata.asset.amount': '125000',
    'data.metadata.asset.currency': currency,
  });

const event = (label: string, notification: JsonObject): Delivery => ({
  label,
  change: { compose: () => notification },
  expect: accepted,
});

const [LEGACY_BITCOIN] = NETWORKS;

/** On a network with addresses like those of the plain notification. */
const onEthereum = (kit: Kit, chain: string, currency: string): Network => ({
  name: chain,
  chain,
  currency,
  address: `0x${kit.bytes(20).toString('hex')}`,
  hash: `0x${kit.bytes(32).toString('hex')}`,
});

const base = { level: 'must' } as const;

/** Addresses, hashes, currencies and chains: strings whose form is not specified. */
export const validNetworks: readonly FlowScenario[] = [
  {
    ...base,
    id: 'valid/networks-in-orders',
    title: 'Accepts orders on eight networks with other forms of addresses and hashes than the sample',
    defect: 'Rejects orders with other forms of addresses or hashes than the sample',
    requirements: ['caas-buy'],
    flow: (kit) => [NETWORKS.map((network) => event(`an order on ${network.name}`, orderOn(kit, network)))],
    why: 'Samples show addresses and hashes of one network. A pattern derived from them rejects orders on the others.',
    fix: 'Read addresses, hashes and memos as text of any form and length. The report names the rejected network.',
  },
  {
    ...base,
    id: 'valid/networks-in-other-types',
    title: 'Accepts wallets, deposits and refunds on networks other than Ethereum',
    defect: 'Rejects wallets, deposits or refunds on networks other than Ethereum',
    requirements: ['wallet-shape', 'deposit-shape', 'refund-shapes'],
    flow: (kit) => [
      NETWORKS.filter(({ name }) => /Hedera|Solana|Cardano/.test(name)).flatMap((network) => [
        event(`a wallet on ${network.name}`, walletOn(kit, network)),
        event(`a deposit on ${network.name}`, depositOn(kit, network)),
        event(`a refund on ${network.name}`, refundOn(kit, network)),
      ]),
    ],
    why: 'Each type often has its own class. A pattern that was removed from orders may still apply to deposits.',
    fix: 'Read addresses and hashes as text in every class, and store them in columns of at least 255 characters.',
  },
  {
    ...base,
    id: 'valid/currencies',
    title: 'Accepts currencies of 1 to 10 characters, with digits, dots, underscores and lower-case letters',
    defect: 'Rejects currencies that do not have the form of ETH',
    requirements: ['caas-buy', 'wallet-shape', 'deposit-shape', 'refund-shapes'],
    flow: (kit) => [
      [
        event('an order in USDT', orderOn(kit, onEthereum(kit, 'ETHEREUM', 'USDT'))),
        event('an order in S', orderOn(kit, onEthereum(kit, 'SONIC', 'S'))),
        event('an order in 1INCH', orderOn(kit, onEthereum(kit, 'ETHEREUM', '1INCH'))),
        event('a wallet for stETH', walletOn(kit, onEthereum(kit, 'ETHEREUM', 'stETH'))),
        event('a wallet for usdc', walletOn(kit, onEthereum(kit, 'ETHEREUM', 'usdc'))),
        event('a deposit in USDC.e', depositOn(kit, onEthereum(kit, 'POLYGON', 'USDC.e'))),
        event('a deposit in 1000SATS', depositOn(kit, { ...LEGACY_BITCOIN, currency: '1000SATS' })),
        event('a refund in RENDERTOKN', refundOn(kit, onEthereum(kit, 'ETHEREUM', 'RENDERTOKN'))),
        event('a refund in USDT_TRX', refundOn(kit, onEthereum(kit, 'TRON', 'USDT_TRX'))),
      ],
    ],
    why: 'Token symbols do not follow ISO 4217. CHAR(3) rejects USDT, and /^[A-Z]+$/ rejects 1INCH.',
    fix: 'Read the currency as text. The report names the rejected one.',
  },
  {
    ...base,
    id: 'valid/chains',
    title: 'Accepts chains in any spelling',
    defect: 'Rejects chains that are not on its list',
    requirements: ['caas-buy', 'wallet-shape'],
    flow: (kit) => [
      ['BASE', 'ARBITRUM_ONE', 'zksync-era', 'BNB Smart Chain (BEP20)', 'eip155:43114', 'ETH'].map((chain, at) => {
        const network = onEthereum(kit, chain, 'USDC');
        return at % 2 === 0
          ? event(`an order on the chain "${chain}"`, orderOn(kit, network))
          : event(`a wallet on the chain "${chain}"`, walletOn(kit, network));
      }),
    ],
    why: 'The operator may add networks. An enum rejects every notification on a new one until the next deployment.',
    fix: 'Read the chain as text. Accept and store a notification with an unknown chain, and review it later.',
  },
];

/** The fields with free text: memo, error message, description and reference. */
function withText(kit: Kit, text: string): readonly (readonly Delivery[])[] {
  return [
    [
      event(
        'a failed order, text in memo and error message',
        withFields(order(kit, 'SELL', 'FAILED'), {
          'data.metadata.blockchainData.blockchainMemo': text,
          'data.errorData.message': text,
        }),
      ),
      event(
        'a tracking notification, text in description and reference',
        withFields(tracking(kit, 'BUY', 'COMPLETED', text), { 'data.metadata.providerTransactionRef': text }),
      ),
      event('a failed refund, in the error message', withField(refund(kit, 'FAIL'), 'data.errorData.message', text)),
    ],
  ];
}

const free = { level: 'must', requirements: ['caas-tracking', 'caas-failed'] } as const;

/** Ordinary text that firewalls block, that breaks queries, or that patterns reject. */
export const validTexts: readonly FlowScenario[] = [
  {
    ...free,
    id: 'valid/free-text-tags',
    title: 'Accepts HTML tags in free text',
    flow: (kit) => withText(kit, 'Order <script>alert(1)</script> <img src=x onerror=y> & "quoted"'),
    why: 'A firewall that looks for cross-site scripting in JSON rejects the notification on every attempt.',
    fix: 'Exempt the endpoint from such rules, and escape text where you display it.',
  },
  {
    ...free,
    id: 'valid/free-text-sql',
    title: 'Accepts quotes, SQL comments and SQL keywords in free text',
    flow: (kit) => withText(kit, "O'Brien's order' OR '1'='1' -- ; DROP TABLE orders; UNION SELECT 1 /* #"),
    why: 'A query built by string concatenation fails at the first apostrophe, and a firewall may answer 403.',
    fix: 'Use bound parameters for all values, and exempt the endpoint from rules against SQL injection.',
  },
  {
    ...free,
    id: 'valid/free-text-paths',
    title: 'Accepts relative paths, links and template syntax in free text',
    flow: (kit) =>
      withText(kit, '../../etc/passwd ..\\..\\boot.ini ./a/../b http://192.0.2.1/x?a=b #{a} {{b}} $(c) `d` %2e'),
    why: 'Rules against path traversal and command injection also match ordinary references and links.',
    fix: 'Exempt the endpoint from such rules, and never build paths, templates or commands from these fields.',
  },
  {
    ...free,
    id: 'valid/free-text-alike',
    title: 'Accepts free text that looks like a time, a number, a card number, JSON or null',
    flow: (kit) => [
      ['2026-07-21T10:15:00Z', '4111111111111111', '1e400', '{"a": [1]}', 'null', '=1+1'].map((text) =>
        event(
          `a tracking notification with the text ${text}`,
          withFields(tracking(kit, 'BUY', 'COMPLETED', text), { 'data.metadata.providerTransactionRef': text }),
        ),
      ),
    ],
    why:
      'Parsers turn such text into dates and numbers, and the code behind them expects text. Filters mask what looks ' +
      'like a card number, and the signature no longer matches.',
    fix: 'Turn off the recognition of dates in the parser, and exempt the endpoint from such filters.',
  },
  {
    ...free,
    id: 'valid/free-text-emoji',
    title: 'Handles long free text in which every character takes four bytes',
    flow: (kit) =>
      withText(kit, `x${'\u{1f44d}'.repeat(300)}`).map((group) =>
        group.map((one) => ({ ...one, expect: takenOrRejected })),
      ),
    why: 'Text that is cut after so many bytes ends in the middle of a character, which ends in an exception or a 500.',
    fix: 'Cut text by characters, or store it in a column without a limit.',
  },
  {
    ...free,
    id: 'valid/free-text-lines',
    title: 'Accepts line breaks and tabs in free text',
    flow: (kit) => withText(kit, 'First line\nsecond line\r\nthird line\twith a tab'),
    why: 'A pattern such as /^.*$/ does not match line breaks, and a header or log line that contains the text breaks.',
    fix: 'Accept every character in free text, and replace line breaks where you log it.',
  },
  {
    ...free,
    id: 'valid/free-text-invisible',
    title: 'Accepts emoji, right-to-left text and zero-width characters in free text',
    flow: (kit) =>
      withText(
        kit,
        [
          'paid',
          '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
          '\u{1f44d}\u{1f3fd}',
          '\u05e9\u05dc\u05d5\u05dd',
          '\u200f\u061c',
          '\u200b\u00ad\u2060',
          '\u202eabc\u202c',
        ].join(' '),
      ),
    why: 'Filters against look-alike names remove or reject such characters, and utf8mb3 columns cannot store emoji.',
    fix: 'Accept every character in free text, and store it as UTF-8 with four bytes (utf8mb4).',
  },
];
