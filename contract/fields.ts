/**
 * Defines each field of a notification once and builds two schemas from it:
 *
 * - `emitted` describes what the sender sends: only listed values, exact forms, no unknown fields;
 * - `received` describes what a receiver reads: unknown fields are kept, unlisted values are accepted, and optional
 *   data may be missing, null or empty, all of which read as null.
 *
 * A {@link Field} is such a pair, and a {@link group} of fields is itself a field. Both schemas of a whole notification
 * therefore come from one definition (see ./shapes.ts) and cannot diverge.
 */
import * as z from 'zod';

export interface Field<E extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  readonly emitted: E;
  readonly received: R;
}

export type Fields = Readonly<Record<string, Field>>;
type EmittedShape<F extends Fields> = { -readonly [K in keyof F]: F[K]['emitted'] };
type ReceivedShape<F extends Fields> = { -readonly [K in keyof F]: F[K]['received'] };

/** The type of an object after a receiver has read these fields. */
export type ReceivedOfFields<F extends Fields> = z.output<z.ZodObject<ReceivedShape<F>, z.core.$strip>>;

/**
 * A listed value or any other text, because receivers must accept new values. Editors still suggest the listed values.
 */
type Open<T extends string> = T | (string & Record<never, never>);

/** Text that a receiver does not require: missing, null and empty all read as null. */
const absentText = z
  .string()
  .nullish()
  .transform((value) => value || null);

/** Defines text without which the notification is meaningless. `form` restricts what the sender may send. */
export function requiredText(description: string, form: z.ZodString = z.string().min(1)) {
  return { emitted: form.describe(description), received: z.string().min(1).describe(description) };
}

/**
 * Defines text that the sender always sends and a receiver does not require. `form` restricts what the sender may send.
 */
export function text(description: string, form: z.ZodString = z.string().min(1)) {
  return { emitted: form.describe(description), received: absentText.describe(description) };
}

/**
 * Defines text that the sender sends only in some cases, otherwise leaving it out or empty. A receiver also accepts
 * null.
 */
export function sometimesText(description: string, form: z.ZodString = z.string()) {
  return { emitted: form.optional().describe(description), received: absentText.describe(description) };
}

/** Defines a required value. The sender sends a listed value; a receiver accepts any text, because lists grow. */
export function requiredOneOf<const T extends readonly string[]>(values: T, description: string) {
  return {
    emitted: z.enum(values).describe(description),
    received: (z.string().min(1) as z.ZodType<Open<T[number]>, string>).describe(description),
  };
}

/** Defines an optional value. The sender sends a listed value; a receiver accepts any text, or none. */
export function oneOf<const T extends readonly string[]>(values: T, description: string) {
  return {
    emitted: z.enum(values).describe(description),
    received: (absentText as z.ZodType<Open<T[number]> | null, string | null | undefined>).describe(description),
  };
}

/** Defines the value that distinguishes one shape from the others. It is the same for sender and receiver. */
export function discriminator<const T extends string>(value: T, description: string) {
  return { emitted: z.literal(value).describe(description), received: z.literal(value).describe(description) };
}

/** Defines a field that the sender always sends as null and a receiver reads normally. */
export function alwaysNull<R extends z.ZodType>(field: Field<z.ZodType, R>) {
  return { emitted: z.null().describe('Always null.'), received: field.received };
}

/**
 * Defines an object of required fields. A received object keeps unlisted fields at run time, but its type omits them,
 * so a misspelt property is a type error.
 */
export function group<F extends Fields>(fields: F, description: string) {
  const emitted = z.strictObject(side(fields, 'emitted') as EmittedShape<F>).describe(description);
  const received = z.looseObject(side(fields, 'received')) as unknown as z.ZodObject<ReceivedShape<F>, z.core.$strip>;
  return { emitted, received: received.describe(description) };
}

/** Makes an object optional for a receiver: missing and null both read as null. */
export function optionalInReading<E extends z.ZodType, R extends z.ZodType>(field: Field<E, R>) {
  return { emitted: field.emitted, received: field.received.nullish().transform((value) => value ?? null) };
}

function side(fields: Fields, name: keyof Field): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field[name]]));
}

const CORRECT = 'blockchainTransactionId';
const MISSPELT = 'blockchainTransctionId';

/**
 * Defines a group of fields with the hash of a blockchain transaction. The sender uses the key
 * `blockchainTransactionId`; a receiver also accepts the misspelt `blockchainTransctionId`. If both are filled, the
 * correct key takes precedence. The parsed object has only the correct key; the raw notification is unchanged.
 * Specification: CAAS_BLOCKCHAIN.
 */
export function groupWithHash<F extends Fields>(fields: F, description: string, hashDescription: string) {
  const hash = sometimesText(hashDescription);
  const { emitted } = group({ ...fields, [CORRECT]: hash } as F & { [CORRECT]: typeof hash }, description);
  const { received } = group(
    {
      ...fields,
      [CORRECT]: hash,
      [MISSPELT]: sometimesText(`A misspelling of ${CORRECT}, read when that is not filled.`),
    },
    description,
  );
  type WithHash = ReceivedOfFields<F> & { [CORRECT]: string | null };
  // The type of the other keys depends on F and is not needed here.
  const read = (received as unknown as z.ZodType<Record<string, unknown>>).transform((reading) => {
    const { [MISSPELT]: misspelt, ...rest } = reading;
    return { ...rest, [CORRECT]: rest[CORRECT] ?? misspelt };
  });
  return { emitted, received: read as unknown as z.ZodType<WithHash> };
}

/**
 * States that `field` has a value exactly when the value at `when` equals `is`, and is otherwise absent, null or empty.
 * Paths are keys joined by dots, relative to `data`.
 */
export interface FilledExactlyWhen {
  readonly field: string;
  readonly when: string;
  readonly is: string;
}

const UNFILLED: readonly unknown[] = [null, ''];

/** Adds rules to the schema of `data`. The rules bind the sender; a receiver accepts any combination. */
export function withRules<S extends z.ZodType>(data: S, rules: readonly FilledExactlyWhen[]): S {
  return data
    .superRefine((value, context) => {
      for (const { field, when, is } of rules) {
        const wanted = at(value, when) === is;
        const unfilled = UNFILLED.includes(at(value, field) ?? null);
        if (wanted !== unfilled) continue;
        const message = wanted ? `must be filled when ${when} is ${is}` : `is filled only when ${when} is ${is}`;
        context.addIssue({ code: 'custom', path: field.split('.'), message });
      }
    })
    .meta({ description: data.description, allOf: rules.map(asJsonSchema) });
}

function at(value: unknown, path: string): unknown {
  let here = value;
  for (const key of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

function asJsonSchema({ field, when, is }: FilledExactlyWhen): object {
  return {
    if: nested(when, { const: is }, true),
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema has a keyword of this name.
    then: nested(field, { not: { enum: UNFILLED } }, true),
    else: nested(field, { enum: UNFILLED }, false),
  };
}

/** Builds a JSON Schema that applies `leaf` to the value at a path. With `required`, the value must exist. */
function nested(path: string, leaf: object, required: boolean): object {
  return path
    .split('.')
    .reduceRight<object>(
      (inner, key) => ({ properties: { [key]: inner }, ...(required ? { required: [key] } : {}) }),
      leaf,
    );
}
