/** What a signing mistake is, and what the functions that make one are given. */
import type { MistakeId, MistakeReference } from '../mistakes/index.ts';
import { type JsonNode, parseJson } from './json-dialects.ts';

/** The text that explains a mistake. Sender and receiver make the same mistakes, so it names neither. */
export interface MistakeText extends MistakeReference {
  /** Stable, in kebab-case: the name in reports, in the vectors and for `hookproof sign --as`. */
  readonly name: string;
  /** What the side that signs or verifies does, without its subject and a period: "uses an empty secret". */
  readonly title: string;
}

interface Mistake extends MistakeText {
  /** Likely enough to be tried together with mistakes of another kind, and on very large bodies. */
  readonly common?: true;
  /** What it needs in addition to the body and the secret. Without it the mistake does not apply. */
  readonly needs?: 'apiKey' | 'url';
}

/** Other bytes are signed than the exact bytes of the body. Undefined where the mistake does not apply to this body. */
export interface BodyMistake extends Mistake {
  /** What is signed, as a noun. */
  readonly what: string;
  readonly bytes: (body: ReadBody) => Uint8Array | undefined;
  /** What the bytes look like, where nothing else looks like them: a file that matches holds no notification. */
  readonly form?: RegExp;
}

/**
 * Another key than the UTF-8 bytes of the secret is used. Undefined where the mistake does not apply to this secret.
 */
export interface KeyMistake extends Mistake {
  readonly key: (input: SigningInput) => Uint8Array | undefined;
}

/** Another function than HMAC-SHA256 is used. */
export interface AlgorithmMistake extends Mistake {
  readonly digest: (body: Uint8Array, key: Uint8Array) => Buffer;
}

/** The digest is written in another encoding than standard base64. */
export interface EncodingMistake extends Mistake {
  readonly encode: (digest: Buffer) => string;
}

/** A row without its name. Its title is a beginning that the rows of a table share, and `what`. */
export type Row<M extends Mistake> = Omit<M, keyof MistakeText> & { readonly what: string; readonly note?: string };

/** The rows of one mistake in the library. `more`: what all of them have. */
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

/** The body and everything else that may be signed by mistake. */
export interface SigningInput {
  /** The exact bytes. */
  readonly body: Uint8Array;
  /** The secret as configured. */
  readonly secret: string;
  readonly apiKey?: string;
  /** The URL to which the delivery is sent. */
  readonly url?: string;
}

/** A body in the forms in which it may be signed. Each is made once, when it is first asked for. */
export interface ReadBody extends SigningInput {
  /** The body as UTF-8 text with a leading byte order mark kept; undefined when it is not UTF-8. */
  readonly text: () => string | undefined;
  /**
   * The parsed JSON value; undefined when the body is not JSON or nested too deep. A leading byte order mark is
   * ignored.
   */
  readonly value: () => unknown;
  /** The same with numbers as they were written. */
  readonly tree: () => JsonNode | undefined;
  /** A top-level field, when the body is an object that has it. */
  readonly field: (name: string) => unknown;
}

/** Deeper than any notification, and far from the end of the stack. */
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
  // By way of the tree, which is undefined for a value that is nested too deep to be re-serialised.
  const value = once((): unknown => (tree() === undefined ? undefined : JSON.parse(json())));
  const field = (name: string): unknown => {
    const object = value();
    if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
    return (object as Record<string, unknown>)[name];
  };
  return { ...input, text, value, tree, field };
}

/** The text of a parsed value. Undefined when the platform cannot write it. */
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
