/** The rules for a scheme that is not built in: in a configuration file, or in code. */
import * as z from 'zod';
import { RESERVED_HEADERS, TOKEN } from '../../delivery.ts';
import type { Scheme } from './scheme.ts';
import { SCHEMES } from './schemes.ts';

const text = z.string('must be a text').regex(/^[\t\x20-\x7e]*$/, 'must contain only printable ASCII characters');
const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Returns the names of the placeholders in a template. */
function placeholdersIn(template: string): string[] {
  return Array.from(template.matchAll(PLACEHOLDER), ([, name = '']) => name);
}

/** The names of the built-in schemes, which a literal may not have. */
const TAKEN: ReadonlySet<string> = new Set(SCHEMES.map(({ name }) => name));

/** Returns the rule for a template that has the first of these placeholders once, and perhaps the others. */
function template(needed: string | null, ...others: readonly string[]) {
  const all = [...(needed === null ? [] : [needed]), ...others];
  const list = all.map((name) => `{${name}}`).join(', ');
  return text
    .refine((value) => placeholdersIn(value).every((name) => all.includes(name)), `must contain only ${list}`)
    .refine(
      (value) => needed === null || placeholdersIn(value).filter((name) => name === needed).length === 1,
      `must contain {${needed}} once`,
    );
}

const headerName = text
  .regex(TOKEN, 'is not the name of a header')
  .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), 'is a header that is set for each request');

const SECONDS = 'must be a number of seconds from 1 to 2592000';
const seconds = z
  .union([z.number(), z.string().regex(/^\d+$/, SECONDS)], SECONDS)
  .transform(Number)
  .refine((count) => Number.isInteger(count) && count >= 1 && count <= 86_400 * 30, SECONDS);
const STATUS = 'must be a status such as 200, or one of 2xx and 4xx';
const status = z
  .union([z.number(), z.string()], STATUS)
  .refine((value) => /^(?:[234]\d\d|[24]xx)$/.test(String(value)), STATUS)
  .transform((value) => (/xx$/.test(String(value)) ? (String(value) as '2xx' | '4xx') : Number(value)));
const statuses = z.array(status, 'must be a list').min(1, 'is empty');

/** Returns the message of an issue. If a header name is invalid, it is the message of the name's own issue. */
const ofHeaders = (issue: z.core.$ZodRawIssue) =>
  issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? '') : 'must be a group of headers';

const HASHES = ['sha1', 'sha256', 'sha512'] as const;
const signature = template('value').default('{value}');

const olderSignature = z.strictObject(
  { algorithm: z.enum(HASHES, 'must be sha1, sha256 or sha512'), signature },
  'must be a group with algorithm and signature',
);

/** The form of the name of a scheme, which needs no escaping in a report. */
export const SCHEME_NAME = /^[a-z][a-z0-9-]{0,40}$/;

const SHAPE = {
  name: text
    .regex(SCHEME_NAME, 'must contain only a-z, 0-9 and -')
    .refine((name) => !TAKEN.has(name), 'is the name of a built-in scheme')
    .default('own'),
  title: text.max(80, 'has more than 80 characters').optional(),
  documentation: text.refine((url) => URL.canParse(url), 'is not a URL').optional(),
  headers: z.record(headerName, template(null, 'signature', 'timestamp', 'id'), { error: ofHeaders }),
  signed: template('body', 'timestamp', 'id', 'url'),
  algorithm: z.enum([...HASHES, 'ed25519'], 'must be sha1, sha256, sha512 or ed25519'),
  encoding: z.enum(['base64', 'hex'], 'must be base64 or hex'),
  secret: z
    .strictObject(
      { prefix: text.optional(), encoding: z.enum(['utf8', 'base64'], 'must be utf8 or base64').default('utf8') },
      'must be a group with prefix and encoding',
    )
    .default({ encoding: 'utf8' }),
  signature,
  'older-signatures': z.record(headerName, olderSignature, { error: ofHeaders }).optional(),
  separator: text.min(1, 'is empty').optional(),
  'tolerance-seconds': seconds.optional(),
  handshakes: z.array(text.min(1, 'is empty'), 'must be a list').min(1, 'is empty').optional(),
  accepts: statuses.default(['2xx']),
  rejects: statuses.default(['4xx']),
} as const;

/** The keys of a scheme, as in the configuration file. */
export const SCHEME_KEYS = Object.keys(SHAPE);

/**
 * Parses a scheme as it is written in hookproof.yaml. A text that is signed must be sent as well, because a receiver
 * could not verify it otherwise, and the signature must be in one header.
 */
export const schemeLiteral = z
  .strictObject(SHAPE, 'must be the name of a scheme, or a group of settings')
  .superRefine(({ headers, signed, ...scheme }, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const sent = Object.values(headers).flatMap(placeholdersIn);
    const times = sent.filter((name) => name === 'signature').length;
    if (times !== 1) refuse('headers', `contain {signature} ${times} times; exactly one header must contain it`);
    const lower = (group: object = {}) => Object.keys(group).map((name) => name.toLowerCase());
    const [names, older] = [lower(headers), lower(scheme['older-signatures'])];
    if (new Set(names).size < names.length) refuse('headers', 'contain a name twice');
    if (new Set([...names, ...older]).size < new Set(names).size + older.length) {
      refuse('older-signatures', 'contain the name of another header');
    }
    if (older.length > 0 && scheme.algorithm === 'ed25519') {
      refuse('older-signatures', 'need a shared secret, which ed25519 does not have');
    }
    const [ofSignature = ''] = Object.values(headers).filter((value) => value.includes('{signature}'));
    if (older.length > 0 && placeholdersIn(ofSignature).length > 1) {
      refuse('older-signatures', 'need a header with {signature} that has neither {timestamp} nor {id}');
    }
    for (const name of ['timestamp', 'id']) {
      if (sent.filter((one) => one === name).length > 1) refuse('headers', `contain {${name}} more than once`);
      if (sent.includes(name) && !placeholdersIn(signed).includes(name)) {
        refuse('signed', `lacks {${name}}, which a header sends: anyone could change it`);
      }
    }
    for (const name of placeholdersIn(signed)) {
      if (['timestamp', 'id'].includes(name) && !sent.includes(name)) {
        refuse('signed', `contains {${name}}, which no header sends`);
      }
    }
    if (scheme['tolerance-seconds'] !== undefined && !sent.includes('timestamp')) {
      refuse('tolerance-seconds', 'needs a header with {timestamp}');
    }
  })
  .transform(({ 'tolerance-seconds': tolerance, 'older-signatures': olderSignatures, ...given }): Scheme => {
    const { title, documentation, secret, separator, handshakes, ...rest } = given;
    return {
      ...rest,
      title: title ?? rest.name,
      secret: { encoding: secret.encoding, ...(secret.prefix !== undefined && { prefix: secret.prefix }) },
      samples: [],
      ...(documentation !== undefined && { documentation }),
      ...(separator !== undefined && { separator }),
      ...(olderSignatures !== undefined && { olderSignatures }),
      ...(handshakes !== undefined && { handshakes }),
      ...(tolerance !== undefined && { toleranceSeconds: tolerance }),
    };
  });
