import { derived, encodedAs, joined, RIGHT_DIGEST_HEX, RIGHT_SIGNATURE } from '../changes/signing.ts';
import { accepted, refused } from '../expectations.ts';
import type { Scenario } from '../scenario.ts';

const holdsPlusAndSlash = (valid: string) => valid.includes('+') && valid.includes('/');

/** The valid digest in other encodings than standard Base64. */
export const spelledSignatures: readonly Scenario[] = [
  {
    id: 'signature/hex',
    title: 'Rejects the valid digest in hexadecimal',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs('the valid digest in hexadecimal', (digest) => digest.toString('hex'), RIGHT_DIGEST_HEX),
    },
    expect: refused,
    why:
      'Many tutorials use hexadecimal. A receiver that accepts both encodings is more lenient than the ' +
      'specification.',
    fix: 'Use digest("base64") only, and remove the branch for hexadecimal.',
  },
  {
    id: 'signature/hex-upper-case',
    title: 'Rejects the valid digest in upper-case hexadecimal',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'the valid digest in upper-case hexadecimal',
        (digest) => digest.toString('hex').toUpperCase(),
        `${RIGHT_DIGEST_HEX} | tr 'a-f' 'A-F'`,
      ),
    },
    expect: refused,
    why: 'Code that treats 64 characters as hexadecimal accepts it.',
    fix: 'Do not guess the encoding from the length of the header: it is always Base64.',
  },
  {
    id: 'signature/sha256-hex',
    title: 'Rejects the valid digest in hexadecimal with the prefix "sha256="',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'sha256= and the valid digest in hexadecimal',
        (digest) => `sha256=${digest.toString('hex')}`,
        joined("printf %s 'sha256='", RIGHT_DIGEST_HEX),
      ),
    },
    expect: refused,
    why: 'This is the format of another well-known sender. A receiver for several senders must not mix their formats.',
    fix: 'Select the format by endpoint or sender, not by the content of the header.',
  },
  {
    id: 'signature/sha256-base64',
    title: 'Rejects the valid signature with the prefix "sha256="',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'sha256= and the valid signature',
        (valid) => `sha256=${valid}`,
        joined("printf %s 'sha256='", RIGHT_SIGNATURE),
      ),
    },
    expect: refused,
    why: 'A prefix with an algorithm lets the request choose it. Here the algorithm is fixed and is never named.',
    fix: 'Remove the code that splits the header at "=": it also cuts the padding off a valid signature.',
  },
  {
    id: 'signature/version-prefix',
    title: 'Rejects the valid signature with the prefix "v1,"',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'v1, and the valid signature',
        (valid) => `v1,${valid}`,
        joined("printf %s 'v1,'", RIGHT_SIGNATURE),
      ),
    },
    expect: refused,
    why: 'The prefix belongs to a scheme that also signs an id and a time.',
    fix: 'Verify with a plain HMAC over the body, not with a library for versioned signatures.',
  },
  {
    id: 'signature/base64url',
    title: 'Rejects the valid digest in URL-safe Base64 without padding',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'the valid digest in URL-safe Base64, no padding',
        (digest) => digest.toString('base64url'),
        `${RIGHT_SIGNATURE} | tr '+/' '-_' | tr -d '='`,
        holdsPlusAndSlash,
      ),
    },
    expect: refused,
    why: 'The decoder accepts more than the agreed alphabet. This is no forgery, but shows a lenient check.',
    fix: 'Compare strings. Lenient decoding is the cause: Buffer.from(x, "base64") reads - and _ as + and /.',
  },
  {
    id: 'signature/base64url-padded',
    title: 'Rejects the valid digest in URL-safe Base64 with padding',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature with - and _ instead of + and /',
        (valid) => valid.replaceAll('+', '-').replaceAll('/', '_'),
        `${RIGHT_SIGNATURE} | tr '+/' '-_'`,
        holdsPlusAndSlash,
      ),
    },
    expect: refused,
    why:
      'It has the expected length and padding, so only the characters - and _ distinguish it from a valid ' +
      'signature.',
    fix: 'Do not translate - and _ before decoding: the header never contains them.',
  },
  {
    id: 'signature/percent-encoded',
    title: 'Rejects the valid signature in percent-encoding',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature, percent-encoded',
        (valid) => encodeURIComponent(valid),
        `${RIGHT_SIGNATURE} | sed 's,/,%2F,g; s,+,%2B,g; s,=,%3D,g'`,
      ),
    },
    expect: refused,
    why: 'Headers are not URLs. A framework that decodes them also turns a + in a valid signature into a space.',
    fix: 'Do not URL-decode the header; otherwise valid signatures that contain + are rejected.',
  },
  {
    id: 'signature/in-quotes',
    title: 'Rejects the valid signature in double quotes',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature in double quotes',
        (valid) => `"${valid}"`,
        joined("printf %s '\"'", RIGHT_SIGNATURE, "printf %s '\"'"),
      ),
    },
    expect: refused,
    why: 'Lenient decoders and parsers of structured headers ignore quotes. Neither is part of the specification.',
    fix: 'Compare the value of the header as received, without a parser for quoted strings.',
  },
  {
    id: 'signature/blank-inside',
    title: 'Rejects the valid signature with a space in the middle',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature with a space after character 22',
        (valid) => `${valid.slice(0, 22)} ${valid.slice(22)}`,
        `{ right=$(${RIGHT_SIGNATURE}); printf %s "$(printf %s "$right" | cut -c1-22) $(printf %s "$right" | cut ` +
          `-c23-)"; }`,
      ),
    },
    expect: refused,
    why: 'A MIME decoder ignores spaces and newlines, so any number of headers count as the same signature.',
    fix: 'Use a strict Base64 decoder or none, and do not remove whitespace inside the value.',
  },
  {
    id: 'signature/base64-of-hex',
    title: 'Rejects the Base64 of the hexadecimal digest',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'Base64 of the hexadecimal text of the valid digest',
        (digest) => Buffer.from(digest.toString('hex')).toString('base64'),
        `${RIGHT_DIGEST_HEX} | tr -d '\\n' | openssl base64 -A`,
      ),
    },
    expect: refused,
    why: 'This happens when a function that returns hexadecimal is encoded once more. The sender never sends it.',
    fix: 'Request raw bytes from the HMAC function (in PHP the fourth argument, true), and encode those.',
  },
  {
    id: 'signature/base64-twice',
    title: 'Rejects the valid signature encoded in Base64 twice',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature, in Base64 once more',
        (valid) => Buffer.from(valid).toString('base64'),
        `${RIGHT_SIGNATURE} | openssl base64 -A`,
      ),
    },
    expect: refused,
    why: 'A receiver that keeps decoding until a value matches accepts more than the specification allows.',
    fix: 'Decode at most once, and remove the second decoding of the framework or of a retry.',
  },
  {
    id: 'signature/white-space-around',
    title: 'Accepts the valid signature with spaces and tabs around it',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the valid signature with a tab and a space on either side',
        (valid) => `\t ${valid} \t`,
        joined("printf '\\t '", RIGHT_SIGNATURE, "printf ' \\t'"),
      ),
    },
    expect: accepted,
    why: 'In HTTP, white space around a value is not part of it, and proxies may add some.',
    fix: 'Let the HTTP server trim the value, or trim spaces and tabs yourself when you read raw headers.',
  },
];
