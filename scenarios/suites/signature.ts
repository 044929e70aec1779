import { fixedText, plain, withField } from '../changes/bodies.ts';
import { literal, signedOver, unsigned } from '../changes/signing.ts';
import { accepted, acceptedUnlessLockedOut, handled, refused, refusedInARow } from '../expectations.ts';
import { scenarioOf } from '../forgery.ts';
import type { Delivery, FlowScenario, Kit, Suite } from '../scenario.ts';
import { statusOfRejections } from './rejection-status.ts';
import { otherAlgorithms } from './signature-algorithm.ts';
import { alteredSignatures, cutOrGrownSignatures } from './signature-altered.ts';
import { otherBodies } from './signature-body.ts';
import { signatureBypasses } from './signature-bypass.ts';
import { junkSignatures } from './signature-junk.ts';
import { missingSignatures, signatureShapes } from './signature-missing.ts';
import { misplacedSignatures } from './signature-place.ts';
import { otherSecrets, secretsAsSignature } from './signature-secret.ts';
import { spelledSignatures } from './signature-spelling.ts';

const base = { level: 'must', requirements: ['hmac-every-delivery', 'hmac-invalid'], needs: ['hmac'] } as const;

type Event = ReturnType<Kit['notification']>;
const valid = (label: string, event: Event): Delivery => ({
  label,
  change: { compose: () => event },
  expect: accepted,
});

/** A new notification with the signature of another one. Both are compact JSON, so the bytes of the other are known. */
function underSignatureOf(other: Event, label: string): Delivery {
  const sign = signedOver(label, () => Buffer.from(JSON.stringify(other)));
  return { label, change: { sign }, expect: refused };
}

/** More attempts than a circuit breaker or a sample of one in ten lets pass, and few enough to be quick. */
const ATTEMPTS = 26;
/** How many of them are sent at once: usual limits are at most ten and twenty-five, and endpoints may answer slowly. */
const AT_ONCE: readonly number[] = [2, ...Array.from({ length: 10 }, () => 1), 7, 7];

function inARow(kit: Kit): Delivery[][] {
  const attempts = Array.from(
    { length: ATTEMPTS },
    (_, at): Delivery => ({
      label: `invalid signature ${at + 1}`,
      change: { sign: literal(kit.bytes(32).toString('base64'), 'a random signature') },
      expect: refusedInARow,
    }),
  );
  return AT_ONCE.map((count) => attempts.splice(0, count));
}

/** Earlier verifications must not affect later ones. All deliveries use one connection, in sequence. */
const remembered: readonly FlowScenario[] = [
  {
    ...base,
    id: 'signature/of-delivery-before',
    title: 'Rejects the signature of the previous delivery',
    alone: true,
    flow: (kit) => {
      const event = kit.notification();
      return [
        [valid('a valid delivery', event)],
        [underSignatureOf(event, 'another notification, with the signature of the one before')],
      ];
    },
    why: 'A raw body that is stored outside its request may still be there for the next one.',
    fix: 'Keep the raw body with its request, and compute the HMAC for each body.',
  },
  {
    ...base,
    id: 'signature/of-earlier-delivery',
    title: 'Rejects the signature of an earlier accepted delivery',
    alone: true,
    flow: (kit) => {
      const event = kit.notification();
      return [
        [valid('a valid delivery', event)],
        [valid('another valid delivery', kit.notification())],
        [underSignatureOf(event, 'a third notification, with the signature of the first')],
      ];
    },
    why: 'If verified signatures are cached without their bodies, a captured one is valid for any body.',
    fix: 'Do not cache the result of the verification: it takes microseconds.',
  },
  {
    ...base,
    id: 'signature/forged-copy',
    title: 'Rejects a forged delivery with the id of an accepted one',
    alone: true,
    flow: (kit) => {
      const event = kit.notification();
      const changed = withField(event, 'data.metadata.orderStatus', 'FAILED');
      const sign = literal(kit.bytes(32).toString('base64'), 'a random signature');
      return [
        [valid('a valid delivery', event)],
        [
          {
            label: 'the same id with another status and a random signature',
            change: { compose: () => changed, sign },
            expect: refused,
          },
        ],
      ];
    },
    why: 'De-duplication before verification answers 200 to anyone who knows an id, and reveals which ids exist.',
    fix: 'Verify first, and look up the id only after that.',
  },
  {
    ...base,
    id: 'signature/forged-repeat',
    title: 'Rejects an accepted body that is sent again without a valid signature',
    requirements: ['hmac-invalid', 'hmac-missing'],
    alone: true,
    flow: (kit) => {
      const event = kit.notification();
      const sign = literal(kit.bytes(32).toString('base64'), 'a random signature');
      const compose = () => event;
      return [
        [valid('a valid delivery', event)],
        [
          { label: 'the same body with a random signature', change: { compose, sign }, expect: refused },
          { label: 'the same body without a signature', change: { compose, sign: unsigned }, expect: refused },
        ],
      ];
    },
    why: 'A cache of answers by the body replies before the verification, and confirms what was delivered to anyone.',
    fix: 'Verify first, and look for repeated bodies only after that.',
  },
  {
    ...base,
    id: 'signature/after-broken',
    title: 'Rejects forged deliveries after a signed one that cannot be parsed',
    requirements: ['hmac-invalid', 'hmac-missing'],
    alone: true,
    flow: (kit) => {
      const sign = literal(kit.bytes(32).toString('base64'), 'a random signature');
      return [
        [{ label: 'signed broken JSON', change: { serialise: fixedText('{"id":') }, expect: handled }],
        [{ label: 'an unsigned delivery after it', change: { sign: unsigned }, expect: refused }],
        [{ label: 'a delivery with a random signature after it', change: { sign }, expect: refused }],
      ];
    },
    why: 'A flag or a result that is reset only after the handler stays set when the parser throws.',
    fix: 'Keep the result of the verification in the request, not in a variable that outlives it.',
  },
  {
    ...base,
    id: 'signature/wrong-in-a-row',
    title: `Rejects ${ATTEMPTS} invalid signatures in a row, and accepts a valid one after them`,
    defect: `Accepts one of ${ATTEMPTS} invalid signatures in a row, or locks out the sender after them`,
    last: true,
    flow: (kit) => [
      ...inARow(kit),
      [{ label: 'a valid delivery after them', change: { compose: plain }, expect: acceptedUnlessLockedOut }],
      [
        {
          label: 'a valid delivery from another address after them',
          change: { compose: plain },
          expect: accepted,
          fromOtherAddress: true,
        },
      ],
    ],
    why:
      'A circuit breaker that fails open accepts forgeries if an attacker keeps trying. A lock-out stops all ' +
      'notifications, because the sender has only one address.',
    fix:
      'Verify every delivery, reject it when verification is unavailable, and never reject valid credentials because ' +
      'of earlier failures.',
  },
];

/**
 * The HMAC signature: missing, forged, changed, in another encoding or in another place. Specification: HMAC signature.
 */
export const signatureSuite: Suite = {
  name: 'signature',
  title: 'Only valid signatures are accepted',
  scenarios: [
    ...missingSignatures,
    ...signatureShapes.map(scenarioOf),
    ...otherSecrets,
    ...otherBodies,
    ...junkSignatures,
    ...cutOrGrownSignatures,
    ...alteredSignatures,
    ...spelledSignatures,
    ...otherAlgorithms,
    ...secretsAsSignature,
    ...misplacedSignatures,
    ...signatureBypasses.map(scenarioOf),
    ...remembered,
    statusOfRejections('signature', 'hmac-invalid', 'hmac'),
  ],
};
