/** Types of signing mistakes and their inputs. */
import type { MistakeId, MistakeReference } from '../mistakes/index.ts';
import { type JsonNode, parseJson } from './json-dialects.ts';

/** The text that explains a mistake. It names neither sender nor receiver, because both can make the mistake. */
export interface MistakeText extends MistakeReference {
  /** Stable name in kebab-case, used in reports, in the vectors and by `hookproof sign --as`. */
  readonly name: string;
  /** What the signing or verifying side does, without a subject or full stop: "uses an empty secret". */
  readonly title: string;
}

interface MistakeParts extends MistakeText {
  /**
   * Set when the mistake is likely enough to be tried on very large bodies, and together with mistakes of other kinds.
   */
  readonly common?: true;
  /**
   * Input that this mistake needs in addition to the body and the secret. Without this input, the mistake does not
   * apply.
   */
  readonly needs?: 'apiKey' | 'url';
}

/**
 * A mistake that signs bytes other than those of the body. `bytes` returns undefined where the mistake does not apply
 * to the body.
 */
export interface BodyMistake extends MistakeParts {
  /** What is signed, as a noun phrase. */
  readonly what: string;
  readonly bytes: (body: ReadBody) => Uint8Array | undefined;
  /**
   * A pattern that matches only the bytes of this mistake, if there is one. A file that matches it contains no
   * notification.
   */
  readonly form?: RegExp;
}

/**
 * A mistake that uses a key other than the UTF-8 bytes of the secret. `key` returns undefined where the mistake does
 * not apply.
 */
export interface KeyMistake extends MistakeParts {
  readonly key: (input: SigningInput) => Uint8Array | undefined;
}

/** A mistake that uses a function other than HMAC-SHA256. */
export interface AlgorithmMistake extends MistakeParts {
  readonly digest: (body: Uint8Array, key: Uint8Array) => Buffer;
}

/** A mistake that writes the digest in an encoding other than standard base64. */
export interface EncodingMistake extends MistakeParts {
  readonly encode: (digest: Buffer) => string;
}

/** A row without its name. Its title is the beginning that all rows of a table share, followed by `what`. */
export type Row<M extends MistakeParts> = Omit<M, keyof MistakeText> & {
  readonly what: string;
  readonly note?: string;
};

/** Creates the rows of one mistake in the library. `more` holds the fields that all of them share. */
export function rowsOf<R extends { readonly what: string }>(
  mistake: MistakeId,
  beginning: string,
  rows: Readonly<Record<string, R>>,
  more: { readonly note?: string } = {},
): (R & MistakeText)[] {
  return Object.entries(rows).map(([name, row]) => ({
    ...more,
    ...row,
    name,
    title: `${beginning} ${row.what}`,
    mistake,
  }));
}

/** The body and everything else that can be signed by mistake. */
export interface SigningInput {
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
  /** The secret as configured. */
  readonly secret: string;
  readonly apiKey?: string;
  /** The URL to which the delivery is sent. */
  readonly url?: string;
}

/** A body in the forms in which it may be signed. Each form is computed on first use. */
export interface ReadBody extends SigningInput {
  /** The body as UTF-8 text, including a byte order mark; undefined when it is not UTF-8. */
  readonly text: () => string | undefined;
  /** The parsed JSON value; undefined when the body is not JSON or nested too deeply. A byte order mark is ignored. */
  readonly value: () => unknown;
  /** Like `value`, but keeps each number's original spelling. */
  readonly tree: () => JsonNode | undefined;
  /**
   * Returns a top-level field of the parsed body. Returns undefined unless the body is an object that has the field.
   */
  readonly field: (name: string) => unknown;
}

/** Maximum nesting, in levels: more than any notification has, and far too few to overflow the stack. */
const MAX_DEPTH = 200;

export function readBody(input: SigningInput): ReadBody {
  const text = once(() => {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input.body);
    } catch {
      return undefined;
    }
  });
  const json = (): string => text()?.replace(/^\ufeff/, '') ?? '';
  const tree = once(() => {
    try {
      return parseJson(json(), MAX_DEPTH);
    } catch {
      return undefined;
    }
  });
  // Depends on the tree, which is undefined when the value is nested too deeply to be re-serialised.
  const value = once((): unknown => (tree() === undefined ? undefined : JSON.parse(json())));
  const field = (name: string): unknown => {
    const object = value();
    if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
    return (object as Record<string, unknown>)[name];
  };
  return { ...input, text, value, tree, field };
}

/** Signs the parsed value as text. `print` returns undefined when the platform cannot write the value. */
export function fromTree(print: (tree: JsonNode) => string | undefined): BodyMistake['bytes'] {
  return (body) => {
    const tree = body.tree();
    try {
      const printed = tree === undefined ? undefined : print(tree);
      return printed === undefined ? undefined : Buffer.from(printed);
    } catch {
      return undefined;
    }
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
