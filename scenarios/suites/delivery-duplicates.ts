import type { JsonValue } from '../../contract/index.ts';
import { withoutHeader } from '../changes/addressing.ts';
import { fixedText, rewritten, spacedOut } from '../changes/bytes.ts';
import { withField } from '../changes/composing.ts';
import { wrongKey } from '../changes/keying.ts';
import { literal, signedWith, unsigned } from '../changes/signing.ts';
import { accepted, handled, refused } from '../expectations.ts';
import { deposit, order, reference, wallet } from '../samples.ts';
import type { Change, Delivery, Expectation, FlowScenario, Kit } from '../scenario.ts';

function copy(label: string, event: JsonValue): Delivery {
  return { label, change: { compose: () => event }, expect: accepted };
}

function copies(count: number, event: JsonValue): Delivery[] {
  return Array.from({ length: count }, (_, index) => copy(`copy ${index + 1} of ${count}`, event));
}

const duplicate = { level: 'should', requirements: ['repeat-duplicate'] } as const;
const distinct = { level: 'must', requirements: ['repeat-by-id'] } as const;

/** The same notification again, and notifications that only look the same. Specification: Notification envelope (id). */
export const deliveryDuplicates: readonly FlowScenario[] = [
  {
    ...duplicate,
    id: 'delivery/twice',
    title: 'Answers 200 to the second copy of a notification too',
    flow: (kit) => copies(2, kit.notification()).map((delivery) => [delivery]),
    why: 'When a 200 is lost on its way, the sender can only send again. A 409 or 500 then looks like a failure that never ends.',
    fix: 'Catch the violation of the unique key on id, and answer 200: you have the notification already.',
  },
  {
    ...duplicate,
    id: 'delivery/three-times',
    title: 'Answers 200 to the third copy of a notification too',
    flow: (kit) => copies(3, kit.notification()).map((delivery) => [delivery]),
    why: 'A counter of attempts, or a toggle between "new" and "seen", may be right for two copies and wrong for three.',
    fix: 'Look the id up; do not switch a flag with each copy.',
  },
  {
    ...duplicate,
    id: 'delivery/two-at-once',
    title: 'Answers 200 to two copies at the same time',
    flow: (kit) => [copies(2, kit.notification())],
    why: 'Both look for the id, neither finds it, both insert it, and one of them fails with a database error.',
    fix: 'Insert first and let the unique key decide (ON CONFLICT DO NOTHING), instead of asking before.',
  },
  {
    ...duplicate,
    id: 'delivery/ten-at-once',
    title: 'Answers 200 to ten copies at the same time',
    alone: true,
    flow: (kit) => [copies(10, kit.notification())],
    why: 'A lock for each id makes the copies wait for one another; with ten of them the last runs into a time limit or a deadlock.',
    fix: 'Do not hold a lock while a notification is handled: store it, answer, and handle it once afterwards.',
  },
  {
    ...duplicate,
    id: 'delivery/deposit-twice',
    title: 'Answers 200 to the second copy of a deposit too',
    flow: (kit) => copies(2, deposit(kit)).map((delivery) => [delivery]),
    why: 'Deposits are where a second copy costs money, so their code often has a guard of its own that answers with an error.',
    fix: 'Let the guard skip the booking and still answer 200.',
  },
  {
    ...duplicate,
    id: 'delivery/wallet-twice',
    title: 'Answers 200 to the second copy of a wallet notification too',
    flow: (kit) => copies(2, wallet(kit)).map((delivery) => [delivery]),
    why: 'The address is a unique key in most tables of wallets, and inserting it again throws.',
    fix: 'Insert wallets with an "if not there yet".',
  },
  {
    ...duplicate,
    id: 'delivery/same-id-other-layout',
    title: 'Answers 200 to a copy that is written with other white space',
    flow: (kit) => {
      const event = kit.notification();
      const spaced: Delivery = {
        label: 'the same notification with spaces',
        change: { compose: () => event, serialise: rewritten(spacedOut) },
        expect: accepted,
      };
      return [[copy('the first copy', event)], [spaced]];
    },
    why: 'A fingerprint of the body takes this for a new notification; its id then hits the unique key in the database, and the answer is a 500.',
    fix: 'Recognise a copy by its id alone.',
  },
  {
    ...distinct,
    id: 'delivery/other-id-same-data',
    title: 'Accepts two notifications whose data is the same and whose ids differ',
    flow: (kit) => {
      const event = kit.notification();
      return [
        [copy('the first notification', event)],
        [copy('the same data under another id', { ...event, id: kit.newId() })],
      ];
    },
    why: 'Two equal deposits are two deposits. A unique key over the content refuses the second one.',
    fix: 'Put the unique key on id and on nothing else.',
  },
  {
    ...distinct,
    id: 'delivery/same-second',
    title: 'Accepts two notifications of one transaction in the same second',
    flow: (kit) => {
      const transactionId = reference(kit, 'transaction');
      return [
        [copy('CREATED', order(kit, 'BUY', 'CREATED', { transactionId }))],
        [copy('PENDING in the same second', order(kit, 'BUY', 'PENDING', { transactionId }))],
      ];
    },
    why: '`at` counts whole seconds, so a key of transaction and time is not unique.',
    fix: 'Do not use `at` in keys.',
  },
];

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
