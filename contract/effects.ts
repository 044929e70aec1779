/**
 * The effects window is a read-only endpoint (or a command) of the partner that reports what the receiver did with each
 * notification. It is for test environments only and must not exist in production.
 *
 *     GET URL?notification=ID,ID,...     at most 50 ids
 *     GET URL?transaction=ID
 *     Authorization: Bearer TOKEN
 *
 * The endpoint answers 200 with {@link effectsAnswer}, 401 without the token, and 400 for any other query. An unknown
 * id is not an error; the answer lists nothing for it. A command receives the same query as its last argument,
 * `notification=ID,ID` or `transaction=ID`, and writes the same JSON to standard output.
 */
import * as z from 'zod';
import type { JsonObject } from './json.ts';

/**
 * A value that a receiver can report. It is omitted if the receiver does not store it, and null if the field has no
 * value.
 */
const value = z.string().nullable().optional();

const effectValues = z.object({
  /** The value of `type`; for CAAS, `data.type` is appended: `CAAS_BUY`. */
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

/** A query for the handlings of some notifications or of one transaction. */
export type EffectsQuery = { readonly notifications: readonly string[] } | { readonly transaction: string };

/** Maximum number of ids in one query. */
export const MAX_EFFECT_IDS = 50;

/** Minimum length of a token, in characters. Shorter tokens can be guessed. */
export const MIN_EFFECTS_TOKEN = 16;

/** Returns the query string without the question mark. Ids are percent-encoded, including their commas. */
export function effectsQueryText(query: EffectsQuery): string {
  if ('transaction' in query) return `transaction=${encoded(query.transaction)}`;
  return `notification=${query.notifications.map(encoded).join(',')}`;
}

/**
 * Percent-encodes an id like `encodeURIComponent`, and additionally !'()*~, because a command can run over ssh, where a
 * shell would interpret these characters.
 */
function encoded(id: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(id).replaceAll(/[!'()*~]/g, hex);
}

/** Parses a query string. Returns undefined when it has neither of the two forms or too many ids. */
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

/** Returns the JSON Schema (draft 2020-12) of an effects answer. */
export function effectsSchema(): JsonObject {
  return { ...(z.toJSONSchema(effectsAnswer, { io: 'input' }) as JsonObject), title: 'hookproof effects answer' };
}
