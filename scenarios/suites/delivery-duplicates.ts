import type { JsonValue } from '../../contract/index.ts';
import { withoutHeader, wrongKey } from '../changes/addressing.ts';
import { fixedText, rewritten, spacedOut, withField } from '../changes/bodies.ts';
import { literal, signedWith, unsigned } from '../changes/signing.ts';
import { accepted, acceptedUnlessLockedOut, handled, refused } from '../expectations.ts';
import { deposit, epochSeconds, order, ownId, wallet } from '../samples.ts';
import type { Change, Delivery, Expectation, FlowScenario, Kit } from '../scenario.ts';

function copy(label: string, event: JsonValue): Delivery {
  return { label, change: { compose: () => event }, expect: accepted };
}

function copies(count: number, event: JsonValue): Delivery[] {
  return Array.from({ length: count }, (_, index) => copy(`copy ${index + 1} of ${count}`, event));
}

const duplicate = { level: 'should', requirements: ['repeat-duplicate'] } as const;
const distinct = { level: 'must', requirements: ['repeat-by-id'] } as const;

/** Repeated notifications, and notifications that only look repeated. Specification: Notification envelope (id). */
export const deliveryDuplicates: readonly FlowScenario[] = [
  {
    ...duplicate,
    id: 'delivery/twice',
    title: 'Accepts the second copy of a notification',
    flow: (kit) => copies(2, kit.notification()).map((delivery) => [delivery]),
    why: 'When a 200 is lost, the sender can only send again. A 409 or 500 then looks like a permanent failure.',
    fix: 'Catch the violation of the unique key on id, and answer 200: you already have the notification.',
  },
  {
    ...duplicate,
    id: 'delivery/three-times',
    title: 'Accepts the third copy of a notification',
    flow: (kit) => copies(3, kit.notification()).map((delivery) => [delivery]),
    why: 'A counter of attempts, or a toggle between "new" and "seen", may work for two copies and fail for three.',
    fix: 'Look the id up, and do not toggle a flag with each copy.',
  },
  {
    ...duplicate,
    id: 'delivery/two-at-once',
    title: 'Accepts two concurrent copies of a notification',
    flow: (kit) => [copies(2, kit.notification())],
    why: 'Both look up the id, neither finds it, both insert it, and one of them fails with a database error.',
    fix: 'Insert first and let the unique key decide (ON CONFLICT DO NOTHING), instead of a lookup before.',
  },
  {
    ...duplicate,
    id: 'delivery/ten-at-once',
    title: 'Accepts ten concurrent copies of a notification',
    alone: true,
    flow: (kit) => [copies(10, kit.notification())],
    why: 'With a lock per id, the copies wait for each other, and the last one runs into a timeout or a deadlock.',
    fix: 'Hold no lock while a notification is processed: store it, answer, and process it once afterwards.',
  },
  {
    ...duplicate,
    id: 'delivery/deposit-twice',
    title: 'Accepts the second copy of a deposit',
    flow: (kit) => copies(2, deposit(kit)).map((delivery) => [delivery]),
    why: 'A second copy of a deposit costs money, so its code often has its own check that answers with an error.',
    fix: 'Skip the booking, but still answer 200.',
  },
  {
    ...duplicate,
    id: 'delivery/wallet-twice',
    title: 'Accepts the second copy of a WALLET notification',
    flow: (kit) => copies(2, wallet(kit)).map((delivery) => [delivery]),
    why: 'The address is a unique key in most wallet tables, so inserting it again fails.',
    fix: 'Insert a wallet only if it does not exist yet.',
  },
  {
    ...duplicate,
    id: 'delivery/same-id-other-layout',
    title: 'Accepts a copy with different whitespace',
    flow: (kit) => {
      const event = kit.notification();
      const spaced: Delivery = {
        label: 'the same notification with spaces',
        change: { compose: () => event, serialise: rewritten(spacedOut) },
        expect: accepted,
      };
      return [[copy('the first copy', event)], [spaced]];
    },
    why: 'With a hash of the body as the key, the copy looks new, and its id then violates the unique key: a 500.',
    fix: 'Detect copies by their id only.',
  },
  {
    ...distinct,
    id: 'delivery/other-id-same-data',
    title: 'Accepts three notifications with the same data and different ids',
    flow: (kit) => {
      const event = kit.notification();
      return [
        [copy('the first notification', event)],
        [copy('the same data under another id', { ...event, id: kit.newId() })],
        [copy('the same data under an id that differs in its last digit', { ...event, id: lastDigitChanged(event) })],
      ];
    },
    why: 'Two equal deposits are two deposits. A unique key over the content rejects the second one.',
    fix: 'Put the unique key on id only.',
  },
  {
    ...distinct,
    id: 'delivery/same-second',
    title: 'Accepts three notifications of one transaction in the same second',
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      return [
        [copy('CREATED', order(kit, 'BUY', 'CREATED', { transactionId }))],
        [copy('PENDING in the same second', order(kit, 'BUY', 'PENDING', { transactionId }))],
        // The receiver's clock may move on to the next second once during the three deliveries, but not twice.
        [copy('CONFIRMED in the same second', order(kit, 'BUY', 'CONFIRMED', { transactionId }))],
      ];
    },
    why: '`at` has a resolution of one second, so a key of transaction and time is not unique.',
    fix: 'Do not use `at` in keys.',
  },
];

