/** Reading a notification as a receiver should: strictly where it matters, and tolerantly everywhere else. */
import * as z from 'zod';
import type { JsonObject } from './json.ts';
import { findKind } from './notification-kinds.ts';
import { readTime } from './notification-time.ts';
import { envelope, type ReceivedNotification } from './received-notification.ts';
import { SHAPES } from './shapes.ts';

/** A notification, or what is wrong with it. The issues name fields and never quote values. */
export type Reading =
  | { readonly ok: true; readonly notification: ReceivedNotification }
  | { readonly ok: false; readonly issues: string[] };

/**
 * Reads a parsed JSON value as a notification. It never throws.
 *
 * Needed are the envelope (`id` of 1 to 200 characters without control characters, `type`, `at`, `data`) and what
 * identifies the thing and its state (the transaction and its status, the wallet and its customer, ...). Everything
 * else may be missing, null or empty, unknown fields are kept, and lists of values are open. A `type` or a CAAS
 * `data.type` that is not listed reads as the kind UNKNOWN, of which only the envelope is looked at.
 *
 * Specification: Resources and their fields; Delivery endpoint (malformed payloads).
 */
export function readNotification(value: unknown): Reading {
  try {
    return read(value);
  } catch {
    // No parsed JSON gets here; a value with getters or a proxy can throw when it is looked at.
    return { ok: false, issues: ['notification: cannot be read'] };
  }
}

const compiled = new Map<z.ZodType, z.ZodType>();

/**
 * The schema, made into one function, which reads three times as fast. Making it takes a millisecond or two, so that
 * waits until it is needed.
 */
function compile<S extends z.ZodType>(schema: S): S {
  const known = compiled.get(schema) ?? z.compile(schema);
  compiled.set(schema, known);
  return known as S;
}

function read(value: unknown): Reading {
  const outer = compile(envelope).safeParse(value);
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
