import type { JsonObject } from '../../contract/index.ts';
import { accepted } from '../expectations.ts';
import { deposit, hash } from '../samples.ts';
import type { Kit, ProbeScenario, Suite } from '../scenario.ts';

const base = { level: 'should', requirements: ['deposit-both-keys'], expect: accepted } as const;

/** A deposit with these members for the transaction hash. */
function depositWith(members: (kit: Kit) => JsonObject): ProbeScenario['change'] {
  return { compose: (kit) => deposit(kit, members(kit)) };
}

/** The two spellings of the hash of a deposit. Specification: type = CAAS_BLOCKCHAIN. */
export const typoKeySuite: Suite = {
  name: 'typo-key',
  title: 'The hash of a deposit is accepted under both spellings',
  scenarios: [
    {
      ...base,
      id: 'typo-key/right-spelling',
      title: 'Accepts a deposit with the hash under blockchainTransactionId',
      level: 'must',
      requirements: ['deposit-shape'],
      change: depositWith((kit) => ({ blockchainTransactionId: hash(kit) })),
      why:
        'This is the documented name. A receiver that was built from the sample payload knows only the misspelt ' +
        'one.',
      fix: 'Read blockchainTransactionId first.',
    },
    {
      ...base,
      id: 'typo-key/misspelt',
      title: 'Accepts a deposit with the hash under the misspelt key blockchainTransctionId',
      level: 'must',
      requirements: ['deposit-typo'],
      change: depositWith((kit) => ({ blockchainTransctionId: hash(kit) })),
      why: 'It is the only spelling in the sample payload of the specification, so deposits may arrive with it.',
      fix: 'Fall back to blockchainTransctionId when blockchainTransactionId is absent.',
    },
    {
      ...base,
      id: 'typo-key/both-alike',
      title: 'Accepts a deposit with the same hash under both spellings',
      change: depositWith((kit) => {
        const value = hash(kit);
        return { blockchainTransactionId: value, blockchainTransctionId: value };
      }),
      why: 'A sender that corrects the typo may send both keys for some time. Two aliases of one field may then fail.',
      fix: 'Check how your mapper handles two aliases of one field that are both present.',
    },
    {
      ...base,
      id: 'typo-key/both-different',
      title: 'Accepts a deposit with different hashes under the two spellings',
      change: depositWith((kit) => ({ blockchainTransactionId: hash(kit), blockchainTransctionId: hash(kit) })),
      why: 'A contradiction in a key that should not exist is no reason to lose a deposit.',
      fix: 'Use the value of the correct key, and log the other one.',
    },
    {
      ...base,
      id: 'typo-key/misspelt-first',
      title: 'Accepts a deposit with an empty misspelt key before the correct one',
      change: depositWith((kit) => ({ blockchainTransctionId: '', blockchainTransactionId: hash(kit) })),
      why: 'Code that takes the first of the two keys gets an empty hash and rejects a valid deposit.',
      fix: 'Select the key by name and content, not by its position.',
    },
    {
      ...base,
      id: 'typo-key/right-null',
      title: 'Accepts a deposit whose correct key is null and whose misspelt key has the hash',
      change: depositWith((kit) => ({ blockchainTransactionId: null, blockchainTransctionId: hash(kit) })),
      why: 'A serialiser that writes every field may send null under one name and the hash under the other.',
      fix: 'Fall back when the value is null or empty, not only when the key is absent.',
    },
    {
      ...base,
      id: 'typo-key/neither',
      title: 'Accepts a deposit with the hash under neither spelling',
      level: 'must',
      requirements: ['deposit-shape'],
      change: depositWith(() => ({})),
      why: 'A transfer within the custodial ledger has no hash and must still be credited.',
      fix: 'When neither key is present, continue without a hash.',
    },
  ],
};
