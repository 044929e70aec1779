/** Deliveries of every type and shape without an API key, some of which claim that none is needed. */
import type { Crossing } from '../forgery.ts';
import { crossings } from './family.ts';

/** Types, shapes, headers and parameters that must not make the key optional. */
export const keyCrossings: readonly Crossing[] = crossings(
  { suite: 'api-key', flaw: 'no-key', mistake: 'conditional-key-check' },
  {
    'missing-for-every-kind': [
      'a delivery without the API key for every type of notification',
      ['sell', 'tracking', 'refund', 'payment-method', 'wallet', 'deposit', 'unknown-type'],
    ],
    'missing-on-other-contents': [
      'a list, a handshake, a ping or a test notification without the API key',
      ['array', 'challenge', 'handshakes', 'ping', 'tiny', 'test-flags', 'verified-state'],
    ],
    'missing-with-claims': [
      'a delivery without the API key that claims to be internal, verified or a test',
      [
        ...(['loopback-addresses', 'private-addresses', 'debug-header', 'environment-header'] as const),
        ...(['verified-header', 'sender-agent', 'origin'] as const),
      ],
      'key-exempt-claims',
    ],
    'missing-with-switches': [
      'a delivery without the API key whose headers claim that no check is needed',
      [
        ...(['skip-headers', 'identity-headers', 'platform-headers', 'sender-headers'] as const),
        ...(['method-override', 'cookies', 'returned-headers', 'key-headers'] as const),
      ],
      'key-exempt-claims',
    ],
    'missing-with-open-paths': [
      'a delivery without the API key whose headers name an open path',
      [
        ...(['rewritten-to-health', 'rewritten-to-healthz', 'rewritten-to-ping', 'rewritten-to-public'] as const),
        'rewritten-to-root',
      ],
    ],
    'missing-on-form-handshakes': ['a form with handshakes of other senders without the API key', ['form-handshakes']],
    'missing-with-health-agent': [
      'a delivery without the API key that has the User-Agent of a health check or a tool',
      ['agent-curl', 'agent-probe'],
      'key-exempt-claims',
    ],
    'missing-with-test-query': [
      'a delivery without the API key that has a test parameter in its query string',
      ['test-queries', 'query-switches', 'query-handshakes'],
      'key-exempt-claims',
    ],
    'named-in-request': [
      'an API key that the request itself names as the expected one',
      ['key-in-query', 'key-in-body', 'key-in-cookies'],
      'named-expected-key',
      { flaw: 'named-key' },
    ],
    'missing-at-other-paths': [
      'a delivery without the API key at other spellings of the URL',
      [
        ...(['trailing-slash', 'double-slash', 'encoded-path', 'open-prefix', 'absolute-target'] as const),
        ...(['below-health', 'unknown-host'] as const),
      ],
    ],
    'missing-with-charset': ['a delivery without the API key whose Content-Type has a charset', ['json-with-charset']],
    'missing-in-other-shapes': [
      'a delivery without the API key as text, as a form, empty or compressed',
      ['text', 'form', 'form-fields', 'no-type', 'vendor-json', 'empty-body', 'gzip'],
    ],
    'missing-in-other-requests': [
      'a delivery without the API key sent with another method or framing',
      ['put', 'get', 'chunked', 'http-1-0', 'expect', 'no-body'],
    ],
    'missing-with-overridden-method': [
      'a delivery without the API key whose method is overridden',
      ['put-as-post', 'post-as-put'],
    ],
    'missing-on-malformed': [
      'broken JSON without the API key as unauthenticated',
      ['broken-json'],
      'key-checked-late',
      { requirements: ['key-missing', 'delivery-malformed-unsigned'] },
    ],
    'wrong-with-large-body': [
      'an invalid API key with a body of more than 1 MiB',
      ['over-1-mib'],
      'key-refusal-hangs-up',
      { requirements: ['key-invalid', 'delivery-size'], flaw: 'random-key' },
    ],
  },
);
