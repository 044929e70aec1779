/** Body variants, and what they need of a body: each worked out once and only when asked for. */
import { type JsonNode, parseJsonText } from '../json-text.ts';
import type { SigningInput, Variant } from './variant.ts';

const BOM = '\ufeff';

export interface BodyReading extends SigningInput {
  /** The body as UTF-8 text with a leading byte order mark kept; undefined when it is not UTF-8. */
  readonly text: () => string | undefined;
  /** The parsed JSON value; undefined when the body is not JSON. A byte order mark in front is overlooked. */
  readonly value: () => unknown;
  /** The same with numbers as they were written; also undefined when it is nested very deep. */
  readonly tree: () => JsonNode | undefined;
  /** A top-level field, when the body is an object that has it. */
  readonly field: (name: string) => unknown;
}

export interface BodyVariant extends Variant {
  /** The bytes that are signed, or undefined where the variant does not apply to this body. */
  readonly bytes: (body: BodyReading) => Uint8Array | undefined;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Prepares a body for the body variants. */
export function readBody(input: SigningInput): BodyReading {
  const text = once(() => {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input.body);
    } catch {
      return undefined;
    }
  });
  const jsonText = (): string | undefined => {
    const all = text();
    return all?.startsWith(BOM) ? all.slice(1) : all;
  };
  const tree = once(() => {
    const json = jsonText();
    return json === undefined ? undefined : parseJsonText(json);
  });
  // By way of the tree: it is undefined for what is nested too deep to be written back.
  const value = once((): unknown => (tree() === undefined ? undefined : JSON.parse(jsonText() ?? '')));
  const field = (name: string): unknown => {
    const object = value();
    if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
    return (object as Record<string, unknown>)[name];
  };
  return { ...input, text, value, tree, field };
}
