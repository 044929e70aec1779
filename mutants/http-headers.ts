/** Mutants that are too strict or too lenient about headers and the content type. */
import type { Request } from 'express';
import type { ReceiverConfig } from '../receiver/options.ts';
import { refuse, refuseUnauthorized } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { rewriteBody } from './raw-body-replacements.ts';
import { exceptFor, type StageChange, withCrash, withError, withRefusal } from './stage-changes.ts';

/** Used to exclude credentials, because repeated or unusual credentials are a separate fault. */
function isCredential(name: string, { signing, apiKey }: ReceiverConfig): boolean {
  return name === signing?.header || name === apiKey?.header;
}

/** Returns true if the header is present in a spelling other than these. */
function isSpeltOtherwise(rawHeaders: readonly string[], spellings: readonly [string, ...string[]]): boolean {
  const name = spellings[0].toLowerCase();
  return rawHeaders.some((one, index) => index % 2 === 0 && one.toLowerCase() === name && !spellings.includes(one));
}

/** Checks the content type correctly, but answers 415 to requests that do not match. */
function unsupportedUnless(matches: (req: Request) => boolean): StageChange {
  return exceptFor('checkContentType', (req) => !matches(req), withRefusal(415, 'content-type-not-json'));
}

/** Finds the signature header only in these spellings. */
function findingSignatureAs(...spellings: readonly [string, ...string[]]): StageChange {
  return exceptFor(
    'requireSignature',
    ({ rawHeaders }, { signing }) =>
      signing?.header === 'x-service-signature' && isSpeltOtherwise(rawHeaders, spellings),
    (_req, res) => refuseUnauthorized(res, 'signature-missing'),
  );
}

const hasNoType = (req: Request) => req.headers['content-type'] === undefined;

/** Mutants that fail on Content-Type. */
const contentTypes = family<StageFault>(
  { area: 'http', stage: 'checkContentType', mistake: 'body-parser-by-content-type' },
  {
    'content-type-compared-exactly': [
      'Requires Content-Type to be exactly application/json and rejects it with a charset',
      unsupportedUnless((req) => req.headers['content-type'] === 'application/json'),
      'content-type-as-string',
      { forbidden: false },
    ],
    'content-type-compared-with-case': [
      'Recognises the media type only in lower case',
      unsupportedUnless((req) => !/^[A-Z]/.test(req.headers['content-type'] ?? '')),
      'content-type-as-string',
      { forbidden: false },
    ],
    'charset-with-space-expected': [
      'Accepts a charset only as "; charset=utf-8", with the space and in lower case',
      unsupportedUnless(
        ({ headers: { 'content-type': type = '' } }) => !/;/.test(type) || /; charset=utf-8$/.test(type),
      ),
      'content-type-as-string',
      { forbidden: false },
    ],
    'charset-in-quotes-throws': [
      'Answers 500 to a charset in quotes',
      ({ correct }) =>
        (req, res, next) => {
          const charset = /charset=(.+)$/i.exec(req.headers['content-type'] ?? '')?.[1];
          // Throws RangeError for an unknown charset, and Express answers 500.
          if (charset !== undefined) new TextDecoder(charset);
          return correct.checkContentType(req, res, next);
        },
      'content-type-as-string',
      { forbidden: false, note: 'It opens a decoder with the quoted name. The sender takes 500 for an outage.' },
    ],
    'content-type-missing-throws': [
      'Answers 500 to a delivery without Content-Type',
      exceptFor('readBody', hasNoType, withError("Cannot read properties of undefined (reading 'includes')")),
      'undefined-body-throws',
      { forbidden: false },
    ],
    'content-type-missing-hangs': [
      'Never answers a delivery without Content-Type',
      exceptFor('readBody', hasNoType, (req) => void req.resume()),
      { forbidden: false },
    ],
    'content-type-missing-ends-the-process': [
      'Ends the process on a delivery without Content-Type',
      exceptFor('readBody', hasNoType, withCrash),
      { note: 'The exception occurs in an event handler or in an async function without await.' },
    ],
    'content-type-other-throws': [
      'Answers 500 to a delivery whose Content-Type is not JSON',
      exceptFor(
        'checkContentType',
        (req) => !/json/i.test(req.headers['content-type'] ?? 'application/json'),
        withError('The "data" argument must be of type string or a Buffer'),
      ),
      'undefined-body-throws',
      { forbidden: false },
    ],
    'form-body-consumed': [
      'Lets a form parser consume the body before the verification, so a valid signature gets 401',
      rewriteBody((body, req) => (/form/.test(req.headers['content-type'] ?? '') ? Buffer.alloc(0) : body)),
      {
        stage: 'readBody',
        forbidden: false,
        note: 'The answer reports an invalid signature, so the search starts in the wrong place.',
      },
    ],
  },
);

