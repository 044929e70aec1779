import { fixedText, plain, withField } from '../changes/bodies.ts';
import { HMAC_SHA256, literal, randomSignature, type SigningScheme, signedOver, unsigned } from '../changes/signing.ts';
import { accepted, acceptedUnlessLockedOut, malformedBefore, refused, refusedInARow } from '../expectations.ts';
import { scenarioOf } from '../forgery.ts';
import type { Delivery, Kit, Scenario, Suite } from '../scenario.ts';
import { family } from './family.ts';
import { statusOfRejections } from './rejection-status.ts';
import { otherAlgorithms } from './signature-algorithm.ts';
import { alteredSignatures, cutOrGrownSignatures } from './signature-altered.ts';
import { otherBodies } from './signature-body.ts';
import { signatureBypasses } from './signature-bypass.ts';
import { rejected } from './signature-family.ts';
import { junkSignatures } from './signature-junk.ts';
import { missingSignatures, signatureShapes } from './signature-missing.ts';
import { misplacedSignatures } from './signature-place.ts';
import { otherSecrets, secretsAsSignature } from './signature-secret.ts';
import { spelledSignatures } from './signature-spelling.ts';

type Event = ReturnType<Kit['notification']>;
const valid = (label: string, event: Event): Delivery => ({
  label,
  change: { compose: () => event },
  expect: accepted,
});

/**
 * Sends a new notification with the signature of another one. The bytes of the other notification are known, because
 * its body is compact JSON.
 */
function underSignatureOf(other: Event, label: string): Delivery {
  const sign = signedOver(label, () => Buffer.from(JSON.stringify(other)));
  return { label, change: { sign }, expect: refused };
}

const random = (kit: Kit) => literal(randomSignature(kit), 'a random signature');

function ofDeliveryBefore(kit: Kit): Delivery[][] {
  const event = kit.notification();
  return [
    [valid('a valid delivery', event)],
    [underSignatureOf(event, 'another notification, with the signature of the one before')],
  ];
}

function ofEarlierDelivery(kit: Kit): Delivery[][] {
  const event = kit.notification();
  return [
    [valid('a valid delivery', event)],
    [valid('another valid delivery', kit.notification())],
    [underSignatureOf(event, 'a third notification, with the signature of the first')],
  ];
}

function forgedCopy(kit: Kit): Delivery[][] {
  const event = kit.notification();
  const compose = () => withField(event, 'data.metadata.orderStatus', 'FAILED');
  const label = 'the same id with another status and a random signature';
  return [[valid('a valid delivery', event)], [{ label, change: { compose, sign: random(kit) }, expect: refused }]];
}

function forgedRepeat(kit: Kit): Delivery[][] {
  const event = kit.notification();
  const compose = () => event;
  return [
    [valid('a valid delivery', event)],
    [
      { label: 'the same body with a random signature', change: { compose, sign: random(kit) }, expect: refused },
      { label: 'the same body without a signature', change: { compose, sign: unsigned }, expect: refused },
    ],
  ];
}

function afterBroken(kit: Kit): Delivery[][] {
  return [
    [{ label: 'signed broken JSON', change: { serialise: fixedText('{"id":') }, expect: malformedBefore }],
    [{ label: 'an unsigned delivery after it', change: { sign: unsigned }, expect: refused }],
    [{ label: 'a delivery with a random signature after it', change: { sign: random(kit) }, expect: refused }],
  ];
}

/**
 * Number of invalid attempts: enough for a receiver that fails open after several failures, or verifies one delivery in
 * ten, to accept one, but few enough to be quick.
 */
const ATTEMPTS = 26;
/** Sizes of the groups of concurrent attempts. Common limits on failed attempts are ten and twenty-five. */
const AT_ONCE: readonly number[] = [2, ...Array.from({ length: 10 }, () => 1), 7, 7];

function inARow(kit: Kit): Delivery[][] {
  const attempts = Array.from(
    { length: ATTEMPTS },
    (_, at): Delivery => ({
      label: `invalid signature ${at + 1}`,
      change: { sign: random(kit) },
      expect: refusedInARow,
    }),
  );
  const plainly = { change: { compose: plain } };
  return [
    ...AT_ONCE.map((count) => attempts.splice(0, count)),
    [{ ...plainly, label: 'a valid delivery after them', expect: acceptedUnlessLockedOut }],
    [
      {
        ...plainly,
        label: 'a valid delivery from another address after them',
        expect: accepted,
        fromOtherAddress: true,
      },
    ],
  ];
}

/**
 * Checks that earlier verifications do not affect later ones. All deliveries are sent in sequence on one connection.
 */
function rememberedSignatures(scheme: SigningScheme): Scenario[] {
  return [
    ...family(rejected(scheme, 'every-delivery', 'invalid'), {
      'of-delivery-before': [
        'the signature of the previous delivery',
        { alone: true, flow: ofDeliveryBefore },
        'state-outlives-request',
      ],
      'of-earlier-delivery': [
        'the signature of an earlier accepted delivery',
        { alone: true, flow: ofEarlierDelivery },
        'cached-verification',
      ],
      'forged-copy': [
        'a forged delivery with the id of an accepted one',
        { alone: true, flow: forgedCopy },
        'lookup-before-verification',
      ],
    }),
    ...family(rejected(scheme, 'invalid', 'missing'), {
      'forged-repeat': [
        'an accepted body that is sent again without a valid signature',
        { alone: true, flow: forgedRepeat },
        'lookup-before-verification',
      ],
      'after-broken': [
        'forged deliveries after a signed one that cannot be parsed',
        { alone: true, flow: afterBroken },
        'state-outlives-request',
      ],
    }),
    ...family(rejected(scheme, 'every-delivery', 'invalid'), {
      'wrong-in-a-row': [
        `${ATTEMPTS} invalid signatures in a row, and accepts a valid one after them`,
        { last: true, flow: inARow },
        'verification-fails-open',
        {
          defect: `Accepts one of ${ATTEMPTS} invalid signatures in a row, or locks out the sender after them`,
          note: 'A lock-out after failures is a defect too: the sender has only one address.',
        },
      ],
    }),
  ];
}

/** Signatures that are missing, forged, changed, in another encoding or in another place. */
function signatureChecks(scheme: SigningScheme): Scenario[] {
  return [
    ...missingSignatures(scheme),
    ...signatureShapes.map(scenarioOf),
    ...otherSecrets(scheme),
    ...otherBodies(scheme),
    ...junkSignatures(scheme),
    ...cutOrGrownSignatures(scheme),
    ...alteredSignatures(scheme),
    ...spelledSignatures(scheme),
    ...otherAlgorithms(scheme),
    ...secretsAsSignature(scheme),
    ...misplacedSignatures(scheme),
    ...signatureBypasses.map(scenarioOf),
    ...rememberedSignatures(scheme),
    statusOfRejections('signature', scheme.requirements.invalid, scheme.feature),
  ];
}

/** The checks of the HMAC signature. Specification: HMAC signature. */
export const signatureSuite: Suite = {
  name: 'signature',
  title: 'Only valid signatures are accepted',
  scenarios: signatureChecks(HMAC_SHA256),
};
