/** Forged deliveries of every kind and shape. Their combinations are a table: see `dimensions.ts`. */
import { literal, unsigned } from '../changes/signing.ts';
import { accepted, refused } from '../expectations.ts';
import type { Crossing } from '../forgery.ts';
import { epochSeconds } from '../samples.ts';
import type { Scenario } from '../scenario.ts';

const flaw = 'no-signature' as const;

const kinds: readonly Crossing[] = [
  {
    id: 'signature/unsigned-buy',
    title: 'Rejects an unsigned confirmed BUY notification',
    flaw,
    shapes: ['buy'],
    why: 'A forged confirmation makes you deliver goods or credit for crypto that never arrived.',
    fix: 'Verify before the `switch` on `type`, so that no branch runs without verification.',
  },
  {
    id: 'signature/unsigned-sell',
    title: 'Rejects an unsigned completed SELL notification',
    flaw,
    shapes: ['sell'],
    why: 'A forged sale makes you pay out money.',
    fix: 'Make sure that SELL uses the same verification as BUY.',
  },
  {
    id: 'signature/unsigned-order-tracking',
    title: 'Rejects an unsigned ORDER_TRACKING notification',
    flaw,
    shapes: ['tracking'],
    why: 'Few providers send it, so it is rarely tested. A forged one reports cash that was never paid.',
    fix: 'Verify before data.type is read, so that ORDER_TRACKING has no separate code path.',
  },
  {
    id: 'signature/unsigned-refund',
    title: 'Rejects an unsigned REFUND notification',
    flaw,
    shapes: ['refund'],
    why: 'A forged refund closes an open claim, and the user never gets the money.',
    fix:
      'Look for a separate refund route or function that parses the body itself, and verify the signature there ' +
      'before parsing.',
  },
  {
    id: 'signature/unsigned-payment-method',
    title: 'Rejects an unsigned PAYMENT_METHOD notification',
    flaw,
    shapes: ['payment-method'],
    why: 'A forged status unlocks a card that was not verified, or blocks the card of another user.',
    fix: 'Verify status changes too: move the verification out of the payment handlers.',
  },
  {
    id: 'signature/unsigned-wallet',
    title: 'Rejects an unsigned WALLET notification',
    flaw,
    shapes: ['wallet'],
    why: "A forged address makes your customers pay into an attacker's wallet.",
    fix:
      'Apply the verification to the whole route. Wallet code is often part of the onboarding code, which has its ' +
      'own parser.',
  },
  {
    id: 'signature/unsigned-deposit',
    title: 'Rejects an unsigned CAAS_BLOCKCHAIN notification',
    flaw,
    shapes: ['deposit'],
    why: 'A forged deposit credits an account with crypto that was never sent.',
    fix: 'Verify new types by default: this type was added later than the others.',
  },
  {
    id: 'signature/unsigned-unknown-type',
    title: 'Rejects an unsigned notification of an unknown type',
    flaw,
    shapes: ['unknown-type'],
    why: 'An early 200 for unknown types reveals which types exist, and that the type is read before verification.',
    fix: 'Answer 200 to an unknown type only after the signature has been verified.',
  },
  {
    id: 'signature/wrong-on-every-kind',
    title: 'Rejects an invalid signature on a notification of every type',
    flaw: 'random-signature',
    shapes: ['tracking', 'refund', 'payment-method', 'wallet', 'deposit'],
    requirements: ['hmac-every-delivery'],
    why: 'A missing check for a newer type does not show in unsigned deliveries as long as the header is required.',
    fix: 'Use the same verification for all types, on the route. The report names the accepted type.',
  },
  {
    id: 'signature/wrong-on-early-order',
    title: 'Rejects an invalid signature on an order that is not final',
    flaw: 'random-signature',
    shapes: ['created-buy', 'pending-sell'],
    requirements: ['hmac-every-delivery'],
    why: 'A forged early status lets an attacker show the customer another address to pay to.',
    fix: 'Verify before the status is read, not only where the money is booked.',
  },
  {
    id: 'signature/wrong-on-other-statuses',
    title: 'Rejects an invalid signature on a failure, an expiry, a step on the way, a test network or a tiny amount',
    flaw: 'random-signature',
    shapes: ['failed-refund', 'declined-card', 'expired-tracking', 'buy-on-chain', 'test-network', 'dust-deposit'],
    requirements: ['hmac-every-delivery'],
    why: 'Where only credits are verified, an attacker can cancel orders, block cards and close refunds of others.',
    fix: 'Verify before the status is read. The report names the status that was accepted.',
  },
  {
    id: 'signature/wrong-on-unknown-kinds',
    title: 'Rejects an invalid signature on an unknown kind of a known type',
    flaw: 'random-signature',
    shapes: ['unknown-caas-type', 'unknown-card-status', 'unknown-deposit-type'],
    requirements: ['hmac-every-delivery'],
    why: 'A table of handlers that verify has no entry for them, so an early 200 for "not mine" comes unverified.',
    fix: 'Verify before the handler is looked up, and answer 200 to unknown kinds only after that.',
  },
];

