/**
 * Mutants of the verification in a scheme. Each applies to every scheme with the property that it gets wrong. They are
 * not part of the kill matrix, whose deliveries are those of the specification.
 */
import type { Request } from 'express';
import { headerValues } from '../contract/index.ts';
import { hmac } from '../contract/signing/index.ts';
import { signatureTest, valueIn } from '../contract/signing/schemes/check-scheme.ts';
import type { Scheme } from '../contract/signing/schemes/scheme.ts';
import { SERVICE_SCHEME } from '../contract/signing/schemes/schemes.ts';
import { DELIVERY_ID, keyBytes, olderSchemesOf, signedBytes } from '../contract/signing/schemes/sign-scheme.ts';
import { epochSeconds, headerLines, isForeign, requestUrl, type SchemeSigning } from '../receiver/stages/scheme.ts';
import { refuseUnauthorized, required } from '../receiver/stages/stage.ts';
import type { StageFault } from './fault.ts';
import { jsonOf } from './lenient-verifier.ts';
import { signatureComparisonFaults } from './signature-comparison.ts';
import { signatureHeaderFaults } from './signature-header.ts';
import { signatureUncheckedFaults } from './signature-unchecked.ts';

type Suits = (scheme: Scheme) => boolean;

/** A mutant that can be run in the schemes of other services. */
export interface SchemeMutant extends StageFault {
  /** Whether a scheme has the property that the mutant gets wrong. */
  readonly suits: Suits;
}

/** What the headers say. Undefined if the header is missing, or does not have the form of the scheme. */
interface Read {
  readonly id?: string;
  readonly time?: string;
  readonly signature?: string;
}

interface Received {
  readonly scheme: Scheme;
  readonly read: Read;
  readonly body: Buffer;
  readonly url: string;
  readonly req: Request;
}

/** The steps of a verification. A mutant replaces one of them. */
interface Steps {
  /** Whether the headers are complete. */
  readonly isComplete: (received: Received) => boolean;
  readonly isCurrent: (time: string, now: number, tolerance: number) => boolean;
  readonly body: (body: Buffer) => Uint8Array;
  readonly url: (received: Received) => string;
  readonly template: (scheme: Scheme) => string;
  readonly key: (scheme: Scheme, secret: string) => Uint8Array;
  /** The values of the signatures in a header. */
  readonly values: (signature: string, scheme: Scheme) => readonly string[];
  readonly accepts: (values: readonly string[], isRight: (value: string) => boolean) => boolean;
}

/** Each signature without what surrounds its value. */
const framedValues: Steps['values'] = (signature, scheme) =>
  signature.split(scheme.separator ?? '\n').flatMap((text) => valueIn(scheme.signature, text)?.value ?? []);

const hasTime: Suits = ({ toleranceSeconds }) => toleranceSeconds !== undefined;
const isHmac: Suits = ({ algorithm }) => algorithm !== 'ed25519';
const hasId: Suits = ({ signed }) => signed.includes('{id}');
const isList: Suits = ({ separator }) => separator !== undefined;
const isFramed: Suits = ({ signature }) => signature !== '{value}';
const anyScheme: Suits = () => true;

const isNumber = (time: string) => /^(?:0|[1-9]\d{0,14})$/.test(time);

const CORRECT: Steps = {
  isComplete: ({ scheme, read }) =>
    ['id', 'timestamp', 'signature'].every((name) => {
      const value = { id: read.id, timestamp: read.time, signature: read.signature }[name] ?? '';
      return value !== '' || !Object.values(scheme.headers).some((template) => template.includes(`{${name}}`));
    }) && read.id?.includes('.') !== true,
  isCurrent: (time, now, tolerance) => isNumber(time) && Math.abs(now - Number(time)) <= tolerance,
  body: (body) => body,
  url: ({ url }) => url,
  template: ({ signed }) => signed,
  key: keyBytes,
  values: framedValues,
  accepts: (values, isRight) => values.some(isRight),
};

