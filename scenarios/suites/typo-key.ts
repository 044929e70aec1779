import type { JsonObject } from '../../contract/index.ts';
import { accepted } from '../expectations.ts';
import { deposit, hash } from '../samples.ts';
import type { Change, Kit, Suite } from '../scenario.ts';
import { family } from './family.ts';

/** Sends a deposit whose transaction hash is in these members. */
function members(of: (kit: Kit) => JsonObject): Change {
  return { compose: (kit) => deposit(kit, of(kit)) };
}

const bothAlike = (value: string) => ({ blockchainTransactionId: value, blockchainTransctionId: value });

const typoKey = { suite: 'typo-key', verb: 'Accepts', of: 'a deposit', expect: accepted } as const;
const must = { ...typoKey, level: 'must' } as const;

/** The two spellings of the hash of a deposit. Specification: type = CAAS_BLOCKCHAIN. */
export const typoKeySuite: Suite = {
  name: 'typo-key',
  title: 'The hash of a deposit is accepted under both spellings',
  scenarios: [
    ...family(
      { ...must, requirements: ['deposit-typo'], mistake: 'misspelt-hash-key' },
      {
        'right-spelling': [
          'with the hash under blockchainTransactionId',
          members((kit) => ({ blockchainTransactionId: hash(kit) })),
          { requirements: ['deposit-shape'] },
        ],
        misspelt: [
          'with the hash under the misspelt key blockchainTransctionId',
          members((kit) => ({ blockchainTransctionId: hash(kit) })),
          { note: 'It is the only spelling in the sample payload of the specification.' },
        ],
      },
    ),
    ...family(
      { ...typoKey, level: 'should', requirements: ['deposit-both-keys'], mistake: 'misspelt-hash-key' },
      {
        'both-alike': ['with the same hash under both spellings', members((kit) => bothAlike(hash(kit)))],
        'both-different': [
          'with different hashes under the two spellings',
          members((kit) => ({ blockchainTransactionId: hash(kit), blockchainTransctionId: hash(kit) })),
        ],
        'misspelt-first': [
          'with an empty misspelt key before the correct one',
          members((kit) => ({ blockchainTransctionId: '', blockchainTransactionId: hash(kit) })),
        ],
        'right-null': [
          'whose correct key is null and whose misspelt key has the hash',
          members((kit) => ({ blockchainTransactionId: null, blockchainTransctionId: hash(kit) })),
          { note: 'Fall back when the value is null or empty, not only when the key is absent.' },
        ],
      },
    ),
    ...family(
      { ...must, requirements: ['deposit-shape'] },
      {
        neither: [
          'with the hash under neither spelling',
          members(() => ({})),
          'optional-data-required',
          { note: 'A transfer within the custodial ledger has no hash and must still be credited.' },
        ],
      },
    ),
  ],
};
