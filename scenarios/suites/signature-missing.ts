/** Deliveries of every kind and shape without a valid signature. `dimensions.ts` defines flaws and shapes. */
import { literal, type SigningScheme, unsigned } from '../changes/signing.ts';
import { accepted } from '../expectations.ts';
import type { Crossing } from '../forgery.ts';
import { epochSeconds } from '../samples.ts';
import type { Scenario } from '../scenario.ts';
import { crossings, family } from './family.ts';
import { rejected } from './signature-family.ts';

const UNSIGNED = { suite: 'signature', flaw: 'no-signature', of: 'an unsigned' } as const;
const WRONG = { suite: 'signature', flaw: 'random-signature', of: 'an invalid signature on' } as const;

/** Deliveries without a signature or with an invalid one: by type, content, Content-Type, framing, method and URL. */
export const signatureShapes: readonly Crossing[] = [
  ...crossings(
    { ...UNSIGNED, mistake: 'verification-per-type' },
    {
      'unsigned-buy': ['confirmed BUY notification', ['buy']],
      'unsigned-sell': ['completed SELL notification', ['sell']],
      'unsigned-order-tracking': [
        'ORDER_TRACKING notification',
        ['tracking'],
        { note: 'Few providers send this type, so it is rarely tested.' },
      ],
      'unsigned-refund': ['REFUND notification', ['refund']],
      'unsigned-payment-method': ['PAYMENT_METHOD notification', ['payment-method']],
      'unsigned-wallet': [
        'WALLET notification',
        ['wallet'],
        { note: "A forged address makes your customers pay into an attacker's wallet." },
      ],
      'unsigned-deposit': ['CAAS_BLOCKCHAIN notification', ['deposit']],
      'unsigned-unknown-type': [
        'notification of an unknown type',
        ['unknown-type'],
        { note: 'An early 200 reveals which types exist, and that the type is read before verification.' },
      ],
    },
  ),
  ...crossings(
    { ...WRONG, requirements: ['hmac-every-delivery'], mistake: 'verification-per-type' },
    {
      'wrong-on-every-kind': [
        'a notification of every type',
        ['tracking', 'refund', 'payment-method', 'wallet', 'deposit'],
        { note: 'An unsigned delivery does not reveal a missing comparison if the header is required.' },
      ],
      'wrong-on-early-order': [
        'an order that is not final',
        ['created-buy', 'pending-sell'],
        { note: 'A forged early status can show the customer another address to pay to.' },
      ],
      'wrong-on-other-statuses': [
        'a failure, an expiry, an intermediate step, a test network or a tiny amount',
        ['failed-refund', 'declined-card', 'expired-tracking', 'buy-on-chain', 'test-network', 'dust-deposit'],
      ],
      'wrong-on-unknown-kinds': [
        'an unknown kind of a known type',
        ['unknown-caas-type', 'unknown-card-status', 'unknown-deposit-type'],
        { note: 'A table of handlers that verify has no entry for an unknown kind.' },
      ],
    },
  ),
  ...crossings(
    { ...UNSIGNED, mistake: 'verification-per-content-type' },
    {
      'unsigned-test-flag': ['delivery that claims to be a test in its body', ['test-flags'], 'test-mode-from-request'],
      'unsigned-verified-state': [
        'delivery that claims to be verified in its body',
        ['verified-state'],
        'request-overwrites-state',
      ],
      'unsigned-tiny': [
        'delivery with a very small body',
        ['tiny'],
        'verification-per-framing',
        { note: 'A size limit that exempts health checks also exempts any short notification.' },
      ],
      'missing-on-lists': [
        'list of notifications',
        ['array', 'empty-array', 'batch'],
        'verification-per-type',
        {
          note:
            "Code for other senders' batches may process the entries without verification; this sender sends no " +
            'lists.',
        },
      ],
      'missing-on-handshakes': [
        'handshake of another sender',
        ['challenge', 'bare-challenge', 'handshakes', 'listed-handshake'],
        'foreign-handshake',
      ],
      'missing-on-pings': ['ping or empty object', ['ping', 'empty-object'], 'foreign-handshake'],
      'unsigned-with-charset': ['delivery whose Content-Type has a charset', ['json-with-charset']],
      'missing-as-text': ['delivery sent as text/plain', ['text']],
      'missing-as-form': ['delivery sent as application/x-www-form-urlencoded', ['form']],
      'missing-in-form-fields': [
        'notification in the fields of a form',
        ['form-fields', 'multipart'],
        { note: 'From `data[type]=BUY`, a form parser builds the same object as a JSON parser.' },
      ],
      'missing-without-content-type': ['delivery without a Content-Type', ['no-type']],
      'missing-in-other-types': [
        'delivery sent as XML, vendor JSON, bytes or APPLICATION/JSON',
        ['upper-case-type', 'vendor-json', 'xml', 'bytestream'],
      ],
    },
  ),
  ...crossings(WRONG, {
    'wrong-in-other-types': [
      'a delivery with another Content-Type',
      ['text', 'form-fields', 'no-type', 'vendor-json'],
      'verification-per-content-type',
      { note: 'A gateway that requires the header can hide that the receiver compares it only for JSON.' },
    ],
  }),
  ...crossings(
    { suite: 'signature', flaw: 'signature-of-nothing', of: 'the signature of', mistake: 'unread-body-verified' },
    {
      'over-nothing-in-other-types': [
        'an empty body on a delivery with another Content-Type or encoding',
        ['text', 'form', 'no-type', 'multipart', 'gzip'],
        { level: 'should' },
      ],
      'over-unread-body': [
        '{} on any delivery',
        ['plain', 'text', 'no-type'],
        { flaw: 'signature-of-empty-object', note: 'Parsers leave `{}` where they have read nothing.' },
      ],
    },
  ),
  ...crossings(
    { ...UNSIGNED, mistake: 'verification-per-framing' },
    {
      'missing-with-gzip': [
        'delivery with Content-Encoding: gzip',
        ['gzip'],
        'verification-per-content-type',
        { note: 'After decompression the original bytes are gone, and some receivers then skip the check.' },
      ],
      'unsigned-chunked': ['delivery with a chunked body', ['chunked', 'empty-chunked', 'signature-in-trailer']],
      'missing-in-http-1-0': [
        'delivery sent over HTTP/1.0',
        ['http-1-0'],
        { note: 'Some load balancers check health over HTTP/1.0, and an exception for them is open to every client.' },
      ],
      'missing-without-body': [
        'request that has no body and no length',
        ['no-body', 'no-body-no-type'],
        { note: 'Some parsers skip a request without a body, and with it the callback that verifies.' },
      ],
      'missing-with-expect': ['delivery with Expect: 100-continue', ['expect']],
    },
  ),
  ...crossings(WRONG, {
    'wrong-in-other-framings': [
      'a delivery with another framing',
      ['gzip', 'chunked', 'expect', 'no-body'],
      'verification-per-framing',
      { note: 'A check that needs the whole body may be skipped although the header is present.' },
    ],
  }),
  ...crossings(
    { ...UNSIGNED, mistake: 'verification-per-method' },
    {
      'missing-by-other-methods': ['notification sent by PUT, PATCH or DELETE', ['put', 'patch', 'delete']],
      'missing-by-get': ['notification or handshake sent by GET', ['get', 'get-with-handshakes']],
      'missing-by-rare-methods': ['notification sent by OPTIONS or PROPFIND', ['options', 'propfind']],
      'missing-with-overridden-method': [
        'notification whose method is overridden',
        [
          ...(['put-as-post', 'patch-as-post', 'get-as-post'] as const),
          ...(['post-as-put', 'post-as-delete', 'post-as-get', 'form-as-put'] as const),
        ],
      ],
    },
  ),
  ...crossings(WRONG, {
    'wrong-by-other-methods': [
      'a notification sent by PUT or GET',
      ['put', 'get', 'put-as-post'],
      'verification-per-method',
      { note: 'The header may be required for all methods, but compared only for POST.' },
    ],
  }),
  ...crossings(
    { ...UNSIGNED, mistake: 'verification-per-path' },
    {
      'missing-at-other-paths': [
        'delivery at other spellings of the path',
        [
          ...(['trailing-slash', 'other-case', 'double-slash', 'encoded-path', 'dot-segments'] as const),
          ...(['path-parameter', 'path-extension', 'absolute-target'] as const),
          'encoded-line-end',
        ],
      ],
      'missing-through-open-path': [
        'delivery at a path that leads through an open one',
        ['open-prefix', 'open-prefix-parameter'],
        {
          note: 'A rule for /health sees /health/../webhook before the router resolves it; Tomcat also resolves "..;".',
        },
      ],
      'missing-below-endpoint': [
        'delivery at a path below the endpoint, such as /health',
        [
          ...(['below-health', 'below-healthz', 'below-ping', 'below-status', 'below-test'] as const),
          ...(['below-public', 'below-static'] as const),
        ],
      ],
      'missing-at-unknown-host': [
        'delivery with an unknown Host',
        ['unknown-host'],
        'unset-secret',
        { note: 'The Host may select the tenant, and with it the secret.' },
      ],
      'missing-at-local-host': ['delivery with Host: localhost', ['local-host'], 'spoofed-client-address'],
    },
  ),
];

/** Deliveries without a signature in the sender's own shape, and an old delivery with a valid signature. */
export function missingSignatures(scheme: SigningScheme): Scenario[] {
  return [
    ...family(rejected(scheme, 'missing'), {
      missing: ['a delivery without the signature header', { sign: unsigned }, 'absent-signature-passes'],
    }),
    ...family(
      { ...rejected(scheme, 'missing', 'invalid'), mistake: 'absent-signature-passes' },
      {
        empty: ['an empty signature header', (label) => ({ sign: literal('', label) })],
        blank: [
          'a signature header that contains only spaces',
          { sign: literal('   ', 'three spaces as signature') },
          { note: 'A proxy sees that the header is present, and the server then trims it to an empty string.' },
        ],
      },
    ),
    {
      id: 'signature/one-year-old',
      title: 'Accepts a correctly signed notification whose time is one year in the past',
      level: 'should',
      requirements: ['envelope-at-open'],
      needs: [scheme.feature],
      change: { compose: (kit) => ({ ...kit.notification(), at: epochSeconds(kit) - 365 * 86_400 }) },
      expect: accepted,
      mistake: 'event-time-as-sending-time',
    },
  ];
}
