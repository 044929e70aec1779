import type { JsonObject } from '../../contract/index.ts';
import { withoutHeader, wrongKey } from '../changes/addressing.ts';
import { fixedText, rewritten, spacedOut, withField } from '../changes/bodies.ts';
import { literal, unsigned } from '../changes/signing.ts';
import { acceptedUnlessLockedOut, malformedBefore, refused } from '../expectations.ts';
import { deposit, epochSeconds, order, ownId, wallet } from '../samples.ts';
import type { Change, Delivery, Expectation, FlowScenario, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { composed, event, type Groups, inSequence, ofTransaction, otherSecret } from './flows.ts';

function copies(count: number, notification: JsonObject): Delivery[] {
  return Array.from({ length: count }, (_, index) => event(`copy ${index + 1} of ${count}`, notification));
}

/** Sends a notification, and then a copy of it with spaces between its tokens. */
function withOtherLayout(kit: Kit) {
  const first = event('the first copy', kit.notification());
  const change: Change = { ...first.change, serialise: rewritten(spacedOut) };
  return inSequence(first, { ...first, label: 'the same notification with spaces', change });
}

/** Sends the data of one notification under three ids. */
function underOtherIds(kit: Kit) {
  const first = kit.notification();
  const lastDigitChanged = String(first.id).replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
  return inSequence(
    event('the first notification', first),
    event('the same data under another id', { ...first, id: kit.newId() }),
    event('the same data under an id that differs in its last digit', { ...first, id: lastDigitChanged }),
  );
}

const repeated = { suite: 'delivery', verb: 'Accepts' } as const;

/** Repeated notifications, and notifications that only look repeated. Specification: Notification envelope (id). */
export const deliveryDuplicates: readonly Scenario[] = [
  ...family(
    { ...repeated, level: 'should', requirements: ['repeat-duplicate'], mistake: 'copy-rejected' },
    {
      twice: ['the second copy of a notification', { flow: (kit) => inSequence(...copies(2, kit.notification())) }],
      'three-times': [
        'the third copy of a notification',
        { flow: (kit) => inSequence(...copies(3, kit.notification())) },
        { note: 'A toggle between "new" and "seen" may work for two copies and fail for three.' },
      ],
      'two-at-once': [
        'two concurrent copies of a notification',
        { flow: (kit) => [copies(2, kit.notification())] },
        'lookup-before-insert',
      ],
      'ten-at-once': [
        'ten concurrent copies of a notification',
        { alone: true, flow: (kit) => [copies(10, kit.notification())] },
        'lookup-before-insert',
        { note: 'With a lock per id, the copies wait for each other, and the last one times out.' },
      ],
      'deposit-twice': ['the second copy of a deposit', { flow: (kit) => inSequence(...copies(2, deposit(kit))) }],
      'wallet-twice': [
        'the second copy of a WALLET notification',
        { flow: (kit) => inSequence(...copies(2, wallet(kit))) },
        { note: 'The address is a unique key in most wallet tables.' },
      ],
      'same-id-other-layout': [
        'a copy with different whitespace',
        { flow: withOtherLayout },
        'copies-by-content',
        { note: 'The copy looks new, and its id then violates the unique key.' },
      ],
    },
  ),
  ...family(
    { ...repeated, level: 'must', requirements: ['repeat-by-id'], mistake: 'copies-by-content' },
    {
      'other-id-same-data': ['three notifications with the same data and different ids', { flow: underOtherIds }],
      'same-second': [
        'three notifications of one transaction in the same second',
        ofTransaction((kit, transactionId) => [
          event('CREATED', order(kit, 'BUY', 'CREATED', { transactionId })),
          event('PENDING in the same second', order(kit, 'BUY', 'PENDING', { transactionId })),
          // The receiver's clock may advance to the next second once during the three deliveries, but not twice.
          event('CONFIRMED in the same second', order(kit, 'BUY', 'CONFIRMED', { transactionId })),
        ]),
        { note: '`at` has a resolution of one second.' },
      ],
    },
  ),
];

type Spoilt = (notification: JsonObject, kit: Kit) => Change;

/** Sends an invalid delivery with the id of a notification, then the notification itself. */
function poisoned(label: string, spoilt: Spoilt, expect: Expectation = refused): Pick<FlowScenario, 'flow'> {
  return {
    flow: (kit) => {
      const notification = kit.notification();
      const bad = { label, change: spoilt(notification, kit), expect };
      return inSequence(bad, event('the valid notification with the same id', notification));
    },
  };
}

/** Common limits on failures are three and five. After ten failures, many receivers lock out the address. */
const FORGERIES = 5;

/**
 * Sends forgeries with all ids of a notification, then another notification of its transaction, and then the
 * notification itself from another address. A limit that counts by address is a separate check
 * (`signature/wrong-in-a-row`).
 */
function poisonedOften(forge: Change): Pick<FlowScenario, 'alone' | 'owns' | 'flow'> {
  return {
    alone: true,
    owns: ['transaction'],
    flow: (kit) => {
      const transactionId = ownId(kit, 'transaction');
      const notification = order(kit, 'BUY', 'COMPLETED', { transactionId });
      const forged = Array.from({ length: FORGERIES }, (_, at) => ({
        label: `forgery ${at + 1} of ${FORGERIES} with the ids of a notification`,
        change: { ...forge, compose: () => notification },
        expect: refused,
      }));
      const pending = composed(
        'a valid notification of the same transaction',
        () => order(kit, 'BUY', 'PENDING', { transactionId }),
        acceptedUnlessLockedOut,
      );
      const valid = event('the valid notification from another address', notification);
      return [forged, [pending], [{ ...valid, fromOtherAddress: true }]];
    },
  };
}

const invalidSignature = literal(Buffer.alloc(32, 1).toString('base64'), 'an invalid signature');

/** Sends a notification and, at the same time, a forgery with its id. */
function withForgery(kit: Kit): Groups {
  const notification = kit.notification();
  const compose = () => withField(notification, 'data.metadata.orderStatus', 'FAILED');
  const change: Change = { compose, sign: invalidSignature };
  return [
    [event('the valid notification', notification), { label: 'the forgery with the same id', change, expect: refused }],
  ];
}

/**
 * Invalid deliveries that must not block the id of a valid one. Anyone can send a forgery, so a blocked id fails. Only
 * the sender can send an invalid delivery with valid credentials, so a valid one that is then rejected as a duplicate
 * warns.
 */
export const deliveryPoisoned: readonly Scenario[] = family(
  {
    suite: 'delivery',
    verb: 'Accepts',
    of: 'a notification after',
    level: 'must',
    requirements: ['repeat-not-poisoned'],
    mistake: 'remembered-before-checks',
  },
  {
    'poisoned-unsigned': [
      'an unsigned delivery with the same id',
      poisoned('an unsigned delivery', (notification) => ({ compose: () => notification, sign: unsigned })),
      { needs: ['hmac'] },
    ],
    'poisoned-wrong-secret': [
      'one with the same id and another secret',
      poisoned('a delivery that is signed with a different secret', (notification) => ({
        compose: () => notification,
        sign: otherSecret,
      })),
      'verdict-kept-by-id',
      { needs: ['hmac'], note: 'Deliveries may fail while a secret is being rotated, and are then sent again.' },
    ],
    'poisoned-other-content': [
      'a forgery with the same id and other content',
      poisoned('a forged delivery with the same id, another status and a later time', (notification, kit) => ({
        compose: () =>
          withField({ ...notification, at: epochSeconds(kit) + 86_400 }, 'data.metadata.orderStatus', 'FAILED'),
        sign: invalidSignature,
      })),
      { needs: ['hmac'] },
    ],
    'poisoned-wrong-key': [
      'one with the same id and an invalid API key',
      poisoned('a delivery with an invalid API key', (notification) => ({
        compose: () => notification,
        address: wrongKey,
      })),
      {
        needs: ['api-key'],
        note: 'Key and signature are often checked in different places, with de-duplication in between.',
      },
    ],
    'poisoned-missing-key': [
      'one with the same id and no API key',
      poisoned('a delivery without the API key', (notification) => ({
        compose: () => notification,
        address: withoutHeader('api-key', 'no API key header'),
      })),
      { needs: ['api-key'] },
    ],
    'poisoned-often': [
      `${FORGERIES} forgeries with the same ids`,
      poisonedOften({ sign: invalidSignature }),
      'failures-lock-out',
      { needs: ['hmac'] },
    ],
    'poisoned-often-by-key': [
      `${FORGERIES} deliveries with the same ids and an invalid API key`,
      poisonedOften({ address: wrongKey }),
      'failures-lock-out',
      { needs: ['api-key'] },
    ],
    'poisoned-malformed': [
      'a malformed one with the same id',
      poisoned(
        'a delivery with the same id whose data is null',
        (notification) => ({ compose: () => withField(notification, 'data', null) }),
        malformedBefore,
      ),
      { level: 'should' },
    ],
    'poisoned-metadata': [
      'one with the same id whose metadata is a number',
      poisoned(
        'a delivery with the same id and a number as metadata',
        (notification) => ({ compose: () => withField(notification, 'data.metadata', 5) }),
        malformedBefore,
      ),
      'resource-not-released',
      { level: 'should', note: 'A lock or a database transaction for the order stays open after an exception.' },
    ],
    'poisoned-broken': [
      'broken JSON that starts with the same id',
      poisoned(
        'a broken body that begins with the id',
        ({ id = null }) => ({ serialise: fixedText(`{"id":${JSON.stringify(id)},"type":`) }),
        malformedBefore,
      ),
      { level: 'should' },
    ],
    'forged-beside-right': [
      'a concurrent forgery with the same id',
      { flow: withForgery },
      'verdict-kept-by-id',
      {
        title: 'Distinguishes a notification from a concurrent forgery with the same id',
        defect: 'Does not distinguish a notification from a concurrent forgery with the same id',
        requirements: ['repeat-not-poisoned', 'hmac-invalid'],
        needs: ['hmac'],
      },
    ],
  },
);
