import { fault, fieldAt, readingAfter, refusing } from './careless-reading.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'payload', stage: 'validate' } as const;
const RIGHT = 'blockchainTransactionId';
const MISSPELT = 'blockchainTransctionId';

/** The members of the metadata of a deposit, or null for any other notification. */
function depositMetadata(payload: unknown): Record<string, unknown> | null {
  if (fieldAt(payload, 'type') !== 'CAAS_BLOCKCHAIN') return null;
  return fieldAt(payload, 'data.metadata') as Record<string, unknown>;
}

const bothSpellings = {
  rule: 'Take the hash under the right spelling when it is filled, else under the misspelt one, else none.',
  express: `\`const hash = metadata.${RIGHT} || metadata.${MISSPELT} || null\`.`,
  django: `\`metadata.get("${RIGHT}") or metadata.get("${MISSPELT}")\`, with no brackets.`,
  spring: `Map both names to fields of their own and choose afterwards: \`@JsonAlias\` alone lets whichever comes last win.`,
  go: 'Have one struct field for each of the two names.',
};

/** Mistakes with the hash of a deposit, whose key has two spellings and may be missing. */
export const hashKeys: readonly StageFault[] = [
  {
    ...base,
    name: 'requires-the-hash-of-a-deposit',
    title: 'A deposit without a hash under the right spelling throws.',
    seen: 'In handlers that turn the hash into a link or look it up at once, made with a deposit from a blockchain.',
    why: 'Transfers inside the custodial ledger have no hash, and the misspelt key hides one; each of these deposits ends in a 500 and is not credited.',
    fix: bothSpellings,
    severity: 'high',
    forbidden: true,
    replace: readingAfter((payload) => {
      const metadata = depositMetadata(payload);
      if (metadata !== null && typeof metadata[RIGHT] !== 'string') fault('the hash is undefined');
    }),
  },
  {
    ...base,
    name: 'reads-the-misspelt-key-only',
    title: 'The hash of a deposit is read under its misspelt key, and its absence throws.',
    seen: 'In classes that were generated from the sample payload, where the key has a letter missing.',
    why: 'Deposits with the documented key, and those without any hash, fail as soon as the sender uses it.',
    fix: bothSpellings,
    severity: 'high',
    forbidden: true,
    replace: readingAfter((payload) => {
      const metadata = depositMetadata(payload);
      if (metadata !== null && typeof metadata[MISSPELT] !== 'string') fault('the hash is undefined');
    }),
  },
  {
    ...base,
    name: 'refuses-the-misspelt-key',
    title: 'A deposit that has the misspelt key is refused.',
    seen: 'In strict schemas that were made from the documented field names.',
    why: 'The deposits of the field come with that key, and not one of them is credited.',
    fix: bothSpellings,
    severity: 'high',
    forbidden: false,
    replace: refusing((payload) => {
      const metadata = depositMetadata(payload);
      return metadata !== null && Object.hasOwn(metadata, MISSPELT);
    }),
  },
  {
    ...base,
    name: 'fails-on-both-spellings',
    title: 'A deposit that has the hash under both spellings throws.',
    seen: 'In mappers with an alias that report a field that is set twice, and in records with a constructor for either name.',
    why: 'A sender that mends a typo sends both names for a while, and that is when this breaks.',
    fix: bothSpellings,
    severity: 'medium',
    forbidden: false,
    replace: readingAfter((payload) => {
      const metadata = depositMetadata(payload);
      if (metadata !== null && Object.hasOwn(metadata, RIGHT) && Object.hasOwn(metadata, MISSPELT)) {
        fault('the hash is set twice');
      }
    }),
  },
  {
    ...base,
    name: 'refuses-two-different-hashes',
    title: 'A deposit whose two spellings hold different values is refused.',
    seen: 'In code that compares the two out of caution and takes a difference for tampering.',
    why: 'The payload is signed, so this is no attack; a deposit is lost over a key that should not exist.',
    fix: bothSpellings,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => {
      const metadata = depositMetadata(payload);
      if (metadata === null || !metadata[RIGHT] || !metadata[MISSPELT]) return false;
      return metadata[RIGHT] !== metadata[MISSPELT];
    }, 422),
  },
  {
    ...base,
    name: 'takes-the-first-hash-that-is-not-null',
    title: 'The misspelt key is preferred when it is there, and a deposit is refused when its text is empty.',
    seen: 'In one-liners with ?? or getOrDefault, which take empty text for a value.',
    why: 'A deposit with a good hash is refused because an empty one stands before it.',
    fix: bothSpellings,
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => {
      const metadata = depositMetadata(payload);
      return metadata !== null && (metadata[MISSPELT] ?? metadata[RIGHT]) === '';
    }),
  },
];
