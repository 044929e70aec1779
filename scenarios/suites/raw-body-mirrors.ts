import { asciiOnly, compact, rewritten, type Serialiser, spacedOut, spelt, utf8 } from '../changes/bodies.ts';
import { signedMistakenly, signedOver } from '../changes/signing.ts';
import { refused, refusedMalformed } from '../expectations.ts';
import type { ProbeScenario } from '../scenario.ts';

// The opposite of the other probes: the signature matches what a faulty receiver would verify, not the bytes that are
// sent. Where the plain body already differs from that, only the sign stage is changed.
const base = { level: 'must', requirements: ['hmac-raw-body'], needs: ['hmac'], expect: refused } as const;
const MEMO = 'data.metadata.blockchainData.blockchainMemo';

const text = (body: Uint8Array, encoding: BufferEncoding = 'utf8') => Buffer.from(body).toString(encoding);
/** A memo with two bytes that are not UTF-8. */
const invalidUtf8 = spelt(MEMO, Buffer.of(0x22, 0x61, 0xff, 0xfe, 0x62, 0x22));
const withCrLf: Serialiser = (value) => utf8(JSON.stringify(value, null, 1).replaceAll('\n', '\r\n'));

/** Valid signatures of other bytes: only a receiver that does not verify the raw body accepts them. */
export const rawBodyMirrors: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/mirror-javascript',
    title: 'Rejects a signature over JSON.stringify of the parsed body',
    change: {
      serialise: rewritten((json) => `${spacedOut(json)}\n`),
      sign: signedMistakenly('what JSON.stringify makes of the body', 'reserialised-json'),
    },
    why: 'A receiver that tries the raw body first and then JSON.stringify accepts bytes that were never signed.',
    fix: 'Remove the fallback to the re-serialised body, and verify the raw bytes only.',
  },
  {
    ...base,
    id: 'raw-body/mirror-pretty',
    title: 'Rejects a signature over the indented body',
    change: { sign: signedMistakenly('the body indented by two spaces', 'pretty-json-2') },
    why:
      'Indentation in the verification is copied from an example. Bodies with different formatting then share a ' +
      'signature.',
    fix: 'Remove JSON.stringify(body, null, 2) from the verification.',
  },
  {
    ...base,
    id: 'raw-body/mirror-python',
    title: 'Rejects a signature over json.dumps of the parsed body',
    change: { sign: signedMistakenly('what json.dumps makes of the body', 'python-json') },
    why: 'Every text with the same content passes, whatever its bytes are.',
    fix: 'Pass request.get_data() to hmac.new, not json.dumps.',
  },
  {
    ...base,
    id: 'raw-body/mirror-sorted',
    title: 'Rejects a signature over the body with sorted keys',
    change: { sign: signedMistakenly('the body with its keys sorted', 'sorted-json') },
    why: 'A canonical form is another scheme, and two implementations that differ reject valid deliveries.',
    fix: 'Do not canonicalise (sort_keys, JCS): this scheme signs bytes.',
  },
  {
    ...base,
    id: 'raw-body/mirror-php',
    title: 'Rejects a signature over json_encode of the parsed body',
    change: {
      serialise: spelt(MEMO, '"memo/1/2"'),
      sign: signedMistakenly('what json_encode makes of the body', 'php-json'),
    },
    why: 'A receiver that escapes slashes accepts a body that was never signed in that form.',
    fix: 'Use the raw input, not json_encode with any flags.',
  },
  {
    ...base,
    id: 'raw-body/mirror-data-only',
    title: 'Rejects a signature over data only',
    change: { sign: signedOver('the field data alone', (body) => utf8(compact(JSON.parse(text(body)).data))) },
    why: 'id, type and time are then not protected: an attacker can send a captured delivery with a new id.',
    fix: 'Verify the whole body. Sample code of vendors that sign a part of it does not apply here.',
  },
  {
    ...base,
    id: 'raw-body/mirror-id-and-body',
    title: 'Rejects a signature over the id, a dot and the body',
    change: {
      sign: signedOver('id, a dot and the body', (body) =>
        Buffer.concat([utf8(`${JSON.parse(text(body)).id}.`), body]),
      ),
    },
    why:
      'Libraries for other webhook standards sign an id or a timestamp with the body, and cannot verify this ' +
      'sender.',
    fix: 'Replace the library with HMAC-SHA256 over the body.',
  },
  {
    ...base,
    id: 'raw-body/mirror-trimmed',
    title: 'Rejects a signature over the body without its trailing line feed',
    change: {
      serialise: rewritten((json) => `${json}\n`),
      sign: signedOver(
        'the body without white space at its ends',
        (body) => utf8(text(body).trim()),
        'printf %s "$(cat)"',
      ),
    },
    why: 'The verification trims the body, so it accepts changed white space and rejects a sender that signs it.',
    fix: 'Pass the body to the HMAC function without trim().',
  },
  {
    ...base,
    id: 'raw-body/mirror-newlines',
    title: 'Rejects a signature over the body with converted line endings',
    change: {
      serialise: withCrLf,
      sign: signedOver(
        'the body with LF instead of CRLF',
        (body) => utf8(text(body).replaceAll('\r\n', '\n')),
        "tr -d '\\r'",
      ),
    },
    why: 'The body was read in text mode, which converts line endings before verification.',
    fix: 'Open the input stream in binary mode.',
  },
  {
    ...base,
    id: 'raw-body/mirror-latin-1',
    title: 'Rejects a signature over the body encoded as Latin-1',
    change: {
      serialise: spelt(MEMO, '"caf\u00e9"'),
      sign: signedOver(
        'the body as Latin-1',
        (body) => Buffer.from(text(body), 'latin1'),
        'iconv -f UTF-8 -t ISO-8859-1',
      ),
    },
    why: 'All characters outside Latin-1 become the same byte, so different texts share a signature.',
    fix: 'Verify the bytes as received, without converting their encoding.',
  },
  {
    ...base,
    id: 'raw-body/mirror-ascii',
    title: 'Rejects a signature over the body encoded as ASCII',
    change: {
      serialise: spelt(MEMO, '"caf\u00e9"'),
      sign: signedOver('the body with a question mark for each character outside ASCII', (body) =>
        utf8(text(body).replace(/[^\0-\x7f]/g, '?')),
      ),
    },
    why: 'An ASCII encoder writes a question mark for every other character, so different names share a signature.',
    fix: 'Use Encoding.UTF8 (not Encoding.ASCII) where the HMAC needs a string, or pass bytes.',
  },
  {
    ...base,
    id: 'raw-body/mirror-escapes',
    title: 'Rejects a signature over the body with escaped accents',
    change: {
      serialise: spelt(MEMO, '"caf\u00e9"'),
      sign: signedOver('the body with an escape for each character outside ASCII', (body) =>
        utf8(asciiOnly(text(body))),
      ),
    },
    why: 'The receiver verifies a body that differs from the received one.',
    fix: 'Remove the code that escapes the body before the HMAC.',
  },
  {
    ...base,
    id: 'raw-body/mirror-zero-byte',
    title: 'Rejects a body that is signed up to a zero byte only',
    requirements: ['hmac-raw-body', 'delivery-malformed-unsigned'],
    change: {
      serialise: rewritten((json) => `${json}\0 and more`),
      sign: signedOver(
        'the body up to the zero byte',
        (body) => body.subarray(0, body.indexOf(0)),
        "tr '\\000' '\\n' | head -n 1 | tr -d '\\n'",
      ),
    },
    expect: refusedMalformed,
    why: 'A C string ends at the zero byte, so what follows is not covered by the signature.',
    fix: 'Verify as many bytes as Content-Length says, not what strlen counts.',
  },
  {
    ...base,
    id: 'raw-body/mirror-invalid-utf-8-twin',
    title: 'Rejects a body with invalid UTF-8 under the signature of its decoded text',
    requirements: ['hmac-raw-body', 'delivery-malformed-unsigned'],
    change: {
      serialise: invalidUtf8,
      sign: signedOver('the body with U+FFFD for each invalid byte', (body) => utf8(text(body))),
    },
    expect: refusedMalformed,
    why: 'When a decoded string is verified, all invalid bytes become U+FFFD, so different bodies share a signature.',
    fix: 'Compute the HMAC over the undecoded body.',
  },
  {
    ...base,
    id: 'raw-body/mirror-ignored-bytes',
    title: 'Rejects a body with invalid UTF-8 under the signature of the body without the invalid bytes',
    requirements: ['hmac-raw-body', 'delivery-malformed-unsigned'],
    change: {
      serialise: invalidUtf8,
      sign: signedOver(
        'the body without its invalid bytes',
        (body) => body.filter((byte) => byte !== 0xff && byte !== 0xfe),
        "tr -d '\\376\\377'",
      ),
    },
    expect: refusedMalformed,
    why: 'A decoder that ignores errors removes bytes, so an attacker can add any number of them to a signed body.',
    fix: 'Compute the HMAC over the undecoded body, and decode strictly after that.',
  },
  {
    ...base,
    id: 'raw-body/mirror-composed-accents',
    title: 'Rejects decomposed accents under the signature of the composed ones',
    change: {
      serialise: spelt(MEMO, '"cafe\u0301"'),
      sign: signedOver('the body in Unicode normalisation form C', (body) => utf8(text(body).normalize('NFC'))),
    },
    why: 'A receiver that normalises text before the verification accepts bytes that were never signed.',
    fix: 'Verify the received bytes, and normalise fields later, where you compare them.',
  },
  {
    ...base,
    id: 'raw-body/mirror-without-spaces',
    title: 'Rejects text with spaces under the signature of the body without white space',
    change: {
      serialise: spelt(MEMO, '"a memo with spaces"'),
      sign: signedOver(
        'the body without white space',
        (body) => utf8(text(body).replace(/\s/g, '')),
        "tr -d ' \\t\\r\\n'",
      ),
    },
    why: 'Removing all white space also changes values, so different notifications have the same signature.',
    fix: 'Do not remove anything from the body; pass the received bytes to the HMAC function.',
  },
  {
    ...base,
    id: 'raw-body/mirror-byte-order-mark',
    title: 'Rejects a byte order mark before a body that was signed without it',
    requirements: ['hmac-raw-body', 'delivery-malformed-unsigned'],
    change: {
      serialise: rewritten((json) => `\ufeff${json}`),
      sign: signedOver('the body without the mark', (body) => body.subarray(3), 'tail -c +4'),
    },
    expect: refusedMalformed,
    why: 'A decoder that removes the mark hides three bytes from the verification.',
    fix: 'Verify before decoding. Where you need text, use a decoder that keeps the mark (ignoreBOM).',
  },
];
