import { type JsonObject, sameHeaderName } from '../../contract/index.ts';
import { both, moveToHeader, moveToQuery, replaceHeader, underscored, withoutHeader } from '../changes/addressing.ts';
import { unsigned } from '../changes/signing.ts';
import { refused, refusedOrChosen, refusedTwice } from '../expectations.ts';
import { atAnotherUrl } from '../forgery.ts';
import type { AddressChange, Kit, Scenario } from '../scenario.ts';

const wrongSignature = (kit: Kit) => kit.bytes(32).toString('base64');

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

/** The valid signature in a header of this name as well, unless that is the agreed one. */
function inAnother(address: AddressChange, name: string): AddressChange {
  const label = 'the signature in headers of other senders instead of the agreed one';
  const copy: AddressChange = {
    label,
    make: (head, kit, body) =>
      sameHeaderName(name, kit.signatureHeader)
        ? head
        : { ...head, headers: [...head.headers, [name, kit.sign(body)]] },
  };
  return both(label, address, copy);
}

/** The valid signature in another place, or together with an invalid one. */
export const misplacedSignatures: readonly Scenario[] = [
  {
    id: 'signature/two-lines-right-first',
    title: 'Handles two signature headers with the valid one first',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'two signature headers, valid and invalid', (name, valid, kit) => [
        [name, valid],
        [name, wrongSignature(kit)],
      ]),
    },
    expect: refusedOrChosen,
    why: 'When a proxy reads the last line and the receiver the first one, they do not verify the same delivery.',
    fix: 'Reject a delivery with more than one signature header: count the lines before you read the value.',
  },
  {
    id: 'signature/two-lines-wrong-first',
    title: 'Handles two signature headers with the invalid one first',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'two signature headers, invalid and valid', (name, valid, kit) => [
        [name, wrongSignature(kit)],
        [name, valid],
      ]),
    },
    expect: refusedOrChosen,
    why:
      'Frameworks return a repeated header as an array or as a joined string, and code that expects one string ' +
      'can fail.',
    fix: 'Check that the header is a single string, and answer 401 when it is not.',
  },
  {
    id: 'signature/two-lines-both-wrong',
    title: 'Rejects two signature headers that are both invalid',
    level: 'must',
    requirements: ['hmac-invalid', 'hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'two signature headers, both invalid', (name, _valid, kit) => [
        [name, wrongSignature(kit)],
        [name, wrongSignature(kit)],
      ]),
    },
    expect: refusedTwice,
    why: 'A repeated header is a list in some frameworks, and a check for text only does not look at a list.',
    fix: 'Continue only when the comparison says so: `if (isValid(signature))`, not `if (isText && !isValid)`.',
  },
  {
    id: 'signature/list-right-first',
    title: 'Handles a list of signatures in one header with the valid one first',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'one header with a list, valid and invalid', (name, valid, kit) => [
        [name, `${valid}, ${wrongSignature(kit)}`],
      ]),
    },
    expect: refusedOrChosen,
    why:
      'Repeated headers are joined like this. A decoder that stops at "=" sees only the first signature of the ' +
      'list.',
    fix: 'Compare the complete value as a string: a comma makes it invalid.',
  },
  {
    id: 'signature/list-wrong-first',
    title: 'Handles a list of signatures in one header with the invalid one first',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'one header with a list, invalid and valid', (name, valid, kit) => [
        [name, `${wrongSignature(kit)}, ${valid}`],
      ]),
    },
    expect: refusedOrChosen,
    why: 'A receiver that searches a list for a valid signature gives an attacker many guesses in each request.',
    fix: 'Remove the loop over several signatures: this sender sends exactly one.',
  },
  {
    id: 'signature/in-x-signature',
    title: 'Rejects the valid signature in the header X-Signature',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToHeader('signature', 'X-Signature', 'the signature in X-Signature instead of the agreed header'),
    },
    expect: refused,
    why: 'Every additional header name bypasses the rules of a gateway for the agreed one.',
    fix: 'Read only the header that was agreed with the operator, and remove alternative names.',
  },
  {
    id: 'signature/in-x-hub-signature-256',
    title: 'Rejects the valid signature in the header X-Hub-Signature-256',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToHeader(
        'signature',
        'X-Hub-Signature-256',
        'the signature in X-Hub-Signature-256 instead of the agreed header',
      ),
    },
    expect: refused,
    why: 'This header belongs to another sender, whose secret would then work here as well.',
    fix: 'Use a separate route and verification for each sender, so that their headers do not mix.',
  },
  {
    id: 'signature/in-usual-headers',
    title: 'Rejects the valid signature in the headers of other senders',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: { address: USUAL_HEADERS.reduce(inAnother, withoutSignature) },
    ifAccepted: USUAL_HEADERS.map((name) => ({
      role: 'narrows',
      label: name,
      change: { address: inAnother(withoutSignature, name) },
    })),
    expect: refused,
    why: 'A library for many senders may read the header of each of them, but gateway rules cover only the agreed one.',
    fix: 'Configure the library for the agreed header only. The report names the header.',
  },
  {
    id: 'signature/in-underscore-name',
    title: 'Rejects the valid signature in a header with underscores instead of hyphens',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    // The API key shows whether the server maps both spellings of every header to one name, as CGI and WSGI do.
    needs: ['hmac', 'api-key'],
    change: { address: underscored('signature') },
    ifAccepted: [
      { role: 'compares', label: 'the API key with underscores', change: { address: underscored('api-key') } },
    ],
    expect: refused,
    why: 'A gateway that checks or removes the agreed header misses the other spelling, and the receiver reads it.',
    fix: 'Read the header by its exact name, and let the server drop names with underscores, as nginx does by default.',
  },
  {
    id: 'signature/in-authorization',
    title: 'Rejects the valid signature in the header Authorization',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToHeader(
        'signature',
        'Authorization',
        'the signature in Authorization instead of the agreed header',
      ),
    },
    expect: refused,
    why: 'Proxies rewrite and remove this header, so a receiver that relies on it fails behind one.',
    fix: 'Do not fall back to Authorization when the signature header is absent: answer 401.',
  },
  {
    id: 'signature/in-cookie',
    title: 'Rejects the valid signature in a cookie',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToHeader(
        'signature',
        'Cookie',
        'the signature in a cookie instead of the agreed header',
        (valid) => `signature=${valid}`,
      ),
    },
    expect: refused,
    why: 'Some frameworks search headers, cookies and parameters for a name, and browsers send cookies automatically.',
    fix: 'Read the header by name, not an "input" or "parameter" that may come from anywhere.',
  },
  {
    id: 'signature/in-query',
    title: 'Rejects the valid signature in the query string',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing', 'delivery-elsewhere'],
    needs: ['hmac'],
    ...atAnotherUrl({
      address: moveToQuery('signature', 'the signature in ?signature= instead of the agreed header', () => 'signature'),
    }),
    why: 'URLs are stored in access logs and browser histories, and the signature with them.',
    fix: 'Remove the lookup in the query string. It is often left over from manual tests.',
  },
  {
    id: 'signature/in-body-unsigned',
    title: 'Rejects an unsigned delivery with a signature in its body',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      compose: (kit): JsonObject => {
        const notification = kit.notification();
        return { ...notification, signature: kit.sign(Buffer.from(JSON.stringify(notification))) };
      },
      sign: unsigned,
    },
    expect: refused,
    why:
      'A signature inside the signed body has to be removed before verification, so the received bytes are not ' +
      'verified.',
    fix: 'Read the signature from the header only, and ignore a field of that name in the body.',
  },
];
