/**
 * The effects window: what a receiver says that it did with the notifications that it got. A read-only endpoint (or a
 * command) of the partner, for test environments only: it must not exist in production.
 *
 *     GET URL?notification=ID,ID,...     at most 50 ids
 *     GET URL?transaction=ID
 *     Authorization: Bearer TOKEN
 *
 * The answer is 200 with {@link effectsAnswer}, 401 without the token, and 400 for another query. An id that is not
 * known is not an error: it has no handling. A command gets the same query as its last argument, `notification=ID,ID`
 * or `transaction=ID`, and writes the same JSON to its standard output.
 */
import * as z from 'zod';
import type { JsonObject } from './json.ts';

/** The values that a receiver can state. One that it does not keep is left out; null is a field without a value. */
const value = z.string().nullable().optional();

const effectValues = z.object({
  /** `data.type` follows the type for CAAS: `CAAS_BUY`. Otherwise the type. */
  kind: value.describe('the type; for CAAS with data.type: CAAS_BUY, CAAS_SELL, CAAS_ORDER_TRACKING'),
  status: value.describe('the status of the order, refund, deposit, payment method or cash step'),
  transaction: value.describe('transactionId, or partnerTransactionId of a deposit'),
  customer: value.describe('customerId, or accountId of a payment method'),
  paymentMethod: value.describe('paymentMethodId'),
  address: value.describe('the address of a new wallet'),
  hash: value.describe('the transaction hash, under either spelling of its key'),
  amount: value.describe('in display units, as decimal text'),
  currency: value.describe('the symbol of the asset'),
  errorCode: value.describe('errorData.code, or errorCode of a payment method'),
});

/** One handling of a notification. */
const handling = effectValues.extend({
  notification: z.string().describe('the id of the notification'),
});

export const effectsAnswer = z.object({
  total: z.int().nonnegative().describe('the number of handlings so far, of all notifications'),
  handled: z.array(handling).describe('one entry each time that a notification was handled, the oldest first'),
  current: effectValues
    .pick({ status: true, hash: true })
    .nullable()
    .optional()
    .describe('for a transaction: the status and the hash that it has now'),
});

export type EffectValues = z.infer<typeof effectValues>;
export type Handled = z.infer<typeof handling>;
export type EffectsAnswer = z.infer<typeof effectsAnswer>;

/** What is asked for. */
export type EffectsQuery = { readonly notifications: readonly string[] } | { readonly transaction: string };

/** Ids in one query. */
export const MAX_EFFECT_IDS = 50;

/** Characters of a token, at least: shorter ones can be guessed. */
export const MIN_EFFECTS_TOKEN = 16;

/** The query string without a question mark. Ids are percent-encoded, commas in them too. */
export function effectsQueryText(query: EffectsQuery): string {
  if ('transaction' in query) return `transaction=${encoded(query.transaction)}`;
  return `notification=${query.notifications.map(encoded).join(',')}`;
}

/** Encodes more than `encodeURIComponent` does: a command can run over ssh, whose shell interprets what that leaves. */
function encoded(id: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(id).replaceAll(/[!'()*~]/g, hex);
}

/** Reads a query string; undefined for anything else than one of the two forms, and for too many ids. */
export function readEffectsQuery(text: string): EffectsQuery | undefined {
  const [, name, given = ''] = /^(notification|transaction)=([^&=]+)$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  try {
    if (name === 'transaction') return { transaction: decodeURIComponent(given) };
    const notifications = given.split(',').map((id) => decodeURIComponent(id));
    return notifications.length > MAX_EFFECT_IDS || notifications.includes('') ? undefined : { notifications };
  } catch {
    return undefined;
  }
}

/** The JSON Schema of an answer (draft 2020-12). */
export function effectsSchema(): JsonObject {
  return { ...(z.toJSONSchema(effectsAnswer, { io: 'input' }) as JsonObject), title: 'hookproof effects answer' };
}
