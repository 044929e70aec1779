/** Mutants that verify the signature over something other than the raw body, alone or as a fallback. */
import { PHP, PYTHON, PYTHON_COMPACT, rewriteJson } from '../contract/signing/index.ts';
import { family, type Row } from './family.ts';
import type { StageFault } from './fault.ts';
import { verifyAny, verifyOver, verifyText } from './raw-body-replacements.ts';

type Input = (text: string) => string | Uint8Array;

const indented: Input = (text) => JSON.stringify(JSON.parse(text), null, 2);
const dataOf: Input = (text) => JSON.stringify((JSON.parse(text) as { data: unknown }).data);
const idOf = (text: string) => (JSON.parse(text) as { id: unknown }).id;

/** Verifies the raw body and, if it does not match, another input. If `other` throws, only the raw body is verified. */
function rawOr(other: Input): ReturnType<typeof verifyAny> {
  return verifyAny((body) => {
    try {
      return [body, other(body.toString('utf8'))];
    } catch {
      return [body];
    }
  });
}

/**
 * Inputs that mutants verify if the raw body does not match. Valid deliveries are accepted, and so are some forgeries.
 */
const FALLBACKS: Readonly<Record<string, readonly [what: string, other: Input, own?: { note: string }]>> = {
  'falls-back-to-reserialised-json': ['JSON.stringify of the parsed body', (text) => JSON.stringify(JSON.parse(text))],
  'falls-back-to-indented-json': ['the body indented by two spaces', indented],
  'falls-back-to-python-json': ['the output of json.dumps', (text) => rewriteJson(text, PYTHON)],
  'falls-back-to-sorted-json': [
    'the body with sorted keys',
    (text) => rewriteJson(text, { ...PYTHON_COMPACT, sortKeys: true }),
  ],
  'falls-back-to-php-json': ['the output of json_encode', (text) => rewriteJson(text, PHP)],
  'falls-back-to-composed-accents': [
    'the text of the body in Unicode normalisation form C',
    (text) => text.normalize('NFC'),
  ],
  'falls-back-to-body-without-spaces': ['the body without any white space', (text) => text.replace(/\s/g, '')],
  'falls-back-to-trimmed-body': ['the trimmed body', (text) => text.trim()],
  'falls-back-to-line-feeds': ['the body with LF instead of CRLF', (text) => text.replaceAll('\r\n', '\n')],
  'falls-back-to-latin-1': [
    'the text encoded as Latin-1',
    (text) => Buffer.from(text, 'latin1'),
    { note: 'Texts that differ only in characters outside Latin-1 share a signature.' },
  ],
};

export const rawBodyFallbacksFaults = family<StageFault>(
  { area: 'raw-body' },
  {
    ...Object.fromEntries(
      Object.entries(FALLBACKS).map(([name, [what, other, own]]): [string, Row<StageFault>] => [
        name,
        [`Falls back to ${what} when the raw body does not match`, rawOr(other), 'raw-body-fallback', own ?? {}],
      ]),
    ),
    'falls-back-to-data-only': [
      'Also accepts a signature over the field `data` alone',
      rawOr(dataOf),
      'raw-body-fallback',
      { note: 'Id, type and time are unprotected: an attacker can replay a delivery under a new id.' },
    ],
    'falls-back-to-id-and-body': [
      'Also accepts a signature over the id, a dot and the body',
      rawOr((text) => `${idOf(text)}.${text}`),
      'raw-body-fallback',
      { note: 'What is signed under one scheme can be read under the other.' },
    ],
    // Mutants that verify with the scheme of another service, and so reject every valid delivery.
    'verifies-data-only': [
      'Verifies the signature over the field `data` alone',
      verifyText(dataOf),
      'signed-part-of-body',
    ],
    'verifies-id-and-body': [
      'Verifies the signature over the id, a dot and the body',
      verifyOver((body) => Buffer.concat([Buffer.from(`${idOf(body.toString('utf8'))}.`), body])),
      'signed-part-of-body',
    ],
    'verifies-url-and-body': [
      'Verifies the signature over the URL of the endpoint followed by the body',
      verifyOver((body, req) =>
        Buffer.concat([Buffer.from(`${req.protocol}://${req.headers.host}${req.originalUrl}`), body]),
      ),
      'signed-part-of-body',
      { note: 'Where a proxy is in front, the receiver does not even know its public URL.' },
    ],
    'verifies-indented-json': [
      'Verifies the signature over the parsed body, indented by two spaces',
      verifyText(indented),
      'reserialised-body',
      { note: 'The documentation of at least one service shows `JSON.stringify(body, null, 2)`.' },
    ],
  },
);
