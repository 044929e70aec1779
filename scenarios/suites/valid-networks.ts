/** Networks other than that of the sample, and unusual free text. Specification: Resources and their fields. */
import type { JsonObject } from '../../contract/index.ts';
import { withField } from '../changes/bodies.ts';
import { contentAcceptedOrRejected } from '../expectations.ts';
import { address, deposit, hash, order, refund, tracking, wallet } from '../samples.ts';
import type { Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { event, type Groups, withExpectation } from './flows.ts';

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

const [LEGACY_BITCOIN] = NETWORKS;

/** Creates a network whose addresses have the same format as those of the plain notification. */
const onEthereum = (kit: Kit, chain: string, currency: string): Network => ({
  name: chain,
  chain,
  currency,
  address: address(kit),
  hash: hash(kit),
});

/** Addresses, hashes, currencies and chains. The specification does not define their format. */
export const validNetworks: readonly Scenario[] = family(
  { suite: 'valid', verb: 'Accepts', level: 'must', requirements: ['caas-buy'], mistake: 'narrow-value-format' },
  {
    'networks-in-orders': [
      'orders on nine networks, with addresses and hashes in forms other than those in the sample',
      { flow: (kit) => [NETWORKS.map((network) => event(`an order on ${network.name}`, orderOn(kit, network)))] },
      {
        defect: 'Rejects orders with addresses or hashes in forms other than those in the sample',
      },
    ],
    'networks-in-other-types': [
      'wallets, deposits and refunds on networks other than Ethereum',
      {
        flow: (kit) => [
          NETWORKS.filter(({ name }) => /Hedera|Solana|Cardano/.test(name)).flatMap((network) => [
            event(`a wallet on ${network.name}`, walletOn(kit, network)),
            event(`a deposit on ${network.name}`, depositOn(kit, network)),
            event(`a refund on ${network.name}`, refundOn(kit, network)),
          ]),
        ],
      },
      {
        defect: 'Rejects wallets, deposits or refunds on networks other than Ethereum',
        requirements: ['wallet-shape', 'deposit-shape', 'refund-shapes'],
        note: 'A pattern that was removed from orders may still apply to deposits.',
      },
    ],
    currencies: [
      'currencies of 1 to 10 characters, with digits, dots, underscores and lower-case letters',
      {
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
      },
      {
        defect: 'Rejects currencies that do not have the form of ETH',
        requirements: ['caas-buy', 'wallet-shape', 'deposit-shape', 'refund-shapes'],
        note: 'CHAR(3) rejects USDT, and /^[A-Z]+$/ rejects 1INCH.',
      },
    ],
    chains: [
      'chains in any spelling',
      {
        flow: (kit) => [
          ['BASE', 'ARBITRUM_ONE', 'zksync-era', 'BNB Smart Chain (BEP20)', 'eip155:43114', 'ETH'].map((chain, at) => {
            const network = onEthereum(kit, chain, 'USDC');
            return at % 2 === 0
              ? event(`an order on the chain "${chain}"`, orderOn(kit, network))
              : event(`a wallet on the chain "${chain}"`, walletOn(kit, network));
          }),
        ],
      },
      'unknown-values-rejected',
      { defect: 'Rejects chains that are not on its list', requirements: ['caas-buy', 'wallet-shape'] },
    ],
  },
);

/** Creates a tracking notification with this text as its description and reference. */
function trackingWith(kit: Kit, text: string): JsonObject {
  return withField(tracking(kit, 'BUY', 'COMPLETED', text), 'data.metadata.providerTransactionRef', text);
}

/** Sends this text in the free-text fields: memo, error message, description and reference. */
function withText(kit: Kit, text: string): Groups {
  const failedOrder = withFields(order(kit, 'SELL', 'FAILED'), {
    'data.metadata.blockchainData.blockchainMemo': text,
    'data.errorData.message': text,
  });
  return [
    [
      event('a failed order, text in memo and error message', failedOrder),
      event('a tracking notification, text in description and reference', trackingWith(kit, text)),
      event('a failed refund, in the error message', withField(refund(kit, 'FAIL'), 'data.errorData.message', text)),
    ],
  ];
}

const INVISIBLE = [
  'paid',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  '\u{1f44d}\u{1f3fd}',
  '\u05e9\u05dc\u05d5\u05dd',
  '\u200f\u061c',
  '\u200b\u00ad\u2060',
  '\u202eabc\u202c',
].join(' ');

/** Ordinary text that firewalls block, that breaks queries, or that validation patterns reject. */
export const validTexts: readonly Scenario[] = family(
  {
    suite: 'valid',
    verb: 'Accepts',
    level: 'must',
    requirements: ['caas-tracking', 'caas-failed'],
    mistake: 'body-content-filter',
  },
  {
    'free-text-tags': [
      'HTML tags in free text',
      { flow: (kit) => withText(kit, 'Order <script>alert(1)</script> <img src=x onerror=y> & "quoted"') },
    ],
    'free-text-sql': [
      'quotes, SQL comments and SQL keywords in free text',
      { flow: (kit) => withText(kit, "O'Brien's order' OR '1'='1' -- ; DROP TABLE orders; UNION SELECT 1 /* #") },
      { note: 'A query built by string concatenation also fails, at the first apostrophe.' },
    ],
    'free-text-paths': [
      'relative paths, links and template syntax in free text',
      {
        flow: (kit) =>
          withText(kit, '../../etc/passwd ..\\..\\boot.ini ./a/../b http://192.0.2.1/x?a=b #{a} {{b}} $(c) `d` %2e'),
      },
    ],
    'free-text-alike': [
      'free text that looks like a time, a number, a card number, JSON or null',
      {
        flow: (kit) => [
          ['2026-07-21T10:15:00Z', '4111111111111111', '1e400', '{"a": [1]}', 'null', '=1+1'].map((text) =>
            event(`a tracking notification with the text ${text}`, trackingWith(kit, text)),
          ),
        ],
      },
      'lenient-parser',
      { note: 'Text that looks like a date becomes one; filters for card numbers also break the signature.' },
    ],
    'free-text-emoji': [
      'long free text in which every character takes four bytes',
      { flow: (kit) => withExpectation(contentAcceptedOrRejected, withText(kit, `x${'\u{1f44d}'.repeat(300)}`)) },
      'unstorable-characters',
      { title: 'Handles long free text in which every character takes four bytes' },
    ],
    'free-text-lines': [
      'line breaks and tabs in free text',
      { flow: (kit) => withText(kit, 'First line\nsecond line\r\nthird line\twith a tab') },
      'valid-text-rejected',
    ],
    'free-text-invisible': [
      'emoji, right-to-left text and zero-width characters in free text',
      { flow: (kit) => withText(kit, INVISIBLE) },
      'valid-text-rejected',
      { note: 'Emoji, Persian and Indic text contain zero-width characters.' },
    ],
  },
);
