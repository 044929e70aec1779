import { type HeaderCandidate, type HeaderFinding, headerShape } from './header-shape.ts';
import { nearMiss } from './near-misses.ts';
import { describeFault, type FaultText, type Recipe, variantsOf } from './recipe.ts';
import {
  ALGORITHMS,
  BASE64,
  BODIES,
  type BodyReading,
  ENCODINGS,
  type EncodingVariant,
  hmacSha256,
  KEYS,
  keyOf,
  readBody,
  type SigningInput,
} from './variants/index.ts';

export interface SignatureReport {
  /** Whether the header value is the right signature. White space at its ends is left out of account, as HTTP does. */
  readonly matches: boolean;
  /** What is odd about the shape of the header, whatever it was made from. */
  readonly header: readonly HeaderFinding[];
  /** The likeliest way in which this value came about; null when it matches and when no known mistake explains it. */
  readonly explanation: FaultText | null;
  /** How many signatures were compared. */
  readonly tried: number;
}

/** Up to this many bytes, variants are tried in pairs as well. */
const PAIRS_UP_TO = 256 * 1024;
/** Beyond this many bytes, only the common variants are tried. */
const ALL_UP_TO = 1024 * 1024;

const COMMON_ENCODINGS = ENCODINGS.filter(({ common }) => common);

/** The right way, then each mistake alone, then the common ones in pairs of different kinds. */
function* recipes(size: number): Generator<Recipe> {
  const wanted = (variant: { readonly common?: true }): boolean => size <= ALL_UP_TO || variant.common === true;
  yield {};
  for (const body of BODIES.filter(wanted)) yield { body };
  for (const key of KEYS.filter(wanted)) yield { key };
  for (const algorithm of ALGORITHMS.filter(wanted)) yield { algorithm };
  if (size > PAIRS_UP_TO) return;
  const bodies = BODIES.filter(({ common }) => common);
  const keys = KEYS.filter(({ common }) => common);
  const algorithms = ALGORITHMS.filter(({ common }) => common);
  for (const body of bodies) for (const key of keys) yield { body, key };
  for (const body of bodies) for (const algorithm of algorithms) yield { body, algorithm };
  for (const key of keys) for (const algorithm of algorithms) yield { key, algorithm };
}

/** Works out the bytes of each variant once, and leaves out the variants that change nothing. */
function ingredients(reading: BodyReading) {
  const rightKey = keyOf(reading.secret);
  const cache = new Map<unknown, Uint8Array | undefined>();
  function bytesOf(variant: object, make: () => Uint8Array | undefined, right: Uint8Array): Uint8Array | undefined {
    if (!cache.has(variant)) {
      const made = make();
      cache.set(variant, made && Buffer.compare(made, right) === 0 ? undefined : made);
    }
    return cache.get(variant);
  }
  return ({ body, key }: Recipe): { body: Uint8Array; key: Uint8Array } | undefined => {
    const signed = body ? bytesOf(body, () => body.bytes(reading), reading.body) : reading.body;
    const keyed = key ? bytesOf(key, () => key.key(reading), rightKey) : rightKey;
    return signed && keyed && { body: signed, key: keyed };
  };
}

/** Finds the encoding in which a digest is one of the header's values. The value as it stands is preferred to a part of it. */
function recognise(
  digest: Buffer,
  encodings: readonly EncodingVariant[],
  candidates: ReadonlyMap<string, HeaderCandidate>,
): { candidate: HeaderCandidate; encoding: EncodingVariant | undefined } | undefined {
  let match: ReturnType<typeof recognise>;
  for (const encoding of [undefined, ...encodings]) {
    const candidate = candidates.get((encoding?.encode ?? BASE64)(digest));
    if (candidate === undefined) continue;
    if (candidate.removed === undefined) return { candidate, encoding };
    match ??= { candidate, encoding };
  }
  return match;
}

function explain(recipe: Recipe, candidate: HeaderCandidate): FaultText {
  const around = candidate.removed;
  return describeFault([
    ...variantsOf(recipe),
    ...(around
      ? [{ ...around, why: 'The header value is compared whole, so anything beside the signature makes it wrong' }]
      : []),
  ]);
}

/**
 * Says whether a signature header is right for a body, and if not, why: by trying the known mistakes, alone and in
 * sensible pairs, until one gives the same value. Specification: Authentication, HMAC signature (Common faults).
 *
 * Pure and offline. `apiKey` and `url` only add mistakes that can be recognised. The report never holds the right
 * signature, the secret, or any part of the header.
 *
 * This is a tool for somebody who holds the secret, so its comparisons are plain ones: a receiver compares in constant time.
 */
export function explainSignature(input: SigningInput & { readonly header: string }): SignatureReport {
  const shape = headerShape(input.header);
  const candidates = new Map<string, HeaderCandidate>();
  for (const candidate of shape.candidates) {
    if (!candidates.has(candidate.value)) candidates.set(candidate.value, candidate);
  }
  const report = (matches: boolean, explanation: FaultText | null): SignatureReport => ({
    matches,
    header: shape.findings,
    explanation,
    tried,
  });
  let tried = 0;
  if (candidates.size === 0) return report(false, null);

  const ingredientsOf = ingredients(readBody(input));
  for (const recipe of recipes(input.body.length)) {
    const bytes = ingredientsOf(recipe);
    if (bytes === undefined) continue;
    const digest = (recipe.algorithm?.digest ?? hmacSha256)(bytes.body, bytes.key);
    const encodings = variantsOf(recipe).length < 2 ? ENCODINGS : COMMON_ENCODINGS;
    tried += encodings.length + 1;
    const match = recognise(digest, encodings, candidates);
    if (match) {
      const found = match.encoding ? { ...recipe, encoding: match.encoding } : recipe;
      const right = variantsOf(found).length === 0 && match.candidate.removed === undefined;
      return report(right, right ? null : explain(found, match.candidate));
    }
    if (variantsOf(recipe).length === 0) {
      for (const { value } of candidates.values()) {
        const near = nearMiss({ value, right: BASE64(digest), digest, input });
        if (near) return report(false, describeFault(near));
      }
    }
  }
  return report(false, null);
}