const contents: readonly Crossing[] = [
  {
    id: 'signature/unsigned-test-flag',
    title: 'Rejects an unsigned delivery that claims to be a test in its body',
    flaw,
    shapes: ['test-flags'],
    why: 'The flag is part of the unverified body, so an attacker can set it.',
    fix: 'Read the environment from your configuration, and sign test deliveries like all others.',
  },
  {
    id: 'signature/unsigned-verified-state',
    title: 'Rejects an unsigned delivery that claims to be verified in its body',
    flaw,
    shapes: ['verified-state'],
    why: 'Where the body is merged into the state of the request, its members overwrite what the checks have stored.',
    fix: 'Keep the body and the results of the checks in separate objects. The report names the member that is enough.',
  },
  {
    id: 'signature/unsigned-tiny',
    title: 'Rejects an unsigned delivery with a very small body',
    flaw,
    shapes: ['tiny'],
    why: 'A size limit that exempts health checks also exempts any short notification.',
    fix: 'Use a separate route for health checks, and verify deliveries of every length.',
  },
  {
    id: 'signature/missing-on-lists',
    title: 'Rejects an unsigned list of notifications',
    flaw,
    shapes: ['array', 'empty-array', 'batch'],
    why: "Code for other senders' batches may process the entries of a list without verifying the signature.",
    fix: 'Verify the body before you branch on its structure. This sender sends no lists.',
  },
  {
    id: 'signature/missing-on-handshakes',
    title: 'Rejects an unsigned handshake of another sender',
    flaw,
    shapes: ['challenge', 'bare-challenge', 'handshakes', 'listed-handshake'],
    why:
      'Some senders verify an endpoint with a challenge. A handler that echoes it reflects text from anyone, and one ' +
      'that signs it makes signatures for anyone.',
    fix: 'Remove the handshake: this sender has none. If a single handshake is enough, the report names it.',
  },
  {
    id: 'signature/missing-on-pings',
    title: 'Rejects an unsigned ping or empty object',
    flaw,
    shapes: ['ping', 'empty-object'],
    why: 'An early 200 for pings comes before the verification, and its condition is easy to meet.',
    fix: 'Remove the branch for pings of other senders, and give health checks their own route.',
  },
];

