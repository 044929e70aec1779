/**
 * The rotation of the secret in three steps: at first the old secret is valid, then both, then only the new one. The
 * specification says that secrets are rotated in coordination with the operator, but not how.
 */
import {
  HMAC_SHA256,
  type SigningScheme,
  signatureUnder,
  signedWith,
  signedWithText,
  unsigned,
} from '../changes/signing.ts';
import { accepted, acceptedUnlessBusy, refused, refusedWithTwoInvalid } from '../expectations.ts';
import type {
  Delivery,
  Kit,
  Observation,
  ObservationScenario,
  RotatedSecret,
  RotationStep,
  RunObservations,
  Scenario,
  SignChange,
  Suite,
} from '../scenario.ts';
import { family } from './family.ts';
import { buy, card, cashStep, newWallet, onChain, refunded, sell } from './valid-kinds.ts';

const SECRET_SHELLS: Readonly<Record<RotatedSecret, SigningScheme['shell']>> = {
  old: HMAC_SHA256.shell,
  next: signatureUnder('"$HOOKPROOF_NEXT_SECRET"'),
};

/** Returns the valid signature with one of the two secrets. Empty if there is no rotation. */
const under = (secret: RotatedSecret, body: Uint8Array, { rotation }: Kit) => rotation?.sign(body, secret) ?? '';

export const signedAs = (secret: RotatedSecret): SignChange => ({
  label: `signed with the ${secret} secret`,
  make: (body, kit) => under(secret, body, kit),
  shell: SECRET_SHELLS[secret],
});

const OLD = signedAs('old');
const NEXT = signedAs('next');
const old = { sign: OLD };
const next = { sign: NEXT };

/** Mixes the two valid signatures: the first half is from one, and the second half from the other. */
const mixed: SignChange = {
  label: 'half of the signature under each secret',
  make: (body, kit) => under('old', body, kit).slice(0, 20) + under('next', body, kit).slice(20),
};

const list: SignChange = {
  label: 'both signatures, joined by a comma',
  make: (body, kit) => `${under('old', body, kit)}, ${under('next', body, kit)}`,
};

/** A notification of each kind. */
const KINDS = {
  BUY: buy('COMPLETED'),
  SELL: sell('CONFIRMED'),
  ORDER_TRACKING: cashStep('BUY', 'COMPLETED'),
  REFUND: refunded('SUCCESS'),
  PAYMENT_METHOD: card('STAGED'),
  WALLET: newWallet,
  CAAS_BLOCKCHAIN: onChain,
};

type Expected = Readonly<Record<RotatedSecret, Delivery['expect']>>;

/** Sends each kind with each secret, one after another. */
const eachKind = (expected: Expected) => (): Delivery[][] =>
  Object.entries(KINDS).flatMap(([kind, compose]) =>
    [NEXT, OLD].map((sign) => [
      {
        label: `${kind}, ${sign.label}`,
        change: { compose, sign },
        expect: expected[sign === OLD ? 'old' : 'next'],
      },
    ]),
  );

/** Sends deliveries that are signed alternately with the next and the old secret. */
const alternate = (count: number, expect: Delivery['expect']): Delivery[] =>
  Array.from({ length: count }, (_, at) => {
    const sign = at % 2 === 0 ? NEXT : OLD;
    return { label: `delivery ${at + 1}, ${sign.label}`, change: { sign }, expect };
  });

const rotation = { suite: 'rotation', needs: ['hmac', 'rotation'] } as const;
const during = {
  ...rotation,
  step: 'both',
  verb: 'Accepts',
  level: 'should',
  requirements: ['rotation-overlap'],
  mistake: 'second-secret-ignored',
} as const;
const forged = {
  ...rotation,
  verb: 'Rejects',
  level: 'must',
  requirements: ['hmac-invalid', 'rotation-overlap'],
  expect: refused,
} as const;
const ended = { ...rotation, step: 'new', level: 'must', requirements: ['rotation-end'] } as const;

