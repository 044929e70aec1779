/**
 * The table of signing mistakes: every known way to get a signature wrong, each with one name. There are four kinds,
 * one for each step of signing: the signed bytes, the key, the function, and the encoding of the digest.
 *
 * `verify`, `sign --as`, the inspector and the diagnosis of a rejected valid delivery use this table.
 */
import { HookproofError } from '../hookproof-error.ts';
import { explainMistake, type MistakeId } from '../mistakes/index.ts';
import { BODY_MISTAKES } from './body-mistakes.ts';
import { ALGORITHM_MISTAKES, ENCODING_MISTAKES } from './digest-mistakes.ts';
import { KEY_MISTAKES } from './key-mistakes.ts';
import {
  type AlgorithmMistake,
  type BodyMistake,
  type EncodingMistake,
  type KeyMistake,
  type MistakeText,
  type ReadBody,
  readBody,
  type SigningInput,
} from './mistake.ts';
import { hmac, signingKey, toBase64 } from './sign.ts';

/** Mistakes that are made together, at most one of each kind. Steps without a mistake are done correctly. */
export interface Mistakes {
  readonly body?: BodyMistake;
  readonly key?: KeyMistake;
  readonly algorithm?: AlgorithmMistake;
  readonly encoding?: EncodingMistake;
}

/** A row of the table. */
export interface SigningMistake extends MistakeText {
  readonly kind: keyof Mistakes;
  readonly common: boolean;
  /**
   * Returns the value of the signature header, which may happen to be the correct one. Returns undefined when the
   * mistake does not apply to this body or secret.
   */
  readonly sign: (input: SigningInput) => string | undefined;
}

/**
 * Returns the bytes that a mistake about the body signs.
 *
 * @throws HookproofError SIGN_VARIANT_INAPPLICABLE if it is not such a mistake, or does not apply to this body
 */
export function mistakenBody(body: Uint8Array, as: string): Uint8Array {
  const bytes = mistakesNamed(as)?.body?.bytes(readBody({ body, secret: '' }));
  if (bytes !== undefined) return bytes;
  throw new HookproofError('SIGN_VARIANT_INAPPLICABLE', `This body cannot be signed as ${JSON.stringify(as)}.`, {
    hint: 'Choose a mistake about the body that applies to this one.',
  });
}

/** Every signing mistake, sorted by kind and then by likelihood. */
export const SIGNING_MISTAKES: readonly SigningMistake[] = [
  ...ENCODING_MISTAKES.map((encoding) => row('encoding', encoding, { encoding })),
  ...KEY_MISTAKES.map((key) => row('key', key, { key })),
  ...BODY_MISTAKES.map((body) => row('body', body, { body })),
  ...ALGORITHM_MISTAKES.map((algorithm) => row('algorithm', algorithm, { algorithm })),
];

function row(kind: keyof Mistakes, text: MistakeText & { readonly common?: true }, mistakes: Mistakes): SigningMistake {
  const { name, title, mistake, note, common = false } = text;
  const sign = (input: SigningInput) => signMistakenly(mistakes, input);
  return { name, kind, title, mistake, common, ...(note !== undefined && { note }), sign };
}

/** The explanation of one or several mistakes. It contains none of the inputs with which they were found. */
export interface MistakeExplanation {
  /** Names of the mistakes, joined by "+": `hex` or `reserialised-json+hex`. */
  readonly fault: string;
  readonly title: string;
  /** Id in the library of mistakes. For several mistakes, the id of the first in the order of signing. */
  readonly mistake: MistakeId;
  readonly why: string;
  readonly fix: string;
}

/** Lists the mistakes in the order of signing. */
export function listMistakes({ body, key, algorithm, encoding }: Mistakes): MistakeText[] {
  return [body, key, algorithm, encoding].filter((mistake) => mistake !== undefined);
}

/** Combines the texts of several mistakes. Repeated advice is kept only once. */
export function explainMistakes([first, ...others]: readonly [MistakeText, ...MistakeText[]]): MistakeExplanation {
  const all = [first, ...others];
  const combined = (texts: string[]): string => [...new Set(texts.map(sentence))].join(' ');
  const texts = all.map(explainMistake);
  return {
    fault: all.map(({ name }) => name).join('+'),
    title: combined(all.map(({ title }) => title)),
    mistake: first.mistake,
    why: combined(texts.map(({ why }) => why)),
    fix: combined(texts.map(({ fix }) => fix)),
  };
}