const types: readonly Crossing[] = [
  {
    id: 'signature/unsigned-with-charset',
    title: 'Rejects an unsigned delivery whose Content-Type has a charset',
    flaw,
    shapes: ['json-with-charset'],
    why: 'When the verification depends on one exact Content-Type, other forms of it are not verified.',
    fix: 'Verify the raw bytes in a separate step, whatever the Content-Type is.',
  },
  {
    id: 'signature/missing-as-text',
    title: 'Rejects an unsigned delivery sent as text/plain',
    flaw,
    shapes: ['text'],
    why: 'A verification that runs inside the JSON parser does not run for text, although the handler does.',
    fix: 'Verify the raw body in a separate step, for every Content-Type.',
  },
  {
    id: 'signature/missing-as-form',
    title: 'Rejects an unsigned delivery sent as application/x-www-form-urlencoded',
    flaw,
    shapes: ['form'],
    why: 'A form parser on the same route passes its result to the handler, and the verification never sees it.',
    fix: 'Remove the form parser from this route, and verify before any parser runs.',
  },
  {
    id: 'signature/missing-in-form-fields',
    title: 'Rejects an unsigned notification in the fields of a form',
    flaw,
    shapes: ['form-fields', 'multipart'],
    why: 'From `data[type]=BUY`, a form parser builds the same object as a JSON parser, often without verification.',
    fix: 'Remove `urlencoded()` and multipart parsers from this route, and verify before any parser runs.',
  },
  {
    id: 'signature/missing-without-content-type',
    title: 'Rejects an unsigned delivery without a Content-Type',
    flaw,
    shapes: ['no-type'],
    why: 'Code that selects the check by Content-Type selects no check when the header is missing.',
    fix: 'Verify every request, and answer 415 to a missing Content-Type only after that.',
  },
  {
    id: 'signature/missing-in-other-types',
    title: 'Rejects an unsigned delivery sent as XML, vendor JSON, bytes or APPLICATION/JSON',
    flaw,
    shapes: ['upper-case-type', 'vendor-json', 'xml', 'bytestream'],
    why: 'A parser that verifies handles one Content-Type, but the handler may also get bodies from other parsers.',
    fix: 'Read the body of every type as bytes, and verify it in a separate step. The report names the accepted type.',
  },
  {
    id: 'signature/wrong-in-other-types',
    title: 'Rejects an invalid signature on a delivery with another Content-Type',
    flaw: 'random-signature',
    shapes: ['text', 'form-fields', 'no-type', 'vendor-json'],
    why: 'A gateway that requires the header can hide that the receiver compares it only for JSON.',
    fix: 'Compare the signature of every request, whatever its Content-Type is. The report names the accepted type.',
  },
  {
    id: 'signature/over-nothing-in-other-types',
    title: 'Rejects the signature of an empty body on a delivery with another Content-Type or encoding',
    flaw: 'signature-of-nothing',
    shapes: ['text', 'form', 'no-type', 'multipart', 'gzip'],
    why:
      'If the raw body is kept by the JSON parser only, other types are verified as an empty text, whose signature ' +
      'is then valid for every body.',
    fix: 'Read the body of every type as bytes, and reject a delivery whose raw body is not there.',
  },
  {
    id: 'signature/over-unread-body',
    title: 'Rejects the signature of {} on any delivery',
    flaw: 'signature-of-empty-object',
    shapes: ['plain', 'text', 'no-type'],
    why:
      'Parsers leave `{}` where they have read nothing. If it is serialised and verified, its signature is valid for ' +
      'every body of that type.',
    fix: 'Verify the bytes as received, not a serialised object. The report names the accepted type.',
  },
];

