/** Mutants that handle a notification never, more than once, or although it was rejected. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ORDER_STATUSES, type ReceivedNotification } from '../contract/index.ts';
import { effectHandlers, effectOf, handlersOfEveryKind } from '../receiver/effects/effect-of.ts';
import type { Effect } from '../receiver/effects/effects-record.ts';
import { memoryInbox } from '../receiver/inbox/memory-inbox.ts';
import { requestHeader, required } from '../receiver/stages/stage.ts';
import { idInBody } from './careless-handling.ts';
import {
  bareEffect,
  changing,
  EFFECT,
  handlingAtOnce,
  handlingRejected,
  losing,
  unverifiedEffect,
} from './effect-changes.ts';
import type { EffectFault } from './fault.ts';
import { signed } from './lenient-verifier.ts';

const LOST = { ...EFFECT, severity: 'high', forbidden: true } as const;

const handleAll = {
  rule: 'Store each notification before you answer, and handle what is stored until it succeeded.',
  express: 'Insert into the inbox, answer 200, and let a worker take rows until their handler succeeded.',
};

const lostForGood = 'The sender got 200 and does not deliver it again, so it is lost.';

const isOrder = ({ kind }: { readonly kind?: string | null | undefined }) =>
  kind === 'CAAS_BUY' || kind === 'CAAS_SELL';

const lost: readonly EffectFault[] = [
  {
    ...LOST,
    name: 'every-10th-lost',
    title: 'Accepts one in ten notifications and never handles it',
    seen: 'Queues in memory that drop what does not fit, and handlers whose errors are ignored.',
    why: lostForGood,
    fix: handleAll,
    comesAndGoes: true,
    replace: (record) => {
      let count = 0;
      return losing(() => {
        count += 1;
        return count % 10 === 0;
      })(record);
    },
  },
  {
    ...LOST,
    name: 'payment-methods-lost',
    title: 'Accepts notifications of payment methods and never handles them',
    seen: 'A switch over the type with a default that answers 200.',
    why: lostForGood,
    fix: handleAll,
    replace: losing(({ kind }) => kind === 'PAYMENT_METHOD'),
  },
  {
    ...LOST,
    name: 'cash-steps-lost',
    title: 'Accepts the cash steps of orders and never handles them',
    seen: 'Handlers for the type CAAS that return where `orderStatus` is missing.',
    why: lostForGood,
    fix: handleAll,
    replace: losing(({ kind }) => kind === 'CAAS_ORDER_TRACKING'),
  },
  {
    ...LOST,
    name: 'refunds-lost',
    title: 'Accepts refunds and never handles them',
    seen: 'Tables with a unique key on the transaction, where the REFUND meets its failed SELL.',
    why: lostForGood,
    fix: { ...handleAll, rule: 'Identify notifications by their id, not by their transaction.' },
    replace: losing(({ kind }) => kind === 'REFUND'),
  },
  {
    ...LOST,
    name: 'failed-orders-lost',
    title: 'Accepts failed orders and never handles them',
    seen: 'Handlers that return early unless the order succeeded.',
    why: 'A customer waits for crypto or money that does not come.',
    fix: { ...handleAll, rule: 'Handle FAILED like any other status.' },
    replace: losing((handled) => isOrder(handled) && handled.status === 'FAILED'),
  },
  {
    ...LOST,
    name: 'handles-only-completed-orders',
    title: 'Handles only orders that are COMPLETED, and none that is CONFIRMED',
    seen: 'Handlers for the last status that the developer saw in the sandbox.',
    why: 'CONFIRMED also says that the user has the crypto, so finished orders stay open.',
    fix: { ...handleAll, rule: 'Handle every status of an order.' },
    replace: losing((handled) => isOrder(handled) && handled.status !== 'COMPLETED' && handled.status !== 'FAILED'),
  },
  {
    ...LOST,
    name: 'concurrent-wallets-lost',
    title: 'Keeps only the last of several wallets of a customer that are created at the same time',
    seen: 'Code that reads the record of the customer, adds a wallet to it, and writes all of it back.',
    why: 'A lost wallet receives deposits that no account gets.',
    fix: {
      rule: 'Insert a row for each wallet, or lock the customer while you update the record.',
      express: 'Write `INSERT INTO wallets ...` instead of an update of a JSON column.',
    },
    replace: (record) => {
      const last = new Map<string, string>();
      return changing(async (effect) => {
        const { kind, customer, notification } = effect.handled;
        if (kind !== 'WALLET' || customer == null) return effect;
        last.set(customer, notification);
        await delay(WORK_MS);
        return last.get(customer) === notification ? effect : null;
      })(record);
    },
  },
  {
    ...LOST,
    name: 'same-status-not-handled',
    title: 'Takes a notification of an order for a copy when it has the status that the order has',
    seen: 'A unique key on transaction and status.',
    why: 'The notification that brings the hash has the status of the one before, and is dropped.',
    fix: { rule: 'Identify notifications by their id.', express: 'Put the unique key on `id`.' },
    replace: (record) => {
      const known = new Set<string>();
      return losing((handled) => {
        const key = `${handled.transaction} ${handled.status}`;
        const isKnown = isOrder(handled) && known.has(key);
        known.add(key);
        return isKnown;
      })(record);
    },
  },
  {
    ...LOST,
    name: 'unknown-fields-lost',
    title: 'Accepts a notification that has unknown fields and never handles it',
    seen: 'A strict schema in the worker, behind an endpoint that checks only the envelope.',
    why: 'The first new field of the service stops all notifications that have it.',
    fix: {
      rule: 'Ignore unknown fields where notifications are handled, too.',
      express: 'Remove `.strict()` from the schema of the worker.',
      spring: 'Set `FAIL_ON_UNKNOWN_PROPERTIES` to false for the mapper of the worker.',
    },
    forbidden: false,
    replace: losing((_handled, { raw }) => Object.keys(raw).some((key) => !['id', 'type', 'at', 'data'].includes(key))),
  },
  {
    ...LOST,
    name: 'unknown-status-blocks-the-order',
    title: 'Tries a notification of an unknown status again and again, and the rest of its order waits behind it',
    seen: 'Handlers that throw for what is not in their enumeration, in a queue that keeps the order.',
    why: 'The order is never finished, although the notification that finishes it has arrived.',
    fix: {
      rule: 'Record an unknown status and go on: the lists of the specification are open.',
      express: 'Do not throw in the default branch of the switch.',
    },
    forbidden: false,
    replace: changing((effect, notification) => {
      if (hasUnknownStatus(notification)) throw new RangeError('unknown status');
      return effect;
    }),
  },
  {
    ...LOST,
    name: 'unknown-type-stops-the-worker',
    title: 'Stops handling everything after a notification of an unknown type',
    seen: 'A worker whose loop ends with the first exception, while the endpoint goes on accepting.',
    why: 'Everything that follows is accepted and lost until somebody restarts the worker.',
    fix: {
      rule: 'Record a notification of an unknown type as done, or set it aside, and go on with the next.',
      express: 'Catch the error inside the loop of the worker, not around it.',
    },
    forbidden: false,
    comesAndGoes: true,
    replace: (record) => {
      let isStopped = false;
      return losing((_handled, notification) => {
        isStopped ||= notification.kind === 'UNKNOWN';
        return isStopped;
      })(record);
    },
  },
  {
    ...LOST,
    name: 'queue-in-memory',
    title: 'Loses accepted notifications that it has not handled yet when it is killed',
    seen: 'Answers before the insert, `setImmediate`, `@Async`, and rows marked as done before they are handled.',
    why: 'Each deployment and each crash loses what was acknowledged.',
    fix: handleAll,
    needs: ['effects', 'restart'],
    replace: ({ apply }) => ({
      inbox: memoryInbox(),
      handling: SLOW_WORK,
      handlers: handlersOfEveryKind(() => async (notification, { idempotencyKey }) => {
        await delay(LONG_WORK_MS);
        await apply(effectOf(notification), idempotencyKey);
      }),
    }),
  },
];

/** What two handlers need to meet, and what a restart finds under way. In milliseconds. */
const WORK_MS = 25;
const LONG_WORK_MS = 500;
const SLOW_WORK = { concurrency: 1000 };

