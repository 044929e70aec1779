/** Texts on which patterns backtrack: the time that they take doubles with each character, or grows with its square. */
import type { JsonObject } from '../../contract/index.ts';
import { withField } from '../changes/bodies.ts';
import { answeredAsSigned } from '../expectations.ts';
import { deposit, order, refund, tracking, wallet } from '../samples.ts';
import type { FlowScenario, Kit } from '../scenario.ts';

/** Each almost matches a pattern with nested repetition, up to its last character. */
const TEXTS = [
  { what: 'a long word', text: `${'a1B2c3D4'.repeat(6)}!` },
  { what: 'words and separators', text: `${'aa.bb-cc:dd_ee@ff/gg '.repeat(3)}\n!` },
  { what: 'spaces', text: `a${' '.repeat(8000)}a` },
] as const;

/** The fields without a stated form of each kind of notification. */
const KINDS: readonly { what: string; make: (kit: Kit) => JsonObject; fields: readonly string[] }[] = [
  {
    what: 'an order',
    make: (kit) => order(kit, 'SELL', 'FAILED'),
    fields: [
      ...['targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress', 'blockchainMemo', 'chain'].map(
        (name) => `data.metadata.blockchainData.${name}`,
      ),
      'data.errorData.message',
    ],
  },
  {
    what: 'a tracking notice',
    make: (kit) => tracking(kit, 'BUY', 'COMPLETED'),
    fields: ['data.metadata.trackingStateDescription', 'data.metadata.providerTransactionRef'],
  },
  { what: 'a refund', make: (kit) => refund(kit, 'SUCCESS'), fields: ['data.metadata.walletAddress'] },
  { what: 'a wallet', make: (kit) => wallet(kit), fields: ['data.walletAddress', 'data.chain'] },
  {
    what: 'a deposit',
    make: (kit) => deposit(kit),
    fields: ['data.metadata.sourceAddress', 'data.metadata.destinationAddress'],
  },
];

export const malformedBacktracking: FlowScenario = {
  id: 'malformed/backtracking',
  title: 'Answers in time when addresses and texts almost match a pattern',
  defect: 'Does not answer when an address or a text almost matches a pattern',
  level: 'must',
  requirements: ['delivery-malformed'],
  // A receiver that calculates for minutes answers nothing else, so the others would be suspects.
  alone: true,
  flow: (kit) =>
    TEXTS.map((text) =>
      KINDS.map(({ what, make, fields }) => ({
        label: `${what} with ${text.what}`,
        change: { compose: () => fields.reduce((result, path) => withField(result, path, text.text), make(kit)) },
        expect: answeredAsSigned,
      })),
    ),
  why: 'A pattern such as ^([a-z0-9]+[-.]?)+$ takes hours for 50 characters, and blocks the process for all senders.',
  fix: 'Remove nested repetition from patterns, limit the length before you match, or use a linear engine (RE2).',
};
