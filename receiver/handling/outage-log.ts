import { errorFields, type ReceiverLogger } from '../logger.ts';

type Event = 'inbox-failed' | 'settle-failed';

/** One line for an outage, and not one for every attempt; and one when all is well again. */
export function outageLog(logger: ReceiverLogger) {
  const lasting = new Set<Event>();
  return {
    has: (event: Event): boolean => lasting.has(event),
    began(event: Event, error: unknown): void {
      if (!lasting.has(event)) logger.error({ event, error: errorFields(error) }, 'the inbox cannot be reached');
      lasting.add(event);
    },
    over(event: Event): void {
      if (!lasting.delete(event) || lasting.size > 0) return;
      logger.info({ event: 'inbox-back' }, 'the inbox can be reached again');
    },
  };
}