/** Matches signatures of the same body in another form. */
const OTHER_FORMS: ReadonlySet<MistakeId> = new Set(['reserialised-body', 'decoded-body']);

/**
 * Explains who changed the body, if the signature is valid for another form of the received body; null for other
 * mistakes.
 */
export function whoChangedBody({ mistake }: MistakeText): string | null {
  if (!OTHER_FORMS.has(mistake)) return null;
  return (
    'the sender signed that text, but other bytes arrived: the sender does not send what it signs, or something ' +
    'between it and the receiver re-formats the body. The receiver is right to reject the delivery.'
  );
}

/** Turns a clause into a sentence. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${clause.endsWith('.') ? '' : '.'}`;
}

/**
 * Parses names of mistakes of different kinds, joined by "+". An empty string means no mistakes. Returns undefined
 * when a name is unknown or a kind occurs twice.
 */
export function mistakesNamed(names: string): Mistakes | undefined {
  let mistakes: Mistakes = {};
  for (const name of names.split('+').filter((part) => part !== '')) {
    const found = mistakeNamed(name);
    if (found === undefined || Object.keys(found).some((kind) => kind in mistakes)) return undefined;
    mistakes = { ...mistakes, ...found };
  }
  return mistakes;
}

function mistakeNamed(name: string): Mistakes | undefined {
  const isNamed = (mistake: MistakeText): boolean => mistake.name === name;
  const body = BODY_MISTAKES.find(isNamed);
  if (body !== undefined) return { body };
  const key = KEY_MISTAKES.find(isNamed);
  if (key !== undefined) return { key };
  const algorithm = ALGORITHM_MISTAKES.find(isNamed);
  if (algorithm !== undefined) return { algorithm };
  const encoding = ENCODING_MISTAKES.find(isNamed);
  return encoding && { encoding };
}

/**
 * Signs with these mistakes. Returns undefined where one of them does not apply to this body or secret. Pass a
 * `ReadBody` to sign the same body with many mistakes.
 */
export function signMistakenly(mistakes: Mistakes, input: SigningInput | ReadBody): string | undefined {
  const { body, key, algorithm, encoding } = mistakes;
  const read = 'tree' in input ? input : readBody(input);
  const bytes = body === undefined ? read.body : body.bytes(read);
  const keyBytes = key === undefined ? signingKey(read.secret) : key.key(read);
  if (bytes === undefined || keyBytes === undefined) return undefined;
  return (encoding?.encode ?? toBase64)((algorithm?.digest ?? hmac)(bytes, keyBytes));
}

/**
 * Returns the value of the signature header for a body. Specification: Authentication, HMAC signature.
 *
 * `as` is `base64`, the only correct encoding. For debugging, it can be the name of one of {@link SIGNING_MISTAKES}, or
 * the names of several of different kinds joined by "+" (`reserialised-json+hex`). `more` holds the inputs that some
 * mistakes need.
 *
 * Throws HookproofError `SECRET_EMPTY`, `SIGN_VARIANT_UNKNOWN`, or, when the mistake does not apply (for example, the
 * body is not JSON or there is no API key), `SIGN_VARIANT_INAPPLICABLE`.
 */
export function signBody(
  body: Uint8Array,
  secret: string,
  as = 'base64',
  more: { readonly apiKey?: string; readonly url?: string } = {},
): string {
  if (secret === '') {
    throw new HookproofError('SECRET_EMPTY', 'The HMAC secret is empty.', {
      hint: 'Use the secret that was agreed with the operator; 32 characters or more are recommended.',
    });
  }
  const mistakes = as === '' ? undefined : mistakesNamed(as === 'base64' ? '' : as);
  if (mistakes === undefined) {
    throw new HookproofError('SIGN_VARIANT_UNKNOWN', `${JSON.stringify(as)} is not a known way to sign.`, {
      hint: `The correct way is base64. For debugging: ${SIGNING_MISTAKES.map(({ name }) => name).join(', ')}.`,
    });
  }
  const signature = signMistakenly(mistakes, { body, secret, ...more });
  if (signature === undefined) {
    throw new HookproofError(
      'SIGN_VARIANT_INAPPLICABLE',
      `This body or secret cannot be signed as ${JSON.stringify(as)}.`,
      { hint: 'An input that this mistake needs is missing: a JSON body, a certain field, an API key or a URL.' },
    );
  }
  return signature;
}
