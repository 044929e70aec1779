import { derived, encodedAs } from '../changes/signing.ts';
import { joined, RIGHT_DIGEST_HEX, RIGHT_SIGNATURE } from '../changes/signing-shell.ts';
import { accepted, refused } from '../expectations.ts';
import type { Scenario } from '../scenario.ts';

const holdsPlusAndSlash = (right: string) => right.includes('+') && right.includes('/');

/** The right digest, spelt otherwise than as the agreed standard Base64. */
export const spelledSignatures: readonly Scenario[] = [
  {
    id: 'signature/hex',
    title: 'Refuses the right digest in hexadecimal',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs('the right digest in hexadecimal', (digest) => digest.toString('hex'), RIGHT_DIGEST_HEX),
    },
    expect: refused,
    why: 'Most tutorials show hexadecimal. A receiver that takes both encodings was patched until something passed.',
    fix: 'Use digest("base64") alone, and remove the branch for hexadecimal.',
  },
  {
    id: 'signature/hex-upper-case',
    title: 'Refuses the right digest in upper-case hexadecimal',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'the right digest in upper-case hexadecimal',
        (digest) => digest.toString('hex').toUpperCase(),
        `${RIGHT_DIGEST_HEX} | tr 'a-f' 'A-F'`,
      ),
    },
    expect: refused,
    why: 'It passes where 64 characters are taken for a sign of hexadecimal and are decoded in either case.',
    fix: 'Do not guess the encoding from the length of the header: the only one is Base64.',
  },
  {
    id: 'signature/sha256-hex',
    title: 'Refuses the right digest in hexadecimal behind "sha256="',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'sha256= and the right digest in hexadecimal',
        (digest) => `sha256=${digest.toString('hex')}`,
        joined("printf %s 'sha256='", RIGHT_DIGEST_HEX),
      ),
    },
    expect: refused,
    why: 'That is the form of another well-known sender. A receiver shared by several senders must not mix their rules.',
    fix: 'Choose the rule by the endpoint or the sender that it is for, not by what the header looks like.',
  },
  {
    id: 'signature/sha256-base64',
    title: 'Refuses the right signature behind "sha256="',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'sha256= and the right signature',
        (right) => `sha256=${right}`,
        joined("printf %s 'sha256='", RIGHT_SIGNATURE),
      ),
    },
    expect: refused,
    why: 'A prefix that names the algorithm invites a sender to choose it. Here it is fixed and never named.',
    fix: 'Remove the code that splits the header at "=": it also cuts the padding off a right signature.',
  },
  {
    id: 'signature/version-prefix',
    title: 'Refuses the right signature behind "v1,"',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'v1, and the right signature',
        (right) => `v1,${right}`,
        joined("printf %s 'v1,'", RIGHT_SIGNATURE),
      ),
    },
    expect: refused,
    why: 'The form belongs to a scheme that signs an id and a time along with the body. Its library checks something else.',
    fix: 'Verify with a plain HMAC over the body, not with a library that was made for versioned signatures.',
  },
  {
    id: 'signature/base64url',
    title: 'Refuses the right digest in URL-safe Base64 without padding',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'the right digest in URL-safe Base64, no padding',
        (digest) => digest.toString('base64url'),
        `${RIGHT_SIGNATURE} | tr '+/' '-_' | tr -d '='`,
        holdsPlusAndSlash,
      ),
    },
    expect: refused,
    why: 'The decoder reads more alphabets than the agreed one. It lets no forger in, and shows a check on lenient ground.',
    fix: 'Compare texts. Lenient decoding is the cause: Buffer.from(x, "base64") takes - and _ for + and /.',
  },
  {
    id: 'signature/base64url-padded',
    title: 'Refuses the right digest in URL-safe Base64 with padding',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature with - and _ in place of + and /',
        (right) => right.replaceAll('+', '-').replaceAll('/', '_'),
        `${RIGHT_SIGNATURE} | tr '+/' '-_'`,
        holdsPlusAndSlash,
      ),
    },
    expect: refused,
    why: 'It has the right length and the right padding, so only a look at the characters tells it from a right signature.',
    fix: 'Do not translate - and _ before you decode; the header never holds them.',
  },
  {
    id: 'signature/percent-encoded',
    title: 'Refuses the right signature in percent-encoding',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature, percent-encoded',
        (right) => encodeURIComponent(right),
        `${RIGHT_SIGNATURE} | sed 's,/,%2F,g; s,+,%2B,g; s,=,%3D,g'`,
      ),
    },
    expect: refused,
    why: 'Headers are not URLs. A framework that decodes them also turns a + in a right signature into a blank.',
    fix: 'Read the header raw and remove the URL decoding, before a signature with a + in it is refused.',
  },
  {
    id: 'signature/in-quotes',
    title: 'Refuses the right signature in double quotes',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature in double quotes',
        (right) => `"${right}"`,
        joined("printf %s '\"'", RIGHT_SIGNATURE, "printf %s '\"'"),
      ),
    },
    expect: refused,
    why: 'Quotes are skipped by lenient decoders and by parsers of structured headers. Neither is what was agreed.',
    fix: 'Hand the value of the header to the comparison as it came, without a parser for quoted strings.',
  },
  {
    id: 'signature/blank-inside',
    title: 'Refuses the right signature with a blank in the middle',
    level: 'should',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature with a blank behind character 22',
        (right) => `${right.slice(0, 22)} ${right.slice(22)}`,
        `{ right=$(${RIGHT_SIGNATURE}); printf %s "$(printf %s "$right" | cut -c1-22) $(printf %s "$right" | cut -c23-)"; }`,
      ),
    },
    expect: refused,
    why: 'A decoder for mail skips blanks and line ends. With it, endlessly many headers count as one signature.',
    fix: 'Use a strict Base64 decoder, or none, and do not remove white space from inside the value.',
  },
  {
    id: 'signature/base64-of-hex',
    title: 'Refuses the Base64 of the hexadecimal text',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: encodedAs(
        'Base64 of the hexadecimal text of the right digest',
        (digest) => Buffer.from(digest.toString('hex')).toString('base64'),
        `${RIGHT_DIGEST_HEX} | tr -d '\\n' | openssl base64 -A`,
      ),
    },
    expect: refused,
    why: 'It is what comes out when a function that returns hexadecimal is encoded once more. The real sender never sends it.',
    fix: 'Ask the HMAC function for raw bytes (in PHP the fourth argument, true) and encode those.',
  },
  {
    id: 'signature/base64-twice',
    title: 'Refuses the right signature encoded in Base64 a second time',
    level: 'must',
    requirements: ['hmac-base64'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature, in Base64 once more',
        (right) => Buffer.from(right).toString('base64'),
        `${RIGHT_SIGNATURE} | openssl base64 -A`,
      ),
    },
    expect: refused,
    why: 'A receiver that decodes until something fits also fits values that nobody signed for it.',
    fix: 'Decode once at most; take out the second decoding that a framework or a retry of the check adds.',
  },
  {
    id: 'signature/white-space-around',
    title: 'Accepts the right signature with blanks and tabs around it',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      sign: derived(
        'the right signature with a tab and a blank on either side',
        (right) => `\t ${right} \t`,
        joined("printf '\\t '", RIGHT_SIGNATURE, "printf ' \\t'"),
      ),
    },
    expect: accepted,
    why: 'In HTTP, white space around a value is no part of it, and proxies may add some. Valid deliveries would be lost.',
    fix: 'Let the HTTP server trim the value, or trim blanks and tabs yourself when you read headers raw.',
  },
];
