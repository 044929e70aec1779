/**
 * Explains why the credentials of a delivery do not match, and decides whether the page may show the received
 * signature. It never shows a correct signature.
 */
import { setImmediate } from 'node:timers/promises';
import { type HeaderLine, headerValues, sameHeaderName } from '../../contract/index.ts';
import { explainMistake } from '../../contract/mistakes/index.ts';
import { signatureSpellings } from '../../contract/secret-spellings.ts';
import {
  findMistakes,
  foundTexts,
  headerShape,
  type MistakeText,
  type Scheme,
  type SigningInput,
  sentence,
  signatureOf,
  whoChangedBody,
} from '../../contract/signing/index.ts';
import type { RecordedDelivery } from './recorder.ts';
import { explainInScheme, type SchemeWords, signaturesToMask } from './scheme-findings.ts';

/** The part of a mistake that the page shows. */
export type ShownMistake = Pick<MistakeText, 'name' | 'title'> & { readonly fix: string };

export interface SigningConfig {
  readonly secrets: readonly string[];
  readonly apiKeys: readonly string[];
  readonly header: string;
  /** Set for the deliveries of another service, with the registered URL. */
  readonly scheme?: Scheme | undefined;
  readonly publicUrl?: string | undefined;
}

export interface SignatureFinding {
  /** The mistakes that explain the signature. Empty when the signature is correct or no known mistake explains it. */
  readonly mistakes: readonly ShownMistake[];
  /** The bytes that were signed. Undefined when they are the received body or are not known. */
  readonly signed: Buffer | undefined;
  /** The received value, if there is one and it may be shown. */
  readonly shown?: string | undefined;
  /** Why the page does not show the received value. Undefined when it may be shown. */
  readonly withheld: string | undefined;
  /**
   * Every spelling of the signatures that are correct for the received or the signed bytes. They must be masked
   * everywhere.
   */
  readonly correct: readonly string[];
  /** Set in the scheme of another service, which explains the delivery in other words. */
  readonly inScheme?: SchemeWords;
}

export async function findSignature(
  delivery: RecordedDelivery,
  signing: SigningConfig | undefined,
): Promise<SignatureFinding> {
  const { rawBody, headers, target } = delivery;
  const nothing = { mistakes: [], signed: undefined, correct: [] };
  if (signing === undefined) return { ...nothing, withheld: 'not checked here, so it may be correct' };
  if (rawBody === undefined) return { ...nothing, withheld: 'not checked, so it may be correct' };
  const { scheme } = signing;
  if (scheme !== undefined) {
    const [own, received] = [
      { ...signing, scheme },
      { ...delivery, body: rawBody },
    ];
    const inScheme = explainInScheme(own, received);
    const mistakes = inScheme.mistake === undefined ? [] : [inScheme.mistake];
    const withheld = 'it may be correct, here or for other bytes';
    return { ...nothing, mistakes, withheld, correct: signaturesToMask(own, received), inScheme };
  }

  const received = headerValues(headers, signing.header);
  const host = headerValues(headers, 'host')[0];
  const urls = host === undefined ? [] : ['https', 'http'].map((scheme) => `${scheme}://${host}${target}`);
  const signatures = signing.secrets.map((secret) => signatureOf(rawBody, secret));
  const correct = signatures.flatMap(signatureSpellings);
  const mismatch = await explainMismatch({ ...signing, rawBody, received, urls });
  if (mismatch?.underTheSecret === true) {
    const { mistakes, signed } = mismatch;
    const ofSigned = signing.secrets.map((secret) => signatureOf(signed ?? rawBody, secret));
    const values = received.filter((value) => value !== '');
    return {
      mistakes,
      signed,
      withheld: 'correct for what was signed, so it is not shown',
      correct: [...correct, ...ofSigned.flatMap(signatureSpellings), ...values],
    };
  }
  if (signatures.some((signature) => received.includes(signature))) {
    return { ...nothing, correct, withheld: 'correct, so it is not shown' };
  }
  const isNear = received.some((value) => signatures.some((signature) => containsPart(value, signature)));
  const withheld = isNear ? 'part of a correct one, so it is not shown' : undefined;
  const shown = withheld === undefined && received.length === 1 ? received[0] : undefined;
  return { mistakes: mismatch?.mistakes ?? [], signed: mismatch?.signed, correct, shown, withheld };
}

export interface MismatchInput {
  readonly rawBody: Buffer;
  /** Every value of the signature header. */
  readonly received: readonly string[];
  readonly secrets: readonly string[];
  readonly apiKeys?: readonly string[];
  /** URLs to which the delivery may have been sent. */
  readonly urls?: readonly string[];
}

interface Mismatch {
  /** Mistakes in the signed bytes, the key, the algorithm, the encoding or the header. Never empty. */
  readonly mistakes: readonly ShownMistake[];
  readonly signed: Buffer | undefined;
  /**
   * True when the secret was used correctly as the key. The value is then a correct signature of the body, or of
   * `signed`.
   */
  readonly underTheSecret: boolean;
}

