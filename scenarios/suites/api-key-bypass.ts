import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../contract/index.ts';
import { addHeaders, addQuery, both, setHeader, withoutHeader } from '../changes/addressing.ts';
import { compact, fixedText } from '../changes/bodies.ts';
import { refused, refusedInAnotherShape, refusedMalformed } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { AddressChange, Change, Delivery, Kit, Scenario } from '../scenario.ts';

const withoutKey = withoutHeader('api-key', 'no API key header');

/** One delivery without a key for each claim that must not replace it. */
function claiming(claims: readonly AddressChange[]): readonly (readonly Delivery[])[] {
  return claims.map((claim) => [
    {
      label: claim.label,
      change: { address: both(`no API key header, and ${claim.label}`, claim, withoutKey) },
      expect: refused,
    },
  ]);
}

function ofKind(label: string, compose: (kit: Kit) => JsonObject): readonly Delivery[] {
  return [{ label, change: { compose, address: withoutKey }, expect: refused }];
}

function inShape(label: string, change: Change): readonly Delivery[] {
  return [{ label, change, expect: refusedInAnotherShape }];
}

function withoutKeyAnd(claim: AddressChange): AddressChange {
  return both(`no API key header, and ${claim.label}`, claim, withoutKey);
}

const base = { level: 'must', requirements: ['key-missing'], needs: ['api-key'] } as const;

/** Types, headers and parameters that must not make the key optional. */
export const keyBypasses: readonly Scenario[] = [
  {
    ...base,
    id: 'api-key/missing-for-every-kind',
    title: 'Rejects a delivery without the API key for every type of notification',
    flow: () => [
      ofKind('SELL', (kit) => order(kit, 'SELL', 'COMPLETED')),
      ofKind('ORDER_TRACKING', (kit) => tracking(kit, 'BUY', 'COMPLETED')),
      ofKind('REFUND', (kit) => refund(kit, 'SUCCESS')),
      ofKind('PAYMENT_METHOD', (kit) => paymentMethod(kit, 'STAGED')),
      ofKind('WALLET', (kit) => wallet(kit)),
      ofKind('CAAS_BLOCKCHAIN', (kit) => deposit(kit)),
      ofKind('an unknown type', (kit) => ({
        ...kit.notification(),
        type: `TEST_UNKNOWN_${kit.nonce(6).toUpperCase()}`,
      })),
    ],
    why: 'A route or branch for a newer type may lack the key check, and every test with an order passes.',
    fix: 'Check the key before the whole route, so that no branch runs without it.',
  },
  {
    ...base,
    id: 'api-key/missing-with-claims',
    title: 'Rejects a delivery without the API key that claims to be internal, verified or a test',
    flow: () =>
      claiming([
        setHeader('X-Forwarded-For', '127.0.0.1'),
        setHeader('X-Real-IP', '127.0.0.1'),
        setHeader('Forwarded', 'for=127.0.0.1;proto=https'),
        setHeader('X-Debug', '1'),
        setHeader('X-Environment', 'test'),
        setHeader('X-Service-Verified', 'true'),
        setHeader('User-Agent', 'Service-Webhooks/1.0'),
        setHeader('Origin', 'http://localhost'),
      ]),
    why: 'Any client can set these headers, so an exception for them is an exception for everyone.',
    fix: 'Make no exception by address, origin or environment that the request itself names.',
  },
  {
    ...base,
    id: 'api-key/missing-with-test-query',
    title: 'Rejects a delivery without the API key that has a test parameter in its query string',
    flow: () =>
      claiming(['skip=1', 'test=true', 'debug=1'].map((query) => addQuery(`${query} in the query`, () => query))),
    why: 'Switches for manual tests stay in the code, and their names are easy to guess.',
    fix: 'Remove the switch, and send the key with test deliveries too.',
  },
  {
    ...base,
    id: 'api-key/missing-with-charset',
    title: 'Rejects a delivery without the API key whose Content-Type has a charset',
    change: {
      address: both(
        'no API key header, and Content-Type with a charset',
        setHeader('Content-Type', 'application/json; charset=utf-8'),
        withoutKey,
      ),
    },
    expect: refused,
    why: 'A check for one exact media type does not run, and the handler for all other types accepts the delivery.',
    fix: 'Check the key before any parser is selected, whatever the Content-Type is.',
  },
  {
    ...base,
    id: 'api-key/missing-in-other-shapes',
    title: 'Rejects a delivery without the API key as text, as a form, empty or compressed',
    flow: () => [
      inShape('text/plain', { address: withoutKeyAnd(setHeader('Content-Type', 'text/plain')) }),
      inShape('a form', { address: withoutKeyAnd(setHeader('Content-Type', 'application/x-www-form-urlencoded')) }),
      inShape('no Content-Type', {
        address: withoutKeyAnd(withoutHeader({ name: 'Content-Type' }, 'no Content-Type')),
      }),
      inShape('an empty body', { serialise: fixedText(''), address: withoutKey }),
      inShape('gzip', {
        serialise: (value) => gzipSync(compact(value)),
        address: withoutKeyAnd(addHeaders('Content-Encoding: gzip', () => [['Content-Encoding', 'gzip']])),
      }),
    ],
    why: 'A check in the JSON parser or in a proxy rule does not run for other types of requests.',
    fix: 'Check the key first, for every request to the endpoint. The report names the request that was accepted.',
  },
  {
    ...base,
    id: 'api-key/missing-on-malformed',
    title: 'Rejects broken JSON without the API key as unauthenticated',
    requirements: ['key-missing', 'delivery-malformed-unsigned'],
    change: { serialise: fixedText('{"id": "broken'), address: withoutKey },
    expect: refusedMalformed,
    why: 'A 400 shows that unauthenticated requests reach the parser, and its answers reveal how the endpoint works.',
    fix: 'Check the key before the body is parsed.',
  },
];