function hasUnknownStatus(notification: ReceivedNotification): boolean {
  if (notification.kind !== 'CAAS_BUY' && notification.kind !== 'CAAS_SELL') return false;
  return !(ORDER_STATUSES as readonly (string | null)[]).includes(notification.data.metadata.orderStatus);
}

const TWICE = { ...EFFECT, severity: 'critical', forbidden: true } as const;

const onceById = {
  rule: 'Record the id with a unique key in the transaction that handles the notification, and skip known ids.',
  express: 'Insert the id with ON CONFLICT DO NOTHING, and handle the notification only where a row was inserted.',
};

const creditedAgain = 'Each further handling credits, refunds or pays again.';

const twice: readonly EffectFault[] = [
  {
    ...TWICE,
    name: 'copies-handled',
    title: 'Handles a notification each time that it is delivered',
    seen: 'Handlers that call the ledger directly, without a table of ids.',
    why: creditedAgain,
    fix: onceById,
    replace: handlingAtOnce((apply) => (effect) => apply(effect, randomUUID())),
  },
  {
    ...TWICE,
    name: 'copies-at-once-handled',
    title: 'Handles a notification several times when copies arrive at the same time',
    seen: 'A query for the id, followed by an insert.',
    why: 'A sender that gets no answer in time delivers again while the first delivery is still being handled.',
    fix: { ...onceById, rule: 'Insert the id first and let the unique key decide; do not look it up before.' },
    replace: handlingAtOnce((apply) => {
      const known = new Set<string>();
      return async (effect) => {
        const { notification } = effect.handled;
        if (known.has(notification)) return;
        await delay(WORK_MS);
        known.add(notification);
        await apply(effect, randomUUID());
      };
    }),
  },
  {
    ...TWICE,
    name: 'copies-told-by-their-digest',
    title: 'Handles a copy of a notification whose bytes differ, because it recognises copies by a digest',
    seen: 'Idempotency middleware that takes a hash of the body, or the signature, for the key.',
    why: creditedAgain,
    fix: onceById,
    severity: 'high',
    replace: handlingAtOnce(
      (apply) => (effect, body) => apply(effect, createHash('sha256').update(body).digest('hex')),
    ),
  },
  {
    ...TWICE,
    name: 'handler-fails-after-its-effect',
    title: 'Handles every notification twice, also when it is delivered once',
    seen: 'Handlers that fail after the effect and run again; a call in the request, and another one from the queue.',
    why: creditedAgain,
    fix: { ...onceById, rule: 'Put the effect and the record of the id into one transaction, and the rest after it.' },
    replace: ({ apply }) => ({
      handling: { firstDelayMs: WORK_MS },
      handlers: handlersOfEveryKind(() => async (notification, { idempotencyKey, attempt }) => {
        await apply(effectOf(notification), `${idempotencyKey} ${attempt}`);
        if (attempt === 1) throw new Error('what follows the effect failed');
      }),
    }),
  },
  {
    ...TWICE,
    name: 'every-7th-handled-twice',
    title: 'Handles one in seven notifications twice',
    seen: 'Workers that take a row without a lock, and retries after a time limit.',
    why: creditedAgain,
    fix: onceById,
    comesAndGoes: true,
    replace: ({ apply }) => {
      let count = 0;
      return {
        handlers: effectHandlers({
          async apply(effect, key) {
            count += 1;
            if (count % 7 === 0) await apply(effect, `${key} again`);
            return apply(effect, key);
          },
        }),
      };
    },
  },
  {
    ...TWICE,
    name: 'known-ids-in-memory',
    title: 'Keeps the ids that it knows in memory, and handles a copy again after a restart',
    seen: 'A `Set`, an LRU cache, or Redis without persistence.',
    why: 'After a restart, a sender delivers again what was not answered before.',
    fix: { ...onceById, rule: 'Keep the ids where the effects are: in the database, with a unique key.' },
    needs: ['effects', 'restart'],
    replace: (record) => {
      const started = randomUUID();
      return handlingAtOnce((apply) => (effect) => apply(effect, `${started} ${effect.handled.notification}`))(record);
    },
  },
  {
    ...TWICE,
    name: 'acknowledged-after-the-effect',
    title: 'Handles a notification again after a restart when it was killed before it had recorded the handling',
    seen: 'Queues that are acknowledged at the end of the job, without a key for the effect.',
    why: 'Each crash pays again what was under way.',
    fix: { ...onceById, rule: 'Pass the id to the ledger or payment as an idempotency key.' },
    needs: ['effects', 'restart'],
    replace: ({ apply }) => {
      const started = randomUUID();
      return {
        handling: SLOW_WORK,
        handlers: handlersOfEveryKind(() => async (notification, { idempotencyKey }) => {
          await apply(effectOf(notification), `${started} ${idempotencyKey}`);
          await delay(LONG_WORK_MS);
        }),
      };
    },
  },
];

