/** Verifies deliveries in any scheme, and explains why a signature does not match. */
import { type HeaderLine, headerValues } from '../../delivery.ts';
import type { MistakeId } from '../../mistakes/index.ts';
import { BODY_MISTAKES } from '../body-mistakes.ts';
import { readBody } from '../mistake.ts';
import { hmac } from '../sign.ts';
import { type HeaderFault, readHeaders, type SchemeDelivery, signatureTest } from './check-scheme.ts';
import type { Scheme, SchemeInput } from './scheme.ts';
import { FOREIGN_SCHEMES } from './schemes.ts';
import { ENCODINGS, keyBytes, signedBytes } from './sign-scheme.ts';

export interface SchemeReport {
  readonly scheme: string;
  /** Whether one of the signatures matches. Says nothing about the age of the delivery. */
  readonly matches: boolean;
  /** What is wrong with the headers or the signature, each as a sentence. Empty if it matches. */
  readonly problems: readonly string[];
  /** The id of the mistake in the library, where one is known. */
  readonly mistake: string | null;
  /** The difference between the timestamp and `now` in seconds if it is greater than the scheme allows; else null. */
  readonly outOfTolerance: number | null;
}

/**
 * Checks the headers of a delivery with one secret. With the private or the public key of an Ed25519 scheme, it checks
 * the signature with the public key.
 *
 * @param now the time of the receiver, in epoch seconds
 * @throws HookproofError SECRET_INVALID if the secret is not a key of the scheme
 */
export function verifyWithScheme(scheme: Scheme, delivery: SchemeDelivery, secret: string, now: number): SchemeReport {
  const { faults, id, timestamp, signatures: found } = readHeaders(scheme, delivery.headers);
  const problems = faults.map((fault) => describeFault(scheme, fault, delivery.headers));
  const { toleranceSeconds } = scheme;
  const age = now - timestamp;
  const report = {
    scheme: scheme.name,
    outOfTolerance: toleranceSeconds !== undefined && Math.abs(age) > toleranceSeconds ? age : null,
  };
  if (problems.length > 0) return { ...report, matches: false, problems, mistake: null, outOfTolerance: null };
  if (found.length === 0) {
    const sentence = `No signature has the form ${scheme.signature}.`;
    return { ...report, matches: false, problems: [sentence], mistake: 'foreign-signature-format' };
  }
  const { body, url } = delivery;
  const input = { body, url, id, timestamp };
  const bytes = signedBytes(scheme.signed, input);
  if (found.some(signatureTest(scheme, bytes, secret)))
    return { ...report, matches: true, problems: [], mistake: null };
  const way = scheme.algorithm === 'ed25519' ? undefined : explain(scheme, input, secret, found);
  return { ...report, matches: false, problems: way?.problems ?? [UNEXPLAINED], mistake: way?.mistake ?? null };
}

const UNEXPLAINED =
  'No known mistake explains the signature: it was made with another secret, or from another body, time, id or URL.';

/** Describes in words what is wrong with a header. */
function describeFault({ headers, title }: Scheme, { name, code }: HeaderFault, lines: readonly HeaderLine[]): string {
  switch (code) {
    case 'missing':
      return `The header ${name} of ${title} is missing.`;
    case 'repeated':
      return `The header ${name} occurs ${headerValues(lines, name).length} times.`;
    case 'form':
      return `The header ${name} does not have the form ${headers[name]}.`;
    case 'number':
      return 'The timestamp is not a whole number of seconds.';
  }
}

const ALGORITHMS = ['sha256', 'sha1', 'sha512'] as const;

/** Returns the keys that can be derived from a secret, each with a description of how; null for the correct key. */
function keysOf(scheme: Scheme, secret: string): [key: Buffer, how: string | null][] {
  const keys: [Buffer, string][] = [
    [Buffer.from(secret, 'utf8'), 'the whole secret as text'],
    [Buffer.from(secret, 'base64'), 'the whole secret decoded from Base64'],
  ];
  const { prefix } = scheme.secret;
  if (prefix !== undefined) {
    keys.push([keyBytes({ secret: { prefix, encoding: 'utf8' } }, secret), `the secret as text without ${prefix}`]);
  }
  const right = keyBytes(scheme, secret);
  return [[right, null], ...keys.filter(([key]) => !key.equals(right))];
}

/** One way to sign a delivery, correct or incorrect. */
export interface Way {
  readonly value: string;
  /** The differences from the scheme. */
  readonly problems: readonly string[];
  readonly mistake: MistakeId | null;
}

/**
 * Computes the signature of a delivery in every combination of a known body, template, key, algorithm and encoding.
 * Each combination states how it differs from the scheme.
 */
export function* waysToSign(scheme: Scheme, input: SchemeInput, secret: string): Generator<Way> {
  const read = readBody({ body: input.body, secret, url: input.url });
  const forms = [undefined, ...BODY_MISTAKES.filter(({ common }) => common)];
  const templates = new Set([scheme.signed, '{body}', ...FOREIGN_SCHEMES.map(({ signed }) => signed)]);
  const digests = keysOf(scheme, secret).flatMap(([key, how]) => ALGORITHMS.map((name) => ({ key, how, name })));
  for (const form of forms) {
    const body = form === undefined ? input.body : form.bytes(read);
    if (body === undefined) continue;
    for (const template of templates) {
      const bytes = signedBytes(template, { ...input, body });
      for (const { key, how, name } of digests) {
        const digest = hmac(bytes, key, name);
        for (const [encoding, title] of Object.entries(ENCODINGS)) {
          const problems = [
            form !== undefined && `It was computed over ${form.what} instead of the received bytes.`,
            template !== scheme.signed && `It was computed over ${template}, not over ${scheme.signed}.`,
            how !== null && `The key was ${how}.`,
            name !== scheme.algorithm && `It was made with ${name}, not with ${scheme.algorithm}.`,
            encoding !== scheme.encoding && `It is written in ${title}, not in ${ENCODINGS[scheme.encoding]}.`,
          ].filter((problem) => problem !== false);
          yield { value: digest.toString(encoding as BufferEncoding), problems, mistake: form?.mistake ?? null };
        }
      }
    }
  }
}

/**
 * Among the ways to sign that give one of the signatures, returns the one with the fewest differences from the scheme.
 */
function explain(scheme: Scheme, input: SchemeInput, secret: string, values: readonly string[]): Way | undefined {
  let best: Way | undefined;
  for (const way of waysToSign(scheme, input, secret)) {
    if (values.includes(way.value) && !(best && best.problems.length <= way.problems.length)) best = way;
  }
  return best;
}
