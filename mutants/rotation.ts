/**
 * Mutants of the rotation of the secret. A receiver has a list of valid secrets, with the newest first. The list is
 * replaced while the receiver runs.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { goOn, handleSome, reject, type Signed, signed, stageOf, unverified } from './lenient-verifier.ts';

const ROTATION = { area: 'rotation', stage: 'requireSignature', needs: ['hmac', 'rotation'] } as const;

/** Accepts exactly the signatures that were made with one of the secrets that `among` returns. */
function withSecrets(among: (delivery: Signed) => readonly string[]): StageFault['replace'] {
  return handleSome((delivery) =>
    among(delivery).some((secret) => delivery.header === signed(secret, delivery.body)) ? goOn : reject,
  );
}

/** Accepts the secrets that `among` returns. `make` creates the state of the process when the receiver starts. */
const withState =
  <State>(make: (parts: FaultParts) => State, among: (delivery: Signed, state: State) => readonly string[]) =>
  (parts: FaultParts) => {
    const state = make(parts);
    return withSecrets((delivery) => among(delivery, state))(parts);
  };

const isRefund = (delivery: Signed) => unverified(delivery).type === 'REFUND';
const hasTwo = ({ secrets }: Signed) => secrets.length > 1;

/** Accepts deliveries that pass `test`, in addition to valid signatures. */
const alsoWhen = (test: (delivery: Signed) => boolean) => handleSome((delivery) => (test(delivery) ? goOn : null));

/** Accepts deliveries that pass `test` after the rotation, in addition to valid signatures. */
function alsoAfter(test: (delivery: Signed) => boolean): StageFault['replace'] {
  return (parts) => {
    let hadTwo = false;
    return alsoWhen((delivery) => {
      hadTwo ||= hasTwo(delivery);
      return hadTwo && !hasTwo(delivery) && test(delivery);
    })(parts);
  };
}

/** Number of deliveries that are rejected after the list of secrets has been replaced. */
const LOST_DELIVERIES = 3;

/** Delay, in milliseconds, during which other deliveries arrive. */
const SHARED_MS = 50;