const framings: readonly Crossing[] = [
  {
    id: 'signature/missing-with-gzip',
    title: 'Rejects an unsigned delivery with Content-Encoding: gzip',
    flaw,
    shapes: ['gzip'],
    why:
      'When a proxy or parser decompresses the body, the original bytes are gone, and some receivers then skip the ' +
      'check.',
    fix: 'Verify the bytes as received, or answer 415: the sender does not compress.',
  },
  {
    id: 'signature/unsigned-chunked',
    title: 'Rejects an unsigned delivery with a chunked body',
    flaw,
    shapes: ['chunked', 'empty-chunked', 'signature-in-trailer'],
    why: 'Without Content-Length, some checks treat the body as empty and skip the verification.',
    fix: 'Read the body to its end, and verify what was read. Read no credential from a trailer.',
  },
  {
    id: 'signature/missing-in-http-1-0',
    title: 'Rejects an unsigned delivery sent over HTTP/1.0',
    flaw,
    shapes: ['http-1-0'],
    why: 'Some load balancers check health over HTTP/1.0, and an exception for them is an exception for everyone.',
    fix: 'Give health checks their own route, and verify deliveries of every HTTP version.',
  },
  {
    id: 'signature/missing-without-body',
    title: 'Rejects an unsigned request that has no body and no length',
    flaw,
    shapes: ['no-body', 'no-body-no-type'],
    why: 'Some body parsers skip a request without a body, and then do not call the callback that verifies it.',
    fix: 'Verify in a separate step after the parser, and treat a missing body like an empty one.',
  },
  {
    id: 'signature/missing-with-expect',
    title: 'Rejects an unsigned delivery with Expect: 100-continue',
    flaw,
    shapes: ['expect'],
    why: 'A server with a separate handler for this header (Node: `checkContinue`) can bypass the verification.',
    fix: 'Call the same handler for both kinds of requests, with the verification in front of it.',
  },
  {
    id: 'signature/wrong-in-other-framings',
    title: 'Rejects an invalid signature on a delivery with another framing',
    flaw: 'random-signature',
    shapes: ['gzip', 'chunked', 'expect', 'no-body'],
    why: 'If the body is not buffered, a check that needs its bytes may be skipped, although the header is present.',
    fix: 'Reject a delivery that cannot be verified. The report names the accepted framing.',
  },
];

const requests: readonly Crossing[] = [
  {
    id: 'signature/missing-by-other-methods',
    title: 'Rejects an unsigned notification sent by PUT, PATCH or DELETE',
    flaw,
    shapes: ['put', 'patch', 'delete'],
    why: 'Verification that is mounted for POST does not run for other methods, but a catch-all handler does.',
    fix: 'Mount handler and verification for POST only, and answer 405 to other methods.',
  },
  {
    id: 'signature/missing-by-get',
    title: 'Rejects an unsigned notification or handshake sent by GET',
    flaw,
    shapes: ['get', 'get-with-handshakes'],
    why:
      'Middleware often exempts GET from verification, and a catch-all handler still reads its body. Handshakes by ' +
      'GET echo a text of the query.',
    fix: 'Answer GET with 404, 405 or a static page.',
  },
  {
    id: 'signature/missing-by-rare-methods',
    title: 'Rejects an unsigned notification sent by OPTIONS or PROPFIND',
    flaw,
    shapes: ['options', 'propfind'],
    why:
      'CORS rules exempt OPTIONS, and rules with a list of methods do not cover the others. ' +
      'A catch-all handler reads the body of both.',
    fix: 'Mount handler and verification for POST only, and let nothing but the CORS middleware answer OPTIONS.',
  },
  {
    id: 'signature/missing-with-overridden-method',
    title: 'Rejects an unsigned notification whose method is overridden',
    flaw,
    shapes: [
      ...(['put-as-post', 'patch-as-post', 'get-as-post'] as const),
      ...(['post-as-put', 'post-as-delete', 'post-as-get', 'form-as-put'] as const),
    ],
    why: 'A check for POST that runs before the override sees one method, and the handler behind it sees another.',
    fix: 'Turn off method overriding for this route, and mount the verification on the handler itself.',
  },
  {
    id: 'signature/wrong-by-other-methods',
    title: 'Rejects an invalid signature on a notification sent by PUT or GET',
    flaw: 'random-signature',
    shapes: ['put', 'get', 'put-as-post'],
    why: 'The presence of the header may be checked for all methods, but the signature compared only for POST.',
    fix: 'Mount handler and verification for POST only, and answer 405 to other methods.',
  },
  {
    id: 'signature/missing-at-other-paths',
    title: 'Rejects an unsigned delivery at other spellings of the path',
    flaw,
    shapes: [
      ...(['trailing-slash', 'other-case', 'double-slash', 'encoded-path', 'dot-segments'] as const),
      ...(['path-parameter', 'path-extension', 'absolute-target'] as const),
      'encoded-line-end',
    ],
    why:
      'Routers and proxies may treat several spellings as one path. Rules that match the path as text protect ' +
      'only one of them.',
    fix: 'Mount the verification on the handler itself, not on a path. The report names the accepted spelling.',
  },
  {
    id: 'signature/missing-through-open-path',
    title: 'Rejects an unsigned delivery at a path that leads through an open one',
    flaw,
    shapes: ['open-prefix', 'open-prefix-parameter'],
    why:
      'A rule for paths that start with /health sees /health/../webhook before a router resolves it. ' +
      'Tomcat and Spring also resolve "..;".',
    fix: 'Resolve the path before any rule reads it, or mount the verification on the handler itself.',
  },
  {
    id: 'signature/missing-below-endpoint',
    title: 'Rejects an unsigned delivery at a path below the endpoint, such as /health',
    flaw,
    shapes: [
      ...(['below-health', 'below-healthz', 'below-ping', 'below-status', 'below-test'] as const),
      ...(['below-public', 'below-static'] as const),
    ],
    why:
      'Rules that leave out health checks, tests and static files by the end of the path also leave out deliveries ' +
      'where a prefix is enough to reach the handler.',
    fix: 'Serve deliveries at the exact path only, and mount the verification on the handler itself.',
  },
  {
    id: 'signature/missing-at-unknown-host',
    title: 'Rejects an unsigned delivery with an unknown Host',
    flaw,
    shapes: ['unknown-host'],
    why: 'Where the Host selects the tenant and with it the secret, an unknown one may leave nothing to check.',
    fix: 'Reject hosts that are not configured, and answer 401 when no secret is found.',
  },
  {
    id: 'signature/missing-at-local-host',
    title: 'Rejects an unsigned delivery with Host: localhost',
    flaw,
    shapes: ['local-host'],
    why: 'Any client can send any Host. A receiver that trusts it treats every client as local.',
    fix: 'Serve only your own host names, and verify deliveries for every Host.',
  },
];

