/**
 * Deliveries without a valid signature that claim to need none, or that state the secret with which they are signed.
 */
import type { Crossing } from '../forgery.ts';
import { crossings } from './family.ts';

const UNSIGNED = { suite: 'signature', flaw: 'no-signature', of: 'an unsigned delivery' } as const;

/** Source addresses, headers and parameters that must not make the signature optional. */
export const signatureBypasses: readonly Crossing[] = [
  ...crossings(
    { ...UNSIGNED, mistake: 'test-mode-from-request' },
    {
      'unsigned-forwarded-for-loopback': [
        'with X-Forwarded-For: 127.0.0.1',
        ['forwarded-for-loopback'],
        'spoofed-client-address',
      ],
      'unsigned-real-ip-loopback': ['with X-Real-IP: 127.0.0.1', ['real-ip-loopback'], 'spoofed-client-address'],
      'unsigned-forwarded-loopback': [
        'with Forwarded: for=127.0.0.1',
        ['forwarded-loopback'],
        'spoofed-client-address',
      ],
      'unsigned-private-address': [
        'with headers that claim a private or loopback address',
        ['private-addresses', 'loopback-addresses', 'lan-addresses', 'container-addresses'],
        'spoofed-client-address',
      ],
      'unsigned-skip-headers': ['with headers that ask to skip the verification', ['skip-headers']],
      'unsigned-algorithm-headers': [
        'with headers that name "none" as the algorithm, or an old version',
        ['algorithm-headers'],
        'algorithm-from-request',
      ],
      'unsigned-identity-headers': [
        'with headers that a gateway sets after authentication',
        ['identity-headers'],
        'spoofed-request-header',
      ],
      'unsigned-platform-headers': [
        'with headers that a hosting platform sets',
        ['platform-headers'],
        'spoofed-request-header',
        { note: 'A platform removes such headers from outside requests; on another host, any client can send them.' },
      ],
      'unsigned-sender-headers': [
        'with headers of handshakes, tests or retries of other senders',
        ['sender-headers'],
        'foreign-handshake',
      ],
      'unsigned-connection-options': [
        'whose Connection header removes the headers of a proxy',
        ['connection-options'],
        'spoofed-client-address',
        { note: 'A proxy removes the headers that Connection names (CVE-2022-31813).' },
      ],
      'unsigned-open-paths': [
        'with headers that name an open path',
        [
          ...(['rewritten-to-health', 'rewritten-to-healthz', 'rewritten-to-ping', 'rewritten-to-metrics'] as const),
          ...(['rewritten-to-public', 'rewritten-to-static', 'rewritten-to-login', 'rewritten-to-favicon'] as const),
          ...(['rewritten-to-robots', 'rewritten-to-well-known', 'rewritten-to-root'] as const),
        ],
        'verification-per-path',
        { note: 'Some frameworks and proxies take the path from X-Original-URL or X-Forwarded-Uri.' },
      ],
      'unsigned-form-handshakes': [
        'that is the handshake of another sender, in a form',
        ['form-handshakes', 'form-ping'],
        'foreign-handshake',
      ],
      'unsigned-health-agent': [
        'that has the User-Agent of a health check or a tool',
        ['agent-curl', 'agent-probe', 'agent-balancer'],
        'spoofed-request-header',
      ],
      'unsigned-session-cookie': [
        'with session cookies, or with tokens that the endpoint has returned',
        ['cookies', 'returned-headers'],
        'other-credential-suffices',
      ],
      'unsigned-debug-header': ['with X-Debug: 1', ['debug-header']],
      'unsigned-environment-header': ['with X-Environment: test', ['environment-header']],
      'unsigned-verified-header': ['with X-Service-Verified: true', ['verified-header'], 'spoofed-request-header'],
      'unsigned-sender-user-agent': ["with the sender's User-Agent", ['sender-agent'], 'spoofed-request-header'],
      'unsigned-internal-referer': ['with an internal Referer', ['referer'], 'spoofed-request-header'],
      'unsigned-internal-origin': ['with an internal Origin', ['origin'], 'spoofed-request-header'],
      'unsigned-method-override': ['with X-HTTP-Method-Override: GET', ['method-override'], 'verification-per-method'],
      'unsigned-authorization': ['with an Authorization header', ['authorization'], 'other-credential-suffices'],
      'unsigned-bearer-token': [
        'with an unsigned bearer token',
        ['bearer-token'],
        'other-credential-suffices',
        { note: 'The authenticator for users may accept the algorithm "none".' },
      ],
      'unsigned-query-skip': ['with ?skip=1', ['query-skip']],
      'unsigned-query-test': ['with ?test=true', ['query-test']],
      'unsigned-query-debug': ['with ?debug=1', ['query-debug']],
      'unsigned-query-switches': ['with common switches in its query string', ['query-switches']],
      'unsigned-query-results': [
        'whose query string says that it is valid',
        ['query-results'],
        'request-overwrites-state',
      ],
      'unsigned-query-handshakes': [
        'with handshakes of other senders in its query string',
        ['query-handshakes'],
        'foreign-handshake',
      ],
    },
  ),
  ...crossings(
    { suite: 'signature', flaw: 'named-secret', of: 'a delivery', mistake: 'unset-secret' },
    {
      'secret-named-in-request': [
        'signed with a secret that the request itself names',
        ['secret-in-query', 'secret-in-body', 'secret-in-cookies', 'secret-in-headers'],
        'request-overwrites-state',
      ],
      'secret-empty-in-other-types': [
        'of another type that is signed with an empty secret',
        ['unknown-type', 'wallet', 'refund', 'deposit', 'payment-method'],
        { flaw: 'empty-secret' },
      ],
      'secret-empty-for-unknown-keys': [
        'that names an unknown secret or tenant and is signed with an empty secret',
        ['key-headers', 'unknown-host'],
        { flaw: 'empty-secret' },
      ],
    },
  ),
  ...crossings(UNSIGNED, {
    'unsigned-key-headers': ['with headers that name an unknown secret or tenant', ['key-headers'], 'unset-secret'],
    'unsigned-open-path-in-query': [
      'with the open path /health in its query string',
      ['query-open-path'],
      'verification-per-path',
    ],
  }),
];
