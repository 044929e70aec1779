import { gunzipSync, gzipSync } from 'node:zlib';
import { addHeaders, headerValue } from '../changes/addressing.ts';
import { compact, spelt, utf8 } from '../changes/bodies.ts';
import { signedOver } from '../changes/signing.ts';
import { answeredAsSigned, survived } from '../expectations.ts';
import type { Expectation, ProbeScenario } from '../scenario.ts';

const base = { level: 'must', requirements: ['delivery-malformed'], expect: answeredAsSigned } as const;
const MEMO = 'data.metadata.blockchainData.blockchainMemo';
const BOM = Buffer.of(0xef, 0xbb, 0xbf);

const contentType = (value: string) => headerValue({ name: 'Content-Type' }, `Content-Type: ${value}`, () => value);
const gzipHeader = addHeaders('Content-Encoding: gzip', () => [['Content-Encoding', 'gzip']]);

/** The sender never compresses, so nothing is required here: a 401 or an acceptance is only recorded. */
const signedPlain: Expectation = {
  text: '401, because the signature is over other bytes',
  authentic: false,
  pass: ['4xx'],
};

/** Byte order mark, charset, compression. The signature is over the bytes that are sent. */
export const rawBodyEncoding: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/byte-order-mark',
    title: 'Handles a signed body with a byte order mark',
    change: { serialise: (value) => Buffer.concat([BOM, utf8(compact(value))]) },
    why: 'Text decoders drop the mark, so three bytes are missing from the HMAC, and JSON parsers fail on it.',
    fix: 'Verify the bytes before decoding, and answer 400 to the mark or skip it.',
  },
  {
    ...base,
    id: 'raw-body/invalid-utf-8',
    title: 'Handles a signed body with invalid UTF-8',
    change: { serialise: spelt(MEMO, Buffer.of(0x22, 0x61, 0xff, 0xfe, 0x62, 0x22)) },
    why: 'Decoding replaces the invalid bytes, so the signature no longer matches, or throws, so the answer is a 500.',
    fix: 'Verify the bytes, then decode strictly and answer 400 when that fails.',
  },
  {
    ...base,
    id: 'raw-body/latin-1-bytes',
    title: 'Handles a signed body in Latin-1',
    change: { serialise: spelt(MEMO, Buffer.from('"caf\u00e9"', 'latin1')) },
    why: 'The byte E9 is an accented letter in Latin-1. Reading it as UTF-8 loses it before the verification.',
    fix: 'Verify the body before decoding it, and answer 400 to what is not UTF-8.',
  },
  {
    ...base,
    id: 'raw-body/charset-latin-1',
    title: 'Handles a signed UTF-8 body that is declared as Latin-1',
    change: {
      serialise: spelt(MEMO, '"caf\u00e9 \u{1f600}"'),
      address: contentType('application/json; charset=iso-8859-1'),
    },
    why: 'Frameworks decode by the declared charset, and encoding the text as UTF-8 for the HMAC gives other bytes.',
    fix: 'Ignore the charset when you verify: the signature is over bytes.',
  },
  {
    ...base,
    id: 'raw-body/charset-utf-16',
    title: 'Handles a signed body that is declared as UTF-16',
    change: { address: contentType('application/json; charset=utf-16') },
    why: 'ASCII text that is decoded as UTF-16 becomes other characters, so the verified text is not the received one.',
    fix: 'Read the raw body whatever its charset is. 415 is fine for a charset that you reject.',
  },
  {
    ...base,
    id: 'raw-body/charset-unknown',
    title: 'Handles a signed body with an unknown charset',
    change: { address: contentType('application/json; charset=x-test-9') },
    why: 'A lookup of a decoder by an unknown name throws.',
    fix: 'Answer 415 to an unknown charset, or ignore it.',
  },
  {
    ...base,
    id: 'raw-body/gzip',
    title: 'Handles a gzip body that is signed as sent',
    level: 'should',
    change: { serialise: (value) => gzipSync(compact(value)), address: gzipHeader },
    expect: survived,
    why:
      'The sender does not compress. A parser that decompresses before the verification verifies other bytes, or ' +
      'fails.',
    fix: 'Turn off decompression for this endpoint (express.raw: inflate false), and answer 415.',
  },
  {
    ...base,
    id: 'raw-body/gzip-signed-plain',
    title: 'Rejects a gzip body that was signed before compression',
    level: 'info',
    requirements: ['hmac-raw-body'],
    needs: ['hmac'],
    change: {
      serialise: (value) => gzipSync(compact(value)),
      sign: signedOver('the body before compression', (body) => gunzipSync(body)),
      address: gzipHeader,
    },
    expect: signedPlain,
    why: 'An acceptance shows that the receiver verifies the decompressed body instead of the received bytes.',
    fix: 'No change needed while the sender does not compress. To be exact, verify before you decompress.',
  },
];
