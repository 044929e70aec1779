/** Explains whether a signature header is correct for a body and, if not, why. */
import { printedForm } from './body-mistakes.ts';
import { findMistakes, foundTexts } from './find-mistakes.ts';
import { HEADER_FINDINGS, headerShape } from './header-shape.ts';
import type { MistakeText, SigningInput } from './mistake.ts';
import { explainMistakes, type MistakeExplanation, mistakesNamed, whoChangedBody } from './mistakes.ts';
import { hmac, signingKey, toBase64 } from './sign.ts';

export interface SignatureReport {
  /** True when the header value is the correct signature. Leading and trailing whitespace is ignored, as in HTTP. */
  readonly matches: boolean;
  /** Unusual properties of the header's shape, whether or not the signature in it is correct. */
  readonly header: readonly MistakeText[];
  /** The most likely cause of this value. Null when the value is correct or no known mistake explains it. */
  readonly explanation: MistakeExplanation | null;
  /**
   * Set when the body is not a notification but the text that a language prints for one. The signature can still match,
   * if it was computed over the printed text.
   */
  readonly printed: MistakeExplanation | null;
  /** Number of signatures that were compared. */
  readonly tried: number;
}

const PAIRS_UP_TO = 256 * 1024;
const ALL_UP_TO = 1024 * 1024;

/**
 * Explains a signature header: tries the known mistakes, alone and in likely pairs, until one gives the same value.
 * Specification: Authentication, HMAC signature (Common faults).
 *
 * Pure and offline. Without `apiKey` or `url`, the mistakes that sign or use them are not recognised. The report never
 * contains the correct signature, the secret, or any part of the header.
 *
 * Show the report only to someone who holds the secret: it also recognises nearly correct values, which would help a
 * forger.
 *
 * @example explainSignature({ body, secret, header }).explanation?.fault; // 'base64-decoded-secret'
 */
export function explainSignature(input: SigningInput & { readonly header: string }): SignatureReport {
  const shape = headerShape(input.header);
  const search = findMistakes(shape, { inputs: [input], pairsUpTo: PAIRS_UP_TO, allUpTo: ALL_UP_TO });
  const form = printedForm(input.body);
  let tried = 0;
  const report = (matches: boolean, [first, ...others]: readonly MistakeText[]): SignatureReport => ({
    matches,
    header: shape.findings,
    explanation: first === undefined ? null : explainReceived([first, ...others]),
    printed:
      form === undefined
        ? null
        : { ...explainMistakes([form]), title: `These bytes are not a notification, but ${form.what}.` },
    tried,
  });
  for (;;) {
    const { done, value } = search.next();
    if (done === true) {
      const mistakes = value === undefined ? [] : foundTexts(value);
      return report(value !== undefined && mistakes.length === 0, mistakes);
    }
    const isFirst = tried === 0;
    tried += value.compared;
    const near = isFirst
      ? nearMiss(
          shape.candidates.map((candidate) => candidate.value),
          input,
        )
      : undefined;
    if (near !== undefined) return report(false, near);
  }
}

/**
 * Explains a signature that a sender sent or that the reader computed. Only in the second case is the fix theirs to
 * make.
 */
function explainReceived(mistakes: readonly [MistakeText, ...MistakeText[]]): MistakeExplanation {
  const explanation = explainMistakes(mistakes);
  const change = whoChangedBody(mistakes[0]);
  if (change === null) return explanation;
  return { ...explanation, fix: `If a sender sent it, ${change} If your code computed it: ${explanation.fix}` };
}

interface Comparison {
  readonly value: string;
  readonly correct: string;
  readonly digest: Buffer;
  readonly input: SigningInput;
}

interface NearMiss extends MistakeText {
  readonly fits: (comparison: Comparison) => boolean;
}

/** Minimum length of a truncated signature. Shorter ones match by chance. */
const MIN_PIECE = 8;
/**
 * Maximum number of altered characters. A changed byte of the digest alters up to two; a typing error rarely more than
 * four.
 */
const MAX_ALTERED = 4;

/** Values that are nearly the correct signature, or that are another credential. */
const NEAR_MISSES: readonly NearMiss[] = [
  {
    name: 'truncated-signature',
    title: 'the value is only the beginning of the correct signature',
    mistake: 'changed-signature-value',
    fits: ({ value, correct }) => value.length >= MIN_PIECE && correct.startsWith(value),
  },
  {
    name: 'extra-characters',
    title: 'the value is the correct signature with more characters after it',
    mistake: 'changed-signature-value',
    note: 'A lenient base64 decoder ignores them.',
    fits: ({ value, correct }) => value.startsWith(correct),
  },
  {
    name: 'letter-case',
    title: 'the value is the correct signature except for upper and lower case',
    mistake: 'signature-letter-case',
    fits: ({ value, correct }) => value.toLowerCase() === correct.toLowerCase(),
  },
  {
    name: 'spare-bits',
    title: 'the value is another base64 spelling of the correct digest',
    mistake: 'base64-variant',
    note: 'The last character before "=" holds two bits that decoders ignore.',
    fits: ({ value, correct, digest }) =>
      value.length === correct.length && Buffer.from(value, 'base64').equals(digest),
  },
  {
    name: 'altered-signature',
    title: 'the value is the correct signature with a few characters changed',
    mistake: 'changed-signature-value',
    fits: ({ value, correct }) => value.length === correct.length && differences(value, correct) <= MAX_ALTERED,
  },
  {
    name: 'secret-as-signature',
    title: 'the value is the secret itself, not a signature',
    mistake: 'confused-credentials',
    note: 'Have a new secret issued: this one has been sent.',
    fits: ({ value, input }) => value === input.secret || value === Buffer.from(input.secret).toString('base64'),
  },
  {
    name: 'api-key-as-signature',
    title: 'the value is the API key, not a signature',
    mistake: 'confused-credentials',
    fits: ({ value, input }) => value === input.apiKey,
  },
];

/** Explanations of a signature value that are not signing mistakes. */
export const VALUE_MISTAKES: readonly MistakeText[] = [...NEAR_MISSES, ...HEADER_FINDINGS];

/** Returns the explanation of the first value that is a near miss, or undefined when none is. */
function nearMiss(values: readonly string[], input: SigningInput): MistakeText[] | undefined {
  const digest = hmac(input.body, signingKey(input.secret));
  const [truncated] = NEAR_MISSES;
  const hex = mistakesNamed('hex')?.encoding;
  for (const value of values) {
    const comparison = { value, correct: toBase64(digest), digest, input };
    const found = NEAR_MISSES.find((miss) => miss.fits(comparison));
    if (found) return [found];
    const inHex = { ...comparison, value: value.toLowerCase(), correct: digest.toString('hex') };
    if (truncated && hex && truncated.fits(inHex)) return [truncated, hex];
  }
  return undefined;
}

function differences(a: string, b: string): number {
  let count = 0;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) count++;
  return count;
}
