/** Reads YAML with positions, and says what is wrong with it in our own words: the parser's words quote the file, secrets included. */

import type { CST, ErrorCode } from 'yaml';
import { Composer, type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, Parser, visit } from 'yaml';
import { type Problem, quoted } from './problems.ts';

/** A document without syntax errors. */
export interface YamlDocument {
  /** The content as plain data. */
  readonly data: unknown;
  readonly root: Node;
  /** The node itself, or what an alias stands for. */
  resolve(node: unknown): Node | undefined;
  /** `3:11`, counted from 1. */
  position(node: Node): string;
}

/** Deeper than any settings go. The composer recurses, so the depth is checked before it sees the tokens. */
const MAX_DEPTH = 20;
const MAX_ALIASES = 20;

const SYNTAX: Partial<Record<ErrorCode, readonly [what: string, hint: string]>> = {
  TAB_AS_INDENT: ['a tab is used for indentation', 'YAML is indented with spaces.'],
  BAD_INDENT: [
    'the indentation does not fit, or something before it is not closed',
    'Settings of one group start in the same column.',
  ],
  BLOCK_AS_IMPLICIT_KEY: [
    'the indentation does not fit, or there are two colons',
    'Quote a value that has ": " in it.',
  ],
  MISSING_CHAR: ['something is not closed', 'Look for a missing quote, bracket or colon before this place.'],
  BAD_SCALAR_START: ['a value begins with a character that YAML reserves', 'Put the value in quotes.'],
  BAD_DQ_ESCAPE: ['there is an unknown escape sequence', 'Put the value in single quotes.'],
  NON_STRING_KEY: ['a key is not plain text', 'A setting is written as key: value.'],
  TAG_RESOLVE_FAILED: ['a value begins with !', 'Put the value in quotes.'],
};
const NOT_YAML = ['is not YAML from here on', 'A setting is written as key: value.'] as const;

/** Parses the text. undefined when it cannot be used; the problems are noted. Duplicate keys are noted, and it goes on. */
export function parseYaml(text: string, name: string, problems: Problem[]): YamlDocument | undefined {
  const lines = new LineCounter();
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${line}:${col}`;
  };
  const refuse = (at: string, what: string, hint: string, code = 'CONFIG_SYNTAX'): undefined => {
    problems.push({ code, message: `${name}:${at}: ${what}`, hint });
  };
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  if (isDeeperThan(tokens, MAX_DEPTH))
    return refuse('1:1', `is nested more than ${MAX_DEPTH} deep`, 'Settings are at most four deep.');
  const composer = new Composer({ prettyErrors: false, stringKeys: true, logLevel: 'silent' });
  const [doc, second] = composer.compose(tokens, true, text.length);
  if (doc === undefined || doc.contents === null || isEmptyScalar(doc)) {
    if (doc === undefined || doc.errors.length === 0) {
      return refuse(
        '1:1',
        'holds no settings',
        'Write at least url: https://…, or remove the file.',
        'CONFIG_FILE_EMPTY',
      );
    }
  }
  for (const { code, pos } of doc?.errors ?? []) {
    if (code !== 'DUPLICATE_KEY') continue;
    const key = /^[\w-]+/.exec(text.slice(pos[0], pos[0] + 80))?.[0] ?? '';
    refuse(place(pos[0]), `${quoted(key, 'this key')} is there twice`, 'Keep one of them.', 'CONFIG_DUPLICATE_KEY');
  }
  // One mistake makes the parser stumble several times: the first stumble is where to look.
  const error = [...(doc?.errors ?? []), ...(doc?.warnings ?? [])].find(({ code }) => code !== 'DUPLICATE_KEY');
  if (error !== undefined) {
    const [what, hint] = isBareReference(text, error.pos[0])
      ? [
          'a reference inside { } needs quotes',
          `Write "\${env:NAME}" with the quotes, or put each key on a line of its own.`,
        ]
      : (SYNTAX[error.code] ?? NOT_YAML);
    return refuse(place(error.pos[0]), what, hint);
  }
  if (second !== undefined) {
    return refuse(place(second.range[0]), 'a second document begins', 'Remove the line --- before it.');
  }
  if (doc === undefined || doc.contents === null) return undefined;
  const data = toData(doc, place, refuse);
  if (data === undefined) return undefined;
  const root: Node = doc.contents;
  return {
    data: data.value,
    root,
    resolve: (node) => (isAlias(node) ? node.resolve(doc) : isNode(node) ? node : undefined),
    position: (node) => place(node.range?.[0] ?? 0),
  };
}

function toData(
  doc: Document.Parsed,
  place: (offset: number) => string,
  refuse: (at: string, what: string, hint: string) => undefined,
): { value: unknown } | undefined {
  const aliases: { at: string; resolved: boolean }[] = [];
  visit(doc, {
    Alias: (_, alias) => {
      aliases.push({ at: place(alias.range?.[0] ?? 0), resolved: alias.resolve(doc) !== undefined });
    },
  });
  const unresolved = aliases.find(({ resolved }) => !resolved);
  if (unresolved !== undefined) return refuse(unresolved.at, 'a value begins with *', 'Put the value in quotes.');
  try {
    return { value: doc.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch {
    return refuse(aliases[0]?.at ?? '1:1', 'aliases stand for too much', 'Write the settings out.');
  }
}

/** `{ secret: ${env:X} }`: YAML sees a second map begin after the dollar sign. */
function isBareReference(text: string, offset: number): boolean {
  return text[offset] === '{' && text[offset - 1] === '$';
}

function isEmptyScalar({ contents }: Document.Parsed): boolean {
  return isScalar(contents) && contents.value === null;
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value);
}

function isDeeperThan(tokens: readonly CST.Token[], limit: number): boolean {
  const open: [token: CST.Token, depth: number][] = tokens.map((token) => [token, 0]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next;
    if (depth > limit) return true;
    if (token.type === 'document' && token.value !== undefined) open.push([token.value, depth]);
    if (!('items' in token)) continue;
    for (const item of token.items) {
      if (item.key) open.push([item.key, depth + 1]);
      if (item.value) open.push([item.value, depth + 1]);
    }
  }
  return false;
}
