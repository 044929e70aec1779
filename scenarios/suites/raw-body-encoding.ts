import { gunzipSync, gzipSync } from 'node:zlib';
import { addHeaders, headerValue } from '../changes/addressing.ts';
import { compact, spelt, utf8 } from '../changes/bytes.ts';
import { signedOver } from '../changes/signing.ts';
import { answeredAsSigned, survived } from '../expectations.ts';
import type { Expectation, ProbeScenario } from '../scenario.ts';

const base = { level: 'must', requirements: ['delivery-malformed'], expect: answeredAsSigned } as const;
const MEMO = 'data.metadata.blockchainData.blockchainMemo';
const BOM = Buffer.of(0xef, 0xbb, 0xbf);

const contentType = (value: string) => headerValue({ name: 'Content-Type' }, `Content-Type: ${value}`, () => value);
const gzipHeader = addHeaders('Content-Encoding: gzip', () => [['Content-Encoding', 'gzip']]);

/** The sender never compresses, so nothing here is required: a 401 or an acceptance is recorded and no more. */
const signedPlain: Expectation = {
  text: '401, because the signature is over other bytes',
  authentic: false,
  pass: ['4xx'],
};

/** What stands around the JSON text: byte order mark, character set, compression. Signed over the bytes that are sent. */
export const rawBodyEncoding: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/byte-order-mark',
    title: 'Answers a signed body with a byte order mark by its content, not with 401',
    change: { serialise: (value) => Buffer.concat([BOM, utf8(compact(value))]) },
    why: 'Text decoders drop the mark silently, so the bytes that are hashed are three fewer; and JSON parsers throw on it, often outside of any guard.',
    fix: 'Hash the bytes before decoding them, and guard the parser: a mark is a 400, or is skipped.',
  },
  {
    ...base,
    id: 'raw-body/invalid-utf-8',
    title: 'Answers a signed body with invalid UTF-8 by its content, not with 401',
    change: { serialise: spelt(MEMO, Buffer.of(0x22, 0x61, 0xff, 0xfe, 0x62, 0x22)) },
    why: 'Decoding replaces the bad bytes (and the signature no longer fits) or throws (and the answer is a 500).',
    fix: 'Verify bytes, then decode strictly and answer 400 when that fails.',
  },
  {
    ...base,
    id: 'raw-body/latin-1-bytes',
    title: 'Answers a signed body in Latin-1 by its content, not with 401',
    change: { serialise: spelt(MEMO, Buffer.from('"caf\u00e9"', 'latin1')) },
    why: 'A single byte E9 is what an old system sends for an accented letter; reading it as UTF-8 loses it before the check.',
    fix: 'Leave the body undecoded until the signature is checked; then 400 is right for what is not UTF-8.',
  },
  {
    ...base,
    id: 'raw-body/charset-latin-1',
    title: 'Answers a signed UTF-8 body that is declared as Latin-1 by its content, not with 401',
    change: {
      serialise: spelt(MEMO, '"caf\u00e9 \u{1f600}"'),
      address: contentType('application/json; charset=iso-8859-1'),
    },
    why: 'Frameworks decode by the declared character set, and encoding that text as UTF-8 for the HMAC gives other bytes.',
    fix: 'Ignore the charset parameter when you hash: JSON is UTF-8, and the signature is over bytes.',
  },
  {
    ...base,
    id: 'raw-body/charset-utf-16',
    title: 'Answers a signed body that is declared as UTF-16 by its content, not with 401',
    change: { address: contentType('application/json; charset=utf-16') },
    why: 'Decoded as UTF-16, plain ASCII turns into other characters: what is hashed and parsed has nothing to do with what was sent.',
    fix: 'Read the body raw, whatever Content-Type claims about its encoding; 415 is fine for a charset that you refuse.',
  },
  {
    ...base,
    id: 'raw-body/charset-unknown',
    title: 'Answers a signed body with a charset that does not exist by its content, not with 401',
    change: { address: contentType('application/json; charset=x-test-9') },
    why: 'Looking up a decoder by an unknown name throws, and one request header stops the handler.',
    fix: 'Answer 415 to a charset that you do not know, or ignore it.',
  },
  {
    ...base,
    id: 'raw-body/gzip',
    title: 'Stays up on a compressed body that is signed as it is sent (sent with Content-Encoding: gzip)',
    level: 'should',
    change: { serialise: (value) => gzipSync(compact(value)), address: gzipHeader },
    expect: survived,
    why: 'The service does not compress. A body parser that inflates before the check hashes other bytes than those on the wire, or crashes.',
    fix: 'Switch inflation off for this endpoint (express.raw: inflate false), and answer 415.',
  },
  {
    ...base,
    id: 'raw-body/gzip-signed-plain',
    title: 'Refuses a compressed body that is signed before compression (sent with Content-Encoding: gzip)',
    level: 'info',
    requirements: ['hmac-raw-body'],
    needs: ['hmac'],
    change: {
      serialise: (value) => gzipSync(compact(value)),
      sign: signedOver('the body before compression', (body) => gunzipSync(body)),
      address: gzipHeader,
    },
    expect: signedPlain,
    why: 'It shows that the receiver verifies what a decompressor made and not what was sent.',
    fix: 'Nothing has to change as long as the service does not compress; hash before inflating to be exact.',
  },
];
