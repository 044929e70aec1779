import type { JsonObject } from '../../contract/index.ts';
import { accepted } from '../expectations.ts';
import { deposit, hash } from '../samples.ts';
import type { Kit, ProbeScenario, Suite } from '../scenario.ts';

const base = { level: 'should', requirements: ['deposit-typo'], expect: accepted } as const;

/** A deposit whose metadata has these members about the transaction hash. */
function depositWith(members: (kit: Kit) => JsonObject): ProbeScenario['change'] {
  return { compose: (kit) => deposit(kit, members(kit)) };
}

/** The two spellings of the hash of a deposit. Specification: type = CAAS_BLOCKCHAIN. */
export const typoKeySuite: Suite = {
  name: 'typo-key',
  title: 'The hash of a deposit is read under both spellings',
  scenarios: [
    {
      ...base,
      id: 'typo-key/right-spelling',
      title: 'Accepts a deposit with the hash under blockchainTransactionId',
      level: 'must',
      requirements: ['deposit-shape'],
      change: depositWith((kit) => ({ blockchainTransactionId: hash(kit) })),
      why: 'This is the documented name. A receiver that was built from the sample payload knows only the misspelt one.',
      fix: 'Read blockchainTransactionId first.',
    },
    {
      ...base,
      id: 'typo-key/misspelt',
      title: 'Accepts a deposit with the hash under the misspelt blockchainTransctionId',
      change: depositWith((kit) => ({ blockchainTransctionId: hash(kit) })),
      why: 'The sample payload has the key with a letter missing, so deposits may come that way, and their hash is then lost or required in vain.',
      fix: 'Fall back to blockchainTransctionId when blockchainTransactionId is absent.',
    },
    {
      ...base,
      id: 'typo-key/both-alike',
      title: 'Accepts a deposit that has both spellings with the same hash',
      change: depositWith((kit) => {
        const value = hash(kit);
        return { blockchainTransactionId: value, blockchainTransctionId: value };
      }),
      why: 'A sender that mends the typo sends both for a while. An alias that maps two keys to one field may throw on the second.',
      fix: 'Check how your mapper treats two aliases of one field that are both there.',
    },
    {
      ...base,
      id: 'typo-key/both-different',
      title: 'Accepts a deposit whose two spellings hold different hashes',
      change: depositWith((kit) => ({ blockchainTransactionId: hash(kit), blockchainTransctionId: hash(kit) })),
      why: 'A contradiction in a key that should not exist is no reason to lose a deposit.',
      fix: 'Let the right spelling win, and log the other.',
    },
    {
      ...base,
      id: 'typo-key/misspelt-first',
      title: 'Accepts a deposit in which the misspelt key comes before the right one and is empty',
      change: depositWith((kit) => ({ blockchainTransctionId: '', blockchainTransactionId: hash(kit) })),
      why: 'Code that takes the first key it finds gets an empty hash and refuses a deposit that has a good one.',
      fix: 'Choose by name and content, not by the order in which the keys come.',
    },
    {
      ...base,
      id: 'typo-key/right-null',
      title: 'Accepts a deposit whose right key is null and whose misspelt key has the hash',
      change: depositWith((kit) => ({ blockchainTransactionId: null, blockchainTransctionId: hash(kit) })),
      why: 'A serialiser that writes every field sends null under the one name and the hash under the other.',
      fix: 'Fall back on null and on empty text too, not only when the key is absent.',
    },
    {
      ...base,
      id: 'typo-key/neither',
      title: 'Accepts a deposit with the hash under neither spelling',
      level: 'must',
      change: depositWith(() => ({})),
      why: 'A transfer inside the custodial ledger has no hash, and it is money of the customer like any other.',
      fix: 'After both spellings were looked up in vain, go on without a hash.',
    },
  ],
};
