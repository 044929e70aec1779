import { UNSIGNED } from './consequences.ts';
import { ids, mistakes } from './mistake.ts';

/** Mistakes in the deployment of an endpoint, and those that a run shows only as a whole. */
export const ENDPOINT_MISTAKES = mistakes({
  'host-name-not-published': {
    title: 'Is registered with a host name that does not resolve',
    seen: 'Names that are misspelt, not published yet, or known only inside another network.',
    why: 'The sender finds no address to connect to, and every delivery fails.',
    fix: {
      rule:
        'Check the spelling of the URL, publish the name in public DNS, and look it up on the machine that runs ' +
        'hookproof (`getent hosts NAME`).',
    },
    severity: 'critical',
    cwe: 684,
  },
  'port-not-served': {
    title: 'Does not listen on the port of the registered URL',
    seen: 'Receivers that are not running, listen on another port, or listen on localhost inside a container.',
    why: 'The port is closed, and every delivery fails.',
    fix: {
      rule:
        'Start the receiver, and compare its host and port with the URL. In a container, listen on 0.0.0.0 and ' +
        'publish the port.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'sender-blocked-by-network': {
    title: 'Cannot be reached over the network',
    seen: 'Firewalls that drop the packets, missing routes, and machines that are off.',
    why: 'No connection is established, and every delivery fails after a timeout.',
    fix: {
      rule:
        'Allow connections from the machine that runs hookproof, and from the addresses of the sender in ' +
        'production.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'protocol-mismatch': {
    title: 'Speaks another protocol on the port than the registered URL requires',
    seen:
      'A TLS port in a URL with http, plain HTTP in a URL with https, only TLS versions below 1.2, or another ' +
      'service on the port.',
    why: 'The two sides do not understand each other, and every delivery fails before it reaches the handler.',
    fix: {
      rule:
        'Check the port, and begin the URL with https if the port speaks TLS. Serve HTTP over TLS 1.2 or higher on ' +
        'the port of an https URL.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'handler-failure': {
    title: 'Fails on a valid delivery with 5xx or a closed connection',
    seen: 'Handlers that throw or crash before they answer, and proxies whose upstream server is down.',
    why: 'The delivery is not accepted, and the sender may retry it until it gives up.',
    fix: {
      rule:
        'Check the log of the receiver at the time of the delivery, and answer on every path through the handler. ' +
        'Check that the proxy reaches the receiver.',
      express:
        'If the raw body is undefined: `express.raw()` skips application/json, and `express.raw({ type: () => true ' +
        '})` reads every type.',
    },
    severity: 'critical',
    cwe: 755,
  },
  'oversized-response-headers': {
    title: 'Sends very large response headers',
    seen: 'Cookies and debug headers that a framework adds to every answer.',
    why: 'HTTP clients need not read more than 16 KiB of headers, so the sender cannot read the status.',
    fix: { rule: 'Answer with a status and a short body, and remove cookies and debug headers from this path.' },
    severity: 'high',
    cwe: 684,
  },
  'redirect-before-handler': {
    title: 'Redirects deliveries instead of handling them',
    seen: 'Redirects from http to https, for a missing or extra trailing slash, and to a login page.',
    why: 'The sender does not follow redirects, and a redirected POST can become a GET. Nothing is delivered.',
    fix: { rule: 'Register the final URL, and exclude the path from the login of users.' },
    severity: 'critical',
    cwe: 684,
  },
  'route-mismatch': {
    title: 'Has no route for POST at the registered URL',
    seen: 'Paths without the prefix of a reverse proxy, and routes that are registered for another method.',
    why: 'The server answers, but no delivery reaches the handler.',
    fix: {
      rule:
        'Register the handler for POST at exactly the path of the URL, including the prefix of a reverse proxy. If ' +
        'the receiver answers 404 to ids that it does not know, list known ids under `samples` in the configuration ' +
        'file.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'sender-throttled': {
    title: 'Applies a rate limit that rejects single deliveries',
    seen: 'Limits of a gateway or of middleware that are set for users, and quotas that are exhausted.',
    why: 'Deliveries are rejected with 429 even with pauses between them, and may be lost after the last retry.',
    fix: { rule: 'Raise the limit for the sender. Run again with `--concurrency 1` once the limit has reset.' },
    severity: 'high',
    cwe: 684,
  },
  'over-strict-validation': {
    title: 'Rejects notifications that are valid by the specification',
    seen:
      'Validation that is stricter than the specification, rejected content types, and lookups of ids that exist ' +
      'only in production.',
    why: 'The notification is never accepted, and retries do not change that.',
    fix: {
      rule:
        'Accept application/json and every field, type and status of the specification, and ignore unknown ones. If ' +
        'the receiver looks ids up or needs additional fields, list known ids and these fields under `samples` in ' +
        'the configuration file.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'credentials-differ': {
    title: 'Is configured with another secret, API key or header name than the sender',
    seen:
      'Secrets of another environment, a newline at the end of a secret file, header names that were agreed later, ' +
      'and signatures that are computed in another way.',
    why: 'Every delivery is rejected, although its credentials are valid.',
    fix: {
      rule:
        'Compare secret, API key and header names on both sides. If they are the same, log the signature that the ' +
        'receiver computes and the body that it reads, then run `hookproof verify body.json --signature ' +
        '"$COMPUTED"`. `hookproof proxy --to URL` shows the deliveries of the real sender, and why their signatures ' +
        'do not match.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'nothing-verified': {
    title: 'Answers 200 to every delivery: valid, forged and malformed ones',
    seen:
      'Placeholder handlers, checks that are never awaited, answers that are sent before the check, and errors that ' +
      'are reported with 200.',
    why:
      'If nothing is verified, anyone who knows the URL can report a payment that never happened. If the answer ' +
      'comes before the check, the sender takes every delivery for accepted.',
    fix: {
      rule:
        'Verify the signature and the key first, and answer 401 at once when either is missing or invalid. The ' +
        'reference receiver shows the order of the steps.',
    },
    severity: 'critical',
    cwe: 306,
    implies: [
      ...UNSIGNED,
      ...ids(
        'forgery-accepted no-signature-verification unchecked-key client-without-certificate-accepted',
        'acknowledged-before-checks payload-not-validated method-not-restricted unguarded-parser',
        'payload-root-unchecked nested-object-unchecked text-type-unchecked text-form-unchecked',
        'time-conversion-unchecked number-conversion-unchecked value-longer-than-column inherited-name-lookup',
        'payload-text-unencoded undecodable-body-throws uncaught-error missing-field-unchecked',
        'deep-nesting-unhandled lenient-parser query-operators-from-payload lossy-body-text unstorable-characters',
        'resource-not-released decoded-body client-certificate-not-verified certificate-check-conditional',
        'certificate-header-unprotected recorded-before-certificate-check resumed-session-unverified',
        'verification-error-tolerated hand-written-certificate-check client-name-not-compared',
        'absent-signature-passes signature-check-throws signature-format-only several-signatures',
        'surrounding-text-ignored signature-used-as-pattern signature-treated-as-url-text base64-variant',
        'wrong-digest-encoding digest-handled-as-text foreign-signature-format confused-credentials',
        'verification-fails-open partial-comparison one-credential-enough raw-body-fallback signed-part-of-body',
        'well-known-secret other-hmac-hash hash-instead-of-hmac converted-secret hand-written-comparison',
        'verdict-kept-by-id unread-body-verified swapped-hmac-arguments signature-letter-case shortened-secret',
        'secret-with-extra-characters cached-verification serial-body-reads known-id-revealed imitated-body-format',
        'failures-lock-out body-left-unread body-as-c-string unread-key optional-key request-chooses-credentials',
        'key-from-other-place partial-key-comparison conditional-key-check altered-key unset-key key-exempt-claims',
        'key-as-pattern key-check-throws key-as-list named-expected-key key-in-sql key-checked-late key-as-property',
        'derived-key-comparison',
      ),
    ],
  },
  'forgery-accepted': {
    title: 'Accepts deliveries whose credentials are missing or invalid',
    seen: 'Checks such as `if (header && !valid)`, which accept every request without the header.',
    why: 'An attacker who finds the gap can report a payment that never happened.',
    fix: {
      rule:
        'Treat a missing header like an invalid one: `if (!header || !valid)` answers 401. Verify every request that ' +
        'reaches the handler, whatever its content type, framing, method, path or headers.',
    },
    severity: 'critical',
    cwe: 287,
  },
  'state-between-deliveries': {
    title: 'Accepts valid deliveries at one time and rejects them at another',
    seen:
      'Variables outside the handler, caches, limits, a blocked event loop, and decoders that turn a plus sign of ' +
      'the signature into a space.',
    why:
      'The receiver depends on what it received before, or on what differs from one valid delivery to the next. ' +
      'Valid deliveries are lost, which looks random.',
    fix: {
      rule:
        'Remove state that one delivery leaves to the next, and compare the signature header as received, without a ' +
        'form or URL decoder.',
    },
    severity: 'high',
    cwe: 684,
  },
});