export const rotationFaults = family<StageFault>(
  { ...ROTATION, mistake: 'second-secret-ignored' },
  {
    'next-secret-ignored': [
      'Accepts only the oldest secret while two are valid',
      withSecrets(({ secrets }) => secrets.slice(-1)),
      { forbidden: false },
    ],
    'old-secret-dropped': [
      'Accepts only the newest secret while two are valid',
      withSecrets(({ secrets }) => secrets.slice(0, 1)),
      { forbidden: false },
    ],
    'one-secret-for-refunds': [
      'Accepts only the newest secret for refunds while two are valid',
      withSecrets((delivery) => (isRefund(delivery) ? delivery.secrets.slice(0, 1) : delivery.secrets)),
      { forbidden: false },
    ],
    'first-match-kept': [
      'Verifies all deliveries with the secret that matched first, as long as it is valid',
      withState(
        (): { kept?: string } => ({}),
        ({ secrets, header, body }, state) => {
          if (state.kept === undefined || !secrets.includes(state.kept)) {
            const match = secrets.find((secret) => header === signed(secret, body));
            if (match === undefined) return secrets;
            state.kept = match;
          }
          return [state.kept];
        },
      ),
      {
        forbidden: false,
        equivalentTo: {
          name: 'next-secret-ignored',
          reason: 'When the next secret becomes valid, the old one has already matched and remains the only one.',
        },
      },
    ],
    'match-kept-on-connection': [
      'Verifies all deliveries of a connection with the secret that matched first on it',
      withState(
        () => new WeakMap<object, string>(),
        ({ req, secrets, header, body }, matches) => {
          const kept = matches.get(req.socket);
          if (kept !== undefined && secrets.includes(kept)) return [kept];
          const match = secrets.find((secret) => header === signed(secret, body));
          if (match !== undefined) matches.set(req.socket, match);
          return secrets;
        },
      ),
      { forbidden: false },
    ],
    'secret-in-shared-variable': [
      'Keeps the secret of a delivery in a variable of the process while it waits',
      (parts) => {
        let shared = '';
        return stageOf(async ({ secrets, header, body }, req, res, next) => {
          shared = secrets.find((secret) => header === signed(secret, body)) ?? '';
          if (secrets.length > 1 && shared === secrets[0]) await delay(SHARED_MS);
          return (shared !== '' && header === signed(shared, body) ? goOn : reject)(req, res, next);
        }, parts);
      },
      'state-shared-by-requests',
      { forbidden: false, comesAndGoes: true },
    ],
    'new-secret-in-second-place': [
      'Accepts nothing when two secrets have become one, because it reads the second',
      withState(
        () => ({ hadTwo: false }),
        ({ secrets }, state) => {
          state.hadTwo ||= secrets.length > 1;
          return state.hadTwo ? secrets.slice(1) : secrets;
        },
      ),
    ],
    // Mutants that accept secrets that are not valid yet, or are no longer valid.
    'next-secret-accepted-early': [
      'Accepts the next secret before the rotation begins',
      (parts) => withSecrets(({ secrets }) => [...secrets, parts.nextSecret ?? ''].filter(Boolean))(parts),
      'secret-outside-its-time',
    ],
    'old-secret-accepted-forever': [
      'Adds new secrets to those that it knows, and accepts all of them',
      withState(
        () => new Set<string>(),
        ({ secrets }, known) => {
          for (const secret of secrets) known.add(secret);
          return [...known];
        },
      ),
      'secret-outside-its-time',
    ],
    'old-secret-kept-for-refunds': [
      'Accepts the old secret for refunds after the rotation',
      withState(
        ({ config }) => config.signing?.secrets ?? [],
        (delivery, first) => (isRefund(delivery) ? [...delivery.secrets, ...first] : delivery.secrets),
      ),
      'secret-outside-its-time',
    ],
    'signatures-kept-after-rotation': [
      'Remembers signatures that were valid, and accepts them after the rotation',
      (parts) => {
        const valid = new Set<string>();
        return alsoWhen(({ header = '', body, expected }) => {
          const key = `${header} ${signed('', body)}`;
          if (expected.includes(header)) valid.add(key);
          return valid.has(key);
        })(parts);
      },
      'cached-verification',
    ],
    'empty-secret-while-two': [
      'Accepts a signature made with an empty secret while two secrets are valid',
      alsoWhen((delivery) => hasTwo(delivery) && delivery.header === signed('', delivery.body)),
      'unset-secret',
      { note: 'The list is split at commas or lines, and has an empty entry at its end.' },
    ],
    'empty-secret-after-rotation': [
      'Accepts a signature made with an empty secret after the rotation',
      alsoAfter(({ header, body }) => header === signed('', body)),
      'unset-secret',
      { note: 'The variable for the old secret is now empty.' },
    ],
    'unsigned-while-two': [
      'Accepts a delivery without a signature while two secrets are valid',
      alsoWhen((delivery) => hasTwo(delivery) && delivery.header === undefined),
      'absent-signature-passes',
    ],
    'unsigned-after-rotation': [
      'Accepts a delivery without a signature after the rotation',
      alsoAfter(({ header }) => header === undefined),
      'unset-secret',
    ],
    'any-signature-while-two': [
      'Takes the list of results for a match, and accepts every signature while two secrets are valid',
      alsoWhen((delivery) => hasTwo(delivery) && delivery.header !== undefined),
      'no-signature-verification',
      { note: '`if (secrets.map(matches))` is always true.' },
    ],
    'characters-of-either': [
      'Compares each character with the signatures of both secrets',
      alsoWhen(({ header = '', expected }) => {
        const isIn = (character: string, at: number) => expected.some((one) => one[at] === character);
        return header.length === expected[0]?.length && [...header].every(isIn);
      }),
      'hand-written-comparison',
    ],
    'list-of-signatures-accepted': [
      'Splits the header at commas while two secrets are valid, and accepts one match',
      alsoWhen((delivery) => {
        const parts = delivery.header?.split(',') ?? [];
        return hasTwo(delivery) && parts.some((part) => delivery.expected.includes(part.trim()));
      }),
      'several-signatures',
      { forbidden: false },
    ],
    'rejects-after-a-switch': [
      'Rejects the first valid deliveries when its secrets have been replaced',
      withState(
        ({ config }) => ({ last: config.signing?.secrets, toLose: 0 }),
        ({ secrets }, state) => {
          if (secrets !== state.last) Object.assign(state, { last: secrets, toLose: LOST_DELIVERIES });
          if (state.toLose === 0) return secrets;
          state.toLose -= 1;
          return [];
        },
      ),
      'deliveries-lost-in-switch',
      { forbidden: false },
    ],
  },
);
