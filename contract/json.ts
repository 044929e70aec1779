/** JSON values, and the shapes of notifications as JSON Schema for partners in any language. */
import * as z from 'zod';
import { NOTIFICATION_KINDS, type NotificationKind } from './kinds.ts';
import { SHAPES } from './shapes.ts';

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** A JSON Schema, dialect 2020-12. */
type JsonSchema = z.core.JSONSchema.JSONSchema;

export interface JsonSchemas {
  /** What the service sends. */
  readonly emitted: Readonly<Record<NotificationKind, JsonSchema>>;
  /** What a receiver should accept. It need not be stricter. */
  readonly received: Readonly<Record<NotificationKind, JsonSchema>>;
}

/**
 * The JSON Schemas of every kind. Generated from the schemas that validate at run time. Two rules cannot be expressed:
 * that a date exists (only its form is checked), and that the misspelt hash is read when the correct one is not filled.
 */
export function jsonSchemas(): JsonSchemas {
  return { emitted: schemasOf('emitted'), received: schemasOf('received') };
}

function schemasOf(side: keyof JsonSchemas): Record<NotificationKind, JsonSchema> {
  const entries = NOTIFICATION_KINDS.map((kind): [NotificationKind, JsonSchema] => {
    const schema = z.toJSONSchema(SHAPES[kind][side], { io: 'input' });
    return [kind, { ...schema, title: `${kind} notification, as ${side}` }];
  });
  return Object.fromEntries(entries) as Record<NotificationKind, JsonSchema>;
}
