import { type JsonObject, sameHeaderName } from '../../contract/index.ts';
import { signatureHeadersOf } from '../../contract/signing/index.ts';
import { both, moveToHeader, moveToQuery, replaceHeader, underscored, withoutHeader } from '../changes/addressing.ts';
import { randomSignature, type SigningScheme, signatureHeader, unsigned } from '../changes/signing.ts';
import { refusedOrChosen, refusedWithTwoInvalid } from '../expectations.ts';
import { atAnotherUrl } from '../forgery.ts';
import type { AddressChange, Change, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { rejected } from './signature-family.ts';

type Values = (valid: string, invalid: () => string) => readonly string[];

/** Sends the signature header with each of these values on its own line. */
const lines =
  (values: Values) =>
  (label: string): Change => ({
    address: replaceHeader('signature', label, (name, valid, kit) =>
      values(valid, () => signatureHeader(randomSignature(kit), kit)).map((value) => [name, value]),
    ),
  });

/** Sends the valid signature in this header instead of the agreed one. */
const inHeader =
  (name: string, value?: (valid: string) => string) =>
  (label: string): Change => ({ address: moveToHeader('signature', name, label, value) });

/** The headers in which other senders send a signature. */
const USUAL_HEADERS = [
  'Signature',
  'X-Signature-256',
  'X-Signature-SHA256',
  'X-Webhook-Signature',
  'Webhook-Signature',
  'X-Hub-Signature',
  'X-Hmac-Signature',
  'X-Hmac-SHA256',
  'X-Service-Hmac',
  'X-Service-Signature-256',
  'X-Payload-Signature',
  'X-Shopify-Hmac-SHA256',
  'X-Line-Signature',
  'X-Square-HmacSHA256-Signature',
  'Stripe-Signature',
  'Svix-Signature',
];

const withoutSignature = withoutHeader('signature', 'no signature header');

/** Returns the headers in which the receivers of a sender read signatures. */
const ownHeaders = ({ signatureHeader: agreed, scheme }: Kit): string[] =>
  scheme === undefined ? [agreed] : signatureHeadersOf(scheme.literal);

/** Adds this header with the valid signature, unless it is the agreed one. */
function inAnother(address: AddressChange, name: string): AddressChange {
  const label = 'the signature in headers of other senders instead of the agreed one';
  const copy: AddressChange = {
    label,
    make: (head, kit, body) =>
      ownHeaders(kit).some((own) => sameHeaderName(name, own))
        ? head
        : { ...head, headers: [...head.headers, [name, signatureHeader(kit.sign(body), kit)]] },
  };
  return both(label, address, copy);
}

const inUsualHeaders = { address: USUAL_HEADERS.reduce(inAnother, withoutSignature) };
const inEachUsualHeader = USUAL_HEADERS.map((name) => ({
  role: 'narrows' as const,
  label: name,
  change: { address: inAnother(withoutSignature, name) },
}));

const inQuery = (label: string) => atAnotherUrl({ address: moveToQuery('signature', label, () => 'signature') });

const inBody: Change = {
  compose: (kit): JsonObject => {
    const notification = kit.notification();
    return { ...notification, signature: kit.sign(Buffer.from(JSON.stringify(notification))) };
  },
  sign: unsigned,
};

/** The valid signature in another place, or next to an invalid one. */
export function misplacedSignatures(scheme: SigningScheme): Scenario[] {
  const { header, missing } = scheme.requirements;
  const together = {
    ...rejected(scheme, 'header'),
    verb: 'Handles',
    level: 'should',
    expect: refusedOrChosen,
  } as const;
  const elsewhere = rejected(scheme, 'header', 'missing');
  return [
    ...family(
      { ...together, mistake: 'several-signatures' },
      {
        'two-lines-right-first': [
          'two signature headers with the valid one first',
          lines((valid, invalid) => [valid, invalid()]),
          { note: 'A proxy may read the last line and the receiver the first one.' },
        ],
        'two-lines-wrong-first': [
          'two signature headers with the invalid one first',
          lines((valid, invalid) => [invalid(), valid]),
        ],
      },
    ),
    ...family(
      { ...rejected(scheme, 'invalid', 'header'), expect: refusedWithTwoInvalid },
      {
        'two-lines-both-wrong': [
          'two signature headers that are both invalid',
          lines((_valid, invalid) => [invalid(), invalid()]),
          'several-signatures',
          { note: 'A check for text only, `if (isText && !isValid)`, does not look at an array.' },
        ],
      },
    ),
    ...family(
      { ...together, of: 'a list of signatures in one header', mistake: 'several-signatures' },
      {
        'list-right-first': [
          'with the valid one first',
          lines((valid, invalid) => [`${valid}, ${invalid()}`]),
          { note: 'Repeated headers are joined like this.' },
        ],
        'list-wrong-first': ['with the invalid one first', lines((valid, invalid) => [`${invalid()}, ${valid}`])],
      },
    ),
    ...family(
      { ...elsewhere, of: 'the valid signature', mistake: 'other-signature-place' },
      {
        'in-x-signature': ['in the header X-Signature', inHeader('X-Signature')],
        'in-x-hub-signature-256': ['in the header X-Hub-Signature-256', inHeader('X-Hub-Signature-256')],
        'in-usual-headers': ['in the headers of other senders', inUsualHeaders, { followUps: inEachUsualHeader }],
        'in-underscore-name': [
          'in a header with underscores instead of hyphens',
          { address: underscored('signature') },
          {
            // The API key header shows whether the server maps both spellings of every header to one name, as CGI and
            // WSGI do.
            needs: [scheme.feature, 'api-key'],
            followUps: [
              { role: 'compares', label: 'the API key with underscores', change: { address: underscored('api-key') } },
            ],
          },
        ],
        'in-authorization': ['in the header Authorization', inHeader('Authorization')],
        'in-cookie': ['in a cookie', inHeader('Cookie', (valid) => `signature=${valid}`)],
        'in-query': [
          'in the query string',
          inQuery,
          {
            requirements: [header, missing, 'delivery-elsewhere'],
            note: 'Access logs and browser histories keep URLs, and with them the signature.',
          },
        ],
      },
    ),
    ...family(elsewhere, {
      'in-body-unsigned': [
        'an unsigned delivery with a signature in its body',
        inBody,
        'other-signature-place',
        { note: 'The field is removed before verification, so the received bytes are not verified.' },
      ],
    }),
  ];
}
