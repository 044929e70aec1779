/**
 * Builds the schema of hookproof.yaml from the table of settings. It checks the types of values; ranges are checked
 * later, for values from any source.
 */
import * as z from 'zod';
import { schemeLiteral } from '../../contract/signing/schemes/parse-scheme.ts';
import { toJSONSchema } from '../to-json-schema.ts';
import { WHOLE_REFERENCE } from './secrets.ts';
import { defaultText, SETTINGS, type Setting } from './settings.ts';
import { DURATION, RATE } from './values.ts';

/** The expected type of a value, which is also the message of every schema issue. */
export type Expected =
  | ('text' | 'switch' | 'number' | 'duration' | 'rate' | 'list' | 'group' | 'reference' | 'seed')
  | ('days' | 'count' | 'hours' | 'zone' | 'waits');

const expecting = (error: Expected) => ({ error });
const text = z.string(expecting('text'));
const reference = z.string(expecting('reference')).regex(WHOLE_REFERENCE, expecting('reference'));
const list = z.array(text, expecting('list')).min(1, expecting('list'));
const duration = z.string(expecting('duration')).meta({ pattern: DURATION.source, examples: ['10s', '500ms'] });

const rate = z.string(expecting('rate')).meta({ pattern: RATE.source, examples: ['5/s', '100/m'] });

/** The schedule of `hookproof operate`. Its values are checked here, because only a file can set them. */
const SCHEDULE = {
  days: z.string(expecting('days')).regex(/^(?:[1-9]|[12]\d|30)d$/, expecting('days')),
  count: z.int(expecting('count')).min(1, expecting('count')).max(64, expecting('count')),
  hours: z
    .string(expecting('hours'))
    .regex(/^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/, expecting('hours'))
    .refine((hours) => hours.slice(0, 5) !== hours.slice(6), expecting('hours')),
  zone: z.string(expecting('zone')).refine(isTimeZone, expecting('zone')),
  waits: z.array(z.string(expecting('duration')).regex(DURATION, expecting('duration')), expecting('waits')).max(9),
} as const;

/** The name of a scheme, or a literal. Each of its issues has its own message, as an object under `scheme`. */
const schemeSchema = z
  .unknown()
  .check(({ value, issues }) => {
    const found = typeof value === 'string' ? [] : (schemeLiteral.safeParse(value).error?.issues ?? []);
    issues.push(...found.map((issue) => ({ ...issue, path: [...issue.path], input: value }) as z.core.$ZodRawIssue));
  })
  .meta({ type: ['string', 'object'] });

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * Returns the schema of one setting. Metadata such as `pattern` and `enum` is only for editors; other modules check the
 * values, with better messages.
 */
function schemaOf(setting: Setting): z.ZodType {
  switch (setting.type) {
    case 'secret':
      return reference;
    case 'headers':
      return z.record(z.string(), text, expecting('group'));
    case 'word':
      return text.meta({ enum: [...setting.words] });
    case 'number':
      return z.int(expecting('number')).meta({ minimum: setting.bounds[0], maximum: setting.bounds[1] });
    case 'duration':
      return duration;
    case 'rate':
      return rate;
    case 'schedule':
      return SCHEDULE[setting.value];
    case 'switch':
      return z.boolean(expecting('switch'));
    case 'words':
    case 'paths':
    case 'ids':
    case 'fields':
    case 'bodies':
    case 'reporters':
      return list;
    case 'scheme':
      return schemeSchema;
    case 'seed':
      return z.union([z.string(), z.int()], expecting('seed'));
    default:
      return text;
  }
}

function describe(setting: Setting): string {
  const { description, type } = setting;
  const standard = defaultText(setting);
  return [
    `${description.charAt(0).toUpperCase()}${description.slice(1)}.`,
    ...(type === 'secret' ? [`Write \${env:NAME} or \${file:PATH}.`] : []),
    ...(standard === undefined ? [] : [`Default: ${standard}.`]),
  ].join(' ');
}

/** Returns the schema of the settings under `start` as an object with nested groups. */
function groupOf(start: string): z.ZodType {
  const rows = SETTINGS.filter((row: Setting) => row.path.startsWith(start) && row.flagOnly !== true);
  const keys = new Set(rows.map(({ path }) => path.slice(start.length).split('.')[0] ?? ''));
  const shape = [...keys].map((key) => {
    const row = rows.find(({ path }) => path === `${start}${key}`);
    return [key, row === undefined ? groupOf(`${start}${key}.`) : schemaOf(row).describe(describe(row))] as const;
  });
  return z.strictObject(Object.fromEntries(shape), expecting('group')).partial();
}

export const fileSchema = groupOf('');

/** Returns the JSON Schema of hookproof.yaml (draft 2020-12) for editors. */
export function fileJsonSchema(): Record<string, unknown> {
  return { ...toJSONSchema(fileSchema), title: 'hookproof.yaml' };
}
