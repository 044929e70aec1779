import { gunzipSync, gzipSync } from 'node:zlib';
import { setHeader } from '../changes/addressing.ts';
import { compact, utf8 } from '../changes/bodies.ts';
import { signedOver } from '../changes/signing.ts';
import {
  accepted,
  acceptedOrLimited,
  acceptedOrRejectedInAnotherShape,
  anyClearAnswer,
  documentAcceptedOrRejected,
} from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Change, Expectation, Suite } from '../scenario.ts';
import { family } from './family.ts';
import { rawBodyMirrors } from './raw-body-mirrors.ts';
import { invalidUtf8, memo, rawBodySpellings } from './raw-body-spelling.ts';

const BOM = Buffer.of(0xef, 0xbb, 0xbf);

const declaredAs = (charset: string): Change => ({
  address: setHeader('Content-Type', `application/json; charset=${charset}`),
});
const gzipped: Change = {
  serialise: (value) => gzipSync(compact(value)),
  address: setHeader('Content-Encoding', 'gzip'),
};

/** The sender never compresses, so nothing is required here. A 401 and an acceptance are only recorded. */
const signedPlain: Expectation = {
  text: '401, because the signature is over other bytes',
  authentic: false,
  pass: ['4xx'],
};

const otherCharset = { level: 'should', expect: acceptedOrRejectedInAnotherShape } as const;

/** Byte order mark, charset and compression. With one exception, the signature covers the bytes that are sent. */
const encodings = [
  ...family(
    {
      suite: 'raw-body',
      verb: 'Handles',
      level: 'must',
      requirements: ['delivery-malformed'],
      expect: documentAcceptedOrRejected,
      mistake: 'body-decoded-by-charset',
    },
    {
      'byte-order-mark': [
        'a signed body with a byte order mark',
        { serialise: (value) => Buffer.concat([BOM, utf8(compact(value))]) },
        'decoded-body',
        { note: 'Decoders drop the mark, and JSON parsers fail on it: answer 400 or skip it.' },
      ],
      'invalid-utf-8': ['a signed body with invalid UTF-8', invalidUtf8, 'lossy-body-text'],
      'latin-1-bytes': ['a signed body in Latin-1', memo(Buffer.from('"caf\u00e9"', 'latin1')), 'lossy-body-text'],
      'charset-latin-1': [
        'a signed UTF-8 body that is declared as Latin-1',
        { ...memo('"caf\u00e9 \u{1f600}"'), ...declaredAs('iso-8859-1') },
        otherCharset,
      ],
      'charset-utf-16': ['a signed body that is declared as UTF-16', declaredAs('utf-16'), otherCharset],
      'charset-unknown': ['a signed body with an unknown charset', declaredAs('x-test-9'), otherCharset],
      gzip: [
        'a gzip body that is signed as sent',
        gzipped,
        'decompressed-body',
        { level: 'should', expect: anyClearAnswer },
      ],
    },
  ),
  ...family(
    {
      suite: 'raw-body',
      verb: 'Rejects',
      level: 'info',
      requirements: ['hmac-raw-body'],
      needs: ['hmac'],
      expect: signedPlain,
    },
    {
      'gzip-signed-plain': [
        'a gzip body that was signed before compression',
        (label) => ({ ...gzipped, sign: signedOver(label, (body) => gunzipSync(body)) }),
        'decompressed-body',
        { note: 'No change is needed while the sender does not compress.' },
      ],
    },
  ),
];

/** Enough emoji that a cut after every 257 bytes falls inside one: an emoji has four bytes, and 257 is odd. */
const EMOJI = '\u{1f3e7}'.repeat(400);

const inPieces = (...sizes: number[]): Change => ({ transmit: { kind: 'pieces', sizes } });

/** Bodies that arrive in pieces. A receiver must read all of them before it verifies. */
const arrival = family(
  {
    suite: 'raw-body',
    verb: 'Accepts',
    of: 'a body',
    level: 'must',
    requirements: ['delivery-framing'],
    expect: accepted,
    mistake: 'incomplete-body',
  },
  {
    'in-pieces': ['that arrives in several packets', inPieces(100, 200)],
    'first-byte-alone': ['whose first byte arrives alone', inPieces(1, 100_000)],
    'split-characters': [
      'whose packets end within characters',
      { ...memo(`"${EMOJI}"`), ...inPieces(257) },
      'body-chunks-as-text',
    ],
    'large-in-pieces': [
      'of 150 kB in pieces',
      {
        compose: (kit) => tracking(kit, 'BUY', 'COMPLETED', 'A long description. '.repeat(8000).slice(0, 150_000)),
        ...inPieces(40_000),
      },
      'body-consumed-twice',
      { level: 'should', expect: acceptedOrLimited },
    ],
  },
);

/** The exact bytes of the body are the input of the signature. Specification: HMAC signature. */
export const rawBodySuite: Suite = {
  name: 'raw-body',
  title: 'The signature is over the exact bytes of the body',
  scenarios: [...rawBodySpellings, ...encodings, ...arrival, ...rawBodyMirrors],
};
