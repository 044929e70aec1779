/**
 * Parses the text of hookproof.yaml into settings with positions. Messages never quote a value from the file, because
 * it may be a secret.
 */
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  visit,
} from 'yaml';
import type { z } from 'zod';
import { SCHEME_KEYS } from '../../contract/signing/schemes/parse-scheme.ts';
import { nearestName } from '../nearest-name.ts';
import { MAX_YAML_DEPTH, readYaml } from '../yaml-text.ts';
import { type Expected, fileSchema } from './file-schema.ts';
import type { Given, GivenSettings, PartnerScope } from './given.ts';
import { type Position, type Problem, positionText, quoted, SYNTAX_CODE } from './problems.ts';
import { REFERENCE_HINT } from './secrets.ts';
import { flagOf, SETTINGS, type Setting } from './settings.ts';
import { DURATION_HINT, RATE_HINT, SEED_HINT } from './values.ts';

/** The file as the user named it, and the folder against which its relative paths are resolved. */
export interface FilePlace {
  readonly name: string;
  readonly base: string;
  readonly scope?: PartnerScope | undefined;
}

interface YamlDocument {
  readonly doc: Document.Parsed;
  readonly data: unknown;
  placeOf(node: Node): Position;
}

/** Returned if the text is not YAML from this offset on, or contains nothing that the schema can check. */
interface Broken {
  readonly brokenAt: number;
}

interface ParsedFile {
  /** The settings by path. A secret written into the file is marked. */
  readonly settings: GivenSettings;
  readonly unusable: readonly string[];
  readonly complete: boolean;
}

/**
 * Notes every problem of the file, and reads the valid settings, so that later steps can check their values and
 * `doctor` can examine them. After a syntax error, only what precedes the error is read.
 */
export function parseConfigFile(text: string, file: FilePlace, problems: Problem[]): ParsedFile {
  // A byte order mark is not content; it would shift the columns of the first line.
  const content = text.replace(/^\uFEFF/, '');
  const whole = parseYaml(content, file.name, problems);
  const document = 'brokenAt' in whole ? parseBefore(content, whole.brokenAt, file.name) : whole;
  if ('brokenAt' in document) return { settings: new Map(), unusable: [], complete: false };
  const given = new Map(collect(document, document.doc.contents, '', file));
  const complete = document === whole && isMap(resolved(document, document.doc.contents));
  const checked = fileSchema.safeParse(document.data);
  if (checked.success) return { settings: given, unusable: [], complete };
  const found = schemaProblems(checked.error.issues, document);
  // Passing a hundred thousand problems as arguments would overflow the stack.
  for (const { problem } of found) problems.push(problem);
  const settings = new Map([...given].flatMap(([path, values]) => withoutProblems(path, values, found)));
  return { settings, unusable: found.flatMap(({ problem, meant }) => meant ?? problem.path ?? []), complete };
}

/**
 * Maximum number of attempts to parse, each of which takes time proportional to the length of the text. A file with
 * more top-level keys is not a configuration.
 */
const MAX_ATTEMPTS = 30;

/**
 * Parses the text before the top-level key that contains the error, because the parser notices an unclosed quote much
 * later.
 */