/** Mutants that find a header only in one spelling of its name. */
const headerNames = family<StageFault>(
  { area: 'http', mistake: 'header-lookup-by-exact-name' },
  {
    'signature-header-in-exact-case': [
      'Finds the signature header only if its name is spelled X-Service-Signature',
      findingSignatureAs('X-Service-Signature'),
      { needs: ['hmac'] },
    ],
    'signature-header-in-two-spellings': [
      'Finds the signature header only as X-Service-Signature or in lower case',
      findingSignatureAs('X-Service-Signature', 'x-service-signature'),
      { needs: ['hmac'] },
    ],
    'content-type-header-in-exact-case': [
      'Finds Content-Type only if its name is spelled with capitals',
      unsupportedUnless(({ rawHeaders }) => !isSpeltOtherwise(rawHeaders, ['Content-Type'])),
      { note: 'This lookup is easily forgotten when those of the credential headers are fixed.' },
    ],
  },
);

/** Mutants that fail on headers that proxies and senders add. */
const otherHeaders = family<StageFault>(
  { area: 'http', forbidden: false, stage: 'accept', mistake: 'extra-headers-rejected' },
  {
    'refuses-unknown-headers': [
      'Rejects a delivery with an unlisted header',
      exceptFor(
        'accept',
        ({ headers }, config) =>
          Object.keys(headers).some((name) => /^(?:traceparent|x-test-run)$/.test(name) && !isCredential(name, config)),
        withRefusal(400, 'unknown-header'),
      ),
    ],
    'refuses-headers-of-2-kb': [
      'Answers 431 to a header over 2 kB',
      exceptFor(
        'accept',
        ({ headers }) => Object.values(headers).some((value = '') => value.length > 2048 && value.length < 4500),
        withRefusal(431, 'header-too-large'),
      ),
      'header-limits-too-low',
    ],
    'repeated-header-answers-500': [
      'Answers 500 to a repeated header',
      exceptFor(
        'accept',
        ({ headersDistinct }, config) =>
          Object.entries(headersDistinct).some(([name, { length } = []]) => length > 1 && !isCredential(name, config)),
        withError('value.trim is not a function'),
      ),
    ],
    'unparsable-headers-answer-500': [
      'Answers 500 to a Cookie or Accept-Language header that cannot be parsed',
      ({ correct }) =>
        (req, res, next) => {
          try {
            decodeURIComponent(req.get('Cookie') ?? '');
            Intl.getCanonicalLocales(req.get('Accept-Language')?.split(/[,;]/, 1)[0] ?? []);
          } catch {
            return refuse(res, 500, 'internal-error');
          }
          return correct.accept(req, res, next);
        },
    ],
    'non-ascii-header-answers-500': [
      'Answers 500 to an unknown header with a character outside ASCII',
      exceptFor(
        'accept',
        ({ headers }, config) =>
          Object.entries(headers).some(
            ([name, value]) => !isCredential(name, config) && /[^\x00-\x7f]/.test(String(value)),
          ),
        withError("'ascii' codec can't decode byte 0xe9"),
      ),
    ],
    'authorization-taken-for-login': [
      'Answers 401 to a valid delivery with an Authorization header',
      exceptFor(
        'accept',
        ({ headers }, config) => headers.authorization !== undefined && !isCredential('authorization', config),
        (_req, res) => refuseUnauthorized(res, 'user-unknown'),
      ),
    ],
    'refuses-many-headers': [
      'Answers 431 to more than 32 headers',
      exceptFor('accept', ({ rawHeaders }) => rawHeaders.length > 64, withRefusal(431, 'too-many-headers')),
      'header-limits-too-low',
    ],
  },
);

export const httpHeadersFaults: readonly StageFault[] = [...contentTypes, ...headerNames, ...otherHeaders];
