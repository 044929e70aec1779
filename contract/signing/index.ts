/**
 * How a delivery is signed, and how it can be signed incorrectly. This is a separate entry point, because a receiver
 * that only verifies signatures does not need it.
 */
export { explainSignature, type SignatureReport, VALUE_MISTAKES } from './explain-signature.ts';
export { findMistakes, foundTexts } from './find-mistakes.ts';
export { headerShape } from './header-shape.ts';
export {
  escapeUnicode,
  GO_MAP,
  type JsonDialect,
  PHP,
  PHP_UNESCAPED,
  PYTHON,
  PYTHON_COMPACT,
  PYTHON_COMPACT_ASCII,
  RUBY,
  requireEncodable,
  rewriteJson,
} from './json-dialects.ts';
export { type MistakeText, readBody, type SigningInput } from './mistake.ts';
export {
  explainMistakes,
  listMistakes,
  type MistakeExplanation,
  type Mistakes,
  mistakenBody,
  mistakesNamed,
  SIGNING_MISTAKES,
  sentence,
  signBody,
  signMistakenly,
  whoChangedBody,
} from './mistakes.ts';
export { signaturesOfScheme } from './schemes/check-scheme.ts';
export {
  definitionOf,
  hasStatus,
  type Scheme,
  type SchemeInput,
  type SchemeSample,
} from './schemes/scheme.ts';
export { FOREIGN_SCHEMES, SCHEMES, SERVICE_SCHEME } from './schemes/schemes.ts';
export {
  DELIVERY_ID,
  describeScheme,
  headersOfScheme,
  messageIdOf,
  olderSchemesOf,
  schemeDigest,
  signatureHeaderOf,
  signatureHeadersOf,
  signWithScheme,
} from './schemes/sign-scheme.ts';
export { verifyWithScheme, waysToSign } from './schemes/verify-scheme.ts';
export { hmac, signatureOf } from './sign.ts';