/** Maximum size, in bytes, of bodies for which pairs of mistakes are tried as well. */
const PAIRS_UP_TO = 64 * 1024;
/** Number of bytes to hash before pausing to let the receiver process deliveries. */
const TURN = 256 * 1024;

/**
 * Finds the signing mistakes that produce the received signature. Returns null when the signature is correct or no
 * known mistake explains it. Specification: HMAC signature (Common faults).
 *
 * The result contains neither a secret nor a signature.
 */
export async function explainMismatch(input: MismatchInput): Promise<Mismatch | null> {
  const [first, ...others] = inputsOf(input);
  if (first === undefined) return null;
  const search = { inputs: [first, ...others] as const, pairsUpTo: PAIRS_UP_TO, allUpTo: Number.POSITIVE_INFINITY };
  const steps = findMistakes(headerShape(input.received.join(', ')), search);
  let hashed = 0;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) {
      if (step.value === undefined) return null;
      const { mistakes, signed } = step.value;
      const texts = foundTexts(step.value);
      if (texts.length === 0) return null;
      return {
        mistakes: texts.map((text) => ({
          name: text.name,
          title: sentence(text.title),
          fix: sentence(whoChangedBody(text) ?? explainMistake(text).fix),
        })),
        signed: mistakes.body === undefined ? undefined : Buffer.from(signed),
        underTheSecret: mistakes.key === undefined && mistakes.algorithm === undefined,
      };
    }
    hashed += step.value.hashedBytes;
    if (hashed < TURN) continue;
    hashed = 0;
    await setImmediate();
  }
}

/**
 * Combines every secret with every API key and URL, without trying all pairs: the n-th key is used with the n-th URL.
 * The last item of a shorter list is repeated.
 */
function inputsOf({ rawBody, secrets, apiKeys = [], urls = [] }: MismatchInput): SigningInput[] {
  const count = Math.max(1, apiKeys.length, urls.length);
  return secrets.flatMap((secret) =>
    Array.from({ length: count }, (_, at) => {
      const apiKey = apiKeys[Math.min(at, apiKeys.length - 1)];
      const url = urls[Math.min(at, urls.length - 1)];
      return {
        body: rawBody,
        secret,
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(url === undefined ? {} : { url }),
      };
    }),
  );
}

/** Number of consecutive characters that a value must share with a correct signature to count as a part of it. */
const COMMON_BASE64 = 12;
const COMMON_HEX = 24;

function containsPart(value: string, base64: string): boolean {
  const digest = Buffer.from(base64, 'base64');
  return (
    hasCommonRun(value, base64, COMMON_BASE64) ||
    hasCommonRun(value, digest.toString('base64url'), COMMON_BASE64) ||
    hasCommonRun(value, digest.toString('hex'), COMMON_HEX)
  );
}

function hasCommonRun(value: string, correct: string, length: number): boolean {
  const [a, b] = [value.toLowerCase(), correct.toLowerCase()];
  for (let at = 0; at + length <= b.length; at++) if (a.includes(b.slice(at, at + length))) return true;
  return false;
}

/**
 * Describes in one sentence what the sender did with the correct API key. Returns null when the correct key is nowhere
 * in the request, or is correctly in its header. Recognises only the whole key, so a guess reveals nothing.
 */
export function explainKeyMismatch(input: {
  readonly headers: readonly HeaderLine[];
  readonly target: string;
  readonly keys: readonly string[];
  readonly header: string;
}): string | null {
  const { headers, target, keys, header } = input;
  const values = headerValues(headers, header);
  const isKey = (text: string) => keys.includes(text);
  if (values.length > 1 && values.some(isKey)) return 'The correct key is one of several values of the header.';
  for (const value of values) {
    if (isKey(value)) return null;
    if (/^(["'])(.*)\1$/s.test(value) && isKey(value.slice(1, -1))) return 'There are quotes around the correct key.';
    if (isKey(value.replace(/^[\w-]+[ :=]\s*/, ''))) return 'There is a word before the correct key.';
    if (isKey(Buffer.from(value, 'base64').toString('utf8'))) return 'The correct key is encoded in base64.';
    if (keys.some((key) => key.toLowerCase() === value.toLowerCase())) return 'The letter case of the key was changed.';
  }
  const elsewhere = headers.find(
    ([name, value]) => !sameHeaderName(name, header) && (isKey(value) || isKey(value.replace(/^\w+ /, ''))),
  );
  if (elsewhere !== undefined) return `The correct key is in the header ${elsewhere[0]}, expected in ${header}.`;
  const query = target.split('?').slice(1).join('?').split('&');
  const inQuery = query.some((part) => isKey(decoded(part.slice(part.indexOf('=') + 1))));
  return inQuery ? `The correct key is in the query of the URL, expected in the header ${header}.` : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
