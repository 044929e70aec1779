/**
 * Valid signatures of other bytes, the reverse of the other checks: the signature matches what a faulty receiver would
 * verify, not the bytes that are sent. Therefore, only a receiver that does not verify the raw body accepts such a
 * delivery. If the plain body already differs from what is signed, only the sign stage is changed.
 */
import { asciiOnly, compact, rewritten, spacedOut, utf8 } from '../changes/bodies.ts';
import { signedMistakenly, signedOver } from '../changes/signing.ts';
import { refused, refusedMalformed } from '../expectations.ts';
import type { Change, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { invalidUtf8, lines, memo } from './raw-body-spelling.ts';

const text = (body: Uint8Array) => Buffer.from(body).toString();

/** Signs what a receiver with this mistake derives from the body. The mistake is from the table of signing mistakes. */
const mistaken =
  (mistake: string, body: Change = {}) =>
  (label: string): Change => ({
    ...body,
    sign: signedMistakenly(label, mistake),
  });

/** Signs bytes other than the body. `before` is a shell command that derives them from the body. */
const over =
  (body: Change, bytes: (body: Uint8Array) => Uint8Array, before?: string) =>
  (label: string): Change => ({
    ...body,
    sign: signedOver(label, bytes, before),
  });

const shared = {
  suite: 'raw-body',
  verb: 'Rejects',
  level: 'must',
  requirements: ['hmac-raw-body'],
  needs: ['hmac'],
  expect: refused,
} as const;

/** Shared fields of checks whose bodies are not valid notifications. */
const malformed = {
  requirements: ['hmac-raw-body', 'delivery-malformed-unsigned'],
  expect: refusedMalformed,
} as const;

/**
 * Shared fields of checks whose bodies differ from the signed one only in bytes that are not UTF-8. The sender never
 * sends such bytes.
 */
const twin = { ...malformed, level: 'should', expect: { ...refusedMalformed, fail: ['closed'] } } as const;

/**
 * Each row names the receiver's mistake, or the bytes that the receiver would verify, and defines the body that is
 * sent.
 */
export const rawBodyMirrors: readonly Scenario[] = [
  ...family(
    { ...shared, of: 'a signature over', mistake: 'raw-body-fallback' },
    {
      'mirror-javascript': [
        'JSON.stringify of the parsed body',
        mistaken('reserialised-json', { serialise: rewritten((json) => `${spacedOut(json)}\n`) }),
      ],
      'mirror-pretty': ['the indented body', mistaken('pretty-json-2')],
      'mirror-python': ['json.dumps of the parsed body', mistaken('python-json')],
      'mirror-sorted': ['the body with sorted keys', mistaken('sorted-json')],
      'mirror-php': ['json_encode of the parsed body', mistaken('php-json', memo('"memo/1/2"'))],
      'mirror-data-only': [
        'data only',
        over({}, (body) => utf8(compact(JSON.parse(text(body)).data))),
        'signed-part-of-body',
      ],
      'mirror-id-and-body': [
        'the id, a dot and the body',
        over({}, (body) => Buffer.concat([utf8(`${JSON.parse(text(body)).id}.`), body])),
        'signed-part-of-body',
        { note: 'Libraries for other webhook standards sign an id or a timestamp with the body.' },
      ],
      'mirror-trimmed': [
        'the body without its trailing line feed',
        over({ serialise: rewritten((json) => `${json}\n`) }, (body) => utf8(text(body).trim()), 'printf %s "$(cat)"'),
      ],
      'mirror-newlines': [
        'the body with converted line endings',
        over(lines('\r\n'), (body) => utf8(text(body).replaceAll('\r\n', '\n')), "tr -d '\\r'"),
      ],
      'mirror-latin-1': [
        'the body encoded as Latin-1',
        over(memo('"caf\u00e9"'), (body) => Buffer.from(text(body), 'latin1'), 'iconv -f UTF-8 -t ISO-8859-1'),
        { note: 'All characters outside Latin-1 lose their upper byte, so different texts share a signature.' },
      ],
      'mirror-ascii': [
        'the body encoded as ASCII',
        over(memo('"caf\u00e9"'), (body) => utf8(text(body).replace(/[^\0-\x7f]/g, '?'))),
        'lossy-body-text',
        { note: 'An ASCII encoder writes a question mark for every other character.' },
      ],
      'mirror-escapes': [
        'the body with escaped accents',
        over(memo('"caf\u00e9"'), (body) => utf8(asciiOnly(text(body)))),
        'imitated-body-format',
      ],
    },
  ),
  ...family(
    { ...shared, mistake: 'lossy-body-text' },
    {
      'mirror-zero-byte': [
        'a body that is signed up to a zero byte only',
        over(
          { serialise: rewritten((json) => `${json}\0 and more`) },
          (body) => body.subarray(0, body.indexOf(0)),
          "tr '\\000' '\\n' | head -n 1 | tr -d '\\n'",
        ),
        'body-as-c-string',
        malformed,
      ],
      'mirror-invalid-utf-8-twin': [
        'a body with invalid UTF-8 under the signature of its decoded text',
        over(invalidUtf8, (body) => utf8(text(body))),
        twin,
      ],
      'mirror-ignored-bytes': [
        'a body with invalid UTF-8 under the signature of the body without the invalid bytes',
        over(invalidUtf8, (body) => body.filter((byte) => byte !== 0xff && byte !== 0xfe), "tr -d '\\376\\377'"),
        twin,
      ],
      'mirror-composed-accents': [
        'decomposed accents under the signature of the composed ones',
        over(memo('"cafe\u0301"'), (body) => utf8(text(body).normalize('NFC'))),
        'raw-body-fallback',
      ],
      'mirror-without-spaces': [
        'text with spaces under the signature of the body without whitespace',
        over(memo('"a memo with spaces"'), (body) => utf8(text(body).replace(/\s/g, '')), "tr -d ' \\t\\r\\n'"),
        'raw-body-fallback',
        { note: 'Removing all whitespace also changes values in strings.' },
      ],
      'mirror-byte-order-mark': [
        'a byte order mark before a body that was signed without it',
        over({ serialise: rewritten((json) => `\ufeff${json}`) }, (body) => body.subarray(3), 'tail -c +4'),
        'decoded-body',
        malformed,
      ],
    },
  ),
];
