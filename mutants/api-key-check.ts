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

/** A delivery as a faulty key check sees it. */
export interface KeyedDelivery {
  readonly req: Request;
  readonly res: Response<unknown, DeliveryState>;
  readonly next: NextFunction;
  /** The header as the correct check reads it: an array if it is repeated. */
  readonly given: string | readonly string[] | undefined;
  readonly config: NonNullable<FaultParts['config']['apiKey']>;
}

/** Common to the mutants of the API key check. */
export const KEY = { area: 'api-key', stage: 'requireApiKey' } as const;

/** The correct check, except for deliveries for which `instead` returns a stage. */
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
 * Rejects a missing, an empty and a repeated header, and compares others with each key by `matches`. Exceptions are
 * answered 500.
 */
function compareKeys(matches: (given: string, key: string) => boolean): Replace {
  return handleSomeKeys(({ given, config }) => {
    if (typeof given !== 'string' || given === '') return (_req, res) => refuseUnauthorized(res, 'api-key-missing');
    if (config.keys.some((key) => matches(given, key))) return goOn;
    return (_req, res) => refuseUnauthorized(res, 'api-key-wrong');
  });
}

/** `String.hashCode()` of Java. */
const hashCode = (text: string) => [...text].reduce((sum, character) => (31 * sum + character.charCodeAt(0)) | 0, 0);

