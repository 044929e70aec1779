import type { StageFault } from './fault.ts';
import { alsoAccepting, SIGNATURE, type Signed, signed, unverified } from './lenient-verifier.ts';

const missing = ({ header }: Signed) => header === undefined || header === '';

/** Signatures that are taken from other places than the agreed header. */
export const misplacedSignatureFaults: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'other-signature-headers',
    title: 'The signature is also taken from X-Signature or X-Hub-Signature-256.',
    seen: 'Generic receivers with a list of header names from several senders.',
    why: 'Each further name is a way around whatever a gateway does with the agreed one.',
    fix: {
      rule: 'Read the header that was agreed, and no other.',
      express: 'Replace the list of names by `req.get("X-Service-Signature")`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting((delivery) =>
      ['X-Signature', 'X-Hub-Signature-256'].some((name) => delivery.right.includes(delivery.req.get(name) ?? '')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-authorization',
    title: 'The signature is also taken from the Authorization header.',
    seen: 'Authentication layers that look for every credential in one place.',
    why: 'Proxies rewrite and drop this header, and tokens of users stand in it.',
    fix: { rule: 'Read the agreed header only.', express: 'Remove `?? req.get("Authorization")`.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting(
      (delivery) => missing(delivery) && delivery.right.includes(delivery.req.get('Authorization') ?? ''),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-query',
    title: 'The signature is also taken from the query of the URL.',
    seen: 'Leftovers from tests by hand, and frameworks that look a name up in headers and parameters alike.',
    why: 'URLs stand in access logs, and the signature with them.',
    fix: {
      rule: 'Read the header only.',
      express: 'Remove `?? req.query.signature`.',
      laravel: 'Use `$request->header(...)`, not `$request->input(...)`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting(({ req, right }) =>
      right.includes(new URL(req.url, 'http://receiver').searchParams.get('signature') ?? ''),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-cookie',
    title: 'The signature is also taken from a cookie.',
    seen: 'Frameworks that look a name up in headers, cookies and parameters alike.',
    why: 'Browsers send cookies on their own, whoever made them send the request.',
    fix: { rule: 'Read the header only.', express: 'Remove `?? req.cookies.signature`.' },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting(({ req, right }) =>
      right.some((one) => req.get('Cookie')?.split(/; */).includes(`signature=${one}`) === true),
    ),
  },
  {
    ...SIGNATURE,
    name: 'signature-in-body',
    title: 'The signature is also taken from a field of the body, which is cut out before the check.',
    seen: 'Receivers that also serve a sender who signs inside of the body.',
    why: 'What is verified is a body that was put together again and not the bytes that arrived.',
    fix: {
      rule: 'Read the header, and verify the raw body.',
      express: 'Remove `const { signature, ...rest } = req.body`.',
    },
    severity: 'medium',
    forbidden: true,
    replace: alsoAccepting((delivery) => {
      const { signature, ...rest } = unverified(delivery);
      const body = Buffer.from(JSON.stringify(rest));
      return missing(delivery) && delivery.secrets.some((secret) => signature === signed(secret, body));
    }),
  },
];
