/** Rules between two fields of a notification, each written once and enforced in zod and in JSON Schema alike. */
import type { z } from 'zod';

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