function parseBefore(text: string, offset: number, name: string): YamlDocument | Broken {
  const keys = [...text.slice(0, offset).matchAll(/^["'\w]/gm)].slice(1);
  if (keys.length > MAX_ATTEMPTS) return { brokenAt: 0 };
  for (const { index } of keys.toReversed()) {
    const document = parseYaml(text.slice(0, index), name, []);
    if (!('brokenAt' in document)) return document;
  }
  return { brokenAt: 0 };
}

function withoutProblems(
  path: string,
  values: readonly Given[],
  problems: readonly FoundProblem[],
): [string, Given[]][] {
  const about = problems.flatMap(({ problem }) =>
    problem.path === path || problem.path?.startsWith(`${path}.`) === true ? problem : [],
  );
  if (about.length === 0) return [[path, [...values]]];
  if (about.every(({ reason }) => reason === 'in-config-file')) {
    return [[path, values.filter(({ value }) => value !== '').map((one) => ({ ...one, literal: true }))]];
  }
  // The valid items of a list are still used.
  const places = new Set(about.map(({ position }) => position && positionText(position)));
  const others = values.filter(({ position }) => position !== undefined && !places.has(positionText(position)));
  return LISTS.has(path) && others.length > 0 ? [[path, others]] : [];
}

const LISTS: ReadonlySet<string> = new Set(
  SETTINGS.filter(({ type }) => ['words', 'paths', 'ids', 'fields', 'bodies', 'reporters'].includes(type)).map(
    ({ path }) => path,
  ),
);

function collect(document: YamlDocument, start: unknown, path: string, file: FilePlace): [string, Given[]][] {
  const node = resolved(document, start);
  if (isMap(node)) {
    return node.items.flatMap(({ key, value }) => {
      const step = isScalar(key) ? String(key.value) : '';
      return collect(document, value, path === '' ? step : `${path}.${step}`, file);
    });
  }
  const items = isSeq(node) ? node.items.map((item) => resolved(document, item)) : [node];
  return [[path, items.flatMap((item) => (isScalar(item) ? toGiven(document, item, path, file) : []))]];
}

function resolved({ doc }: YamlDocument, node: unknown): Node | undefined {
  return isAlias(node) ? node.resolve(doc) : isNode(node) ? node : undefined;
}

function toGiven(document: YamlDocument, scalar: Scalar, path: string, { base, scope }: FilePlace): Given {
  const { value, source } = scalar;
  const position = document.placeOf(scalar);
  const place = positionText(position);
  return {
    path,
    // A number keeps its spelling, because a seed of 007 is not 7.
    value: typeof value === 'boolean' ? value : typeof value === 'number' ? (source ?? String(value)) : String(value),
    layer: 'file',
    source: place,
    where: `${place}: ${path}`,
    position,
    base,
    ...(scope !== undefined && { scope }),
  };
}

const MAX_ALIASES = 20;

const TOO_MANY = {
  levels: [`is nested more than ${MAX_YAML_DEPTH} levels deep`, 'Settings are at most four levels deep.'],
  keys: ['a group with thousands of keys begins', 'Remove the keys that are not settings.'],
  aliases: ['there are too many aliases', 'Write the settings out.'],
} as const;

const SYNTAX: Partial<Record<ErrorCode, readonly [what: string, hint: string]>> = {
  TAB_AS_INDENT: ['a tab is used for indentation', 'Indent with spaces.'],
  BAD_INDENT: [
    'the indentation is inconsistent, or a quote or bracket before this point is not closed',
    'Start all settings of a group in the same column, and close every quote and bracket.',
  ],
  BLOCK_AS_IMPLICIT_KEY: [
    'the indentation is inconsistent, or the line has two colons',
    'Quote a value that contains ": ".',
  ],
  MISSING_CHAR: ['something is not closed', 'Look for a missing quote, bracket or colon before this place.'],
  BAD_SCALAR_START: ['a value begins with a character that YAML reserves', 'Put the value in quotes.'],
  BAD_DQ_ESCAPE: ['there is an unknown escape sequence', 'Put the value in single quotes.'],
  NON_STRING_KEY: ['a key is not plain text', 'Write a setting as `key: value`.'],
  TAG_RESOLVE_FAILED: ['a value begins with !', 'Put the value in quotes.'],
};
const NOT_YAML = ['is not valid YAML from here on', 'Write a setting as `key: value`.'] as const;

/** Parses YAML and notes its problems. After a duplicate key, reading continues. */
function parseYaml(text: string, name: string, problems: Problem[]): YamlDocument | Broken {
  const yaml = readYaml(text);
  const placeOf = (offset: number): Position => {
    const { line, col } = yaml.placeOf(offset);
    return { file: name, line, column: col };
  };
  const refuse = (offset: number, what: string, hint: string, code = SYNTAX_CODE): Broken => {
    const position = placeOf(offset);
    problems.push({ code, path: null, reason: null, message: `${positionText(position)}: ${what}`, hint, position });
    return { brokenAt: offset };
  };
  if ('tooMany' in yaml) {
    const [what, hint] = TOO_MANY[yaml.tooMany];
    refuse(yaml.offset, what, hint);
    return { brokenAt: 0 };
  }
  const { doc, second } = yaml;
  const errors = doc?.errors ?? [];
  if (errors.length === 0 && (doc === undefined || isNothing(doc.contents))) {
    const hint = 'Write at least `url: https://…`, or remove the file.';
    return refuse(0, 'contains no settings', hint, 'CONFIG_FILE_EMPTY');
  }
  for (const { code, pos } of errors) {
    if (code !== 'DUPLICATE_KEY') continue;
    const key = /^[\w-]+/.exec(text.slice(pos[0], pos[0] + 80))?.[0] ?? '';
    refuse(pos[0], `${quoted(key, 'this key')} appears twice`, 'Keep one of them.', 'CONFIG_DUPLICATE_KEY');
  }
  // One mistake can cause several parser errors; the first one shows where to look.
  const error = [...errors, ...(doc?.warnings ?? [])].find(({ code }) => code !== 'DUPLICATE_KEY');
  if (error !== undefined) {
    const [what, hint] = isBareReference(text, error.pos[0])
      ? [
          'a reference inside { } needs quotes',
          `Write "\${env:NAME}" with the quotes, or put each key on a separate line.`,
        ]
      : (SYNTAX[error.code] ?? NOT_YAML);
    return refuse(error.pos[0], what, hint);
  }
  if (second !== undefined) {
    return refuse(second.range[0], 'a second document begins', 'Remove the line `---` before it.');
  }
  if (doc === undefined || doc.contents === null) return { brokenAt: 0 };
  const aliases: { offset: number; resolved: boolean }[] = [];
  visit(doc, {
    Alias: (_, alias) => {
      aliases.push({ offset: offsetOf(alias), resolved: alias.resolve(doc) !== undefined });
    },
  });
  const unresolved = aliases.find((alias) => !alias.resolved);
  if (unresolved !== undefined) return refuse(unresolved.offset, 'a value begins with *', 'Put the value in quotes.');
  try {
    return { doc, data: doc.toJS({ maxAliasCount: MAX_ALIASES }), placeOf: (node) => placeOf(offsetOf(node)) };
  } catch {
    refuse(aliases[0]?.offset ?? 0, 'the aliases expand to too much text', 'Write the settings out.');
    return { brokenAt: 0 };
  }
}

/**
 * Whether the brace at this offset begins an unquoted reference, as in `{ secret: ${env:X} }`, which YAML reads as a
 * map.
 */
function isBareReference(text: string, offset: number): boolean {
  return text[offset] === '{' && text[offset - 1] === '$';
}

/** Whether a value is missing: null after `key:`, undefined in `{ key }`. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (isScalar(value) && value.value === null);
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

const SCHEME_HINT = 'docs/schemes.md has an example. `hookproof list --what schemes` lists the built-in ones.';

/** The expected type, as the end of the sentence "… is not …", and a hint. */
const EXPECTED: Record<Exclude<Expected, 'reference'>, readonly [what: string, hint: string]> = {
  text: ['text', 'Put the value in quotes.'],
  switch: ['true or false', 'Write true or false, without quotes.'],
  number: ['a whole number', 'Write digits, without quotes.'],
  duration: ['a duration with its unit', DURATION_HINT],
  rate: ['a rate with its unit', RATE_HINT],
  list: ['a list', 'Write [one, two], or one item per line after a dash; leave the key out for none.'],
  group: ['a group of settings', 'Indent them below it, one per line.'],
  seed: ['text or a whole number', SEED_HINT],
  days: ['a number of days from 1d to 30d', 'Write it with its unit, for example 1d or 14d.'],
  count: ['a whole number from 1 to 64', 'Write digits, without quotes.'],
  hours: ['a part of the day', 'Write two different times, for example "22:00-06:00".'],
  zone: ['a time zone', 'Write a name of the IANA database, for example Europe/Berlin, or UTC.'],
  waits: ['a list of up to 9 durations', 'Write them in brackets, for example [1m, 5m, 30m].'],
};

interface FoundProblem {
  readonly problem: Problem;
  /** The path of the setting that the user probably meant by an unknown key. */
  readonly meant?: string | undefined;
}

function schemaProblems(issues: readonly z.core.$ZodIssue[], document: YamlDocument): FoundProblem[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownKey(path, key, document))
      : wrongValue(path, issue.message, document);
  });
}

