/**
 * The schema of hookproof.yaml, made of the table of settings. It checks the kinds of values; values of all layers
 * are checked elsewhere.
 */
import * as z from 'zod';
import { toJSONSchema } from '../to-json-schema.ts';
import { WHOLE_REFERENCE } from './secrets.ts';
import { defaultText, SETTINGS, type Setting } from './settings.ts';
import { DURATION } from './values.ts';

/** What a value was expected to be; the message of every issue is one of these. */
export type Expected = 'text' | 'switch' | 'number' | 'duration' | 'list' | 'group' | 'reference' | 'seed';

const expecting = (error: Expected) => ({ error });
const text = z.string(expecting('text'));
const reference = z.string(expecting('reference')).regex(WHOLE_REFERENCE, expecting('reference'));
const list = z.array(text, expecting('list')).min(1, expecting('list'));
const duration = z.string(expecting('duration')).meta({ pattern: DURATION.source, examples: ['10s', '500ms'] });

/** Metadata such as `pattern` and `enum` is for editors, and is checked elsewhere with better messages. */
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
    case 'switch':
      return z.boolean(expecting('switch'));
    case 'words':
    case 'paths':
    case 'ids':
    case 'fields':
    case 'reporters':
      return list;
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

/** The settings below `start` as one object, groups inside it. */
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

/** The JSON Schema of hookproof.yaml (draft 2020-12), for editors. */
export function fileJsonSchema(): Record<string, unknown> {
  return { ...toJSONSchema(fileSchema), title: 'hookproof.yaml' };
}
