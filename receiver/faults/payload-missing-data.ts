/** Mutants that require optional data, and those that handle the misspelt hash key incorrectly. */
import { dyingOf, fault, fieldAt, readingAfter, readingBefore, refusing, unguarded } from './careless-handling.ts';
import type { StageFault } from './fault.ts';

const VALIDATION = { area: 'payload', stage: 'validate' } as const;

const isOrder = (payload: unknown) => fieldAt(payload, 'data.metadata.orderStatus') !== undefined;

const chainField = (payload: unknown, name: string) => fieldAt(payload, `data.metadata.blockchainData.${name}`);

const optional = (what: string) => ({
  rule: `Take missing, null and empty ${what} for the same thing: none.`,
  express: `Use optional access (\`?.\`) and \`|| null\` for ${what}, or \`z.string().nullish()\` in the schema.`,
  spring: 'Leave `@NotNull` and `@NotBlank` off optional fields.',
  go: 'Use a pointer, and test it for nil.',
  dotnet: 'Declare the property nullable and not `required`.',
});

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

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

export const payloadMissingDataFaults: readonly StageFault[] = [
  // Code that takes for granted what a notification may lack.
  {
    ...VALIDATION,
    name: 'reads-missing-error-data',
    title: 'errorData is compared with null, and its code is read when it is missing altogether.',
    seen: 'In JavaScript with `!== null`, and wherever null and absent are two different things.',
    why: 'Leaving out a field without content is a usual option of serialisers; from that day on every success is a crash.',
    fix: optional('errorData'),
    severity: 'medium',
    forbidden: false,
    replace: readingAfter((payload) => {
      const type = fieldAt(payload, 'type');
      if ((type !== 'CAAS' && type !== 'REFUND') || fieldAt(payload, 'data.errorData') === null) return;
      unguarded(payload, 'data.errorData.code');
    }),
  },
  {
    ...VALIDATION,
    name: 'expects-an-error-with-expired',
    title:
      'A tracking at EXPIRED, or at any status but COMPLETED, is taken for a failure whose error is read; it never has one.',
    seen: 'In code with two groups of statuses, good and bad, in which every bad one has an error.',
    why: 'A cash step that the user missed ends in a 500 that is repeated, and the reserved money is not released.',
    fix: {
      rule: 'Decide by errorData itself whether there is an error, and not by a status.',
      express: 'Use `data.errorData?.code ?? null` for every status.',
    },
    severity: 'high',
    forbidden: true,
    replace: readingAfter((payload) => {
      const status = fieldAt(payload, 'data.metadata.providerTransactionStatus');
      if (status !== undefined && status !== 'COMPLETED') unguarded(payload, 'data.errorData.code');
    }),
  },
  {
    ...VALIDATION,
    name: 'takes-error-codes-apart',
    title: 'The code of an error is split at its hyphens, and the parts are used without a look.',
    seen: 'In log and alarm code that wants the severity at the end of the code.',
    why: 'A code of another form, or none at all, turns the report of a failure into a failure of the receiver.',
    fix: {
      rule: 'Treat an error code as opaque text; when you take it apart, have an answer for other forms.',
      express: "Write `code?.split('-')[2]?.[0] ?? 'unknown'`.",
    },
    severity: 'medium',
    forbidden: true,
    replace: readingAfter((payload) => {
      const errorData = fieldAt(payload, 'data.errorData');
      if (typeof errorData !== 'object' || errorData === null) return;
      const code = fieldAt(errorData, 'code');
      if (typeof code !== 'string' || code.split('-')[2] === undefined) fault('the third part is undefined');
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-missing-blockchain-data',
    title: 'A field of blockchainData is read without a look whether blockchainData is there.',
    seen: 'In handlers that were written for orders with a transfer.',
    why: 'Before the blockchain is involved there may be nothing to say about it, and such an order crashes the handler.',
    fix: optional('blockchainData'),
    severity: 'medium',
    forbidden: false,
    replace: readingAfter((payload) => {
      if (isOrder(payload)) unguarded(payload, 'data.metadata.blockchainData.chain');
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-metadata-unguarded',
    title: 'The status is read from data.metadata before anything has made sure that metadata is there.',
    seen: 'In handlers without a schema; in public projects a missing field of a webhook has taken a whole API server down.',
    why: 'One delivery with a piece missing ends in an unhandled error.',
    fix: {
      rule: 'Validate the shape of data before the handler reads from it, and answer 400 when it does not fit.',
      express: 'Run `schema.safeParse(payload)` first, and answer 400 unless it succeeded.',
    },
    severity: 'medium',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (fieldAt(payload, 'type') === 'CAAS' && fieldAt(payload, 'data.type') !== undefined) {
        unguarded(payload, 'data.metadata.orderStatus');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'reads-asset-unguarded',
    title: 'The amount of a deposit is read two levels down, with nothing that checks the levels above.',
    seen: 'In handlers that validate the fields of orders and none of the rarer kinds.',
    why: 'A deposit with a piece missing takes the handler down instead of being refused.',
    fix: {
      rule: 'Have a schema for every kind, down to the fields that you read.',
      express: 'Add `asset: z.object({ amount: z.string(), currency: z.string() })` to the schema of deposits.',
    },
    severity: 'medium',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN') unguarded(payload, 'data.metadata.asset.amount');
    }),
  },
  {
    ...VALIDATION,
    name: 'crashes-on-refund-without-error-data',
    title: 'A refund that has no errorData ends the process.',
    seen: 'In workers where the error of a refund is read in a background promise that nobody awaits.',
    why: 'This one shape of this one kind is rare, so the crash is found in production, and each new attempt repeats it.',
    fix: {
      rule: 'Allow for refunds without errorData, and catch what background work throws.',
      express: 'Await or `.catch()` every promise that a handler starts, and use `data.errorData?.code`.',
    },
    severity: 'high',
    forbidden: true,
    replace: dyingOf(
      (payload) => fieldAt(payload, 'type') === 'REFUND' && fieldAt(payload, 'data.errorData') === undefined,
    ),
  },
  {
    ...VALIDATION,
    name: 'requires-target-wallet',
    title: 'An order without a filled targetWalletAddress is refused.',
    seen: 'In schemas that were made with buys, where the target wallet always stands.',
    why: 'A sell pays out money and may have no target wallet.',
    fix: optional('targetWalletAddress'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => isOrder(payload) && !isFilled(chainField(payload, 'targetWalletAddress'))),
  },
  {
    ...VALIDATION,
    name: 'requires-the-hash-of-an-order',
    title: 'An order is refused when it has no transaction hash, whatever its status is.',
    seen: 'In schemas that were made with the notification of a finished buy.',
    why: 'An order has a hash only once it is on the blockchain, so its beginning and its failure never arrive.',
    fix: optional('blockchainTransactionId'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => isOrder(payload) && !isFilled(chainField(payload, 'blockchainTransactionId'))),
  },
  {
    ...VALIDATION,
    name: 'reads-null-chain-fields',
    title: 'The memo and the chain are trimmed when their keys are there, also when they are null.',
    seen: 'In code that tests for undefined, or for the key, and not for null.',
    why: 'Most networks have no memo, and a serialiser that writes null makes a crash of each of their orders.',
    fix: optional('blockchainMemo and chain'),
    severity: 'medium',
    forbidden: true,
    replace: readingAfter((payload) => {
      if (!isOrder(payload)) return;
      if (chainField(payload, 'blockchainMemo') === null || chainField(payload, 'chain') === null) {
        fault('trim is not a function');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'requires-hash-once-on-chain',
    title: 'An order at BLOCKCHAIN_ACCEPTED or later is refused when it has no hash.',
    seen: 'In validations that tie the hash to the status, which looks right on paper.',
    why: 'The hash comes with the notification after that status, so every order is refused on its way.',
    fix: optional('blockchainTransactionId'),
    severity: 'high',
    forbidden: true,
    replace: refusing(
      (payload) =>
        fieldAt(payload, 'data.metadata.orderStatus') === 'BLOCKCHAIN_ACCEPTED' &&
        !isFilled(chainField(payload, 'blockchainTransactionId')),
      422,
    ),
  },
  {
    ...VALIDATION,
    name: 'requires-memo-key',
    title:
      'An order whose blockchainData lacks the key blockchainMemo is refused, though it may be null or empty there.',
    seen: 'In schemas with `nullable()` where `optional()` was needed as well.',
    why: 'Most networks have no memo, and a serialiser that leaves out what is empty makes all their orders fail.',
    fix: optional('blockchainMemo'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) => {
      const blockchainData = fieldAt(payload, 'data.metadata.blockchainData');
      if (typeof blockchainData !== 'object' || blockchainData === null) return false;
      return !Object.hasOwn(blockchainData, 'blockchainMemo');
    }),
  },
  {
    ...VALIDATION,
    name: 'calls-text-functions-on-null-addresses',
    title: 'Addresses are converted to lower case, also when they are null or no text.',
    seen: 'Where addresses are compared without regard to case, which networks with checksummed addresses ask for.',
    why: 'The first order with a null address ends in a TypeError and a 500.',
    fix: optional('addresses'),
    severity: 'high',
    forbidden: true,
    replace: readingBefore((payload) => {
      for (const name of ['targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress']) {
        const address = chainField(payload, name);
        if (address !== undefined && typeof address !== 'string') fault('toLowerCase is not a function');
      }
    }),
  },
  {
    ...VALIDATION,
    name: 'refuses-empty-text',
    title: 'An optional field of blockchainData is refused when it is empty text.',
    seen: 'In validators with a minimum length of one, or a pattern for addresses, on fields that may be absent or null.',
    why: 'Empty is one of the ways in which the sender writes "none", and such orders are refused for good.',
    fix: optional('fields'),
    severity: 'medium',
    forbidden: true,
    replace: refusing((payload) =>
      ['targetWalletAddress', 'refundWalletAddress', 'sourceWalletAddress', 'blockchainMemo'].some(
        (name) => chainField(payload, name) === '',
      ),
    ),
  },
  {
    ...VALIDATION,
    name: 'requires-every-chain-field',
    title: 'An order is refused unless every field of blockchainData has its key, whatever the status is.',
    seen: 'In classes that were generated from one sample payload, with every field mandatory.',
    why: 'Which fields are filled when is not stated, so almost any real order may be refused.',
    fix: optional('fields of blockchainData'),
    severity: 'high',
    forbidden: true,
    replace: refusing((payload) => {
      if (!isOrder(payload)) return false;
      return ['currency', 'chain', 'targetWalletAddress', 'sourceWalletAddress', 'refundWalletAddress'].some(
        (name) => chainField(payload, name) === undefined,
      );
    }),
  },
  {
    ...VALIDATION,
    name: 'requires-description',
    title: 'A tracking whose description is empty is refused.',
    seen: 'In forms and columns where a text counts as filled only when it has a character.',
    why: 'The description is free text of a provider, who may have nothing to say.',
    fix: optional('trackingStateDescription'),
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => fieldAt(payload, 'data.metadata.trackingStateDescription') === ''),
  },
  {
    ...VALIDATION,
    name: 'forbids-null-outside-orders',
    title: 'Null is refused for the hash of a refund or a deposit and for the error code of a payment method.',
    seen: 'In schemas with `optional()` where `nullable()` was needed as well.',
    why: 'A serialiser that writes every field makes null of what is missing, and these kinds stop then.',
    fix: optional('fields'),
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) =>
      ['data.metadata.blockchainTransactionId', 'data.errorCode'].some((path) => fieldAt(payload, path) === null),
    ),
  },
  // Mistakes with the hash of a deposit, whose key has two spellings and may be missing.
  {
    ...VALIDATION,
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
    ...VALIDATION,
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
    ...VALIDATION,
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
    ...VALIDATION,
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
    ...VALIDATION,
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
    ...VALIDATION,
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