function wrongValue(path: readonly string[], expected: string, document: YamlDocument): FoundProblem {
  const { key, value } = nodesAt(document, path);
  const node = value ?? key ?? nodesAt(document, path.slice(0, -1)).key ?? rootOf(document);
  const position = document.placeOf(node);
  const found = (code: string, what: string, hint: string, reason: string | null = null): FoundProblem => {
    const where = path.length === 0 ? '' : `${pathText(path)}: `;
    const message = `${positionText(position)}: ${where}${what}`;
    return { problem: { code, path: path.join('.'), reason, message, hint, position } };
  };
  if (path.length === 0) return found('CONFIG_VALUE', 'contains no settings', 'Write a setting as `key: value`.');
  if (path[0] === 'scheme' && key === undefined && value === undefined) {
    return found('CONFIG_SCHEME', 'is missing', SCHEME_HINT, 'missing');
  }
  if (isNothing(value)) return found('CONFIG_EMPTY_VALUE', 'is empty', 'Give it a value, or remove the key.', 'empty');
  if (expected === 'reference') {
    const isReference = isScalar(value) && typeof value.value === 'string' && /^\$\{.*\}$/s.test(value.value);
    const what = isReference ? 'the reference is not valid' : 'a secret must not be written into this file';
    return found('CONFIG_LITERAL_SECRET', what, REFERENCE_HINT, 'in-config-file');
  }
  if (path[0] === 'scheme') return found('CONFIG_SCHEME', expected, SCHEME_HINT);
  const [what, hint] = EXPECTED[isExpected(expected) ? expected : 'text'];
  if (expected === 'list' && isSeq(value)) return found('CONFIG_VALUE', 'the list is empty', hint);
  return found('CONFIG_VALUE', `${shownValue(path, value)} is not ${what}`, hint);
}