/** Reads each header once. A repeated header is rejected by the correct stage. */
function readRequest(req: Request, { scheme }: SchemeSigning): Read | null {
  const lines = headerLines(req);
  let read: Record<string, string> = {};
  for (const [name, template] of Object.entries(scheme.headers)) {
    const [first, ...others] = headerValues(lines, name);
    if (others.length > 0) return null;
    read = { ...read, ...(first === undefined ? {} : valueIn(template, first)) };
  }
  const { id, timestamp: time, signature } = read;
  return { ...(id !== undefined && { id }), ...(time !== undefined && { time }), ...(signature && { signature }) };
}

/** Returns whether a verification with these steps accepts a delivery. */
function isAccepted(received: Received, { secrets }: SchemeSigning, steps: Steps): boolean {
  const { scheme, read } = received;
  if (!steps.isComplete(received)) return false;
  const { id = 'undefined', time = 'undefined', signature = '' } = read;
  const { toleranceSeconds } = scheme;
  if (toleranceSeconds !== undefined && !steps.isCurrent(time, epochSeconds(), toleranceSeconds)) return false;
  const template = steps.template(scheme).replaceAll('{timestamp}', time);
  const input = { body: steps.body(received.body), url: steps.url(received), id, timestamp: 0 };
  const bytes = signedBytes(template, input);
  return secrets.some((secret) => {
    const key = steps.key(scheme, secret);
    const expected = isHmac(scheme) ? hmac(bytes, key, scheme.algorithm).toString(scheme.encoding) : '';
    const isRight = isHmac(scheme) ? (value: string) => value === expected : signatureTest(scheme, bytes, secret);
    return steps.accepts(steps.values(signature, scheme), isRight);
  });
}

/** Replaces steps of the verification. */
function withSteps(changes: Partial<Steps>, schemeOf = (scheme: Scheme) => scheme): StageFault['replace'] {
  return ({ correct, config: { signing: configured } }) => {
    if (configured === undefined || !isForeign(configured)) return correct.requireSignature;
    const signing = { ...configured, scheme: schemeOf(configured.scheme) };
    return (req, res, next) => {
      const read = readRequest(req, signing);
      if (read === null) return correct.requireSignature(req, res, next);
      const url = signing.publicUrl ?? requestUrl(req);
      const received = { scheme: signing.scheme, read, body: required(res, 'rawBody'), url, req };
      if (isAccepted(received, signing, { ...CORRECT, ...changes })) return next();
      refuseUnauthorized(res, 'signature-wrong');
    };
  };
}

type SchemeRow = readonly [
  title: string,
  mistake: SchemeMutant['mistake'],
  suits: Suits,
  changes: Partial<Steps>,
  schemeOf?: (scheme: Scheme) => Scheme,
];

