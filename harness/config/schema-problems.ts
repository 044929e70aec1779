/** Turns what the schema finds into problems at their place in the file. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { z } from 'zod';
import type { Expected } from './file-schema.ts';
import { nearestName } from './nearest-name.ts';
import { type Problem, quoted } from './problems.ts';
import { HOW_TO_REFER } from './references.ts';
import { SETTINGS } from './settings.ts';
import type { YamlDocument } from './yaml-document.ts';

const EXPECTED: Record<Expected, readonly [what: string, hint: string]> = {
  text: ['must be text', 'Put the value in quotes.'],
  switch: ['must be true or false', 'Write true or false, without quotes.'],
  number: ['must be a whole number', 'Write digits, without quotes.'],
  duration: ['must be a duration with its unit', 'Write a number and its unit: 500ms, 10s or 2m.'],
  list: ['must be a list', 'Write [one, two], or one item a line after a dash; leave the key out for none.'],
  group: ['must hold settings of its own', 'Indent them below it, one a line.'],
  reference: ['a secret is not written into this file', HOW_TO_REFER],
  seed: ['must be text or a whole number', 'A seed is 1 to 64 letters, digits, or any of . : _ -'],
};

/** Other names that people try for a key: the flags, for the most part. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...SETTINGS.filter(({ path }) => path !== 'shard' && !isFixture(path)).flatMap((setting): [string, string][] => {
    const last = setting.path.slice(setting.path.indexOf('.') + 1);
    const flag = 'label' in setting ? setting.label.replace(/^--/, '').toLowerCase() : last;
    return [
      [flag, setting.path],
      [last, setting.path],
    ];
  }),
  ['secret-env', 'hmac.secret'],
  ['signature', 'hmac.header'],
  ['api-key', 'api-key.value'],
  ['fixtures', 'mtls.fixtures'],
]);

/** The problems in the order of the file. */
export function schemaProblems(issues: readonly z.core.$ZodIssue[], document: YamlDocument, name: string): Problem[] {
  return issues
    .flatMap((issue) => {
      const path = issue.path.map(String);
      return issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => unknownKey(path, key, document, name))
        : wrongValue(path, issue.message, document, name);
    })
    .sort((a, b) => a.offset - b.offset)
    .map(({ problem }) => problem);
}

interface Found {
  readonly offset: number;
  readonly problem: Problem;
}

function wrongValue(path: readonly string[], expected: string, document: YamlDocument, name: string): Found {
  const { key, value } = nodeAt(document, path);
  const node = value ?? key ?? document.root;
  const place = `${name}:${document.position(node)}`;
  const found = (code: string, what: string, hint: string): Found => {
    const message = path.length === 0 ? `${place}: ${what}` : `${place}: ${pathText(path)}: ${what}`;
    return { offset: offsetOf(node), problem: { code, message, hint } };
  };
  if (path.length === 0) return found('CONFIG_VALUE', 'holds no settings', 'A setting is written as key: value.');
  if (isNothing(value)) {
    return found('CONFIG_EMPTY_VALUE', 'is empty', 'Give it a value, or remove the key.');
  }
  const [what, hint] = EXPECTED[isExpected(expected) ? expected : 'text'];
  return found(expected === 'reference' ? 'CONFIG_LITERAL_SECRET' : 'CONFIG_VALUE', what, hint);
}

function unknownKey(parent: readonly string[], key: string, document: YamlDocument, name: string): Found {
  const { key: keyNode, value } = nodeAt(document, [...parent, key]);
  const node = keyNode ?? document.root;
  const siblings = siblingsOf(parent.join('.'));
  const near = nearestName(key, siblings);
  const elsewhere = nearestName(key, ELSEWHERE.keys());
  const meant = near ?? (elsewhere === null ? undefined : ELSEWHERE.get(elsewhere));
  // `{ value }` without a colon is a key with nothing behind it: more likely a value, and perhaps a secret one.
  const bare = near === null && isNothing(value);
  const unknown = bare ? 'unknown key without a value' : `unknown key${quotedKey(key)}`;
  const place = parent.length === 0 ? '' : ` in ${pathText(parent)}`;
  const question = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
  const problem = {
    code: 'CONFIG_UNKNOWN_KEY',
    message: `${name}:${document.position(node)}: ${unknown}${place}${question}`,
    hint: meant === undefined ? `Known keys${place}: ${siblings.join(', ')}.` : 'Rename it, or remove it.',
  };
  return { offset: offsetOf(node), problem };
}

function quotedKey(key: string): string {
  const text = quoted(key, '');
  return text === '' ? '' : ` ${text}`;
}

/** `key:` has a null behind it; `{ key }` has not even that. */
function isNothing(value: Node | undefined): boolean {
  return value === undefined || (isScalar(value) && value.value === null);
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/** The keys that may stand in a group; '' is the top of the file. */
function siblingsOf(group: string): string[] {
  const start = group === '' ? '' : `${group}.`;
  const paths = SETTINGS.map(({ path }) => path).filter((path) => path !== 'shard' && path.startsWith(start));
  return [...new Set(paths.flatMap((path) => path.slice(start.length).split('.')[0] ?? []))];
}

function isFixture(path: string): boolean {
  return path.startsWith('mtls.fixtures.');
}

/** The key and the value at a path; an item of a list has no key. */
function nodeAt(document: YamlDocument, path: readonly string[]): { key?: Node; value?: Node } {
  let key: Node | undefined;
  let value: Node | undefined = document.root;
  for (const step of path) {
    key = undefined;
    const parent: Node | undefined = document.resolve(value);
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === step);
      key = document.resolve(pair?.key);
      value = document.resolve(pair?.value);
    } else {
      value = isSeq(parent) ? document.resolve(parent.items[Number(step)]) : undefined;
    }
  }
  return { ...(key && { key }), ...(value && { value }) };
}

function pathText(path: readonly string[]): string {
  const shown = path.map((step) => (/^[\w-]{1,24}$/.test(step) ? step : '…'));
  return shown.join('.');
}

function isExpected(message: string): message is Expected {
  return message in EXPECTED;
}
