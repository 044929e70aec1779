/**
 * Finds the mistakes that produced a signature: tries each alone, then the common ones in pairs, until the result
 * equals the received value.
 */
import { BODY_MISTAKES } from './body-mistakes.ts';
import { ALGORITHM_MISTAKES, ENCODING_MISTAKES } from './digest-mistakes.ts';
import type { HeaderCandidate, HeaderShape } from './header-shape.ts';
import { KEY_MISTAKES } from './key-mistakes.ts';
import { type EncodingMistake, type MistakeText, type ReadBody, readBody, type SigningInput } from './mistake.ts';
import { listMistakes, type Mistakes } from './mistakes.ts';
import { hmac, signingKey, toBase64 } from './sign.ts';

/**
 * The inputs and limits of a search. Each input is the body with a secret, an API key and a URL that may have been used
 * to sign it.
 */
export interface MistakeSearch {
  readonly inputs: readonly [SigningInput, ...SigningInput[]];
  /** Maximum body size, in bytes, for trying two mistakes at once. */
  readonly pairsUpTo: number;
  /** Maximum body size, in bytes, for trying all mistakes. For larger bodies, only the common mistakes are tried. */
  readonly allUpTo: number;
}

export interface FoundMistakes {
  readonly mistakes: Mistakes;
  /** What was removed from around the signature in the header. Undefined when the whole value matched. */
  readonly around: MistakeText | undefined;
  /** The bytes that were signed: the body, or what a mistake signs instead. */
  readonly signed: Uint8Array;
}

export interface SearchStep {
  readonly hashedBytes: number;
  /** Number of signatures that were computed and compared. */
  readonly compared: number;
}

/**
 * Searches for mistakes. Yields after each unsuccessful comparison, so that the caller can let other work run. The
 * first comparison is with the correct signature. Returns the mistakes, an empty set if the value is correct, or
 * undefined if no known mistake gives the value.
 *
 * Recognises only values that contain a whole digest: confirming that a guess is nearly correct would help a forger.
 *
 * Only for callers that hold the secret. Unlike those of a receiver, the comparisons do not take constant time.
 */
export function* findMistakes(
  { candidates }: HeaderShape,
  { inputs, pairsUpTo, allUpTo }: MistakeSearch,
): Generator<SearchStep, FoundMistakes | undefined> {
  const values = new Map<string, HeaderCandidate>();
  for (const candidate of candidates) if (!values.has(candidate.value)) values.set(candidate.value, candidate);
  if (values.size === 0) return undefined;
  const prepared = inputs.map((input, at) => prepare(input, inputs.slice(0, at)));
  for (const mistakes of combinations(inputs[0].body.length, pairsUpTo, allUpTo)) {
    const encodings = listMistakes(mistakes).length < 2 ? ENCODING_MISTAKES : COMMON_ENCODINGS;
    for (const bytesOf of prepared) {
      const bytes = bytesOf(mistakes);
      if (bytes === undefined) continue;
      const digest = (mistakes.algorithm?.digest ?? hmac)(bytes.body, bytes.key);
      const match = recognise(digest, encodings, values);
      if (match !== undefined) {
        const { encoding, around } = match;
        return { mistakes: { ...mistakes, ...(encoding && { encoding }) }, around, signed: bytes.body };
      }
      yield { hashedBytes: bytes.body.length, compared: encodings.length + 1 };
    }
  }
  return undefined;
}

const isCommon = ({ common }: { readonly common?: true }): boolean => common === true;
const COMMON_ENCODINGS = ENCODING_MISTAKES.filter(isCommon);

/** Yields no mistake first, then each mistake alone, then pairs of common mistakes of different kinds. */
function* combinations(size: number, pairsUpTo: number, allUpTo: number): Generator<Mistakes> {
  yield {};
  for (const body of commonFirst(BODY_MISTAKES, size > allUpTo)) yield { body };
  for (const key of commonFirst(KEY_MISTAKES, size > allUpTo)) yield { key };
  for (const algorithm of commonFirst(ALGORITHM_MISTAKES, size > allUpTo)) yield { algorithm };
  if (size > pairsUpTo) return;
  const bodies = BODY_MISTAKES.filter(isCommon);
  const keys = KEY_MISTAKES.filter(isCommon);
  const algorithms = ALGORITHM_MISTAKES.filter(isCommon);
  for (const body of bodies) for (const key of keys) yield { body, key };
  for (const body of bodies) for (const algorithm of algorithms) yield { body, algorithm };
  for (const key of keys) for (const algorithm of algorithms) yield { key, algorithm };
}

/** Returns the common mistakes, followed by the others unless `onlyCommon` is set. */
function commonFirst<M extends { readonly common?: true }>(mistakes: readonly M[], onlyCommon: boolean): M[] {
  return [...mistakes.filter(isCommon), ...(onlyCommon ? [] : mistakes.filter((mistake) => !isCommon(mistake)))];
}

type BytesOf = (mistakes: Mistakes) => { readonly body: Uint8Array; readonly key: Uint8Array } | undefined;

/**
 * Returns a function that computes the signed bytes and the key for a combination of mistakes, and caches both. It
 * returns undefined where a mistake does not apply or changes nothing. For an input with the same secret as an earlier
 * one, it applies only mistakes that use an API key or URL that no earlier input had.
 */
function prepare(input: SigningInput, earlier: readonly SigningInput[]): BytesOf {
  const read: ReadBody = readBody(input);
  const correctKey = signingKey(input.secret);
  const made = new Map<object, Uint8Array | undefined>();
  const twins = earlier.filter(({ secret }) => secret === input.secret);

  function isNew(mistake: { readonly needs?: 'apiKey' | 'url' } | undefined): boolean {
    const needs = mistake?.needs;
    return needs !== undefined && twins.every((twin) => twin[needs] !== input[needs]);
  }
  function changed(mistake: object, make: () => Uint8Array | undefined, correct: Uint8Array): Uint8Array | undefined {
    if (!made.has(mistake)) {
      const bytes = make();
      made.set(mistake, bytes !== undefined && Buffer.compare(bytes, correct) === 0 ? undefined : bytes);
    }
    return made.get(mistake);
  }
  return ({ body, key }) => {
    if (twins.length > 0 && !isNew(body) && !isNew(key)) return undefined;
    const signed = body === undefined ? input.body : changed(body, () => body.bytes(read), input.body);
    if (signed === undefined) return undefined;
    const keyed = key === undefined ? correctKey : changed(key, () => key.key(read), correctKey);
    return keyed && { body: signed, key: keyed };
  };
}

interface Match {
  readonly encoding: EncodingMistake | undefined;
  readonly around: MistakeText | undefined;
}

/**
 * Finds the encoding in which the digest equals one of the values. A match with the whole header takes precedence over
 * a match with a part of it.
 */
function recognise(
  digest: Buffer,
  encodings: readonly EncodingMistake[],
  values: ReadonlyMap<string, HeaderCandidate>,
): Match | undefined {
  let part: Match | undefined;
  for (const encoding of [undefined, ...encodings]) {
    const candidate = values.get((encoding?.encode ?? toBase64)(digest));
    if (candidate === undefined) continue;
    const match = { encoding, around: candidate.removed };
    if (candidate.removed === undefined) return match;
    part ??= match;
  }
  return part;
}

/** Lists the explanations: the mistakes in the order of signing, then what surrounds the signature. */
export function foundTexts({ mistakes, around }: FoundMistakes): MistakeText[] {
  return [...listMistakes(mistakes), ...(around === undefined ? [] : [around])];
}
