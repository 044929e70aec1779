/** Texts on which patterns backtrack: matching time grows exponentially or quadratically with their length. */
import type { JsonObject } from '../../contract/index.ts';
import { withField } from '../changes/bodies.ts';
import { answeredAsSigned } from '../expectations.ts';
import { deposit, order, refund, tracking, wallet } from '../samples.ts';
import type { FlowScenario, Kit } from '../scenario.ts';

/** Each almost matches a vulnerable pattern, up to its last character. */
const TEXTS = [
  { what: 'a long word', text: `${'a1B2c3D4'.repeat(6)}!` },
  { what: 'words and separators', text: `${'aa.bb-cc:dd_ee@ff/gg '.repeat(3)}\n!` },
  { what: 'digits', text: `${'12345678'.repeat(6)}!` },
  { what: 'spaces', text: `a${' '.repeat(8000)}a` },
] as const;

/** The fields of each type of notification whose form is not specified. */
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
    what: 'the error code of an order',
    make: (kit) => order(kit, 'SELL', 'FAILED'),
    fields: ['data.errorData.code'],
  },
  {
    what: 'a tracking notification',
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
  title: 'Answers in time when a text makes a regular expression backtrack',
  defect: 'Does not answer in time when a text makes a regular expression backtrack',
  level: 'must',
  requirements: ['delivery-malformed'],
  // A receiver that is busy for minutes answers nothing else, so concurrent deliveries would become suspects.
  alone: true,
  flow: (kit) =>
    TEXTS.map((text) =>
      KINDS.map(({ what, make, fields }) => ({
        label: `${what} with ${text.what}`,
        change: { compose: () => fields.reduce((result, path) => withField(result, path, text.text), make(kit)) },
        expect: answeredAsSigned,
      })),
    ),
  why: 'A pattern such as ^([a-z0-9]+[-.]?)+$ takes hours to reject 50 characters, and can block the whole process.',
  fix: 'Remove nested repetition from patterns, limit the length before you match, or use a linear engine (RE2).',
};
