import { ids, mistakes } from './mistake.ts';

/** How to accept a list of valid secrets, by stack. */
const BOTH_SECRETS = {
  node:
    'Keep the secrets in a list: `[process.env.WEBHOOK_SECRET, process.env.WEBHOOK_PREVIOUS_SECRET]' +
    '.filter(Boolean)`. Compute the HMAC under each, and accept the delivery if ' +
    '`a.length === b.length && timingSafeEqual(a, b)` is true for one.',
  python:
    'Keep the secrets in a list, without empty ones, and write `any([hmac.compare_digest(received.encode("utf-8", ' +
    '"replace"), signature(secret).encode()) for secret in secrets])`: the list compares with all of them.',
  go: 'Compute the HMAC under each secret that is not empty, and accept the delivery if `hmac.Equal` is true for one.',
  java:
    'Treat a null header as empty, compute the HMAC under each secret that is not empty, and combine the results of ' +
    '`MessageDigest.isEqual`.',
  php:
    'Call `hash_equals($expected, $_SERVER["HTTP_X_SERVICE_SIGNATURE"] ?? "")` for each secret that is not empty, in ' +
    'a loop without `break`: null is a `TypeError`.',
  ruby: 'Compare with `OpenSSL.secure_compare` under each secret that is not empty, and collect the results.',
  dotnet: 'Call `CryptographicOperations.FixedTimeEquals` for each secret that is not empty, and combine the results.',
  rust: 'Call `verify_slice` on a new `Hmac` for each secret that is not empty, and combine the results with `|`.',
} as const;

/** Mistakes of receivers during the rotation of a secret. */
export const ROTATION_MISTAKES = mistakes({
  'second-secret-ignored': {
    title: 'Accepts only one of two valid secrets',
    seen:
      'One setting for the secret, a second one that only some handlers read, a loop that returns false after the ' +
      'first mismatch, or a cache of the secret that matched, by process, connection or tenant.',
    why:
      'Sender and receiver do not switch at the same moment. Every delivery between the two switches is rejected, ' +
      'and may be lost.',
    fix: {
      rule:
        'Verify with a list of secrets in one place, for every kind of notification: compute the HMAC under each, ' +
        'compare all of them in constant time, and accept the delivery if one matches. Keep nothing from one ' +
        'delivery to the next.',
      ...BOTH_SECRETS,
    },
    severity: 'medium',
    cwe: 324,
    implies: ['state-shared-by-requests'],
  },
  'secret-outside-its-time': {
    title: 'Accepts a secret before or after the time in which it is valid',
    seen:
      'An old secret that remains in a list, in another process or in the configuration of one route, or a next one ' +
      'that is active as soon as it is stored.',
    why:
      'A secret is rotated because others may know it. As long as it is accepted, they can forge every ' +
      'notification.',
    fix: {
      rule:
        'Remove the old secret from every process and route when the rotation is over, and reload the list from the ' +
        'configuration instead of adding to the one in memory. Send a delivery with the old secret, and expect ' +
        '401.',
      node: 'Replace the list (`secrets = read()`), instead of `secrets.push(...)`, or restart every process.',
      laravel: 'Run `php artisan config:cache` on every host, and restart the workers: both keep the old value.',
      rails: 'Restart every process of the server: credentials are read at start-up.',
      spring: 'Use `@RefreshScope` for the bean that has the secrets, or restart: `@Value` is read once.',
    },
    severity: 'high',
    cwe: 324,
    implies: ids('cached-verification unset-secret'),
  },
  'deliveries-lost-in-switch': {
    title: 'Rejects valid deliveries while its secrets are switched',
    seen: 'A list that is emptied before it is filled again, or two settings that are read one after the other.',
    why: 'The specification mentions no retry, so a delivery that is rejected at this moment is lost.',
    fix: {
      rule:
        'Read the new list first, check it, and then replace the old one in one step. Where the receiver restarts, ' +
        'start the new process before the old one ends.',
    },
    severity: 'low',
    cwe: 362,
  },
});
