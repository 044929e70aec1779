import type { JsonObject } from '../../contract/index.ts';
import { moveToHeader, moveToQuery, replaceHeader } from '../changes/addressing.ts';
import { unsigned } from '../changes/signing.ts';
import { refused, refusedOrChosen } from '../expectations.ts';
import type { Kit, Scenario } from '../scenario.ts';

const wrongSignature = (kit: Kit) => kit.bytes(32).toString('base64');

/** The right signature in a place that was not agreed, or beside a wrong one. */
export const misplacedSignatures: readonly Scenario[] = [
  {
    id: 'signature/two-lines-right-first',
    title: 'Does not fail on two signature headers, the right one first',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'two signature headers, right and wrong', (name, right, kit) => [
        [name, right],
        [name, wrongSignature(kit)],
      ]),
    },
    expect: refusedOrChosen,
    why: 'A proxy that looks at the last line and a receiver that takes the first one do not check the same delivery.',
    fix: 'Refuse a delivery with more than one signature header: count the lines before you read the value.',
  },
  {
    id: 'signature/two-lines-wrong-first',
    title: 'Does not fail on two signature headers, the wrong one first',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'two signature headers, wrong and right', (name, right, kit) => [
        [name, wrongSignature(kit)],
        [name, right],
      ]),
    },
    expect: refusedOrChosen,
    why: 'Frameworks give a repeated header as an array or as joined text, and code that expects one text can crash on it.',
    fix: 'Check that the header is a single text before you use it as one, and answer 401 when it is not.',
  },
  {
    id: 'signature/list-right-first',
    title: 'Does not fail on a list of signatures in one header, the right one first',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'one header with a list, right and wrong', (name, right, kit) => [
        [name, `${right}, ${wrongSignature(kit)}`],
      ]),
    },
    expect: refusedOrChosen,
    why: 'That is how repeated headers look once they are joined. A decoder that stops at "=" only ever sees the first of the list.',
    fix: 'Compare the whole value as text; a comma in it makes it wrong.',
  },
  {
    id: 'signature/list-wrong-first',
    title: 'Does not fail on a list of signatures in one header, the wrong one first',
    level: 'should',
    requirements: ['hmac-header'],
    needs: ['hmac'],
    change: {
      address: replaceHeader('signature', 'one header with a list, wrong and right', (name, right, kit) => [
        [name, `${wrongSignature(kit)}, ${right}`],
      ]),
    },
    expect: refusedOrChosen,
    why: 'A receiver that searches a list for any signature that fits gives a forger many guesses in each request.',
    fix: 'Take out the loop over several signatures; this sender sends exactly one.',
  },
  {
    id: 'signature/in-x-signature',
    title: 'Refuses the right signature in the header X-Signature',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToHeader('signature', 'X-Signature', 'the signature in X-Signature in place of the agreed header'),
    },
    expect: refused,
    why: 'Each further header name is a way around whatever a gateway does with the agreed one.',
    fix: 'Read the header that was configured with the operator, and drop the list of alternative names.',
  },
  {
    id: 'signature/in-x-hub-signature-256',
    title: 'Refuses the right signature in the header X-Hub-Signature-256',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToHeader(
        'signature',
        'X-Hub-Signature-256',
        'the signature in X-Hub-Signature-256 in place of the agreed header',
      ),
    },
    expect: refused,
    why: 'The name belongs to another sender. Both secrets would then open both doors.',
    fix: 'Give each sender its own route with its own verification, so that their headers do not mix.',
  },
  {
    id: 'signature/in-authorization',
    title: 'Refuses the right signature in the header Authorization',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToHeader(
        'signature',
        'Authorization',
        'the signature in Authorization in place of the agreed header',
      ),
    },
    expect: refused,
    why: 'Proxies rewrite and drop this header. A receiver that relies on it stops working behind the next one.',
    fix: 'Do not fall back to Authorization when the signature header is absent: absent means 401.',
  },
  {
    id: 'signature/in-cookie',
    title: 'Refuses the right signature in a cookie',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToHeader(
        'signature',
        'Cookie',
        'the signature in a cookie in place of the agreed header',
        (right) => `signature=${right}`,
      ),
    },
    expect: refused,
    why: 'Some frameworks look a name up in headers, cookies and parameters alike, and browsers send cookies on their own.',
    fix: 'Ask the framework for the header by name, not for an "input" or "parameter" that may come from anywhere.',
  },
  {
    id: 'signature/in-query',
    title: 'Refuses the right signature in the query of the URL',
    level: 'must',
    requirements: ['hmac-header', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: moveToQuery(
        'signature',
        'the signature in ?signature= in place of the agreed header',
        () => 'signature',
      ),
    },
    expect: refused,
    why: 'URLs stand in access logs and browser histories, and the signature with them.',
    fix: 'Remove the lookup in the query; it is often left over from testing by hand.',
  },
  {
    id: 'signature/in-body-unsigned',
    title: 'Refuses an unsigned delivery with a signature in its body',
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
    why: 'A signature inside of what it signs must be cut out before the check, and the bytes that arrived are verified no more.',
    fix: 'Read the signature from the header only, and ignore a field of that name in the body.',
  },
];
