/**
 * Parses untrusted YAML. The YAML library's composer recurses, compares every key of a map with all others, and
 * searches the whole document for each alias, so depth, keys and aliases are limited before it runs.
 */
import { Composer, type CST, type Document, Lexer, LineCounter, Parser } from 'yaml';

/** Maximum nesting depth; nothing that hookproof reads has more than five levels. */
export const MAX_YAML_DEPTH = 20;
const MAX_KEYS = 2_000;
const MAX_ALIASES = 100;

export type YamlText =
  | {
      /**
       * The document; undefined for an empty text. Its `errors` and `warnings` have no line and column: see `placeOf`.
       */
      readonly doc: Document.Parsed | undefined;
      /** The second document in the text; undefined if there is only one. */
      readonly second: Document.Parsed | undefined;
      readonly placeOf: PlaceOf;
    }
  | { readonly tooMany: 'levels' | 'keys' | 'aliases'; readonly offset: number; readonly placeOf: PlaceOf };

/** Returns line and column of an offset, counted from 1. */
type PlaceOf = (offset: number) => { readonly line: number; readonly col: number };

/** Reads text as YAML. Never throws, and takes linear time. */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const placeOf: PlaceOf = (offset) => lines.linePos(offset);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  for (const source of new Lexer().lex(text)) {
    tokens.push(...parser.next(source));
    // In addition to the nested collections, the stack may contain the document and a scalar.
    if (parser.stack.length > MAX_YAML_DEPTH + 2) return { tooMany: 'levels', offset: 0, placeOf };
  }
  tokens.push(...parser.end());
  const excess = excessIn(tokens);
  if (excess !== null) return { ...excess, placeOf };
  const composer = new Composer({ prettyErrors: false, stringKeys: true, logLevel: 'silent' });
  const [doc, second] = composer.compose(tokens, true, text.length);
  return { doc, second, placeOf };
}

function excessIn(tokens: readonly CST.Token[]): { tooMany: 'keys' | 'aliases'; offset: number } | null {
  const open: CST.Token[] = [...tokens];
  let aliases = 0;
  for (let token = open.pop(); token !== undefined; token = open.pop()) {
    if (token.type === 'alias') aliases += 1;
    if (aliases > MAX_ALIASES) return { tooMany: 'aliases', offset: token.offset };
    if (token.type === 'document' && token.value !== undefined) open.push(token.value);
    if (!('items' in token)) continue;
    const isMap = token.type === 'block-map' || (token.type === 'flow-collection' && token.start.source === '{');
    if (isMap && token.items.length > MAX_KEYS) return { tooMany: 'keys', offset: token.offset };
    for (const { key, value } of token.items) {
      if (key) open.push(key);
      if (value) open.push(value);
    }
  }
  return null;
}