/** Unsigned and wrongly signed deliveries in every shape. */
export const signatureShapes: readonly Crossing[] = [...kinds, ...contents, ...types, ...framings, ...requests];

/** Deliveries without a signature in the sender's own shape, and an old one with a valid signature. */
export const missingSignatures: readonly Scenario[] = [
  {
    id: 'signature/missing',
    title: 'Rejects a delivery without the signature header',
    level: 'must',
    requirements: ['hmac-missing'],
    needs: ['hmac'],
    change: { sign: unsigned },
    expect: refused,
    why: 'An attacker who knows the URL can report a completed sale.',
    fix:
      'Answer 401 when the header is absent. `if (header && !valid)` and reading the length of undefined are the ' +
      'usual causes.',
  },
  {
    id: 'signature/empty',
    title: 'Rejects an empty signature header',
    level: 'must',
    requirements: ['hmac-missing', 'hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('', 'an empty signature header') },
    expect: refused,
    why: 'An empty string is falsy in many languages, so a check that skips missing signatures skips this one too.',
    fix: 'Compare an empty string like any other invalid value. Do not take it to mean that HMAC is disabled.',
  },
  {
    id: 'signature/blank',
    title: 'Rejects a signature header that contains only spaces',
    level: 'must',
    requirements: ['hmac-missing', 'hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('   ', 'three spaces as signature') },
    expect: refused,
    why: 'A proxy sees that the header is present, and the HTTP server then trims it to an empty string.',
    fix: 'Verify the trimmed value in the receiver. A proxy rule that requires the header to be present is not enough.',
  },
  {
    id: 'signature/one-year-old',
    title: 'Accepts a correctly signed notification whose time is one year ago',
    level: 'should',
    requirements: ['envelope-at-open'],
    needs: ['hmac'],
    change: { compose: (kit) => ({ ...kit.notification(), at: epochSeconds(kit) - 365 * 86_400 }) },
    expect: accepted,
    why: 'The time says when something happened, not when it was sent. A delayed delivery would be lost.',
    fix: 'Remove the time window, and detect replays by the id, which is covered by the signature.',
  },
];
