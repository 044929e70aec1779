/** Reads a notification as a receiver should: strict only where it matters. */
import * as z from 'zod';
import { readTime, receivedEnvelope } from './envelope.ts';
import type { JsonObject } from './json.ts';
import { findKind, type NotificationKind } from './kinds.ts';
import { SHAPES } from './shapes.ts';

/** A notification, or the issues found in it. Issues name fields and never quote values. */
export type Reading =
  | { readonly ok: true; readonly notification: ReceivedNotification }
  | { readonly ok: false; readonly issues: string[] };

/**
 * Reads a parsed JSON value as a notification. Never throws.
 *
 * A notification must have the envelope (`id` of 1 to 200 characters without control characters, `type`, `at`, `data`)
 * and the fields that identify the object and its state (the transaction and its status, the wallet and its customer,
 * ...). Every other field may be missing, null or empty; unknown fields are kept, and unlisted values are accepted. An
 * unlisted `type` or CAAS `data.type` reads as the kind UNKNOWN, of which only `id`, `type` and `data` are checked.
 *
 * Specification: Resources and their fields; Delivery endpoint (malformed payloads).
 */
export function readNotification(value: unknown): Reading {
  try {
    return read(value);
  } catch {
    // Parsed JSON never throws, but a value with getters or a proxy can.
    return { ok: false, issues: ['notification: cannot be read'] };
  }
}

const compiled = new Map<z.ZodType, z.ZodType>();

/**
 * Compiles the schema into one function, which reads three times as fast. Compiling takes a millisecond or two, and is
 * deferred until first use.
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
  // The schema was chosen by kind, which TypeScript cannot infer from the table.
  return { ok: true, notification: { kind, id, type, at, data: reading, raw } as ReceivedNotification };
}

function refusal(error: z.ZodError): Reading {
  return {
    ok: false,
    issues: error.issues.map(({ path, message }) => `${path.join('.') || 'notification'}: ${message}`),
  };
}

/** Any listed kind, or UNKNOWN for an unlisted `type` or CAAS `data.type`, because the service may add kinds. */
export type ReceivedKind = NotificationKind | 'UNKNOWN';

/**
 * A notification of a listed kind after reading: `id`, `type`, `at` as a Date, and `data`, in which absent, null and
 * empty values all become null.
 */
type Envelope<K extends NotificationKind> = z.output<(typeof SHAPES)[K]['received']>;

interface Received<K extends NotificationKind> {
  readonly kind: K;
  readonly id: string;
  readonly type: Envelope<K>['type'];
  readonly at: Date;
  /** The fields of the kind. Unlisted fields are kept, but the type does not name them. */
  readonly data: Envelope<K>['data'];
  /** The notification as received, unchanged. */
  readonly raw: JsonObject;
}

interface ReceivedUnknown {
  readonly kind: 'UNKNOWN';
  readonly id: string;
  readonly type: string;
  /** Null when the time cannot be read. */
  readonly at: Date | null;
  readonly data: JsonObject;
  readonly raw: JsonObject;
}

/** A notification as a receiver handles it. `kind` selects the type of `data`. */
export type ReceivedNotification = { [K in NotificationKind]: Received<K> }[NotificationKind] | ReceivedUnknown;

/** A notification of one kind. */
export type ReceivedOf<K extends ReceivedKind> = Extract<ReceivedNotification, { kind: K }>;
