import { HookproofError } from '../../contract/index.ts';
import { recipeFor, signBy } from './recipe.ts';
import { ALGORITHMS, BODIES, ENCODINGS, KEYS, readBody } from './variants/index.ts';

/** A way to sign that `signBody` knows by name, beside the right one. */
export interface SignatureVariant {
  readonly name: string;
  readonly kind: 'encoding' | 'key' | 'body' | 'algorithm';
  readonly title: string;
}

/** Every wrong way that `signBody` knows, by kind and then by likelihood: what `hookproof sign --as` offers. */
export const SIGNATURE_VARIANTS: readonly SignatureVariant[] = [
  ...ENCODINGS.map(({ name, title }) => ({ name, kind: 'encoding' as const, title })),
  ...KEYS.map(({ name, title }) => ({ name, kind: 'key' as const, title })),
  ...BODIES.map(({ name, title }) => ({ name, kind: 'body' as const, title })),
  ...ALGORITHMS.map(({ name, title }) => ({ name, kind: 'algorithm' as const, title })),
];

/**
 * The value of the signature header for a body. Specification: Authentication, HMAC signature.
 *
 * `as` is `base64`, the only right way, or for debugging one of {@link SIGNATURE_VARIANTS} or several of different kinds
 * joined by "+" (`reserialised-json+hex`). `more` gives what some variants need.
 *
 * Throws HookproofError `SECRET_EMPTY`, `SIGN_VARIANT_UNKNOWN`, or `SIGN_VARIANT_INAPPLICABLE` when the variant makes no sense here (the
 * body is no JSON, there is no API key).
 */
export function signBody(
  body: Uint8Array,
  secret: string,
  as = 'base64',
  more: { readonly apiKey?: string; readonly url?: string } = {},
): string {
  if (secret === '') {
    throw new HookproofError('SECRET_EMPTY', 'The signature secret is empty.', {
      hint: 'Give the secret that was agreed with the operator; 32 characters or more are recommended.',
    });
  }
  const recipe = as === '' ? undefined : recipeFor(as === 'base64' ? '' : as);
  if (recipe === undefined) {
    throw new HookproofError('SIGN_VARIANT_UNKNOWN', `There is no way to sign that is named ${JSON.stringify(as)}.`, {
      hint: `The right way is base64. For debugging: ${SIGNATURE_VARIANTS.map(({ name }) => name).join(', ')}.`,
    });
  }
  const signature = signBy(recipe, readBody({ body, secret, ...more }));
  if (signature === undefined) {
    throw new HookproofError(
      'SIGN_VARIANT_INAPPLICABLE',
      `This body or secret cannot be signed as ${JSON.stringify(as)}.`,
      {
        hint: 'The variant needs something that is not there: a JSON body, a certain field, an API key or a URL.',
      },
    );
  }
  return signature;
}
