/** Mutants that do not check the API key, compare it loosely, or accept a guessable one. */
import { timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import {
  type DeliveryState,
  refuseUnauthorized,
  requestHeader,
  required,
  type Stage,
} from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { FaultParts, StageFault } from './fault.ts';
import { goOn, matchesWildcards, unverified } from './lenient-verifier.ts';

type Replace = StageFault['replace'];

/** A delivery as a faulty key check receives it. */
export interface KeyedDelivery {
  readonly req: Request;
  readonly res: Response<unknown, DeliveryState>;
  readonly next: NextFunction;
  /** The header value as the correct check reads it. An array if the header is repeated. */
  readonly given: string | readonly string[] | undefined;
  readonly config: NonNullable<FaultParts['config']['apiKey']>;
}

/** Fields that all mutants of the API key check share. */
export const KEY = { area: 'api-key', stage: 'requireApiKey' } as const;

/** Runs the correct check, except for deliveries for which `instead` returns a stage. */
export function handleSomeKeys(instead: (delivery: KeyedDelivery, parts: FaultParts) => Stage | null): Replace {
  return (parts) => {
    const { requireApiKey } = parts.correct;
    const { apiKey } = parts.config;
    if (apiKey === undefined) return requireApiKey;
    return (req, res, next) => {
      const delivery = { req, res, next, given: requestHeader(req, apiKey.header), config: apiKey };
      return (instead(delivery, parts) ?? requireApiKey)(req, res, next);
    };
  };
}

/** Accepts some deliveries without the correct check. */
export function acceptWithoutCheck(accepts: (delivery: KeyedDelivery, parts: FaultParts) => boolean): Replace {
  return handleSomeKeys((delivery, parts) => (accepts(delivery, parts) ? goOn : null));
}

/**
 * Rejects a missing, empty or repeated header. Compares any other header with each key using `matches`. An exception
 * leads to a 500.
 */
function compareKeys(matches: (given: string, key: string) => boolean): Replace {
  return handleSomeKeys(({ given, config }) => {
    if (typeof given !== 'string' || given === '') return (_req, res) => refuseUnauthorized(res, 'api-key-missing');
    if (config.keys.some((key) => matches(given, key))) return goOn;
    return (_req, res) => refuseUnauthorized(res, 'api-key-wrong');
  });
}

/** Computes Java's `String.hashCode()`. */
const hashCode = (text: string) => [...text].reduce((sum, character) => (31 * sum + character.charCodeAt(0)) | 0, 0);

export const apiKeyCheckFaults = family<StageFault>(
  { ...KEY, mistake: 'partial-key-comparison' },
  {
    // Deliveries that are accepted without a check of their API key.
    'api-key-not-checked': ['Does not check the API key', () => goOn, 'unchecked-key'],
    'api-key-removed-by-connection': [
      'Skips the API key check if the header Connection names X-API-Key, because a proxy then removes it',
      acceptWithoutCheck(
        ({ req, given, config: { header } }) =>
          given !== undefined && (req.get('Connection') ?? '').toLowerCase().includes(header.toLowerCase()),
      ),
      'optional-key',
    ],
    'api-key-hash-code-compared': [
      'Compares the hash codes of the API keys',
      compareKeys((given, key) => hashCode(given) === hashCode(key)),
      'derived-key-comparison',
      {
        equivalentTo: {
          name: 'api-key-order-ignored',
          reason: 'Both accept one of several keys in one check; the report names the delivery.',
        },
      },
    ],
    'api-key-missing-accepted': [
      'Accepts a delivery without the API key header, but rejects an invalid key',
      acceptWithoutCheck(({ given }) => given === undefined),
      'optional-key',
    ],
    'api-key-checked-once-per-connection': [
      'Checks the API key only until it has been valid once on a connection',
      (parts) => {
        const trusted = new WeakSet<object>();
        return acceptWithoutCheck(({ req, given, config }) => {
          if (trusted.has(req.socket)) return true;
          if (typeof given === 'string' && config.keys.includes(given)) trusted.add(req.socket);
          return false;
        })(parts);
      },
      'key-checked-once-for-a-connection',
    ],
    'api-key-empty-accepted': [
      'Accepts an empty API key header',
      acceptWithoutCheck(({ given }) => given === ''),
      'unset-key',
    ],
    'api-key-any-accepted': [
      'Accepts any text as the API key',
      acceptWithoutCheck(({ given }) => typeof given === 'string' && given !== ''),
      'unread-key',
    ],
    'api-key-not-checked-for-later-types': [
      'Checks the API key only for CAAS notifications',
      acceptWithoutCheck(({ res }) => {
        const { type } = unverified({ body: required(res, 'rawBody') });
        return type !== undefined && type !== 'CAAS';
      }),
      'conditional-key-check',
    ],
    'api-key-not-checked-on-large-bodies': [
      'Does not check the API key of deliveries over 64 kB',
      acceptWithoutCheck(({ res }) => required(res, 'rawBody').length > 64 * 1024),
      'conditional-key-check',
      { note: 'Firewalls inspect requests up to a buffer size and let the rest pass.' },
    ],
    'api-key-not-checked-for-local-claims': [
      'Does not require the API key if a header such as X-Forwarded-For claims a trusted sender',
      acceptWithoutCheck(({ req }) => req.headers['x-forwarded-for']?.includes('127.0.0.1') === true),
      'key-exempt-claims',
    ],
    'api-key-not-checked-in-test-mode': [
      'Does not require the API key with a test parameter in the query',
      acceptWithoutCheck(({ req }) => ['test', 'debug', 'skip'].some((name) => req.query[name] !== undefined)),
      'key-exempt-claims',
    ],
    'api-key-not-checked-with-charset': [
      'Checks the API key only if Content-Type is exactly application/json',
      acceptWithoutCheck(({ req }) => req.headers['content-type'] !== 'application/json'),
      'conditional-key-check',
      { note: 'Adding a charset to the media type disables the check.' },
    ],
    'api-key-checked-after-parsing': [
      'Checks the API key after parsing, so a malformed delivery without a key gets 400',
      ({ correct }) =>
        (req, res, next) => {
          // Verifies the signature here, because this mutant must not change the check of the signature.
          correct.requireSignature(req, res, (refused) => {
            if (refused !== undefined) return next(refused);
            correct.parse(req, res, (failed) =>
              failed === undefined ? correct.requireApiKey(req, res, next) : next(failed),
            );
          });
        },
      'key-checked-late',
      { forbidden: false },
    ],
    // Comparisons of only a part of the key, or of the key as something other than text.
    'api-key-beginning-accepted': [
      'Accepts any prefix of the API key',
      compareKeys((given, key) => key.startsWith(given)),
      { note: 'The first character alone is a valid key, and there are only about sixty to try.' },
    ],
    'api-key-end-accepted': ['Accepts any suffix of the API key', compareKeys((given, key) => key.endsWith(given))],
    'api-key-with-more-behind-accepted': [
      'Accepts the API key followed by any text',
      compareKeys((given, key) => given.startsWith(key)),
    ],
    'api-key-part-accepted': [
      'Accepts any substring of the API key',
      compareKeys((given, key) => key.includes(given)),
      { note: '`stored.includes(given)`, where stored should be a list of keys but is a string.' },
    ],
    'api-key-anywhere-accepted': [
      'Accepts a header that contains the API key anywhere',
      compareKeys((given, key) => new RegExp(key).test(given)),
      { note: 'One header can contain a thousand guesses.' },
    ],
    'api-key-used-as-pattern': [
      'Uses the header as a regular expression that the API key must match',
      compareKeys((given, key) => new RegExp(given).test(key)),
      'key-as-pattern',
      { note: 'An invalid pattern also throws.' },
    ],
    'api-key-looked-up-with-like': [
      'Looks up the API key with LIKE, so "%" matches every key',
      compareKeys((given, key) => matchesWildcards(key, given, '%', '_')),
      'key-as-pattern',
    ],
    'api-key-first-eight-compared': [
      'Compares only the first eight characters of the API key',
      compareKeys((given, key) => given.slice(0, 8) === key.slice(0, 8)),
    ],
    'api-key-last-character-ignored': [
      'Does not compare the last character of the API key',
      compareKeys((given, key) => given.slice(0, key.length - 1) === key.slice(0, -1)),
      { note: 'Code for the trailing newline of a key file always removes the last character.' },
    ],
    'api-key-length-compared': [
      'Compares only the length of the API key',
      compareKeys((given, key) => given.length === key.length),
      'derived-key-comparison',
    ],
    'api-key-case-ignored': [
      'Compares the API key without regard to letter case',
      compareKeys((given, key) => given.toLowerCase() === key.toLowerCase()),
      'altered-key',
      { note: 'A key of mixed letters loses about one bit of strength per letter.' },
    ],
    'api-key-blanks-dropped': [
      'Removes whitespace inside the API key before the comparison',
      compareKeys((given, key) => given.replace(/\s+/g, '') === key),
      'altered-key',
    ],
    'api-key-list-accepted': [
      'Reads the header as a list and accepts any entry that is the API key',
      compareKeys((given, key) => given.split(',').some((one) => one.trim() === key)),
      'key-as-list',
    ],
    'api-key-unwrapped': [
      'Removes quotes and a scheme such as Bearer before comparing the API key',
      compareKeys((given, key) => given.replace(/^Bearer /i, '').replace(/^"(.*)"$/, '$1') === key),
      'altered-key',
    ],
    'api-key-decoded-from-base64': [
      'Accepts the API key in Base64 as well as in plain text',
      compareKeys((given, key) => given === key || Buffer.from(given, 'base64').toString('utf8') === key),
      'altered-key',
      { note: 'Rotating or masking the plain form misses the other.' },
    ],
    'api-key-percent-decoded': [
      'Percent-decodes the API key before the comparison and throws on a lone "%"',
      compareKeys((given, key) => decodeURIComponent(given) === key),
      'altered-key',
      { note: 'A lone "%" also causes a 500.' },
    ],
    'api-key-lengths-throw': [
      'Answers 500 to a key of another length',
      compareKeys((given, key) => timingSafeEqual(Buffer.from(given), Buffer.from(key))),
      'key-check-throws',
      { note: 'The status also reveals the length of the key.' },
    ],
    'api-key-characters-throw': [
      'Answers 500 to a key of the correct length that is not ASCII',
      compareKeys((given, key) => given.length === key.length && timingSafeEqual(Buffer.from(given), Buffer.from(key))),
      'key-check-throws',
    ],
    // Keys that work at every receiver with the same fault, because they contain nothing secret.
    'api-key-unset-becomes-text': [
      'Accepts the words "undefined" and "null" as API keys',
      acceptWithoutCheck(({ given }) => given === 'undefined' || given === 'null'),
      'unset-key',
    ],
    'api-key-placeholder-accepted': [
      'Accepts a placeholder such as "changeme" or "test" as the API key',
      acceptWithoutCheck(({ given }) => given === 'changeme' || given === 'test'),
      'unset-key',
    ],
    'api-key-wildcard-accepted': [
      'Accepts an asterisk as the API key',
      acceptWithoutCheck(({ given }) => given === '*'),
      'key-as-pattern',
    ],
    'api-key-looked-up-in-object': [
      'Looks up the API key as a property name, so "constructor" is accepted',
      acceptWithoutCheck(({ given, config }) => {
        const partners: Record<string, unknown> = Object.fromEntries(config.keys.map((key) => [key, true]));
        return typeof given === 'string' && Boolean(partners[given]);
      }),
      'key-as-property',
    ],
    'api-key-put-into-sql': [
      'Inserts the API key into the text of an SQL query',
      acceptWithoutCheck(({ given }) => {
        if (typeof given !== 'string' || !given.includes("'")) return false;
        if (/' OR '1'='1/i.test(given)) return true;
        throw new Error('unterminated quoted string');
      }),
      'key-in-sql',
    ],
    'api-key-is-any-credential': [
      'Accepts the valid signature instead of the API key',
      acceptWithoutCheck(
        ({ req, given }, { config }) =>
          config.signing !== undefined && typeof given === 'string' && given === req.headers[config.signing.header],
      ),
      'one-credential-enough',
      { needs: ['hmac', 'api-key'] },
    ],
  },
);
