import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../contract/index.ts';
import { addHeaders, both, setHeader, withoutHeader } from '../changes/addressing.ts';
import { compact, fixedText } from '../changes/bodies.ts';
import { literal, unsigned } from '../changes/signing.ts';
import { accepted, refused, refusedInAnotherShape } from '../expectations.ts';
import { deposit, epochSeconds, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { Change, Kit, Scenario } from '../scenario.ts';

/** An unsigned delivery of one type. It changes two stages: the notification and the signature. */
function unsignedKind(
  slug: string,
  name: string,
  compose: (kit: Kit) => JsonObject,
  why: string,
  fix: string,
): Scenario {
  return {
    id: `signature/unsigned-${slug}`,
    title: `Rejects an unsigned ${name}`,
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
    'confirmed BUY notification',
    (kit) => order(kit, 'BUY', 'CONFIRMED'),
    'A forged confirmation makes you deliver goods or credit for crypto that never arrived.',
    'Verify before the `switch` on `type`, so that no branch runs without verification.',
  ),
  unsignedKind(
    'sell',
    'completed SELL notification',
    (kit) => order(kit, 'SELL', 'COMPLETED'),
    'A forged sale makes you pay out money.',
    'Make sure that SELL uses the same verification as BUY.',
  ),
  unsignedKind(
    'order-tracking',
    'ORDER_TRACKING notification',
    (kit) => tracking(kit, 'SELL', 'COMPLETED'),
    'Few providers send it, so it is rarely tested. A forged one reports cash that was never paid.',
    'Verify before data.type is read, so that ORDER_TRACKING has no separate code path.',
  ),
  unsignedKind(
    'refund',
    'REFUND notification',
    (kit) => refund(kit, 'SUCCESS'),
    'A forged refund closes an open claim, and the user never gets the money.',
    'Look for a separate refund route or function that parses the body itself, and verify the signature there ' +
      'before parsing.',
  ),
  unsignedKind(
    'payment-method',
    'PAYMENT_METHOD notification',
    (kit) => paymentMethod(kit, 'STAGED'),
    'A forged status unlocks a card that was not verified, or blocks the card of another user.',
    'Verify status changes too: move the verification out of the payment handlers.',
  ),
  unsignedKind(
    'wallet',
    'WALLET notification',
    (kit) => wallet(kit),
    "A forged address makes your customers pay into an attacker's wallet.",
    'Apply the verification to the whole route. Wallet code is often part of the onboarding code, which has its ' +
      'own parser.',
  ),
  unsignedKind(
    'deposit',
    'CAAS_BLOCKCHAIN notification',
    (kit) => deposit(kit),
    'A forged deposit credits an account with crypto that was never sent.',
    'Verify new types by default: this type was added later than the others.',
  ),
  unsignedKind(
    'unknown-type',
    'notification of an unknown type',
    (kit) => ({ ...kit.notification(), type: `TEST_UNKNOWN_${kit.nonce(6).toUpperCase()}` }),
    'An early 200 for unknown types reveals which types exist, and that the type is read before verification.',
    'Answer 200 to an unknown type only after the signature has been verified.',
  ),
];

const noSignature = withoutHeader('signature', 'no signature header');
const asText = setHeader('Content-Type', 'text/plain');
const asForm = setHeader('Content-Type', 'application/x-www-form-urlencoded');
const withoutType = withoutHeader({ name: 'Content-Type' }, 'no Content-Type');
const asGzip = addHeaders('Content-Encoding: gzip', () => [['Content-Encoding', 'gzip']]);

/** An unsigned delivery in a form that the sender never uses. */
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
    'Verify the raw body in a separate step, for every Content-Type.',
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
    'When a proxy or parser decompresses the body, the original bytes are gone, and some receivers then skip the ' +
      'check.',
    'Verify the bytes as received, or answer 415: the sender does not compress.',
  ),
];

/** Deliveries without a signature, of every type and in other forms, and an old one with a valid signature. */
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
  ...kinds,
  ...shapes,
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
