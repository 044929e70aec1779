import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../contract/index.ts';
import { addHeaders, both, setHeader, withoutHeader } from '../changes/addressing.ts';
import { compact, fixedText } from '../changes/bytes.ts';
import { literal, unsigned } from '../changes/signing.ts';
import { accepted, refused, refusedInAnotherShape } from '../expectations.ts';
import { deposit, epochSeconds, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { Change, Kit, Scenario } from '../scenario.ts';

/** An unsigned delivery of one kind. It changes two stages: what is sent, and that it is not signed. */
function unsignedKind(
  slug: string,
  name: string,
  compose: (kit: Kit) => JsonObject,
  why: string,
  fix: string,
): Scenario {
  return {
    id: `signature/unsigned-${slug}`,
    title: `Refuses an unsigned ${name}`,
    level: 'must',
    requirements: ['hmac-every-delivery', 'hmac-missing'],
    needs: ['hmac'],
    change: { compose, sign: unsigned },
    expect: refused,
    why,
    fix,
  };
}

const kinds: readonly Scenario[] = [
  unsignedKind(
    'buy',
    'BUY notification that is confirmed',
    (kit) => order(kit, 'BUY', 'CONFIRMED'),
    'A forged confirmation makes the partner hand out goods or credit for crypto that never arrived.',
    'Put the verification before the switch on the type, so that no branch is reached without it.',
  ),
  unsignedKind(
    'sell',
    'SELL notification that is completed',
    (kit) => order(kit, 'SELL', 'COMPLETED'),
    'A forged sale makes the partner pay out money.',
    'Check that the handler for SELL stands behind the same verification as the one for BUY.',
  ),
  unsignedKind(
    'order-tracking',
    'ORDER_TRACKING notification',
    (kit) => tracking(kit, 'SELL', 'COMPLETED'),
    'It is sent for few providers and so rarely tested; a forged one reports cash that nobody handed over.',
    'Verify before data.type is read, so that the third kind of CAAS cannot take a path of its own.',
  ),
  unsignedKind(
    'refund',
    'REFUND notification',
    (kit) => refund(kit, 'SUCCESS'),
    'A forged refund closes a claim that is still open, and the user never sees the money.',
    'Look for a route or function for refunds that was added later and parses the body itself.',
  ),
  unsignedKind(
    'payment-method',
    'PAYMENT_METHOD notification',
    (kit) => paymentMethod(kit, 'STAGED'),
    'A forged status unlocks a card that was not verified, or blocks the card of somebody else.',
    'Harmless-looking status changes need the signature too: move the check out of the handlers of payments.',
  ),
  unsignedKind(
    'wallet',
    'WALLET notification',
    (kit) => wallet(kit),
    'With a forged address the customers of the partner pay into the wallet of the forger.',
    'Apply the verification to the route as a whole; wallets come from onboarding code with a parser of its own.',
  ),
  unsignedKind(
    'deposit',
    'CAAS_BLOCKCHAIN notification',
    (kit) => deposit(kit),
    'A forged deposit credits an account with crypto that nobody sent.',
    'Make the default for a new type "verified", not "skipped": this type came later than the others.',
  ),
  unsignedKind(
    'unknown-type',
    'notification of a type that is not known',
    (kit) => ({ ...kit.notification(), type: `TEST_UNKNOWN_${kit.nonce(6).toUpperCase()}` }),
    'An early 200 for unknown types tells strangers which types exist and shows that they are read unverified.',
    'Answer 200 to an unknown type only after its signature was found right.',
  ),
];

const noSignature = withoutHeader('signature', 'no signature header');
const asText = setHeader('Content-Type', 'text/plain');
const asForm = setHeader('Content-Type', 'application/x-www-form-urlencoded');
const withoutType = withoutHeader({ name: 'Content-Type' }, 'no Content-Type');
const asGzip = addHeaders('Content-Encoding: gzip', () => [['Content-Encoding', 'gzip']]);

/** An unsigned delivery in a form that the sender itself never uses. */
function unsignedShape(slug: string, title: string, change: Change, why: string, fix: string): Scenario {
  return {
    id: `signature/missing-${slug}`,
    title,
    level: 'must',
    requirements: ['hmac-every-delivery', 'hmac-missing'],
    needs: ['hmac'],
    change,
    expect: refusedInAnotherShape,
    why,
    fix,
  };
}

const shapes: readonly Scenario[] = [
  unsignedShape(
    'as-text',
    'Rejects an unsigned delivery sent as text/plain',
    { address: both('text/plain, without a signature header', asText, noSignature) },
    'A verification that runs inside the JSON parser does not run for text, although the handler does.',
    'Verify the raw body in a step of its own, whatever the Content-Type is.',
  ),
  unsignedShape(
    'as-form',
    'Rejects an unsigned delivery sent as application/x-www-form-urlencoded',
    { address: both('a form Content-Type, without a signature header', asForm, noSignature) },
    'A form parser on the same route passes its result to the handler, and the verification never sees it.',
    'Remove the form parser from this route, and verify before any parser runs.',
  ),
  unsignedShape(
    'without-content-type',
    'Rejects an unsigned delivery without a Content-Type',
    { address: both('neither a Content-Type nor a signature header', withoutType, noSignature) },
    'Code that selects the check by Content-Type selects no check when the header is missing.',
    'Verify every request, and answer 415 to a missing Content-Type only after that.',
  ),
  unsignedShape(
    'with-empty-body',
    'Rejects an unsigned delivery with an empty body',
    { serialise: fixedText(''), sign: unsigned },
    'An endpoint that answers 200 to an empty request confirms deliveries that it has neither verified nor read.',
    'Remove the early answer for empty bodies. An empty body has a signature like any other.',
  ),
  unsignedShape(
    'with-gzip',
    'Rejects an unsigned delivery with Content-Encoding: gzip',
    { serialise: (value) => gzipSync(compact(value)), address: both('gzip, no signature header', asGzip, noSignature) },
    'When a proxy or parser decompresses the body, the original bytes are gone, and some receivers then skip the check.',
    'Verify the bytes as received, or answer 415: the sender does not compress.',
  ),
];

/** Deliveries without a signature, of every kind and in every form; and an old one with a right signature. */
export const missingSignatures: readonly Scenario[] = [
  {
    id: 'signature/missing',
    title: 'Refuses a delivery without the signature header',
    level: 'must',
    requirements: ['hmac-missing'],
    needs: ['hmac'],
    change: { sign: unsigned },
    expect: refused,
    why: 'Whoever finds the URL can report a completed sale. Receivers that crash here can be switched off by anyone, too.',
    fix: 'Answer 401 when the header is absent. `if (header && !valid)` and reading the length of undefined are the usual causes.',
  },
  {
    id: 'signature/empty',
    title: 'Refuses an empty signature header',
    level: 'must',
    requirements: ['hmac-missing', 'hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('', 'an empty signature header') },
    expect: refused,
    why: 'Empty text is falsy in many languages: a check that is skipped without a signature is skipped here as well.',
    fix: 'Let empty text fail the comparison like any other wrong value; do not use it as a sign that HMAC is off.',
  },
  {
    id: 'signature/blank',
    title: 'Refuses a signature header of blanks',
    level: 'must',
    requirements: ['hmac-missing', 'hmac-invalid'],
    needs: ['hmac'],
    change: { sign: literal('   ', 'three blanks as signature') },
    expect: refused,
    why: 'The HTTP server trims it to nothing after a proxy in front has seen that the header is there.',
    fix: 'Do the check in the receiver and on the trimmed value; a proxy rule "header present" is not enough.',
  },
  ...kinds,
  ...shapes,
  {
    id: 'signature/one-year-old',
    title: 'Accepts a rightly signed notification whose time is a year ago',
    level: 'should',
    requirements: ['delivery-200', 'envelope-at'],
    needs: ['hmac'],
    change: { compose: (kit) => ({ ...kit.notification(), at: epochSeconds(kit) - 365 * 86_400 }) },
    expect: accepted,
    why: 'The time says when something happened, not when it was sent. A delivery that was held up would be lost for good.',
    fix: 'Remove the time window: guard against replays by the id, which the signature covers.',
  },
];
