/**
 * JSON as text: a parse that keeps how each number was written, and the ways in which other platforms write a parsed value back.
 * JSON.parse alone cannot say what Python makes of `1.0` or PHP of a 20-digit integer, since it has already lost them.
 */

/** A parsed value. Numbers keep their source; an object keeps its keys in order, and the last value of a repeated key. */
export type JsonNode =
  | { readonly kind: 'number'; readonly source: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'literal'; readonly source: string }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly entries: ReadonlyMap<string, JsonNode> };

/** How a platform writes JSON. `indent` puts each item on a line of its own. */
export interface JsonStyle {
  readonly item: string;
  readonly colon: string;
  readonly sortKeys?: boolean;
  /** What an object without keys becomes: PHP's associative arrays cannot tell it from an empty list. */
  readonly emptyObject?: string;
  readonly number: (source: string) => string;
  readonly string: (value: string) => string;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

/** Deeper than any notification, and far from the end of the stack. */
const MAX_DEPTH = 200;

/** Parses JSON text. Returns undefined for what is not JSON, and for what is nested more than 200 deep. */
export function parseJsonText(text: string): JsonNode | undefined {
  try {
    JSON.parse(text); // The strict check; the token walk below relies on it.
  } catch {
    return undefined;
  }
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;

  function next(depth: number): JsonNode | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const token = tokens[at++] ?? '';
    if (token === '[') return array(depth);
    if (token === '{') return object(depth);
    if (token.startsWith('"')) return { kind: 'string', value: JSON.parse(token) };
    if (token === 'true' || token === 'false' || token === 'null') return { kind: 'literal', source: token };
    return { kind: 'number', source: token };
  }

  function array(depth: number): JsonNode | undefined {
    const items: JsonNode[] = [];
    while (tokens[at] !== ']') {
      const item = next(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      if (tokens[at] === ',') at++;
    }
    at++;
    return { kind: 'array', items };
  }

  function object(depth: number): JsonNode | undefined {
    const entries = new Map<string, JsonNode>();
    while (tokens[at] !== '}') {
      const key: string = JSON.parse(tokens[at] ?? '""');
      at += 2; // The key and its colon.
      const value = next(depth + 1);
      if (value === undefined) return undefined;
      entries.set(key, value);
      if (tokens[at] === ',') at++;
    }
    at++;
    return { kind: 'object', entries };
  }

  return next(0);
}

/** By code point, as Python, Go and Ruby order keys; JavaScript would order by UTF-16 units. */
function byCodePoint([a]: readonly [string, JsonNode], [b]: readonly [string, JsonNode]): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Writes a parsed value in a platform's style. */
export function writeJson(node: JsonNode, style: JsonStyle): string {
  switch (node.kind) {
    case 'number':
      return style.number(node.source);
    case 'literal':
      return node.source;
    case 'string':
      return style.string(node.value);
    case 'array':
      return `[${node.items.map((item) => writeJson(item, style)).join(style.item)}]`;
    case 'object': {
      if (node.entries.size === 0) return style.emptyObject ?? '{}';
      const entries = style.sortKeys ? [...node.entries].sort(byCodePoint) : [...node.entries];
      const members = entries.map(([key, value]) => `${style.string(key)}${style.colon}${writeJson(value, style)}`);
      return `{${members.join(style.item)}}`;
    }
  }
}
