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

/**
 * A listed value, or any other text: what a receiver must expect from an open list. Editors still complete the list.
 */
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

/** Text that the sender always sends and a receiver does not require. `form` restricts what the sender may send. */
export function text(description: string, form: z.ZodString = z.string().min(1)) {
  return { emitted: form.describe(description), received: absentText.describe(description) };
}

/** Text that the sender sends only sometimes. Otherwise the field is missing or empty; a receiver also reads null. */
export function sometimesText(description: string, form: z.ZodString = z.string()) {
  return { emitted: form.optional().describe(description), received: absentText.describe(description) };
}

/** One of a list for the sender; any text for the receiver, because lists grow. Required. */
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

/** The value that distinguishes a shape from the others: the same for both sides. */
export function discriminator<const T extends string>(value: T, description: string) {
  return { emitted: z.literal(value).describe(description), received: z.literal(value).describe(description) };
}

/** A field that the sender always sends as null, and a receiver reads like any other. */
export function alwaysNull<R extends z.ZodType>(field: Field<z.ZodType, R>) {
  return { emitted: z.null().describe('Always null.'), received: field.received };
}

/**
 * An object of required fields. A received object keeps the fields that are not listed; its type does not name them, so
 * that a misspelt access is still a type error.
 */
export function group<F extends Fields>(fields: F, description: string) {
  const emitted = z.strictObject(side(fields, 'emitted') as EmittedShape<F>).describe(description);
  const received = z.looseObject(side(fields, 'received')) as unknown as z.ZodObject<ReceivedShape<F>, z.core.$strip>;
  return { emitted, received: received.describe(description) };
}

/** The same object, not required by a receiver: missing and null read as null. */
export function optionalInReading<E extends z.ZodType, R extends z.ZodType>(field: Field<E, R>) {
  return { emitted: field.emitted, received: field.received.nullish().transform((value) => value ?? null) };
}

function side(fields: Fields, name: keyof Field): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field[name]]));
}

const CORRECT = 'blockchainTransactionId';
const MISSPELT = 'blockchainTransctionId';

/**
 * A group of fields with the hash of a blockchain transaction, whose key has a second, misspelt form in the field:
 * `blockchainTransctionId`. The sender uses the correct spelling; a receiver reads both, and the correct one wins. The
 * reading has the correct key only; the notification as received is unchanged. Specification: CAAS_BLOCKCHAIN.
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
  type Reading = ReceivedOfFields<F> & { [CORRECT]: string | null };
  // The other keys depend on F and do not matter here.
  const read = (received as unknown as z.ZodType<Record<string, unknown>>).transform((reading) => {
    const { [MISSPELT]: misspelt, ...rest } = reading;
    return { ...rest, [CORRECT]: rest[CORRECT] ?? misspelt };
  });
  return { emitted, received: read as unknown as z.ZodType<Reading> };
}

/**
 * `field` is filled exactly when the value at `when` is `is`. In every other case it is absent, null or empty text.
 * Paths are keys with points between, below `data`.
 */
export interface FilledExactlyWhen {
  readonly field: string;
  readonly when: string;
  readonly is: string;
}

const UNFILLED: readonly unknown[] = [null, ''];

/** The schema of `data` with its rules. The rules bind the sender; a receiver takes what comes. */
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

/** A schema for the value at a path; `required` says whether it must be there. */
function nested(path: string, leaf: object, required: boolean): object {
  return path
    .split('.')
    .reduceRight<object>(
      (inner, key) => ({ properties: { [key]: inner }, ...(required ? { required: [key] } : {}) }),
      leaf,
    );
}