/** Groups in which an unknown key or value may be a misplaced secret. */
const SECRET_GROUPS: ReadonlySet<string | undefined> = new Set(
  SETTINGS.filter(({ type }) => type === 'secret' || type === 'headers').map(({ path }) => path.split('.')[0]),
);

function shownValue([group]: readonly string[], node: Node | undefined): string {
  if (isSeq(node)) return 'a list';
  if (isMap(node)) return 'a group of settings';
  if (!isScalar(node) || SECRET_GROUPS.has(group)) return 'the value';
  return quoted(node.source ?? String(node.value), 'the value');
}

/** Other names that users try for a key, mostly names of flags. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...SETTINGS.filter(({ path }) => inFile(path) && !path.startsWith('mtls.')).flatMap((setting: Setting) => {
    const last = setting.path.slice(setting.path.indexOf('.') + 1);
    const flag = flagOf(setting)?.replace(/^--/, '').toLowerCase() ?? last;
    return [flag, last].map((name): [string, string] => [name, setting.path]);
  }),
  ['secret-env', 'hmac.secret'],
  ['signature', 'hmac.header'],
  ['api-key', 'api-key.value'],
  ['fixtures', 'mtls.fixtures'],
]);

function unknownKey(parent: readonly string[], key: string, document: YamlDocument): FoundProblem {
  const { key: keyNode, value } = nodesAt(document, [...parent, key]);
  const node = keyNode ?? rootOf(document);
  const siblings = keysIn(parent.join('.'));
  const near = nearestName(key, siblings);
  const elsewhere = nearestName(key, OTHER_NAMES.keys());
  const other = elsewhere === null ? undefined : OTHER_NAMES.get(elsewhere);
  const meant = near ?? other;
  // `{ value }` without a colon is parsed as a key without a value. It is more likely a value, perhaps a secret.
  const bare = near === null && isNothing(value);
  const unknown = bare ? 'unknown key without a value' : `unknown key ${quoted(key, '')}`.trimEnd();
  const place = parent.length === 0 ? '' : ` in ${pathText(parent)}`;
  const question = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
  const position = document.placeOf(node);
  const problem = {
    code: 'CONFIG_UNKNOWN_KEY',
    path: [...parent, key].join('.'),
    reason: null,
    message: `${positionText(position)}: ${unknown}${place}${question}`,
    hint: meant === undefined ? `Known keys${place}: ${siblings.join(', ')}.` : 'Rename it, or remove it.',
    position,
  };
  return { problem, meant: near === null ? other : [...parent, near].join('.') };
}

function inFile(path: string): boolean {
  return SETTINGS.some((setting: Setting) => setting.path === path && setting.flagOnly !== true);
}

/** Returns the known keys of a group; '' is the top level. */
function keysIn(group: string): string[] {
  if (group === 'scheme') return [...SCHEME_KEYS];
  if (group === 'scheme.secret') return ['prefix', 'encoding'];
  if (group.startsWith('scheme.older-signatures.')) return ['algorithm', 'signature'];
  const start = group === '' ? '' : `${group}.`;
  const paths = SETTINGS.map(({ path }) => path).filter((path) => inFile(path) && path.startsWith(start));
  return [...new Set(paths.flatMap((path) => path.slice(start.length).split('.')[0] ?? []))];
}

/**
 * Returns the nodes of the key and the value at a path. A list item has no key; inside an alias, both are undefined.
 */
function nodesAt({ doc }: YamlDocument, path: readonly string[]): { key?: Node | undefined; value?: Node | undefined } {
  const value = path.length === 0 ? doc.contents : doc.getIn(path, true);
  const parent = path.length < 2 ? doc.contents : doc.getIn(path.slice(0, -1), true);
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  return { key: isNode(pair?.key) ? pair.key : undefined, value: isNode(value) ? value : undefined };
}

function rootOf({ doc }: YamlDocument): Node {
  if (doc.contents === null) throw new TypeError('An empty document contains no problems.');
  return doc.contents;
}

function pathText(path: readonly string[]): string {
  const shown = path.map((step) => (/^[\w-]{1,24}$/.test(step) ? step : '…'));
  return shown.join('.');
}

function isExpected(message: string): message is keyof typeof EXPECTED {
  return message in EXPECTED;
}
