import type { JsonValue } from '../../contract/index.ts';
import { rewritten, spacedOut } from '../changes/bytes.ts';
import { accepted } from '../expectations.ts';
import { deposit, order, reference, wallet } from '../samples.ts';
import type { Delivery, FlowScenario } from '../scenario.ts';

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
