/** Values that are nearly the right signature, or are something else that was put in its place. */
import { ENCODINGS, type EncodingVariant, type SigningInput, type Variant } from './variants/index.ts';

interface Facts {
  readonly value: string;
  readonly right: string;
  readonly digest: Buffer;
  readonly input: SigningInput;
}

interface NearMiss extends Omit<Variant, 'common'> {
  readonly fits: (facts: Facts) => boolean;
}

/** Shorter pieces agree by chance or hide nothing worth a word. */
const SHORTEST_PIECE = 8;
/** One changed byte of the digest changes up to two characters; a slip of the hand rarely more than four. */
const MOST_ALTERED = 4;

function differences(a: string, b: string): number {
  let count = 0;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) count++;
  return count;
}

const COPY = 'Copy or pass on the whole value, unchanged.';

const NEAR_MISSES: readonly NearMiss[] = [
  {
    name: 'truncated-signature',
    title: 'it is only the beginning of the right signature',
    why: 'The value was cut by a log, a database column, a terminal or a comparison of a few characters.',
    fix: COPY,
    fits: ({ value, right }) => value.length >= SHORTEST_PIECE && right.startsWith(value),
  },
  {
    name: 'extra-characters',
    title: 'it is the right signature with more characters behind it',
    why: 'Something was appended, or two values ran together. A lenient base64 decoder overlooks it.',
    fix: COPY,
    fits: ({ value, right }) => value.startsWith(right),
  },
  {
    name: 'letter-case',
    title: 'it is the right signature but for upper and lower case',
    why: 'The value went through a change of letter case. In base64 letter case is data.',
    fix: 'Keep the letter case of the header value.',
    fits: ({ value, right }) => value.toLowerCase() === right.toLowerCase(),
  },
  {
    name: 'spare-bits',
    title: 'it is another base64 spelling of the right digest',
    why: 'The last character before "=" holds two bits that decoders ignore; the signature is compared as text.',
    fix: 'Use the one spelling that encoders give, in which these bits are zero.',
    fits: ({ value, right, digest }) => value.length === right.length && Buffer.from(value, 'base64').equals(digest),
  },
  {
    name: 'altered-signature',
    title: 'it is the right signature with a few characters changed',
    why: 'It was copied by hand, or somebody altered it to see whether the receiver notices.',
    fix: COPY,
    fits: ({ value, right }) => value.length === right.length && differences(value, right) <= MOST_ALTERED,
  },
  {
    name: 'secret-as-signature',
    title: 'it is the secret itself, not a signature',
    why: 'Some services send a shared token as it is. Whoever sees the request then knows the secret.',
    fix: 'Sign the body with the secret, and have a new secret issued: this one has been sent.',
    fits: ({ value, input }) => value === input.secret || value === Buffer.from(input.secret).toString('base64'),
  },
  {
    name: 'api-key-as-signature',
    title: 'it is the API key, not a signature',
    why: 'The two headers were swapped.',
    fix: 'Send the API key in its own header, and the signature in this one.',
    fits: ({ value, input }) => value === input.apiKey,
  },
];

const HEX: EncodingVariant | undefined = ENCODINGS.find(({ name }) => name === 'hex');

/** What is nearly right about a value, as parts of an explanation, or undefined. */
export function nearMiss(facts: Facts): Omit<Variant, 'common'>[] | undefined {
  const found = NEAR_MISSES.find((miss) => miss.fits(facts));
  if (found) return [found];
  const [truncated] = NEAR_MISSES;
  const inHex = { ...facts, value: facts.value.toLowerCase(), right: facts.digest.toString('hex') };
  return truncated && HEX && truncated.fits(inHex) ? [truncated, HEX] : undefined;
}
