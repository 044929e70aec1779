/** Mutants that verify other input than the raw body, alone or as a fallback. */
import type { StageFault } from './fault.ts';
import { escaped, type JsonStyle, phpNumber, pythonNumber, rewriteJson } from './json-rewriting.ts';
import { rawBytes, verifyingOver } from './raw-body-replacements.ts';

const RAW_BODY = {
  area: 'raw-body',
  severity: 'medium',
  forbidden: true,
  stage: 'verifySignature',
} as const;

const ONLY_RAW = rawBytes('Remove the fallback: the raw bytes are the only input of the check.');

/** The raw body, and then one thing more. What `other` throws leaves the raw body alone. */
function rawOr(other: (text: string) => string | Uint8Array): StageFault['replace'] {
  return verifyingOver((body) => {
    try {
      return [body, Buffer.from(other(body.toString('utf8')))];
    } catch {
      return [body];
    }
  });
}

const COMPACT: JsonStyle['separators'] = [',', ':'];

const ascii = (text: string) => escaped(JSON.stringify(text), /[\u007f-\uffff]/g);

const dataOf = (text: string) => JSON.stringify((JSON.parse(text) as { data: unknown }).data);

export const rawBodyFallbacksFaults: readonly StageFault[] = [
  // Receivers that verify rightly, and accept a second input beside: every right delivery passes, and so do some that nobody signed.
  {
    ...RAW_BODY,
    name: 'falls-back-to-reserialised-json',
    title: 'When the raw body does not fit the signature, JSON.stringify of the parsed body is tried.',
    seen: 'Gateways and libraries for several platforms that fall back when no raw body is at hand.',
    why: 'Bytes that nobody signed are accepted as long as they mean the same to one parser. With repeated keys another reader may see something else.',
    fix: ONLY_RAW,
    replace: rawOr((text) => JSON.stringify(JSON.parse(text))),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-indented-json',
    title: 'When the raw body does not fit the signature, the body indented by two spaces is tried.',
    seen: 'Samples in documentation that verify JSON.stringify(body, null, 2), kept beside the right way.',
    why: 'Bodies that differ in their layout share a signature, so what is stored may not be what was signed.',
    fix: ONLY_RAW,
    replace: rawOr((text) => JSON.stringify(JSON.parse(text), null, 2)),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-python-json',
    title: 'When the raw body does not fit the signature, what json.dumps writes is tried.',
    seen: 'Python receivers whose tests sign json.dumps(...), so that the check was widened for the tests.',
    why: 'A form that the service never signs is accepted in production, only so that a test passes.',
    fix: ONLY_RAW,
    replace: rawOr((text) => rewriteJson(text, { separators: [', ', ': '], number: pythonNumber, string: ascii })),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-sorted-json',
    title: 'When the raw body does not fit the signature, the body with sorted keys is tried.',
    seen: 'Receivers that serve several senders, of which one signs a canonical form.',
    why: 'Two schemes for one secret: what was signed under one is accepted under the other.',
    fix: ONLY_RAW,
    replace: rawOr((text) =>
      rewriteJson(text, { separators: COMPACT, sortKeys: true, number: pythonNumber, string: JSON.stringify }),
    ),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-php-json',
    title: 'When the raw body does not fit the signature, what json_encode writes is tried.',
    seen: 'PHP plugins that were moved to php://input and kept the old check as a second try.',
    why: 'A form that the service never signs is accepted, and the old fault stays in the code.',
    fix: ONLY_RAW,
    replace: rawOr((text) =>
      rewriteJson(text, {
        separators: COMPACT,
        emptyObject: '[]',
        number: phpNumber,
        string: (value) => ascii(value).replaceAll('/', '\\/'),
      }),
    ),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-trimmed-body',
    title: 'When the raw body does not fit the signature, the body without white space at its ends is tried.',
    seen: 'Receivers that were made to work with a test tool which adds a line feed.',
    why: 'Anybody on the way may add white space to a signed body. It is harmless by itself and shows that the check guesses.',
    fix: ONLY_RAW,
    severity: 'low',
    replace: rawOr((text) => text.trim()),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-line-feeds',
    title: 'When the raw body does not fit the signature, the body with LF in place of CRLF is tried.',
    seen: 'Receivers whose fixtures were checked out with other line ends on Windows.',
    why: 'Two bodies share each signature, only so that a test passes on another system.',
    fix: ONLY_RAW,
    severity: 'low',
    replace: rawOr((text) => text.replaceAll('\r\n', '\n')),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-latin-1',
    title: 'When the raw body does not fit the signature, the text encoded as Latin-1 is tried.',
    seen: 'The "fix" for the first refused name with an accent.',
    why: 'Texts that differ only in characters beyond Latin-1 share a signature then.',
    fix: ONLY_RAW,
    replace: rawOr((text) => Buffer.from(text, 'latin1')),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-data-only',
    title: 'A signature over the field data alone is accepted as well.',
    seen: 'Receivers for several senders, of which one signs a part of the body.',
    why: 'Id, type and time are unprotected: an old delivery can be sent again under a new id.',
    fix: ONLY_RAW,
    severity: 'high',
    replace: rawOr(dataOf),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-id-and-body',
    title: 'A signature over the id, a dot and the body is accepted as well.',
    seen: 'Libraries for another webhook standard, which puts an id in front of the body.',
    why: 'Two recipes for one secret mean that what was signed under one can be read under the other.',
    fix: ONLY_RAW,
    replace: rawOr((text) => `${(JSON.parse(text) as { id: unknown }).id}.${text}`),
  },
  // Receivers that verify by the recipe of another service: no delivery of this one is accepted.
  {
    ...RAW_BODY,
    name: 'verifies-data-only',
    title: 'The signature is verified over the field data alone.',
    seen: 'Code for another sender that signs a part of the body, and handlers that unwrap the envelope first.',
    why: 'No delivery is accepted. Were it to work, id, type and time would be unprotected.',
    fix: rawBytes('Sign the whole body as it arrived, and unwrap it afterwards.'),
    severity: 'high',
    replace: verifyingOver((body) => [Buffer.from(dataOf(body.toString('utf8')))]),
  },
  {
    ...RAW_BODY,
    name: 'verifies-id-and-body',
    title: 'The signature is verified over the id, a dot and the body.',
    seen: 'Libraries for another webhook standard that are used for this service.',
    why: 'No delivery is accepted, and no configuration of such a library can change that.',
    fix: rawBytes('Replace the library by ten lines of your own: HMAC-SHA256 over the body and nothing else.'),
    severity: 'high',
    replace: verifyingOver((body) => [
      Buffer.concat([Buffer.from(`${(JSON.parse(body.toString('utf8')) as { id: unknown }).id}.`), body]),
    ]),
  },
  {
    ...RAW_BODY,
    name: 'verifies-url-and-body',
    title: 'The signature is verified over the URL of the endpoint followed by the body.',
    seen: 'Code for a sender that signs the address as well, copied to this endpoint.',
    why: 'No delivery is accepted, and behind a proxy the receiver would not even know its own address.',
    fix: rawBytes('Leave the URL out: HMAC-SHA256 over the body and nothing else.'),
    severity: 'high',
    replace: verifyingOver((body, req) => [
      Buffer.concat([Buffer.from(`${req.protocol}://${req.headers.host}${req.originalUrl}`), body]),
    ]),
  },
  {
    ...RAW_BODY,
    name: 'verifies-indented-json',
    title: 'The signature is verified over the parsed body, indented by two spaces.',
    seen: 'JSON.stringify(body, null, 2), which the documentation of at least one service shows.',
    why: 'No delivery of this service is accepted: it sends compact JSON.',
    fix: rawBytes('Verify the bytes that arrived; how JSON is laid out is then of no account.'),
    severity: 'high',
    replace: verifyingOver((body) => [Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8')), null, 2))]),
  },
];
