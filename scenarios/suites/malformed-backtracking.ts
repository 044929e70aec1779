/**
 * Texts that make regular expressions backtrack: the matching time grows exponentially or quadratically with the
 * length.
 */
import { type Composer, withField } from '../changes/bodies.ts';
import { documentAcceptedOrRejected } from '../expectations.ts';
import { order } from '../samples.ts';
import type { FlowScenario } from '../scenario.ts';
import { created, onChain, returned, tracked } from './malformed-fields.ts';
import { type Fields, IN_CHAIN_DATA, inMetadata } from './malformed-lookups.ts';

/** Each text would match a vulnerable expression but for its last character. */
const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['a long word', `${'a1B2c3D4'.repeat(6)}!`],
  ['words and separators', `${'aa.bb-cc:dd_ee@ff/gg '.repeat(3)}\n!`],
  ['digits', `${'12345678'.repeat(6)}!`],
  ['spaces', `a${' '.repeat(8000)}a`],
];

const failedSale: Composer = (kit) => order(kit, 'SELL', 'FAILED');

/** For each type of notification, the fields whose format is not specified. */
const KINDS: readonly Fields[] = [
  ['an order', failedSale, ...IN_CHAIN_DATA, 'data.metadata.blockchainData.chain', 'data.errorData.message'],
  ['the error code of an order', failedSale, 'data.errorData.code'],
  ['a tracking notification', tracked, ...['trackingStateDescription', 'providerTransactionRef'].map(inMetadata)],
  ['a refund', returned, 'data.metadata.walletAddress'],
  ['a wallet', created, 'data.walletAddress', 'data.chain'],
  ['a deposit', onChain, ...['sourceAddress', 'destinationAddress'].map(inMetadata)],
];

export const malformedBacktracking: FlowScenario = {
  id: 'malformed/backtracking',
  title: 'Answers in time when a text makes a regular expression backtrack',
  defect: 'Does not answer in time when a text makes a regular expression backtrack',
  level: 'must',
  requirements: ['delivery-malformed'],
  // A receiver that is busy for minutes answers nothing else, so deliveries in flight would be suspected, too.
  alone: true,
  flow: () =>
    TEXTS.map(([what, text]) =>
      KINDS.map(([label, base, ...paths]) => ({
        label: `${label} with ${what}`,
        change: { compose: (kit) => paths.reduce((value, path) => withField(value, path, text), base(kit)) },
        expect: documentAcceptedOrRejected,
      })),
    ),
  mistake: 'backtracking-pattern',
};
