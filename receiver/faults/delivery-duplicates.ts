import { setTimeout as delay } from 'node:timers/promises';
import { required } from '../stages/stage.ts';
import { fault, fieldAt } from './careless-reading.ts';
import { countingCopies } from './careless-storing.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'delivery', stage: 'store', forbidden: false } as const;

const answerCopies = {
  rule: 'Let the unique key on id decide, and answer 200 when the id is known: you have the notification already.',
  express: 'Insert with ON CONFLICT DO NOTHING, and send 200 whether a row was written or not.',
  django: 'Use `get_or_create`, and answer 200 for either outcome.',
  spring: 'Catch DataIntegrityViolationException around the insert, and answer 200.',
  rails: 'Use `create_or_find_by!`, or rescue ActiveRecord::RecordNotUnique with `head :ok`.',
  laravel: 'Use `firstOrCreate` or `insertOrIgnore`, and answer 200 for either outcome.',
  go: 'Treat the error of the unique key as success.',
  dotnet: 'Catch DbUpdateException for the unique key, and return Ok().',
};

const lostAnswer =
  'When a 200 is lost on its way, the sender can only send again, and this answer makes it do so for ever.';

/** Mistakes with the second copy of a notification. */
export const duplicates: readonly StageFault[] = [
  {
    ...base,
    name: 'copies-answered-409',
    title: 'A copy of a notification is answered 409.',
    seen: 'Guides to idempotency that were written for APIs with a user in front, who can be told about a conflict.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countingCopies(() => 409),
  },
  {
    ...base,
    name: 'copies-answered-400',
    title: 'A copy of a notification is answered 400.',
    seen: 'Validators that check "id must not be in use" together with the shape of the payload.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countingCopies(() => 400),
  },
  {
    ...base,
    name: 'copies-hit-the-unique-key',
    title: 'A copy of a notification violates the unique key on id, and the error is answered 500.',
    seen: 'Every stack with a database and no thought of a second delivery; the most usual outcome of a copy.',
    why: lostAnswer,
    fix: answerCopies,
    severity: 'medium',
    replace: countingCopies(() => fault('duplicate key value violates unique constraint')),
  },
  {
    ...base,
    name: 'copies-end-the-process',
    title: 'A copy of a notification ends the process, because the error of the database is caught by nobody.',
    seen: 'Inserts in Node that are not awaited: their rejection is unhandled, and Node exits.',
    why: 'Copies come in numbers after an outage, so the receiver goes down again as soon as it is up.',
    fix: { ...answerCopies, express: 'Await the insert inside of the handler, with ON CONFLICT DO NOTHING.' },
    severity: 'high',
    forbidden: true,
    replace: (parts) =>
      countingCopies(
        () => 500,
        () => parts.crash(100),
      )(parts),
  },
  {
    ...base,
    name: 'third-copy-refused',
    title: 'A notification is answered 409 from its third delivery on.',
    seen: 'Counters of attempts against loops, and flags that know "new" and "seen once".',
    why: 'It looks right as long as a test sends everything twice; a long outage brings the third copy.',
    fix: answerCopies,
    severity: 'low',
    replace: countingCopies((copy) => (copy >= 2 ? 409 : undefined)),
  },
  {
    ...base,
    name: 'deposit-copies-refused',
    title: 'A copy of a deposit is answered 409, while copies of other kinds are accepted.',
    seen: 'Guards against double booking that were added in the code of deposits.',
    why: 'The guard does its work and the sender is told of a failure, so it sends the same deposit again and again.',
    fix: { ...answerCopies, rule: 'Let the guard skip the booking, and answer 200 all the same.' },
    severity: 'medium',
    replace: countingCopies((_copy, payload) => (fieldAt(payload, 'type') === 'CAAS_BLOCKCHAIN' ? 409 : undefined)),
  },
  {
    ...base,
    name: 'wallet-copies-collide',
    title: 'A copy of a wallet notification violates the unique key on the address, and is answered 500.',
    seen: 'In tables of wallets, where the address is unique and the notification is not stored at all.',
    why: lostAnswer,
    fix: { ...answerCopies, rule: 'Insert a wallet only when it is not there yet, and answer 200 either way.' },
    severity: 'medium',
    replace: countingCopies((_copy, payload) =>
      fieldAt(payload, 'type') === 'WALLET' ? fault('duplicate key value violates unique constraint') : undefined,
    ),
  },
  {
    ...base,
    name: 'copies-at-once-race',
    title: 'Two copies at the same time both find the id unknown, both insert it, and one is answered 500.',
    seen: 'Wherever the code looks for the id first and inserts it afterwards; one copy after another works.',
    why: 'A sender that gave up on a slow answer sends again while the first delivery is still being handled.',
    fix: { ...answerCopies, rule: 'Insert first and let the unique key decide; do not look before.' },
    severity: 'medium',
    replace: ({ right }) => {
      const rows = new Set<string>();
      return async (req, res, next) => {
        const { id } = required(res, 'notification');
        const isKnown = rows.has(id);
        await delay(10);
        if (!isKnown && rows.has(id)) fault('duplicate key value violates unique constraint');
        rows.add(id);
        return right.store(req, res, next);
      };
    },
  },
  {
    ...base,
    name: 'copies-told-by-their-bytes',
    title: 'Copies are told by a hash of the body, and a copy with another layout violates the unique key on id.',
    seen: 'In public SDKs and receivers that hash the payload, because hashing works without looking into it.',
    why: 'A copy that was written anew is a 500; two notifications with equal bodies would be one.',
    fix: { ...answerCopies, rule: 'Tell copies by their id alone.' },
    severity: 'low',
    replace: ({ right }) => {
      const bodies = new Map<string, string>();
      return (req, res, next) => {
        const { id } = required(res, 'notification');
        const body = required(res, 'rawBody').toString('latin1');
        if ((bodies.get(id) ?? body) !== body) fault('duplicate key value violates unique constraint');
        bodies.set(id, body);
        return right.store(req, res, next);
      };
    },
  },
];