const lastDigitChanged = ({ id }: ReturnType<Kit['notification']>) =>
  String(id).replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));

/** An invalid delivery with the id of a notification, and then the notification itself. */
function poisoned(
  label: string,
  expect: Expectation,
  bad: (event: ReturnType<Kit['notification']>, kit: Kit) => Change,
): FlowScenario['flow'] {
  return (kit) => {
    const event = kit.notification();
    const valid: Delivery = {
      label: 'the valid notification with the same id',
      change: { compose: () => event },
      expect: accepted,
    };
    return [[{ label, change: bad(event, kit), expect }], [valid]];
  };
}

/** Usual limits are three and five. From ten, addresses are locked out. */
const FORGERIES = 5;

/**
 * Forgeries with all ids of a notification, then another notification of its transaction, and then the notification
 * itself from another address: a limit that counts by address is a separate check (`signature/wrong-in-a-row`).
 */
function poisonedOften(forge: Change): FlowScenario['flow'] {
  return (kit) => {
    const transactionId = ownId(kit, 'transaction');
    const event = order(kit, 'BUY', 'COMPLETED', { transactionId });
    const forged = Array.from({ length: FORGERIES }, (_, at) => ({
      label: `forgery ${at + 1} of ${FORGERIES} with the ids of a notification`,
      change: { ...forge, compose: () => event },
      expect: refused,
    }));
    const pending: Delivery = {
      label: 'a valid notification of the same transaction',
      change: { compose: () => order(kit, 'BUY', 'PENDING', { transactionId }) },
      expect: acceptedUnlessLockedOut,
    };
    const valid: Delivery = {
      label: 'the valid notification from another address',
      change: { compose: () => event },
      expect: accepted,
      fromOtherAddress: true,
    };
    return [forged, [pending], [valid]];
  };
}

const limitedByTransaction =
  'A limit on failures by transaction lets anyone who knows its id stop its notifications from every address.';

const base = { level: 'must', requirements: ['repeat-not-poisoned'] } as const;

