import { withoutHeader } from '../changes/addressing.ts';
import { fixedText } from '../changes/bytes.ts';
import { withField } from '../changes/composing.ts';
import { wrongKey } from '../changes/keying.ts';
import { literal, signedWith, unsigned } from '../changes/signing.ts';
import { accepted, handled, refused } from '../expectations.ts';
import type { Change, Delivery, Expectation, FlowScenario, Kit } from '../scenario.ts';

/** A bad delivery with the id of a notification, and then the notification itself. */
function poisoned(
  label: string,
  expect: Expectation,
  bad: (event: ReturnType<Kit['notification']>, kit: Kit) => Change,
): FlowScenario['flow'] {
  return (kit) => {
    const event = kit.notification();
    const right: Delivery = {
      label: 'the right notification with the same id',
      change: { compose: () => event },
      expect: accepted,
    };
    return [[{ label, change: bad(event, kit), expect }], [right]];
  };
}

const base = { level: 'must', requirements: ['repeat-not-poisoned'] } as const;

/** Bad deliveries that must not use up the id of a right one. */
export const deliveryPoisoned: readonly FlowScenario[] = [
  {
    ...base,
    id: 'delivery/poisoned-unsigned',
    title: 'Accepts a notification after an unsigned delivery with its id',
    needs: ['hmac'],
    flow: poisoned('an unsigned delivery', refused, (event) => ({ compose: () => event, sign: unsigned })),
    why: 'If ids are remembered before the signature is checked, anybody who knows or guesses an id can make the real notification vanish.',
    fix: 'Look at the id only after key and signature were found right.',
  },
  {
    ...base,
    id: 'delivery/poisoned-wrong-secret',
    title: 'Accepts a notification after one with its id that was signed with another secret',
    needs: ['hmac'],
    flow: poisoned('a delivery that is signed with another secret', refused, (event) => ({
      compose: () => event,
      sign: signedWith('signed with another secret', (kit) => kit.bytes(32)),
    })),
    why: 'While a secret is rotated, deliveries fail for a moment; sent again with the right one they have to get through.',
    fix: 'Do not cache the result of the check by id.',
  },
  {
    ...base,
    id: 'delivery/poisoned-other-content',
    title: 'Accepts a notification after a forged one with its id and other content',
    needs: ['hmac'],
    flow: poisoned('a forged delivery with the same id and another status', refused, (event) => ({
      compose: () => withField(event, 'data.metadata.orderStatus', 'FAILED'),
      sign: literal(Buffer.alloc(32, 1).toString('base64'), 'a made-up signature'),
    })),
    why: 'A receiver that stores first and verifies later now holds the forged content under the id, and takes the real one for a copy.',
    fix: 'Store nothing of a delivery that is not verified.',
  },
  {
    ...base,
    id: 'delivery/poisoned-wrong-key',
    title: 'Accepts a notification after one with its id and a wrong API key',
    needs: ['api-key'],
    flow: poisoned('a delivery with a wrong API key', refused, (event) => ({
      compose: () => event,
      address: wrongKey,
    })),
    why: 'Key and signature are often checked in different places, with the de-duplication in between.',
    fix: 'Check all credentials before anything is remembered.',
  },
  {
    ...base,
    id: 'delivery/poisoned-missing-key',
    title: 'Accepts a notification after one with its id and no API key',
    needs: ['api-key'],
    flow: poisoned('a delivery without the API key', refused, (event) => ({
      compose: () => event,
      address: withoutHeader('api-key', 'no API key header'),
    })),
    why: 'A gateway that lost its configuration sends without the key for a while; nothing of that may stick to the ids.',
    fix: 'Refuse before the inbox sees the delivery.',
  },
  {
    ...base,
    id: 'delivery/poisoned-malformed',
    title: 'Accepts a notification after a malformed one with its id',
    flow: poisoned('a delivery with the same id whose data is null', handled, (event) => ({
      compose: () => withField(event, 'data', null),
    })),
    why: 'If the id is stored before the payload is validated, a corrected delivery is taken for a copy and dropped.',
    fix: 'Remember the id in the same transaction that stores the valid notification.',
  },
  {
    ...base,
    id: 'delivery/poisoned-broken',
    title: 'Accepts a notification after a broken body that begins with its id',
    flow: poisoned('a broken body that begins with the id', handled, (event) => ({
      serialise: fixedText(`{"id":${JSON.stringify(event.id)},"type":`),
    })),
    why: 'A stream parser reports the id before it fails, and what was done with it until then stays done.',
    fix: 'Parse the whole body before you act on any part of it.',
  },
  {
    ...base,
    id: 'delivery/forged-beside-right',
    title: 'Tells a notification from a forgery with its id that comes at the same time',
    requirements: ['repeat-not-poisoned', 'hmac-invalid'],
    needs: ['hmac'],
    flow: (kit) => {
      const event = kit.notification();
      const right: Delivery = { label: 'the right notification', change: { compose: () => event }, expect: accepted };
      const forged: Delivery = {
        label: 'the forgery with the same id',
        change: {
          compose: () => withField(event, 'data.metadata.orderStatus', 'FAILED'),
          sign: literal(Buffer.alloc(32, 1).toString('base64'), 'a made-up signature'),
        },
        expect: refused,
      };
      return [[right, forged]];
    },
    why: 'A receiver that joins requests with the same id gives both the answer of the first: the forgery is accepted, or the real notification refused.',
    fix: 'Join copies only after each of them has been verified.',
  },
];
