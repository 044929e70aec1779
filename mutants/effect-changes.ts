/** Helpers for mutants of the effects. They change what the reference receiver does with notifications. */
import type { Handled } from '../contract/effects.ts';
import { type ReceivedNotification, readNotification } from '../contract/index.ts';
import type { Pipeline } from '../receiver/create-receiver.ts';
import { effectOf, handlersOfEveryKind } from '../receiver/effects/effect-of.ts';
import type { Effect } from '../receiver/effects/effects-record.ts';
import { type DeliveryState, required, type Stage } from '../receiver/stages/stage.ts';
import type { EffectFault } from './fault.ts';
import { unverified } from './lenient-verifier.ts';

type Replace = EffectFault['replace'];

/** Fields that all mutants of the effects share. */
export const EFFECT: Partial<EffectFault> = { area: 'effects', stage: 'effects', needs: ['effects'] };

export function isOrder({ kind }: Handled): boolean {
  return kind === 'CAAS_BUY' || kind === 'CAAS_SELL';
}

/** Records a changed effect for each notification, or none if `change` returns null. */
export function changing(
  change: (effect: Effect, notification: ReceivedNotification) => Effect | null | Promise<Effect | null>,
): Replace {
  return ({ apply }) => ({
    handlers: handlersOfEveryKind(() => async (notification, { idempotencyKey }) => {
      const effect = await change(effectOf(notification), notification);
      if (effect !== null) await apply(effect, idempotencyKey);
    }),
  });
}

/** Records changed values for each notification. */
export function changingValues(change: (handled: Handled, notification: ReceivedNotification) => Handled): Replace {
  return changing(({ handled, place }, notification) => ({ handled: change(handled, notification), place }));
}

/** Does not handle the notifications for which `isLost` returns true. */
export function losing(isLost: (handled: Handled, notification: ReceivedNotification) => boolean): Replace {
  return changing((effect, notification) => (isLost(effect.handled, notification) ? null : effect));
}

/** Handles each notification before answering it, instead of using the inbox and the handlers. */
export function handlingAtOnce(
  make: (apply: Parameters<Replace>[0]['apply']) => (effect: Effect, body: Buffer) => unknown,
): Replace {
  return ({ apply }) => {
    const handle = make(apply);
    return {
      handlers: {},
      stages: () => ({
        store: async (_req, res, next) => {
          await handle(effectOf(required(res, 'notification')), required(res, 'rawBody'));
          res.locals.stored = 'stored';
          next();
        },
      }),
    };
  };
}

type StageArguments = Parameters<Stage>;

/** Handles what the stage accepts, and also what it rejects, if `isHandled` returns true. */
export function handlingRejected(
  stage: keyof Pipeline,
  isHandled: (...parts: [body: Buffer, ...StageArguments]) => boolean = () => true,
): Replace {
  return ({ apply }) => ({
    stages: ({ correct }) => ({
      [stage]: async (...[req, res, next]: StageArguments) => {
        let isPassed = false;
        await correct[stage](req, res, (error?: unknown) => {
          isPassed = true;
          next(error);
        });
        const body = required(res, 'rawBody');
        const effect = unverifiedEffect(res.locals);
        if (!isPassed && effect !== null && isHandled(body, req, res, next)) {
          await apply(effect, effect.handled.notification);
        }
      },
    }),
  });
}

/** Returns the effect of a delivery whose body was not checked. Null if the body has no id. */
export function unverifiedEffect({ rawBody: body }: DeliveryState): Effect | null {
  if (body === undefined) return null;
  const payload = unverified({ body });
  const reading = readNotification(payload);
  if (reading.ok) return effectOf(reading.notification);
  const { id } = payload;
  return typeof id === 'string' && id !== '' ? bareEffect(id) : null;
}

/** Creates an effect for which only the id is known. */
export function bareEffect(notification: string): Effect {
  return { handled: { notification }, place: { rank: 0, at: 0 } };
}