const REJECTED = { ...EFFECT, severity: 'critical', forbidden: true } as const;

const checkFirst = {
  rule: 'Do nothing with a delivery before every check has passed: no insert, no queue, no event.',
  express: 'Mount the verification before the handler, and call `next()` only where it succeeded.',
};

const needsNoAnswer = 'A forger needs no answer: the amount is credited although the forged delivery got a 401.';

const rejected: readonly EffectFault[] = [
  {
    ...REJECTED,
    name: 'handles-before-signature',
    title: 'Handles deliveries whose signature is invalid, and answers 401',
    seen: 'Events that are emitted before the verification, and a missing `return` after the 401.',
    why: needsNoAnswer,
    fix: checkFirst,
    needs: ['effects', 'hmac'],
    replace: handlingRejected('requireSignature'),
  },
  {
    ...REJECTED,
    name: 'handles-unsigned',
    title: 'Handles deliveries without a signature, and answers 401',
    seen: 'Verification in the branch for a header that is present, and a 401 that is only sent in the other one.',
    why: needsNoAnswer,
    fix: checkFirst,
    needs: ['effects', 'hmac'],
    replace: handlingRejected(
      'requireSignature',
      (_body, req) => requestHeader(req, 'x-service-signature') === undefined,
    ),
  },
  {
    ...REJECTED,
    name: 'handles-before-api-key',
    title: 'Handles signed deliveries whose API key is invalid, and answers 401',
    seen: 'A gateway that checks the key of the answer only, or a check of the key at the end.',
    why: 'The key is the second credential of a partner whose secret has leaked.',
    fix: checkFirst,
    severity: 'high',
    needs: ['effects', 'hmac', 'api-key'],
    replace: ({ apply }) => ({
      stages: (parts) => {
        const { signing } = parts.config;
        const isSigned = (body: Buffer, header: unknown) =>
          signing?.secrets.some((secret) => signed(secret, body) === header) === true;
        const { stages } = handlingRejected('requireApiKey', (body, req) =>
          isSigned(body, requestHeader(req, signing?.header ?? '')),
        )({ apply });
        return stages?.(parts) ?? {};
      },
    }),
  },
  {
    ...REJECTED,
    name: 'handles-before-client-certificate',
    title: 'Handles deliveries without a valid client certificate, and rejects them afterwards',
    seen: 'A check of the certificate in a hook that runs after the handler.',
    why: needsNoAnswer,
    fix: checkFirst,
    severity: 'high',
    needs: ['effects', 'hmac', 'mtls'],
    options: { rejectUnauthorized: false },
    replace: ({ apply }) => ({
      stages: ({ correct }) => ({
        requireClientCertificate: (_req, _res, next) => next(),
        store: async (req, res, next) => {
          const effect = effectOf(required(res, 'notification'));
          await apply(effect, effect.handled.notification);
          return correct.requireClientCertificate(req, res, (error?: unknown) =>
            error === undefined ? void Promise.resolve(correct.store(req, res, next)).catch(next) : next(error),
          );
        },
      }),
    }),
  },
  {
    ...REJECTED,
    name: 'handles-malformed',
    title: 'Handles malformed payloads, and answers 400',
    seen: 'A handler that writes what it has read before it meets the missing field, without a transaction.',
    why: 'The sender fixes and repeats the delivery, and the first half is done twice.',
    fix: { ...checkFirst, express: 'Validate the whole payload before the first write, or write in a transaction.' },
    severity: 'high',
    replace: handlingRejected('validate'),
  },
  {
    ...REJECTED,
    name: 'handles-without-id',
    title: 'Handles malformed payloads without an id under a new id, and answers 400',
    seen: '`id ?? uuid()` in the code that writes, and validation after it.',
    why: 'No copy of it can be recognised.',
    fix: { ...checkFirst, express: 'Validate the payload first, and never invent the id of a notification.' },
    severity: 'medium',
    forbidden: false,
    replace: ({ apply }) => ({
      stages: ({ correct }) => ({
        validate: async (req, res, next) => {
          if (unverifiedEffect(res.locals) === null) await apply(bareEffect(randomUUID()), randomUUID());
          return correct.validate(req, res, next);
        },
      }),
    }),
  },
  {
    ...REJECTED,
    name: 'handles-before-content-type',
    title: 'Handles deliveries of another content type, and answers 415',
    seen: 'A check of the content type in the code that writes the answer.',
    why: 'The sender takes the delivery for rejected and repeats it.',
    fix: checkFirst,
    severity: 'medium',
    replace: handlingRejected('checkContentType'),
  },
  {
    ...REJECTED,
    name: 'stores-before-verification',
    title: 'Stores a notification before it verifies the signature, and handles the first that was stored with its id',
    seen: 'A log of all requests with a unique key on the id, from which a job handles the verified ones.',
    why: 'A forger who is first decides the values of the real notification.',
    fix: checkFirst,
    needs: ['effects', 'hmac'],
    replace: ({ apply }) => {
      const rows = new Map<string, Effect>();
      return {
        handlers: effectHandlers({ apply: (effect, key) => apply(rows.get(key) ?? effect, key) }),
        stages: ({ correct }) => ({
          requireSignature: (req, res, next) => {
            const effect = unverifiedEffect(res.locals);
            const id = effect?.handled.notification ?? '';
            if (effect !== null && !rows.has(id)) rows.set(id, effect);
            return correct.requireSignature(req, res, next);
          },
        }),
      };
    },
  },
  {
    ...REJECTED,
    name: 'id-recorded-before-verification',
    title:
      'Records the id before it verifies the signature, and takes the valid notification for a copy of a forged one',
    seen: 'Idempotency middleware in front of the verification.',
    why: 'Anyone who knows or guesses an id can suppress the real notification, which is answered 200.',
    fix: checkFirst,
    severity: 'high',
    needs: ['effects', 'hmac'],
    replace: ({ apply }) => {
      const deliveries = new Map<string, number>();
      const forgedFirst = new Set<string>();
      return {
        handlers: effectHandlers({ apply: async (effect, key) => !forgedFirst.has(key) && apply(effect, key) }),
        stages: ({ correct }) => ({
          requireSignature: async (req, res, next) => {
            const id = idInBody(res) ?? '';
            const earlier = deliveries.get(id) ?? 0;
            deliveries.set(id, earlier + 1);
            let isValid = false;
            await correct.requireSignature(req, res, (error?: unknown) => {
              isValid = true;
              next(error);
            });
            if (!isValid && earlier === 0) forgedFirst.add(id);
          },
        }),
      };
    },
  },
  {
    ...REJECTED,
    name: 'forged-copy-overwrites',
    title: 'Updates a notification that it knows by a copy before it verifies the signature of the copy',
    seen: 'An upsert by id (`ON CONFLICT DO UPDATE`) in front of the verification.',
    why: 'A forger changes what was already handled: another hash, another amount, another account.',
    fix: checkFirst,
    needs: ['effects', 'hmac'],
    replace: ({ apply }) => {
      const rows = new Map<string, Effect>();
      return {
        handlers: effectHandlers({
          apply(effect, key) {
            rows.set(key, effect);
            return apply(effect, key);
          },
        }),
        stages: ({ correct }) => ({
          requireSignature: (req, res, next) => {
            const update = unverifiedEffect(res.locals)?.handled;
            // The record in memory has the same object.
            Object.assign(rows.get(update?.notification ?? '')?.handled ?? {}, update);
            return correct.requireSignature(req, res, next);
          },
        }),
      };
    },
  },
];

export const effectsHandlingFaults: readonly EffectFault[] = [...lost, ...twice, ...rejected];