export const apiKeyCheckFaults = family<StageFault>(KEY, [
  // Deliveries that are accepted without a check of their API key.
  ['api-key-not-checked', 'Does not check the API key', 'unchecked-key', () => goOn],
  [
    'api-key-removed-by-connection',
    'Compares no API key that the header Connection names, because a proxy removes it',
    'optional-key',
    acceptWithoutCheck(
      ({ req, given, config: { header } }) =>
        given !== undefined && (req.get('Connection') ?? '').toLowerCase().includes(header.toLowerCase()),
    ),
  ],
  [
    'api-key-hash-code-compared',
    'Compares the hash codes of the API keys',
    'derived-key-comparison',
    compareKeys((given, key) => hashCode(given) === hashCode(key)),
    {
      equivalentTo: {
        name: 'api-key-order-ignored',
        reason: 'Both accept one of several keys in one check; the report names the delivery.',
      },
    },
  ],
  [
    'api-key-missing-accepted',
    'Accepts a delivery without the API key header, but rejects a wrong key',
    'optional-key',
    acceptWithoutCheck(({ given }) => given === undefined),
  ],
  [
    'api-key-checked-once-per-connection',
    'Checks the API key only until it has been valid once on a connection',
    'key-checked-once-for-a-connection',
    (parts) => {
      const trusted = new WeakSet<object>();
      return acceptWithoutCheck(({ req, given, config }) => {
        if (trusted.has(req.socket)) return true;
        if (typeof given === 'string' && config.keys.includes(given)) trusted.add(req.socket);
        return false;
      })(parts);
    },
  ],
  [
    'api-key-empty-accepted',
    'Accepts an empty API key header',
    'unset-key',
    acceptWithoutCheck(({ given }) => given === ''),
  ],
  [
    'api-key-any-accepted',
    'Accepts any text as the API key',
    'unread-key',
    acceptWithoutCheck(({ given }) => typeof given === 'string' && given !== ''),
  ],
  [
    'api-key-not-checked-for-later-types',
    'Checks the API key only for CAAS notifications',
    'conditional-key-check',
    acceptWithoutCheck(({ res }) => {
      const { type } = unverified({ body: required(res, 'rawBody') });
      return type !== undefined && type !== 'CAAS';
    }),
  ],
  [
    'api-key-not-checked-on-large-bodies',
    'Does not check the API key of deliveries over 64 kB',
    'conditional-key-check',
    acceptWithoutCheck(({ res }) => required(res, 'rawBody').length > 64 * 1024),
    { note: 'Firewalls inspect requests up to a buffer size and let the rest pass.' },
  ],
  [
    'api-key-not-checked-for-local-claims',
    'Does not require the API key if a header such as X-Forwarded-For claims a trusted sender',
    'key-exempt-claims',
    acceptWithoutCheck(({ req }) => req.headers['x-forwarded-for']?.includes('127.0.0.1') === true),
  ],
  [
    'api-key-not-checked-in-test-mode',
    'Does not require the API key with a test parameter in the query',
    'key-exempt-claims',
    acceptWithoutCheck(({ req }) => ['test', 'debug', 'skip'].some((name) => req.query[name] !== undefined)),
  ],
  [
    'api-key-not-checked-with-charset',
    'Checks the API key only if Content-Type is exactly application/json',
    'conditional-key-check',
    acceptWithoutCheck(({ req }) => req.headers['content-type'] !== 'application/json'),
    { note: 'Adding a charset to the media type disables the check.' },
  ],
  [
    'api-key-checked-after-parsing',
    'Checks the API key after parsing, so a malformed delivery without a key gets 400',
    'key-checked-late',
    ({ correct }) =>
      (req, res, next) => {
        // The signature is verified here, so that its own check is unchanged.
        correct.requireSignature(req, res, (refused) => {
          if (refused !== undefined) return next(refused);
          correct.parse(req, res, (failed) =>
            failed === undefined ? correct.requireApiKey(req, res, next) : next(failed),
          );
        });
      },
    { forbidden: false },
  ],
  // Comparisons of a part of the key, or of the key as something other than text.
  [
    'api-key-beginning-accepted',
    'Accepts any prefix of the API key',
    'partial-key-comparison',
    compareKeys((given, key) => key.startsWith(given)),
    { note: 'The first character alone is a valid key, and there are only about sixty to try.' },
  ],
  [
    'api-key-end-accepted',
    'Accepts any suffix of the API key',
    'partial-key-comparison',
    compareKeys((given, key) => key.endsWith(given)),
  ],
  [
    'api-key-with-more-behind-accepted',
    'Accepts the API key followed by any text',
    'partial-key-comparison',
    compareKeys((given, key) => given.startsWith(key)),
  ],
  [
    'api-key-part-accepted',
    'Accepts any substring of the API key',
    'partial-key-comparison',
    compareKeys((given, key) => key.includes(given)),
    { note: '`stored.includes(given)`, where stored should be a list of keys but is a string.' },
  ],
  [
    'api-key-anywhere-accepted',
    'Accepts a header that contains the API key anywhere',
    'partial-key-comparison',
    compareKeys((given, key) => new RegExp(key).test(given)),
    { note: 'One header can contain a thousand guesses.' },
  ],
  [
    'api-key-used-as-pattern',
    'Uses the header as a regular expression that the API key must match',
    'key-as-pattern',
    compareKeys((given, key) => new RegExp(given).test(key)),
    { note: 'An invalid pattern also throws.' },
  ],
  [
    'api-key-looked-up-with-like',
    'Looks up the API key with LIKE, so "%" matches every key',
    'key-as-pattern',
    compareKeys((given, key) => matchesWildcards(key, given, '%', '_')),
  ],
  [
    'api-key-first-eight-compared',
    'Compares only the first eight characters of the API key',
    'partial-key-comparison',
    compareKeys((given, key) => given.slice(0, 8) === key.slice(0, 8)),
  ],
  [
    'api-key-last-character-ignored',
    'Does not compare the last character of the API key',
    'partial-key-comparison',
    compareKeys((given, key) => given.slice(0, key.length - 1) === key.slice(0, -1)),
    { note: 'Code for the trailing newline of a key file always removes the last character.' },
  ],
  [
    'api-key-length-compared',
    'Compares only the length of the API key',
    'derived-key-comparison',
    compareKeys((given, key) => given.length === key.length),
  ],
  [
    'api-key-case-ignored',
    'Compares the API key without regard to letter case',
    'altered-key',
    compareKeys((given, key) => given.toLowerCase() === key.toLowerCase()),
    { note: 'A key of mixed letters loses about one bit of strength per letter.' },
  ],
  [
    'api-key-blanks-dropped',
    'Removes whitespace inside the API key before the comparison',
    'altered-key',
    compareKeys((given, key) => given.replace(/\s+/g, '') === key),
  ],
  [
    'api-key-list-accepted',
    'Reads the header as a list and accepts any entry that is the API key',
    'key-as-list',
    compareKeys((given, key) => given.split(',').some((one) => one.trim() === key)),
  ],
  [
    'api-key-unwrapped',
    'Removes quotes and a scheme such as Bearer before comparing the API key',
    'altered-key',
    compareKeys((given, key) => given.replace(/^Bearer /i, '').replace(/^"(.*)"$/, '$1') === key),
  ],
  [
    'api-key-decoded-from-base64',
    'Accepts the API key in Base64 as well as in plain text',
    'altered-key',
    compareKeys((given, key) => given === key || Buffer.from(given, 'base64').toString('utf8') === key),
    { note: 'Rotating or masking the plain form misses the other.' },
  ],
  [
    'api-key-percent-decoded',
    'Percent-decodes the API key before the comparison and throws on a lone "%"',
    'altered-key',
    compareKeys((given, key) => decodeURIComponent(given) === key),
    { note: 'A lone "%" also causes a 500.' },
  ],
  [
    'api-key-lengths-throw',
    'Answers 500 to a key of another length',
    'key-check-throws',
    compareKeys((given, key) => timingSafeEqual(Buffer.from(given), Buffer.from(key))),
    { note: 'The status also reveals the length of the key.' },
  ],
  [
    'api-key-characters-throw',
    'Answers 500 to a key of the correct length that is not ASCII',
    'key-check-throws',
    compareKeys((given, key) => given.length === key.length && timingSafeEqual(Buffer.from(given), Buffer.from(key))),
  ],
  // Keys that work for every partner with the same fault, because they contain nothing secret.
  [
    'api-key-unset-becomes-text',
    'Accepts the words "undefined" and "null" as API keys',
    'unset-key',
    acceptWithoutCheck(({ given }) => given === 'undefined' || given === 'null'),
  ],
  [
    'api-key-placeholder-accepted',
    'Accepts a placeholder such as "changeme" or "test" as the API key',
    'unset-key',
    acceptWithoutCheck(({ given }) => given === 'changeme' || given === 'test'),
  ],
  [
    'api-key-wildcard-accepted',
    'Accepts an asterisk as the API key',
    'key-as-pattern',
    acceptWithoutCheck(({ given }) => given === '*'),
  ],
  [
    'api-key-looked-up-in-object',
    'Looks up the API key as a property name, so "constructor" is accepted',
    'key-as-property',
    acceptWithoutCheck(({ given, config }) => {
      const partners: Record<string, unknown> = Object.fromEntries(config.keys.map((key) => [key, true]));
      return typeof given === 'string' && Boolean(partners[given]);
    }),
  ],
  [
    'api-key-put-into-sql',
    'Inserts the API key into the text of an SQL query',
    'key-in-sql',
    acceptWithoutCheck(({ given }) => {
      if (typeof given !== 'string' || !given.includes("'")) return false;
      if (/' OR '1'='1/i.test(given)) return true;
      throw new Error('unterminated quoted string');
    }),
  ],
  [
    'api-key-is-any-credential',
    'Accepts the valid signature instead of the API key',
    'one-credential-enough',
    acceptWithoutCheck(
      ({ req, given }, { config }) =>
        config.signing !== undefined && typeof given === 'string' && given === req.headers[config.signing.header],
    ),
    { needs: ['hmac', 'api-key'] },
  ],
]);
