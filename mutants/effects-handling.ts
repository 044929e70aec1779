/** Mutants that do not handle a notification, handle it more than once, or handle it although they rejected it. */
import { createHash, randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ORDER_STATUSES, type ReceivedNotification } from '../contract/index.ts';
import { effectHandlers, effectOf, handlersOfEveryKind } from '../receiver/effects/effect-of.ts';
import type { Effect } from '../receiver/effects/effects-record.ts';
import { memoryInbox } from '../receiver/inbox/memory-inbox.ts';
import { requestHeader, required } from '../receiver/stages/stage.ts';
import { idInBody, textAt } from './careless-handling.ts';
import {
  bareEffect,
  changing,
  EFFECT,
  handlingAtOnce,
  handlingRejected,
  isOrder,
  losing,
  unverifiedEffect,
} from './effect-changes.ts';
import { family } from './family.ts';
import type { EffectFault } from './fault.ts';
import { signed } from './lenient-verifier.ts';

/** Duration of work, in milliseconds: long enough for two handlers to overlap, and for a restart to interrupt it. */
const WORK_MS = 25;
const LONG_WORK_MS = 500;
const SLOW_WORK = { concurrency: 1000 };

/** Mutants that never handle an accepted notification. The sender does not deliver it again. */
const lost = family<EffectFault>(
  { ...EFFECT, mistake: 'kind-not-handled' },
  {
    'every-10th-lost': [
      'Accepts one in ten notifications and never handles it',
      (record) => {
        let count = 0;
        return losing(() => {
          count += 1;
          return count % 10 === 0;
        })(record);
      },
      'acknowledged-before-stored',
      { comesAndGoes: true },
    ],
    'payment-methods-lost': [
      'Accepts notifications of payment methods and never handles them',
      losing(({ kind }) => kind === 'PAYMENT_METHOD'),
    ],
    'cash-steps-lost': [
      'Accepts the cash steps of orders and never handles them',
      losing(({ kind }) => kind === 'CAAS_ORDER_TRACKING'),
    ],
    'refunds-lost': [
      'Accepts refunds and never handles them',
      losing(({ kind }) => kind === 'REFUND'),
      'copies-by-content',
      { note: 'The refund has the same transaction as the failed SELL.' },
    ],
    'failed-orders-lost': [
      'Accepts failed orders and never handles them',
      losing((handled) => isOrder(handled) && handled.status === 'FAILED'),
    ],
    'handles-only-completed-orders': [
      'Handles only orders that are COMPLETED, and none that is CONFIRMED',
      losing((handled) => isOrder(handled) && handled.status !== 'COMPLETED' && handled.status !== 'FAILED'),
      { note: 'CONFIRMED also means that the user has the crypto.' },
    ],
    'concurrent-wallets-lost': [
      'Keeps only the last of several wallets of a customer that are created at the same time',
      (record) => {
        const last = new Map<string, string>();
        return changing(async (effect) => {
          const { kind, customer, notification } = effect.handled;
          if (kind !== 'WALLET' || customer == null) return effect;
          last.set(customer, notification);
          await delay(WORK_MS);
          return last.get(customer) === notification ? effect : null;
        })(record);
      },
      'colliding-updates',
      { note: 'A lost wallet receives deposits that no account gets.' },
    ],
    'same-status-not-handled': [
      'Treats a notification as a duplicate if it has the current status of its order',
      (record) => {
        const known = new Set<string>();
        return losing((handled) => {
          const key = `${handled.transaction} ${handled.status}`;
          const isKnown = isOrder(handled) && known.has(key);
          known.add(key);
          return isKnown;
        })(record);
      },
      'copies-by-content',
      { note: 'The notification that contains the hash has the same status as the one before it.' },
    ],
    'first-of-each-provider': [
      'Handles the first notification of each provider, and takes the others for copies of it',
      (record) => {
        const known = new Set<string | undefined>();
        return losing((_handled, { raw }) => {
          const provider = textAt(raw, 'data.providerId');
          const isKnown = known.has(provider);
          known.add(provider);
          return isKnown;
        })(record);
      },
      'copies-by-content',
      { note: 'The key for duplicates is an id that all notifications share, such as that of the subscription.' },
    ],
    'unknown-fields-lost': [
      'Accepts a notification that has unknown fields and never handles it',
      losing((_handled, { raw }) => Object.keys(raw).some((key) => !['id', 'type', 'at', 'data'].includes(key))),
      'unknown-value-stops-work',
      { forbidden: false },
    ],
    'unknown-status-blocks-the-order': [
      'Retries a notification with an unknown status forever, while the rest of its order waits',
      changing((effect, notification) => {
        if (hasUnknownStatus(notification)) throw new RangeError('unknown status');
        return effect;
      }),
      'unknown-value-stops-work',
      { forbidden: false },
    ],
    'unknown-type-stops-the-worker': [
      'Stops handling everything after a notification of an unknown type',
      (record) => {
        let isStopped = false;
        return losing((_handled, notification) => {
          isStopped ||= notification.kind === 'UNKNOWN';
          return isStopped;
        })(record);
      },
      'unknown-value-stops-work',
      { forbidden: false, comesAndGoes: true },
    ],
    'queue-in-memory': [
      'Loses accepted notifications that it has not handled yet when it is killed',
      ({ apply }) => ({
        inbox: memoryInbox(),
        handling: SLOW_WORK,
        handlers: handlersOfEveryKind(() => async (notification, { idempotencyKey }) => {
          await delay(LONG_WORK_MS);
          await apply(effectOf(notification), idempotencyKey);
        }),
      }),
      'acknowledged-before-stored',
      { needs: ['effects', 'restart'] },
    ],
  },
);