const ROWS: Readonly<Record<string, SchemeRow>> = {
  'message-age-not-checked': [
    'Does not check the time of a delivery, so that a recorded one can be sent again forever',
    'stale-timestamp-accepted',
    hasTime,
    { isCurrent: isNumber },
  ],
  'future-messages-accepted': [
    'Rejects old deliveries, but accepts deliveries from the future',
    'future-timestamp-accepted',
    hasTime,
    { isCurrent: (time, now, tolerance) => isNumber(time) && now - Number(time) <= tolerance },
  ],
  'old-messages-accepted': [
    'Rejects deliveries from the future, but accepts old ones',
    'stale-timestamp-accepted',
    hasTime,
    { isCurrent: (time, now, tolerance) => isNumber(time) && Number(time) - now <= tolerance },
  ],
  'message-time-as-milliseconds': [
    'Compares a time in seconds with a clock in milliseconds, and rejects every valid delivery',
    'stale-timestamp-accepted',
    hasTime,
    { isCurrent: (time, now, tolerance) => Math.abs(now * 1000 - Number(time)) <= tolerance },
  ],
  'message-time-not-a-number': [
    'Accepts a signed time that is not a number, because NaN is never greater than the tolerance',
    'stale-timestamp-accepted',
    hasTime,
    { isCurrent: (time, now, tolerance) => !(Math.abs(now - Number(time)) > tolerance) },
  ],
  'missing-message-time-accepted': [
    'Accepts a delivery without its time, as if it had been sent now, with "undefined" in the signed text',
    'stale-timestamp-accepted',
    ({ headers }) => Object.values(headers).includes('{timestamp}'),
    {
      isComplete: (received) => CORRECT.isComplete({ ...received, read: { time: '0', ...received.read } }),
      isCurrent: (...parts) => parts[0] === 'undefined' || CORRECT.isCurrent(...parts),
    },
  ],
  'only-body-verified': [
    'Verifies the body alone, and rejects every valid delivery',
    'signed-value-from-elsewhere',
    ({ signed }) => signed !== '{body}',
    { template: () => '{body}' },
  ],
  'message-id-not-verified': [
    'Leaves the id out of the signed text, and rejects every valid delivery',
    'signed-value-from-elsewhere',
    hasId,
    { template: ({ signed }) => signed.replace(/\{id\}[^{]*/, '') },
  ],
  'ambiguous-message-id-accepted': [
    'Accepts an id with the separator of the signed text, so that an attacker can move its end into the body',
    'signed-value-from-elsewhere',
    hasId,
    { isComplete: (received) => CORRECT.isComplete({ ...received, read: { ...received.read, id: '-' } }) },
  ],
  'url-from-host-verified': [
    'Takes the signed URL from the request behind a proxy that has changed it, and rejects every valid delivery',
    'signed-value-from-elsewhere',
    ({ signed }) => signed.includes('{url}'),
    { url: ({ req }) => requestUrl(req) },
  ],
  'only-first-signature-verified': [
    'Verifies only the first of several signatures, and rejects deliveries during a rotation',
    'further-signatures-ignored',
    isList,
    { accepts: (values, isRight) => values.slice(0, 1).some(isRight) },
  ],
  'only-last-signature-verified': [
    'Verifies only the last of several signatures, because each overwrites the one before',
    'further-signatures-ignored',
    isList,
    { accepts: (values, isRight) => values.slice(-1).some(isRight) },
  ],
  'every-signature-must-match': [
    'Requires that all signatures match, and accepts an empty list',
    'further-signatures-ignored',
    isFramed,
    { accepts: (values, isRight) => values.every(isRight) },
  ],
  'signature-version-ignored': [
    'Ignores the version of a signature, and compares every one in the same way',
    'signature-version-ignored',
    ({ signature }) => /^v\d/.test(signature),
    {
      values: (text, { separator = '\n' }) => text.split(separator).map((one) => one.replace(/^v\w*[,=]/, '')),
    },
  ],
  'older-signature-verified': [
    'Verifies the older signature that the sender adds, and not that of the scheme',
    'signature-version-ignored',
    ({ olderSignatures }) => olderSignatures !== undefined,
    {},
    (scheme) => olderSchemesOf(scheme)[0] ?? scheme,
  ],
  'signature-prefix-optional': [
    'Accepts a signature without the text that precedes it in the scheme',
    'signature-version-ignored',
    isFramed,
    { values: (text, scheme) => [...framedValues(text, scheme), ...text.split(scheme.separator ?? '\n')] },
  ],
  'signature-prefix-anywhere': [
    'Removes the text that precedes a signature wherever it is',
    'signature-version-ignored',
    isFramed,
    {
      values: (text, { signature, separator = '\n' }) =>
        text.split(separator).map((one) => one.replace(signature.replace('{value}', ''), '')),
    },
  ],
  'scheme-secret-as-text': [
    'Uses the secret as text instead of the bytes that it encodes, and rejects every valid delivery',
    'converted-secret',
    (scheme) => isHmac(scheme) && scheme.secret.encoding === 'base64',
    { key: (_scheme, secret) => Buffer.from(secret) },
  ],
  'scheme-secret-prefix-kept': [
    'Decodes the secret with its prefix, and rejects every valid delivery',
    'converted-secret',
    (scheme) => isHmac(scheme) && scheme.secret.prefix !== undefined,
    { key: (scheme, secret) => Buffer.from(secret, scheme.secret.encoding) },
  ],
  'scheme-body-reserialised': [
    'Verifies the signature over re-serialised JSON',
    'reserialised-body',
    anyScheme,
    { body: (body) => Buffer.from(JSON.stringify(jsonOf(body)) ?? '') },
  ],
  'scheme-body-as-text': [
    'Reads the body as UTF-8 text before the verification, which replaces other bytes',
    'lossy-body-text',
    anyScheme,
    { body: (body) => Buffer.from(body.toString('utf8')) },
  ],
};

/** Mutants of the scheme of the specification that only replace how a header is compared. */
const COMPARING: Readonly<Record<string, Suits>> = {
  'signature-not-checked': anyScheme,
  'signature-presence-is-enough': anyScheme,
  'error-in-check-accepts': anyScheme,
  'missing-signature-accepted': anyScheme,
  'falsy-signature-accepted': anyScheme,
  'empty-signature-accepted': ({ headers }) => Object.values(headers).includes('{signature}'),
  'missing-signature-is-400': anyScheme,
  'missing-signature-answers-500': anyScheme,
  'verified-once-per-connection': anyScheme,
  'accepts-beginning': anyScheme,
  'ignores-what-follows': anyScheme,
  'ignores-what-precedes': anyScheme,
  'contains-signature': anyScheme,
  'ignores-letter-case': anyScheme,
  'compares-first-32': anyScheme,
  'compares-last-8': anyScheme,
  'last-difference-decides': anyScheme,
  'padding-optional': ({ encoding }) => encoding === 'base64',
};

const comparing = [...signatureUncheckedFaults, ...signatureHeaderFaults, ...signatureComparisonFaults].flatMap(
  (fault): SchemeMutant[] => {
    const suits = COMPARING[fault.name];
    return suits === undefined ? [] : [{ ...fault, suits }];
  },
);

/** Returns the names of the headers that identify a delivery. */
const idHeaders = ({ headers, samples: [sample] }: Scheme) => [
  ...Object.keys(headers).filter((name) => headers[name] === '{id}'),
  ...(sample?.headers ?? []).flatMap(([name, value]) => (DELIVERY_ID.test(value) ? [name] : [])),
];

const idBeforeVerification: SchemeMutant = {
  name: 'scheme-id-before-verification',
  title: 'Records the id of a delivery before the verification, and answers 200 to a known id',
  mistake: 'lookup-before-verification',
  suits: (scheme) => idHeaders(scheme).length > 0,
  area: 'signature',
  stage: 'requireSignature',
  replace: ({ correct, config: { signing } }) => {
    const known = new Set<string>();
    return (req, res, next) => {
      const [id = ''] = idHeaders(signing?.scheme ?? SERVICE_SCHEME).flatMap((name) => req.get(name) ?? []);
      if (known.has(id)) return next();
      if (id !== '') known.add(id);
      return correct.requireSignature(req, res, next);
    };
  },
};

/** Every mutant that can be run in the scheme of another service. */
export const SCHEME_MUTANTS: readonly SchemeMutant[] = [
  ...Object.entries(ROWS).map(
    ([name, [title, mistake, suits, changes, schemeOf]]): SchemeMutant => ({
      name,
      title,
      mistake,
      suits,
      area: 'signature',
      stage: 'requireSignature',
      replace: withSteps(changes, schemeOf),
    }),
  ),
  idBeforeVerification,
  ...comparing,
];
