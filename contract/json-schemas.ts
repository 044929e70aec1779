/** The shapes as JSON Schema, for partners in any language. */
import * as z from 'zod';
import { NOTIFICATION_KINDS, type NotificationKind } from './notification-kinds.ts';
import { SHAPES } from './shapes.ts';

/** A JSON Schema, dialect 2020-12. */
type JsonSchema = z.core.JSONSchema.JSONSchema;

export interface JsonSchemas {
  /** What the service sends. */
  readonly emitted: Readonly<Record<NotificationKind, JsonSchema>>;
  /** What a receiver should accept, and need not be stricter than. */
  readonly received: Readonly<Record<NotificationKind, JsonSchema>>;
}

/**
 * The JSON Schemas of every kind. They are generated from the schemas that the code itself validates with. Two things
 * they cannot say: that a date exists (only its form is checked), and that the misspelt hash is read when the right one
 * is not filled.
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
