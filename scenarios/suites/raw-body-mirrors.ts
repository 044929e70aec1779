import { asciiOnly, compact, rewritten, type Serialiser, spacedOut, spelt, utf8 } from '../changes/bytes.ts';
import { signedMistakenly, signedOver } from '../changes/signing.ts';
import { refused, refusedMalformed } from '../expectations.ts';
import type { ProbeScenario } from '../scenario.ts';

/*
 * The mirror of the other probes: here the signature fits what a wrong receiver would hash, and not the bytes that are sent.
 * Where the plain body already differs from that, only the sign stage is changed.
 */
const base = { level: 'must', requirements: ['hmac-raw-body'], needs: ['hmac'], expect: refused } as const;
const MEMO = 'data.metadata.blockchainData.blockchainMemo';

const text = (body: Uint8Array, encoding: BufferEncoding = 'utf8') => Buffer.from(body).toString(encoding);
const withCrLf: Serialiser = (value) => utf8(JSON.stringify(value, null, 1).replaceAll('\n', '\r\n'));

/** Right signatures of something else: accepted only by a receiver that does not verify the raw body. */
export const rawBodyMirrors: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/mirror-javascript',
    title: 'Refuses a signature over JSON.stringify of the parsed body (an odd body, wrongly signed)',
    change: {
      serialise: rewritten((json) => `${spacedOut(json)}\n`),
      sign: signedMistakenly('what JSON.stringify makes of the body', 'reserialised-json'),
    },
    why: 'A receiver that tries the raw body first and then JSON.stringify passes every other check and still accepts bytes that nobody signed.',
    fix: 'Remove the fallback to the re-serialised body: the raw bytes are the only input.',
  },
  {
    ...base,
    id: 'raw-body/mirror-pretty',
    title: 'Refuses a signature over the indented form of the body',
    change: { sign: signedMistakenly('the body indented by two spaces', 'pretty-json-2') },
    why: 'A pretty-printed form in the check comes from a copied example; bodies that differ in layout then share a signature.',
    fix: 'Drop JSON.stringify(body, null, 2) from the check.',
  },
  {
    ...base,
    id: 'raw-body/mirror-python',
    title: 'Refuses a signature over json.dumps of the parsed body',
    change: { sign: signedMistakenly('what json.dumps makes of the body', 'python-json') },
    why: 'The check takes a Python rendering for the body: every text with that content verifies, whatever its bytes are.',
    fix: 'Give hmac.new the result of request.get_data() and not of json.dumps.',
  },
  {
    ...base,
    id: 'raw-body/mirror-sorted',
    title: 'Refuses a signature over the body with sorted keys',
    change: { sign: signedMistakenly('the body with its keys sorted', 'sorted-json') },
    why: 'A canonical form is another signature scheme. Two canonicalisers that differ in one detail refuse real deliveries.',
    fix: 'Do not canonicalise (sort_keys, JCS): this scheme signs bytes.',
  },
  {
    ...base,
    id: 'raw-body/mirror-php',
    title: 'Refuses a signature over json_encode of the parsed body (a body with slashes, wrongly signed)',
    change: {
      serialise: spelt(MEMO, '"memo/1/2"'),
      sign: signedMistakenly('what json_encode makes of the body', 'php-json'),
    },
    why: 'A check that escapes slashes by itself accepts a body that was never signed in that form.',
    fix: 'Use the raw input, and no json_encode with whatever flags.',
  },
  {
    ...base,
    id: 'raw-body/mirror-data-only',
    title: 'Refuses a signature over data alone',
    change: { sign: signedOver('the field data alone', (body) => utf8(compact(JSON.parse(text(body)).data))) },
    why: 'id, type and time are then unprotected: a captured delivery can be sent again under a new id.',
    fix: 'Sign the whole body; some other vendors sign a part of it, and their sample code does not fit here.',
  },
  {
    ...base,
    id: 'raw-body/mirror-id-and-body',
    title: 'Refuses a signature over the id, a dot and the body',
    change: {
      sign: signedOver('id, a dot and the body', (body) =>
        Buffer.concat([utf8(`${JSON.parse(text(body)).id}.`), body]),
      ),
    },
    why: 'Libraries for other webhook standards put an id or a time before the body. Such a check cannot verify what this service sends.',
    fix: 'Replace the library by ten lines of your own: HMAC-SHA256 over the body and nothing else.',
  },
  {
    ...base,
    id: 'raw-body/mirror-trimmed',
    title: 'Refuses a signature over the body without its last line feed (a body with one, wrongly signed)',
    change: {
      serialise: rewritten((json) => `${json}\n`),
      sign: signedOver(
        'the body without white space at its ends',
        (body) => utf8(text(body).trim()),
        'printf %s "$(cat)"',
      ),
    },
    why: 'The check trims what it gets, so anybody on the way may add white space, and a sender that signs it is refused.',
    fix: 'Pass the body to the HMAC function without trim().',
  },
  {
    ...base,
    id: 'raw-body/mirror-newlines',
    title: 'Refuses a signature over the body with other line ends (a body with CRLF, wrongly signed)',
    change: {
      serialise: withCrLf,
      sign: signedOver(
        'the body with LF in place of CRLF',
        (body) => utf8(text(body).replaceAll('\r\n', '\n')),
        "tr -d '\\r'",
      ),
    },
    why: 'The body was read in text mode, which rewrites line ends before the check.',
    fix: 'Open the input stream in binary mode.',
  },
  {
    ...base,
    id: 'raw-body/mirror-latin-1',
    title: 'Refuses a signature over the body encoded as Latin-1 (a body with an accent, wrongly signed)',
    change: {
      serialise: spelt(MEMO, '"caf\u00e9"'),
      sign: signedOver(
        'the body as Latin-1',
        (body) => Buffer.from(text(body), 'latin1'),
        'iconv -f UTF-8 -t ISO-8859-1',
      ),
    },
    why: 'The check encodes text as Latin-1, in which every character outside of it becomes the same byte: different texts share a signature.',
    fix: 'Hash the bytes as received; a change of the encoding "to make it work" breaks it for everybody else.',
  },
  {
    ...base,
    id: 'raw-body/mirror-ascii',
    title: 'Refuses a signature over the body in ASCII (a body with an accent, wrongly signed)',
    change: {
      serialise: spelt(MEMO, '"caf\u00e9"'),
      sign: signedOver('the body with a question mark for each character outside ASCII', (body) =>
        utf8(text(body).replace(/[^\0-\x7f]/g, '?')),
      ),
    },
    why: 'An ASCII encoder writes a question mark for every other character, so one name can be exchanged for another under its signature.',
    fix: 'Use Encoding.UTF8 (and not Encoding.ASCII) where the HMAC wants text, or give it bytes.',
  },
  {
    ...base,
    id: 'raw-body/mirror-escapes',
    title: 'Refuses a signature over the body with escapes for its accents (a body with an accent, wrongly signed)',
    change: {
      serialise: spelt(MEMO, '"caf\u00e9"'),
      sign: signedOver('the body with an escape for each character outside ASCII', (body) =>
        utf8(asciiOnly(text(body))),
      ),
    },
    why: 'The check spells the text as another sender would, so it verifies a body that did not come.',
    fix: 'Remove the code that escapes the body before the HMAC.',
  },
  {
    ...base,
    id: 'raw-body/mirror-zero-byte',
    title: 'Refuses a body that goes on behind a zero byte and is signed up to there (an odd body, wrongly signed)',
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
    why: 'For a C string the body ends there: whatever stands behind is covered by no signature and may be read by something else.',
    fix: 'Hash as many bytes as Content-Length says, and not what strlen counts.',
  },
  {
    ...base,
    id: 'raw-body/mirror-invalid-utf-8-twin',
    title: 'Refuses a body with invalid bytes under the signature of its decoded twin (an odd body, wrongly signed)',
    requirements: ['hmac-raw-body', 'delivery-malformed-unsigned'],
    change: {
      serialise: spelt(MEMO, Buffer.of(0x22, 0x61, 0xff, 0xfe, 0x62, 0x22)),
      sign: signedOver('the body with U+FFFD for each invalid byte', (body) => utf8(text(body))),
    },
    expect: refusedMalformed,
    why: 'Where text is hashed and not bytes, all invalid bytes become U+FFFD: bodies that nobody signed share the signature of one that somebody did.',
    fix: 'Compute the HMAC over the undecoded body.',
  },
  {
    ...base,
    id: 'raw-body/mirror-byte-order-mark',
    title: 'Refuses a byte order mark before a body that was signed without it (an odd body, wrongly signed)',
    requirements: ['hmac-raw-body', 'delivery-malformed-unsigned'],
    change: {
      serialise: rewritten((json) => `\ufeff${json}`),
      sign: signedOver('the body without the mark', (body) => body.subarray(3), 'tail -c +4'),
    },
    expect: refusedMalformed,
    why: 'A decoder that strips the mark hides three bytes from the check, so what is verified is not what came.',
    fix: 'Verify before decoding; use a decoder that keeps the mark (ignoreBOM) where text is needed.',
  },
];
