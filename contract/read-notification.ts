/** Reads a notification as a receiver should: strict where it matters, tolerant everywhere else. */
import * as z from 'zod';
import { readTime, receivedEnvelope } from './envelope.ts';
import type { JsonObject } from './json.ts';
import { findKind, type NotificationKind } from './kinds.ts';
import { SHAPES } from './shapes.ts';

/** A notification, or what is wrong with it. The issues name fields and never quote values. */
export type Reading =
  | { readonly ok: true; readonly notification: ReceivedNotification }
  | { readonly ok: false; readonly issues: string[] };

/**
 * Reads a parsed JSON value as a notification. It never throws.
 *
 * Required are the envelope (`id` of 1 to 200 characters without control characters, `type`, `at`, `data`) and what
 * identifies the object and its state (the transaction and its status, the wallet and its customer, ...). Everything
 * else may be missing, null or empty, unknown fields are kept, and lists of values are open. A `type` or a CAAS
 * `data.type` that is not listed reads as the kind UNKNOWN, of which only the envelope is checked.
 *
 * Specification: Resources and their fields; Delivery endpoint (malformed payloads).
 */
export function readNotification(value: unknown): Reading {
  try {
    return read(value);
  } catch {
    // Parsed JSON never throws; a value with getters or a proxy can.
    return { ok: false, issues: ['notification: cannot be read'] };
  }
}

const compiled = new Map<z.ZodType, z.ZodType>();

/**
 * The schema compiled into one function, which reads three times as fast. Compiling takes a millisecond or two, so it
 * waits until it is needed.
 */
function compile<S extends z.ZodType>(schema: S): S {
  const known = compiled.get(schema) ?? z.compile(schema);
  compiled.set(schema, known);
  return known as S;
}

function read(value: unknown): Reading {
  const outer = compile(receivedEnvelope).safeParse(value);
  if (!outer.success) return refusal(outer.error);
  const { id, type, data } = outer.data;
  const raw = value as JsonObject;
  if (type === 'CAAS' && (typeof data.type !== 'string' || data.type === '')) {
    return { ok: false, issues: ['data.type: must be filled when type is CAAS'] };
  }
  const kind = findKind(type, data.type);
  if (kind === undefined) {
    const notification = {
      kind: 'UNKNOWN',
      id,
      type,
      at: readTime(raw.at),
      data: raw.data as JsonObject,
      raw,
    } as const;
    return { ok: true, notification };
  }
  const inner = compile(SHAPES[kind].received).safeParse(value);
  if (!inner.success) return refusal(inner.error);
  const { at, data: reading } = inner.data;
  // The schema was chosen by the kind, which TypeScript cannot follow through the table.
  return { ok: true, notification: { kind, id, type, at, data: reading, raw } as ReceivedNotification };
}

function refusal(error: z.ZodError): Reading {
  return {
    ok: false,
    issues: error.issues.map(({ path, message }) => `${path.join('.') || 'notification'}: ${message}`),
  };
}

/** The kinds, and UNKNOWN for a `type` (or a `data.type` of CAAS) that is not listed: the service may add some. */
export type ReceivedKind = NotificationKind | 'UNKNOWN';

/**
 * A known kind as it is read: `id`, `type`, `at` as a Date, and `data` in which absent, null and empty are all null.
 */
type Envelope<K extends NotificationKind> = z.output<(typeof SHAPES)[K]['received']>;

interface Received<K extends NotificationKind> {
  readonly kind: K;
  readonly id: string;
  readonly type: Envelope<K>['type'];
  readonly at: Date;
  /** The fields of the kind. Fields that are not listed are kept, though the type does not name them. */
  readonly data: Envelope<K>['data'];
  /** The notification as received, unchanged. */
  readonly raw: JsonObject;
}

interface ReceivedUnknown {
  readonly kind: 'UNKNOWN';
  readonly id: string;
  readonly type: string;
  /** The time; null when it cannot be read. */
  readonly at: Date | null;
  readonly data: JsonObject;
  readonly raw: JsonObject;
}

/** A notification as a receiver handles it. `kind` says which one it is, and what `data` has. */
export type ReceivedNotification = { [K in NotificationKind]: Received<K> }[NotificationKind] | ReceivedUnknown;

/** The notification of one kind. */
export type ReceivedOf<K extends ReceivedKind> = Extract<ReceivedNotification, { kind: K }>;