/** Invalid deliveries that must not block the id of a valid one. */
export const deliveryPoisoned: readonly FlowScenario[] = [
  {
    ...base,
    id: 'delivery/poisoned-unsigned',
    title: 'Accepts a notification after an unsigned delivery with the same id',
    needs: ['hmac'],
    flow: poisoned('an unsigned delivery', refused, (event) => ({ compose: () => event, sign: unsigned })),
    why:
      'If ids are stored before the signature is verified, an attacker who knows an id can block the real ' +
      'notification.',
    fix: 'Look up the id only after key and signature were verified.',
  },
  {
    ...base,
    id: 'delivery/poisoned-wrong-secret',
    title: 'Accepts a notification after one with the same id and another secret',
    needs: ['hmac'],
    flow: poisoned('a delivery that is signed with a different secret', refused, (event) => ({
      compose: () => event,
      sign: signedWith('signed with a different secret', (kit) => kit.bytes(32)),
    })),
    why: 'Deliveries may fail while a secret is rotated. Sent again with the correct secret, they must be accepted.',
    fix: 'Do not cache the result of the verification by id.',
  },
  {
    ...base,
    id: 'delivery/poisoned-other-content',
    title: 'Accepts a notification after a forgery with the same id and other content',
    needs: ['hmac'],
    flow: poisoned('a forged delivery with the same id, another status and a later time', refused, (event, kit) => ({
      compose: () => withField({ ...event, at: epochSeconds(kit) + 86_400 }, 'data.metadata.orderStatus', 'FAILED'),
      sign: literal(Buffer.alloc(32, 1).toString('base64'), 'an invalid signature'),
    })),
    why: 'A receiver that stores first and verifies later keeps the forged content, and treats the real one as a copy.',
    fix: 'Store nothing of a delivery that is not verified.',
  },
  {
    ...base,
    id: 'delivery/poisoned-wrong-key',
    title: 'Accepts a notification after one with the same id and an invalid API key',
    needs: ['api-key'],
    flow: poisoned('a delivery with an invalid API key', refused, (event) => ({
      compose: () => event,
      address: wrongKey,
    })),
    why: 'Key and signature are often checked in different places, with de-duplication in between.',
    fix: 'Check all credentials before anything is stored.',
  },
  {
    ...base,
    id: 'delivery/poisoned-missing-key',
    title: 'Accepts a notification after one with the same id and no API key',
    needs: ['api-key'],
    flow: poisoned('a delivery without the API key', refused, (event) => ({
      compose: () => event,
      address: withoutHeader('api-key', 'no API key header'),
    })),
    why: 'A misconfigured gateway may omit the key for some time, which must not affect the ids.',
    fix: 'Reject the delivery before it reaches the inbox.',
  },
  {
    ...base,
    id: 'delivery/poisoned-often',
    title: `Accepts a notification after ${FORGERIES} forgeries with the same ids`,
    needs: ['hmac'],
    alone: true,
    owns: ['transaction'],
    flow: poisonedOften({ sign: literal(Buffer.alloc(32, 1).toString('base64'), 'an invalid signature') }),
    why: limitedByTransaction,
    fix: 'Count failures by source address at most, and always accept valid credentials.',
  },
  {
    ...base,
    id: 'delivery/poisoned-often-by-key',
    title: `Accepts a notification after ${FORGERIES} deliveries with the same ids and an invalid API key`,
    needs: ['api-key'],
    alone: true,
    owns: ['transaction'],
    flow: poisonedOften({ address: wrongKey }),
    why: limitedByTransaction,
    fix: 'Count failures by source address at most, and always accept a valid key.',
  },
  {
    ...base,
    id: 'delivery/poisoned-malformed',
    title: 'Accepts a notification after a malformed one with the same id',
    flow: poisoned('a delivery with the same id whose data is null', handled, (event) => ({
      compose: () => withField(event, 'data', null),
    })),
    why: 'If the id is stored before the payload is validated, a corrected delivery is dropped as a copy.',
    fix: 'Store the id in the same transaction as the valid notification.',
  },
  {
    ...base,
    id: 'delivery/poisoned-metadata',
    title: 'Accepts a notification after one of the same transaction whose metadata is a number',
    flow: poisoned('a delivery with the same id and a number as metadata', handled, (event) => ({
      compose: () => withField(event, 'data.metadata', 5),
    })),
    why: 'A lock or a database transaction that was begun for the transaction stays open after an exception.',
    fix: 'Release locks and roll back in `finally`, and validate the payload before either begins.',
  },
  {
    ...base,
    id: 'delivery/poisoned-broken',
    title: 'Accepts a notification after broken JSON that starts with the same id',
    flow: poisoned('a broken body that begins with the id', handled, (event) => ({
      serialise: fixedText(`{"id":${JSON.stringify(event.id)},"type":`),
    })),
    why: 'A stream parser reports the id before it fails, and whatever was stored until then remains.',
    fix: 'Parse the whole body before you act on any part of it.',
  },
  {
    ...base,
    id: 'delivery/forged-beside-right',
    title: 'Distinguishes a notification from a concurrent forgery with the same id',
    defect: 'Does not distinguish a notification from a concurrent forgery with the same id',
    requirements: ['repeat-not-poisoned', 'hmac-invalid'],
    needs: ['hmac'],
    flow: (kit) => {
      const event = kit.notification();
      const valid: Delivery = { label: 'the valid notification', change: { compose: () => event }, expect: accepted };
      const forged: Delivery = {
        label: 'the forgery with the same id',
        change: {
          compose: () => withField(event, 'data.metadata.orderStatus', 'FAILED'),
          sign: literal(Buffer.alloc(32, 1).toString('base64'), 'an invalid signature'),
        },
        expect: refused,
      };
      return [[valid, forged]];
    },
    why: 'A receiver that merges requests with the same id gives both the same answer.',
    fix: 'Merge copies only after each of them was verified.',
  },
];
