/** Mutants that verify other input than the raw body, alone or as a fallback. */
import { PHP, PYTHON, PYTHON_COMPACT, rewriteJson } from '../contract/signing/index.ts';
import type { StageFault } from './fault.ts';
import { rawBytes, verifyOver } from './raw-body-replacements.ts';

const RAW_BODY = {
  area: 'raw-body',
  severity: 'medium',
  forbidden: true,
  stage: 'requireSignature',
} as const;

const ONLY_RAW = rawBytes('Remove the fallback: verify only the raw bytes.');

/** Verifies the raw body, then another input. Exceptions of `other` leave the raw body only. */
function rawOr(other: (text: string) => string | Uint8Array): StageFault['replace'] {
  return verifyOver((body) => {
    try {
      return [body, Buffer.from(other(body.toString('utf8')))];
    } catch {
      return [body];
    }
  });
}

const dataOf = (text: string) => JSON.stringify((JSON.parse(text) as { data: unknown }).data);

export const rawBodyFallbacksFaults: readonly StageFault[] = [
  // Receivers that verify correctly and also accept a second input: every valid delivery passes, and so do some
  // unsigned ones.
  {
    ...RAW_BODY,
    name: 'falls-back-to-reserialised-json',
    title: 'Falls back to JSON.stringify of the parsed body when the raw body does not match',
    seen: 'Gateways and multi-platform libraries that fall back when the raw body is not available.',
    why:
      'Accepts unsigned bytes as long as they parse to the same values. With repeated keys, another parser may read ' +
      'something else.',
    fix: ONLY_RAW,
    replace: rawOr((text) => JSON.stringify(JSON.parse(text))),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-indented-json',
    title: 'Falls back to the body indented by two spaces when the raw body does not match',
    seen: 'Documentation samples that verify JSON.stringify(body, null, 2), kept next to the correct check.',
    why: 'Bodies that differ in layout share a signature, so the stored body may not be the signed one.',
    fix: ONLY_RAW,
    replace: rawOr((text) => JSON.stringify(JSON.parse(text), null, 2)),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-python-json',
    title: 'Falls back to the output of json.dumps when the raw body does not match',
    seen: 'Python receivers whose tests sign json.dumps(...), with a check that was loosened for the tests.',
    why: 'Production accepts a form that the service never signs, only to make a test pass.',
    fix: ONLY_RAW,
    replace: rawOr((text) => rewriteJson(text, PYTHON)),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-sorted-json',
    title: 'Falls back to the body with sorted keys when the raw body does not match',
    seen: 'Receivers for several senders, one of which signs a canonical form.',
    why: 'One secret has two schemes: what is signed under one is accepted under the other.',
    fix: ONLY_RAW,
    replace: rawOr((text) => rewriteJson(text, { ...PYTHON_COMPACT, sortKeys: true })),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-php-json',
    title: 'Falls back to the output of json_encode when the raw body does not match',
    seen: 'PHP plugins that moved to php://input and kept the old check as a fallback.',
    why: 'It accepts a form that the service never signs, and keeps the old fault in the code.',
    fix: ONLY_RAW,
    replace: rawOr((text) => rewriteJson(text, PHP)),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-composed-accents',
    title: 'Falls back to the text of the body in Unicode normalisation form C when the raw body does not match',
    seen: 'Gateways that normalise text, with a second verification for senders that signed the normalised form.',
    why: 'Bytes that were never signed are accepted, and stored names and references may differ from the signed ones.',
    fix: ONLY_RAW,
    replace: rawOr((text) => text.normalize('NFC')),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-body-without-spaces',
    title: 'Falls back to the body without any white space when the raw body does not match',
    seen: 'body.replace(/\\s/g, "") as a way to verify JSON that a proxy has indented.',
    why: 'White space inside strings is removed as well, so different notifications share a signature.',
    fix: ONLY_RAW,
    replace: rawOr((text) => text.replace(/\s/g, '')),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-trimmed-body',
    title: 'Falls back to the trimmed body when the raw body does not match',
    seen: 'Receivers that were adapted to a test tool which appends a line feed.',
    why:
      'Anyone in between can add whitespace to a signed body: harmless alone, but it shows that the ' +
      'verification guesses.',
    fix: ONLY_RAW,
    severity: 'low',
    replace: rawOr((text) => text.trim()),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-line-feeds',
    title: 'Falls back to the body with LF instead of CRLF when the raw body does not match',
    seen: 'Receivers whose fixtures were checked out with other line endings on Windows.',
    why: 'Two bodies share each signature, only to make a test pass on another system.',
    fix: ONLY_RAW,
    severity: 'low',
    replace: rawOr((text) => text.replaceAll('\r\n', '\n')),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-latin-1',
    title: 'Falls back to the text encoded as Latin-1 when the raw body does not match',
    seen: 'The "fix" for the first rejected name with an accent.',
    why: 'Texts that differ only in characters outside Latin-1 share a signature.',
    fix: ONLY_RAW,
    replace: rawOr((text) => Buffer.from(text, 'latin1')),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-data-only',
    title: 'Also accepts a signature over the field `data` alone',
    seen: 'Receivers for several senders, one of which signs only a part of the body.',
    why: 'Id, type and time are unprotected: an attacker can replay a delivery under a new id.',
    fix: ONLY_RAW,
    severity: 'high',
    replace: rawOr(dataOf),
  },
  {
    ...RAW_BODY,
    name: 'falls-back-to-id-and-body',
    title: 'Also accepts a signature over the id, a dot and the body',
    seen: 'Libraries for another webhook standard, which prepends an id to the body.',
    why: 'One secret has two schemes: what is signed under one can be read under the other.',
    fix: ONLY_RAW,
    replace: rawOr((text) => `${(JSON.parse(text) as { id: unknown }).id}.${text}`),
  },
  // Receivers that verify by the scheme of another service: every delivery of this one is rejected.
  {
    ...RAW_BODY,
    name: 'verifies-data-only',
    title: 'Verifies the signature over the field `data` alone',
    seen: 'Code for another sender that signs only a part of the body, and handlers that unwrap the envelope first.',
    why: 'Every delivery is rejected. If it worked, id, type and time would be unprotected.',
    fix: rawBytes('Verify the whole body as it arrived, and unwrap it afterwards.'),
    severity: 'high',
    replace: verifyOver((body) => [Buffer.from(dataOf(body.toString('utf8')))]),
  },
  {
    ...RAW_BODY,
    name: 'verifies-id-and-body',
    title: 'Verifies the signature over the id, a dot and the body',
    seen: 'Libraries for another webhook standard that are used for this service.',
    why: 'Every delivery is rejected, and no setting of such a library can change that.',
    fix: rawBytes('Replace the library with ten lines of your own: HMAC-SHA256 over the body and nothing else.'),
    severity: 'high',
    replace: verifyOver((body) => [
      Buffer.concat([Buffer.from(`${(JSON.parse(body.toString('utf8')) as { id: unknown }).id}.`), body]),
    ]),
  },
  {
    ...RAW_BODY,
    name: 'verifies-url-and-body',
    title: 'Verifies the signature over the URL of the endpoint followed by the body',
    seen: 'Code for a sender that also signs the URL, copied to this endpoint.',
    why: 'Every delivery is rejected; behind a proxy, the receiver does not even know its public URL.',
    fix: rawBytes('Leave the URL out: HMAC-SHA256 over the body and nothing else.'),
    severity: 'high',
    replace: verifyOver((body, req) => [
      Buffer.concat([Buffer.from(`${req.protocol}://${req.headers.host}${req.originalUrl}`), body]),
    ]),
  },
  {
    ...RAW_BODY,
    name: 'verifies-indented-json',
    title: 'Verifies the signature over the parsed body, indented by two spaces',
    seen: 'JSON.stringify(body, null, 2), which the documentation of at least one service shows.',
    why: 'Every delivery of this service is rejected, because it sends compact JSON.',
    fix: rawBytes('Verify the bytes that arrived; their JSON layout does not matter then.'),
    severity: 'high',
    replace: verifyOver((body) => [Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8')), null, 2))]),
  },
];
