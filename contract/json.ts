/** JSON types, and the JSON Schemas of notifications for partners in any language. */
import * as z from 'zod';
import { NOTIFICATION_KINDS, type NotificationKind } from './kinds.ts';
import { SHAPES } from './shapes.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * Lists the strings, numbers, booleans and nulls inside a value with their paths (`data.transactionId`). An object or
 * list nested deeper than `maxDepth` is returned as a leaf, because recursion over thousands of levels would overflow
 * the stack.
 */
export function leavesOf(value: JsonValue, maxDepth: number, path = ''): [path: string, leaf: JsonValue][] {
  if (value === null || typeof value !== 'object' || maxDepth === 0) return [[path, value]];
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, maxDepth - 1, path === '' ? name : `${path}.${name}`),
  );
}

/** A JSON Schema, draft 2020-12. */
type JsonSchema = z.core.JSONSchema.JSONSchema;

export interface JsonSchemas {
  /** What the service sends. */
  readonly emitted: Readonly<Record<NotificationKind, JsonSchema>>;
  /** What a receiver should accept. It need not be stricter. */
  readonly received: Readonly<Record<NotificationKind, JsonSchema>>;
}

/**
 * Returns the JSON Schemas of every kind, generated from the schemas that validate at run time. JSON Schema cannot
 * express two of the rules: that a date exists (only its form is checked), and that the misspelt hash is read when the
 * correct one is empty.
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