const steps: readonly Scenario[] = [
  ...family(
    { ...forged, step: 'old', requirements: ['hmac-invalid', 'rotation-end'], mistake: 'secret-outside-its-time' },
    { 'before-next': ['a delivery that is signed with the next secret before the rotation', next] },
  ),
  ...family(
    { ...during, expect: accepted },
    {
      'both-old': ['the old secret while both secrets are valid', old],
      'both-next': ['the next secret while both secrets are valid', next],
      'both-kinds': [
        'either secret with every kind of notification',
        { flow: eachKind({ old: accepted, next: accepted }) },
      ],
      'both-alternating': [
        'both secrets in turn on one connection',
        { alone: true, kept: true, flow: () => alternate(6, accepted).map((one) => [one]) },
      ],
      'both-at-once': [
        'both secrets at the same time',
        { alone: true, flow: () => [alternate(8, acceptedUnlessBusy)] },
        'state-shared-by-requests',
      ],
    },
  ),
  ...family(
    { ...forged, step: 'both', mistake: 'no-signature-verification' },
    {
      'both-missing': [
        'a delivery without a signature while two secrets are valid',
        { sign: unsigned },
        'absent-signature-passes',
        { requirements: ['hmac-missing', 'rotation-overlap'] },
      ],
      'both-other-secret': [
        'a delivery signed with a third secret while two secrets are valid',
        (label) => ({ sign: signedWith(label, (kit) => kit.nonce(40)) }),
      ],
      'both-empty': [
        'a delivery signed with an empty secret while two secrets are valid',
        { sign: signedWithText('') },
        'unset-secret',
      ],
      'both-mixed': ['half of each signature while two secrets are valid', { sign: mixed }, 'hand-written-comparison'],
      'both-list': [
        'both signatures in one header while two secrets are valid',
        { sign: list },
        'several-signatures',
        { level: 'should', expect: refusedWithTwoInvalid, note: 'The sender signs each delivery with one secret.' },
      ],
    },
  ),
  ...family(
    { ...ended, verb: 'Accepts', expect: accepted, mistake: 'second-secret-ignored' },
    { 'after-next': ['the new secret after the rotation', next] },
  ),
  ...family(
    {
      ...ended,
      requirements: ['hmac-invalid', 'rotation-end'],
      verb: 'Rejects',
      expect: refused,
      mistake: 'secret-outside-its-time',
    },
    {
      'after-old': ['the old secret after the rotation', old],
      'after-kinds': [
        'the old secret with every kind of notification after the rotation, and accepts the new one',
        { flow: eachKind({ old: refused, next: accepted }) },
        { defect: 'Accepts the old secret, or rejects the new one, for some kind of notification after the rotation' },
      ],
      'after-replay': [
        'a delivery that was accepted before the rotation and is sent again after it',
        { compose: (kit) => kit.rotation?.delivered ?? kit.notification(), sign: OLD },
        'cached-verification',
        {
          replays: true,
          note: 'An attacker who has recorded deliveries can send them again for as long as the old secret is valid.',
        },
      ],
      'after-missing': [
        'a delivery without a signature after the rotation',
        { sign: unsigned },
        'unset-secret',
        { requirements: ['hmac-missing', 'rotation-end'], note: 'The setting for the old secret is now empty.' },
      ],
      'after-empty': [
        'a delivery that is signed with an empty secret after the rotation',
        { sign: signedWithText('') },
        'unset-secret',
        { note: 'The setting for the old secret is now empty.' },
      ],
    },
  ),
];

/**
 * Judges the valid deliveries that were sent during a switch. If the receiver restarted, those that did not reach it
 * are ignored.
 */
function judgeSwitch({ switches = [] }: RunObservations, step: RotationStep): Observation {
  const found = switches.find((one) => one.step === step);
  if (found === undefined) {
    const reason = 'the receiver was not switched to this step';
    return { verdict: 'inconclusive', observed: 'no switch', reason };
  }
  const { sent, rejected, unreached, isAcceptedAfter } = found;
  const all = `${sent} deliveries`;
  const [first] = rejected;
  if (!isAcceptedAfter) {
    const reason = 'such deliveries are rejected after the switch, too: the checks of the step report this';
    return { verdict: 'not-applicable', observed: '', reason };
  }
  if (first !== undefined) {
    const observed = `${rejected.length} of ${all} rejected`;
    return { verdict: 'warn', observed, reason: `${observed} during the switch: ${first}`, outcome: 'rejected' };
  }
  if (unreached > 0) {
    const reason = `the receiver restarts to switch its secrets: ${unreached} of ${all} did not reach it`;
    return { verdict: 'not-applicable', observed: '', reason };
  }
  return { verdict: 'pass', observed: `none of ${all} rejected`, reason: '' };
}

const switching = (step: RotationStep) => ({
  expected: 'every valid delivery is accepted during the switch',
  observe: (run: RunObservations) => judgeSwitch(run, step),
});

const switches = family(
  {
    ...rotation,
    verb: 'Rejects',
    of: 'no valid delivery while',
    level: 'should',
    requirements: ['rotation-overlap'],
    mistake: 'deliveries-lost-in-switch',
  },
  {
    'switch-to-both': [
      'it starts accepting the new secret',
      switching('both'),
      { defect: 'Rejects valid deliveries while it starts accepting the new secret' },
    ],
    'switch-to-new': [
      'it stops accepting the old secret',
      switching('new'),
      { defect: 'Rejects valid deliveries while it stops accepting the old secret' },
    ],
  },
) as readonly ObservationScenario[];

export const rotationSuite: Suite = {
  name: 'rotation',
  title: 'Rotation of the secret',
  scenarios: [...steps, ...switches],
};
