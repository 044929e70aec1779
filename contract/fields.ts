/**
 * The fields of notifications, each defined once and built into two shapes:
 *
 * - `emitted` is what the sender sends: exact lists, exact forms, no unknown field;
 * - `received` is what a receiver reads: unknown fields are kept, lists are open, and optional data may be missing,
 *   null or empty, which all read as null.
 *
 * A {@link Field} is such a pair. A {@link group} of fields is a field again, so the two shapes of a whole notification
 * come out of one definition (./shapes.ts lists them) and cannot drift apart.
 */
import * as z from 'zod';

export interface Field<E extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  readonly emitted: E;
  readonly received: R;
}

export type Fields = Readonly<Record<string, Field>>;
type EmittedShape<F extends Fields> = { -readonly [K in keyof F]: F[K]['emitted'] };
type ReceivedShape<F extends Fields> = { -readonly [K in keyof F]: F[K]['received'] };

/** What a receiver has after reading these fields. */
export type ReceivedOfFields<F extends Fields> = z.output<z.ZodObject<ReceivedShape<F>, z.core.$strip>>;

/** A listed value, or any other text: what a receiver must expect from an open list. Editors still offer the list. */
type Open<T extends string> = T | (string & Record<never, never>);

/** Received text that a notification may lack: missing, null and empty all read as null. */
const absentText = z
  .string()
  .nullish()
  .transform((value) => value || null);

/**
 * Text that must be there, and without which the notification says nothing. `form` narrows what the sender may send.
 */
export function requiredText(description: string, form: z.ZodString = z.string().min(1)) {
  return { emitted: form.describe(description), received: z.string().min(1).describe(description) };
}

/** Text that the sender always sends and that a receiver can do without. `form` narrows what the sender may send. */
export function text(description: string, form: z.ZodString = z.string().min(1)) {
  return { emitted: form.describe(description), received: absentText.describe(description) };
}

/** Text that the sender fills only sometimes; unfilled it is left out, null or empty. */
export function sometimesText(description: string, form: z.ZodString = z.string()) {
  return { emitted: form.nullish().describe(description), received: absentText.describe(description) };
}

/** One of a list for the sender; any text for the receiver, because lists grow. It must be there. */
export function requiredOneOf<const T extends readonly string[]>(values: T, description: string) {
  return {
    emitted: z.enum(values).describe(description),
    received: (z.string().min(1) as z.ZodType<Open<T[number]>, string>).describe(description),
  };
}

/** One of a list for the sender; any text, or none, for the receiver. */
export function oneOf<const T extends readonly string[]>(values: T, description: string) {
  return {
    emitted: z.enum(values).describe(description),
    received: (absentText as z.ZodType<Open<T[number]> | null, string | null | undefined>).describe(description),
  };
}

/** The value that tells a shape from the others: the same for both sides. */
export function discriminator<const T extends string>(value: T, description: string) {
  return { emitted: z.literal(value).describe(description), received: z.literal(value).describe(description) };
}

/** What the sender always sends as null, and a receiver reads like the field that it is elsewhere. */
export function alwaysNull<R extends z.ZodType>(field: Field<z.ZodType, R>) {
  return { emitted: z.null().describe('Always null.'), received: field.received };
}

/**
 * An object of fields that must be there. A received object keeps the fields that are not listed; its type does not
 * name them, so that a misspelt access is still a type error.
 */
export function group<F extends Fields>(fields: F, description: string) {
  const emitted = z.strictObject(side(fields, 'emitted') as EmittedShape<F>).describe(description);
  const received = z.looseObject(side(fields, 'received')) as unknown as z.ZodObject<ReceivedShape<F>, z.core.$strip>;
  return { emitted, received: received.describe(description) };
}

/** The same object as a receiver can do without: missing and null read as null. */
export function optionalInReading<E extends z.ZodType, R extends z.ZodType>(field: Field<E, R>) {
  return { emitted: field.emitted, received: field.received.nullish().transform((value) => value ?? null) };
}

function side(fields: Fields, name: keyof Field): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field[name]]));
}