function hasUnknownStatus(notification: ReceivedNotification): boolean {
  if (notification.kind !== 'CAAS_BUY' && notification.kind !== 'CAAS_SELL') return false;
  return !(ORDER_STATUSES as readonly (string | null)[]).includes(notification.data.metadata.orderStatus);
}

/** Mutants that handle a notification more than once. */
const twice = family<EffectFault>(
  { ...EFFECT, mistake: 'effect-and-id-apart' },
  {
    'copies-handled': [
      'Handles a notification each time that it is delivered',
      handlingAtOnce((apply) => (effect) => apply(effect, randomUUID())),
      'copy-handled-again',
    ],
    'copies-at-once-handled': [
      'Handles a notification several times when copies arrive at the same time',
      handlingAtOnce((apply) => {
        const known = new Set<string>();
        return async (effect) => {
          const { notification } = effect.handled;
          if (known.has(notification)) return;
          await delay(WORK_MS);
          known.add(notification);
          await apply(effect, randomUUID());
        };
      }),
      'lookup-before-insert',
    ],
    'known-ids-per-process': [
      'Keeps the ids that it knows in the memory of each of two processes, which share its connections',
      ({ apply }) => {
        const processes = new WeakMap<Socket, number>();
        let connections = 0;
        return {
          handlers: {},
          stages: () => ({
            store: async ({ socket }, res, next) => {
              if (!processes.has(socket)) processes.set(socket, connections++ % 2);
              const effect = effectOf(required(res, 'notification'));
              await apply(effect, `${processes.get(socket)} ${effect.handled.notification}`);
              res.locals.stored = 'stored';
              next();
            },
          }),
        };
      },
      'ids-kept-in-memory',
    ],
    'known-ids-forgotten-when-handled': [
      'Knows the id of a notification as long as it is in the queue, and handles a copy that comes later',
      handlingAtOnce((apply) => {
        const queued = new Set<string>();
        return (effect) => {
          const { notification } = effect.handled;
          if (queued.has(notification)) return;
          queued.add(notification);
          void delay(LONG_WORK_MS).then(async () => {
            await apply(effect, randomUUID());
            queued.delete(notification);
          });
        };
      }),
      'copy-handled-again',
      { note: 'Job queues forget the id of a job that they remove when it is done.' },
    ],
    'copies-told-by-their-digest': [
      'Handles a copy of a notification whose bytes differ, because it recognises copies by a digest',
      handlingAtOnce((apply) => (effect, body) => apply(effect, createHash('sha256').update(body).digest('hex'))),
      'copies-by-content',
    ],
    'handler-fails-after-its-effect': [
      'Handles every notification twice, even if it is delivered once',
      ({ apply }) => ({
        handling: { firstDelayMs: WORK_MS },
        handlers: handlersOfEveryKind(() => async (notification, { idempotencyKey, attempt }) => {
          await apply(effectOf(notification), `${idempotencyKey} ${attempt}`);
          if (attempt === 1) throw new Error('what follows the effect failed');
        }),
      }),
    ],
    'every-7th-handled-twice': [
      'Handles one in seven notifications twice',
      ({ apply }) => {
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
      { comesAndGoes: true },
    ],
    'known-ids-in-memory': [
      'Keeps the ids that it knows in memory, and handles a copy again after a restart',
      (record) => {
        const started = randomUUID();
        return handlingAtOnce((apply) => (effect) => apply(effect, `${started} ${effect.handled.notification}`))(
          record,
        );
      },
      'ids-kept-in-memory',
      { needs: ['effects', 'restart'] },
    ],
    'killed-between-effect-and-record': [
      'Handles a notification again after a restart when it was killed before it had recorded the handling',
      ({ apply }) => {
        const started = randomUUID();
        return {
          handling: SLOW_WORK,
          handlers: handlersOfEveryKind(() => async (notification, { idempotencyKey }) => {
            await apply(effectOf(notification), `${started} ${idempotencyKey}`);
            await delay(LONG_WORK_MS);
          }),
        };
      },
      { needs: ['effects', 'restart'] },
    ],
  },
);

/** Mutants that handle rejected deliveries. An attacker does not need a positive answer. */
const rejected = family<EffectFault>(
  { ...EFFECT, mistake: 'handled-before-checks' },
  {
    'handles-before-signature': [
      'Handles deliveries whose signature is invalid, and answers 401',
      handlingRejected('requireSignature'),
      { needs: ['effects', 'hmac'] },
    ],
    'handles-unsigned': [
      'Handles deliveries without a signature, and answers 401',
      handlingRejected('requireSignature', (_body, req) => requestHeader(req, 'x-service-signature') === undefined),
      { needs: ['effects', 'hmac'], note: 'The verification is in the branch for a header that is present.' },
    ],
    'handles-before-api-key': [
      'Handles signed deliveries whose API key is invalid, and answers 401',
      ({ apply }) => ({
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
      {
        needs: ['effects', 'hmac', 'api-key'],
        note: 'The key is the second credential of a partner whose secret has leaked.',
      },
    ],
    'handles-before-client-certificate': [
      'Handles deliveries without a valid client certificate, and rejects them afterwards',
      ({ apply }) => ({
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
      { needs: ['effects', 'hmac', 'mtls'], options: { rejectUnauthorized: false } },
    ],
    'handles-malformed': ['Handles malformed payloads, and answers 400', handlingRejected('validate')],
    'handles-without-id': [
      'Handles malformed payloads without an id under a new id, and answers 400',
      ({ apply }) => ({
        stages: ({ correct }) => ({
          validate: async (req, res, next) => {
            if (unverifiedEffect(res.locals) === null) await apply(bareEffect(randomUUID()), randomUUID());
            return correct.validate(req, res, next);
          },
        }),
      }),
      { forbidden: false, note: 'A duplicate of it cannot be recognised.' },
    ],
    'handles-before-content-type': [
      'Handles deliveries of another content type, and answers 415',
      handlingRejected('checkContentType'),
    ],
    'stores-before-verification': [
      'Stores a notification before it verifies the signature, and handles whichever was stored first with its id',
      ({ apply }) => {
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
      'remembered-before-checks',
      { needs: ['effects', 'hmac'], note: 'An attacker who is first decides the values of the real notification.' },
    ],
    'id-recorded-before-verification': [
      'Records the id before it verifies the signature, and takes the valid notification for a copy of a forged one',
      ({ apply }) => {
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
      'remembered-before-checks',
      { needs: ['effects', 'hmac'], note: 'The suppressed notification is answered 200.' },
    ],
    'forged-copy-overwrites': [
      'Updates a known notification from a copy before it verifies the signature of the copy',
      ({ apply }) => {
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
              // The effects record in memory contains the same object, so this changes the record.
              Object.assign(rows.get(update?.notification ?? '')?.handled ?? {}, update);
              return correct.requireSignature(req, res, next);
            },
          }),
        };
      },
      {
        needs: ['effects', 'hmac'],
        note: 'An attacker changes the hash, amount or account of what was already handled.',
      },
    ],
  },
);

export const effectsHandlingFaults: readonly EffectFault[] = [...lost, ...twice, ...rejected];
