/** Verifies deliveries in any scheme, and explains why a signature does not match. */
import { verify as verifyEdDsa } from 'node:crypto';
import { type HeaderLine, headerValues } from '../../delivery.ts';
import type { MistakeId } from '../../mistakes/index.ts';
import { BODY_MISTAKES } from '../body-mistakes.ts';
import { readBody } from '../mistake.ts';
import { hmac } from '../sign.ts';
import type { Scheme, SchemeInput, Template } from './scheme.ts';
import { FOREIGN_SCHEMES } from './schemes.ts';
import { ENCODINGS, keyBytes, publicKey, signedBytes } from './sign-scheme.ts';

/** A received delivery. */
export interface SchemeDelivery {
  readonly body: Uint8Array;
  readonly headers: readonly HeaderLine[];
  readonly url: string;
}

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
  const { problems, values } = readHeaders(scheme, delivery.headers);
  const { id = '', timestamp: time = '', signature = '' } = values;
  const timestamp = Number(time);
  const { toleranceSeconds } = scheme;
  const age = now - timestamp;
  const report = {
    scheme: scheme.name,
    outOfTolerance: toleranceSeconds !== undefined && Math.abs(age) > toleranceSeconds ? age : null,
  };
  if (problems.length > 0) return { ...report, matches: false, problems, mistake: null, outOfTolerance: null };
  const found = signature
    .split(scheme.separator ?? '\n')
    .map((text) => valueIn(scheme.signature, text)?.value)
    .filter((value) => value !== undefined);
  if (found.length === 0) {
    const sentence = `No signature has the form ${scheme.signature}.`;
    return { ...report, matches: false, problems: [sentence], mistake: 'foreign-signature-format' };
  }
  const { body, url } = delivery;
  const input = { body, url, id, timestamp };
  const bytes = signedBytes(scheme.signed, input);
  const isRight = (value: string) => matches(scheme, bytes, secret, value);
  if (found.some(isRight)) return { ...report, matches: true, problems: [], mistake: null };
  const way = scheme.algorithm === 'ed25519' ? undefined : explain(scheme, input, secret, found);
  return { ...report, matches: false, problems: way?.problems ?? [UNEXPLAINED], mistake: way?.mistake ?? null };
}

const UNEXPLAINED =
  'No known mistake explains the signature: it was made with another secret, or from another body, time, id or URL.';

/** Returns the values of the placeholders in the headers, or what is wrong with the headers. */
function readHeaders({ headers, title }: Scheme, lines: readonly HeaderLine[]) {
  const problems: string[] = [];
  let values: Readonly<Record<string, string>> = {};
  for (const [name, template] of Object.entries(headers)) {
    const [first, ...others] = headerValues(lines, name);
    const read = first === undefined ? undefined : valueIn(template, first);
    if (first === undefined) problems.push(`The header ${name} of ${title} is missing.`);
    else if (others.length > 0) problems.push(`The header ${name} occurs ${others.length + 1} times.`);
    else if (read === undefined) problems.push(`The header ${name} does not have the form ${template}.`);
    values = { ...values, ...read };
  }
  const { timestamp } = values;
  if (timestamp !== undefined && !/^\d{1,15}$/.test(timestamp)) {
    problems.push('The timestamp is not a whole number of seconds.');
  }
  return { problems, values };
}

/** Returns the values of the placeholders of a template in a text; undefined if the text does not have its form. */
function valueIn(template: Template, text: string): Readonly<Record<string, string>> | undefined {
  const parts = template.split(/\{(\w+)\}/);
  const escaped = parts.map((part, at) =>
    at % 2 === 1 ? `(?<${part}>.*${at < parts.length - 2 ? '?' : ''})` : part.replaceAll(/[^\w\s]/g, '\\$&'),
  );
  return new RegExp(`^${escaped.join('')}$`, 's').exec(text)?.groups;
}

function matches(scheme: Scheme, bytes: Uint8Array, secret: string, value: string): boolean {
  const { algorithm, encoding } = scheme;
  // As texts, because a decoder ignores what is not part of the encoding.
  if (algorithm !== 'ed25519') return hmac(bytes, keyBytes(scheme, secret), algorithm).toString(encoding) === value;
  const signature = Buffer.from(value, encoding);
  return signature.toString(encoding) === value && verifyEdDsa(null, bytes, publicKey(scheme, secret), signature);
}

const ALGORITHMS = ['sha256', 'sha1', 'sha512'] as const;

/** The keys that are made from a secret, each with what the scheme would have to say for it. */
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

/** One way to sign a delivery, right or wrong. */
export interface Way {
  readonly value: string;
  /** The differences from the scheme. */
  readonly problems: readonly string[];
  readonly mistake: MistakeId | null;
}

/**
 * Makes the signature of a delivery in every combination of a known body, text, key, algorithm and encoding. Each says
 * how it differs from the scheme.
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
            form !== undefined && `It was made over ${form.what} instead of the received bytes.`,
            template !== scheme.signed && `It was made over ${template}, not over ${scheme.signed}.`,
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

/** Returns the way with the fewest differences from the scheme that makes one of the signatures. */
function explain(scheme: Scheme, input: SchemeInput, secret: string, values: readonly string[]): Way | undefined {
  let best: Way | undefined;
  for (const way of waysToSign(scheme, input, secret)) {
    if (values.includes(way.value) && !(best && best.problems.length <= way.problems.length)) best = way;
  }
  return best;
}
