import { matchesAny } from '../../../harness/diagnose/index.ts';
import { STATUS_SCENARIOS } from '../../../harness/judge/index.ts';
import type { Played } from './play.ts';

/**
 * The scenarios that do not have to turn a mutant red, each with the reason. Level `info` is never red and is not
 * listed.
 */
export const EXEMPT_PROBES: Readonly<Record<string, string>> = {
  'raw-body/first-byte-alone':
    'Whether the first byte is read separately depends on the load of the machine; in-pieces and ' +
    'large-in-pieces always find the same mutants.',
  'valid/answers-in-time':
    'It is about answers that take more than five seconds, for which the matrix does not wait; tests of the ' +
    'judge cover it.',
  'tls/http-1-1':
    'Without HTTP/1.1 no delivery is possible, so it has no verdict; the handshakes of tls/tls-1-x-http-1-1 ' +
    'find such a server.',
  'mtls/tls-1-2-revoked':
    'It needs a revocation list, which the reference receiver does not support; docs/tls-matrix.md shows it on nginx.',
  'mtls/tls-1-3-revoked':
    'It needs a revocation list, which the reference receiver does not support; docs/tls-matrix.md shows it on nginx.',
  'mtls/tls-1-3-right-certificate':
    'Connections prefer TLS 1.3: a server that refuses the valid certificate there accepts no delivery at all.',
};

/**
 * Outcomes that differ between runs, or get no verdict, because of the mutant: it depends on random values or on the
 * order of deliveries, or its answers prove nothing. Every rule and the dictionary leave them out. All others must be
 * the same in every run.
 */

export interface Uncertain {
  /** The name of the mutant. */
  readonly fault: string;
  /** The uncertain scenarios, each as an id, `suite/*` or `*`. */
  readonly scenarios: readonly string[];
  /** Exceptions: scenarios that are certain. */
  readonly sure?: readonly string[];
  readonly reason: string;
}

/** Scenarios that need a rejection. A mutant that accepts all forged deliveries has none. */
const NEED_A_REJECTION: readonly string[] = Object.values(STATUS_SCENARIOS);

/** Returns the played outcomes without the uncertain ones. */
export function withoutUncertain(played: Played, uncertain: readonly Uncertain[]): Played {
  const mine = uncertain.filter(({ fault }) => fault === played.name);
  const undecided = Object.entries(played.undecided).filter(([id]) => !NEED_A_REJECTION.includes(id));
  if (mine.length === 0) return { ...played, undecided: Object.fromEntries(undecided) };
  const isSure = ([id]: readonly [string, string]) =>
    mine.every(({ scenarios, sure = [] }) => sure.includes(id) || !matchesAny(scenarios, id));
  const keep = (cells: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(cells).filter(isSure));
  return { ...played, outcomes: keep(played.outcomes), undecided: keep(Object.fromEntries(undecided)) };
}

export const UNCERTAIN: readonly Uncertain[] = [
  {
    fault: 'secret-in-shared-variable',
    scenarios: ['rotation/*'],
    sure: ['rotation/both-at-once'],
    reason: 'Whether another delivery arrives while one waits is chance, except where eight are sent at once.',
  },
  {
    fault: 'new-secret-in-second-place',
    scenarios: ['old', 'kinds', 'replay', 'missing', 'empty'].map((name) => `rotation/after-${name}`),
    reason: 'It accepts no valid delivery after the rotation, so nothing is proved about others.',
  },
  {
    fault: 'buffer-not-cut',
    scenarios: [
      ...['http/content-type-charset', 'http/content-type-charset-upper', 'http/content-type-quoted'],
      'http/content-type-upper',
      'api-key/upper-case-name',
    ],
    reason:
      'Checks share controls, so the delivery before them on the connection, and whether it is longer, is chance.',
  },
  {
    fault: 'previous-body-verified',
    scenarios: ['signature/over-unread-body'],
    reason: 'The delivery before it on the connection may be an empty object, whose signature it sends.',
  },
  {
    fault: 'other-length-kills',
    scenarios: ['signature/*'],
    sure: ['signature/1-character', 'signature/empty'],
    reason: 'The suite is decided early once its checks have stopped the receiver for five seconds.',
  },
  {
    fault: 'missing-signature-kills',
    scenarios: ['signature/*'],
    sure: ['signature/missing'],
    reason: 'The suite is decided early once its checks have stopped the receiver for five seconds.',
  },
  {
    fault: 'refuses-with-400',
    scenarios: ['*'],
    sure: ['signature/status'],
    reason: 'It answers forged and malformed deliveries alike, so checks of the order are inconclusive.',
  },
  ...['missing-signature-is-400', 'api-key-missing-is-400'].map((fault) => ({
    fault,
    scenarios: ['*'],
    sure: NEED_A_REJECTION,
    reason: 'It answers missing credentials and malformed payloads alike, so checks of the order are inconclusive.',
  })),
  {
    fault: 'digests-compared-as-c-strings',
    scenarios: ['*'],
    sure: ['signature/after-zero-byte'],
    reason: 'The notification of that check is chosen for its digest; in others, a zero byte is random.',
  },
  {
    fault: 'compares-first-32',
    scenarios: ['signature/base64url', 'signature/base64url-padded', 'signature/percent-encoded'],
    reason: 'Whether one of the first 32 characters is spelled differently is random.',
  },
  {
    fault: 'reads-first-chunk-only',
    scenarios: ['raw-body/first-byte-alone'],
    reason: 'Whether the first byte is read separately depends on the load of the machine.',
  },
  {
    fault: 'accepts-any-part',
    scenarios: ['signature/1-character'],
    reason: 'A given character occurs in about half of all signatures.',
  },
  {
    fault: 'compares-first-8',
    scenarios: [
      'signature/after-zero-byte',
      'signature/base64url',
      'signature/base64url-padded',
      'signature/eighth-bit',
      'signature/lower-case',
      'signature/percent-encoded',
      'signature/same-as-text',
    ],
    reason: 'Whether one of the eight characters is changed or spelled differently is random.',
  },
  {
    fault: 'compares-shorter-length',
    scenarios: ['signature/percent-encoded'],
    reason: 'Whether the signature has a character that is encoded is random.',
  },
  {
    fault: 'compares-last-8',
    scenarios: [
      ...['signature/base64url', 'signature/base64url-padded', 'signature/eighth-bit', 'signature/lower-case'],
      'signature/same-as-text',
    ],
    reason: 'Whether one of the eight characters is changed or spelled differently is random.',
  },
  {
    fault: 'signature-as-regexp',
    scenarios: ['*'],
    sure: ['signature/pattern-any'],
    reason: 'Whether an invalid signature is a valid pattern depends on its plus signs.',
  },
  {
    fault: 'every-7th-answers-500',
    scenarios: ['*'],
    sure: ['valid/steady', 'http/burst', 'http/burst-mixed'],
    reason: 'Which delivery is the seventh depends on their order; many deliveries always contain one.',
  },
  {
    fault: 'burst-empties-the-pool',
    scenarios: ['*'],
    sure: ['valid/steady', 'http/burst', 'http/burst-mixed'],
    reason:
      'Checks of several simultaneous deliveries overlap by chance, and a failure that does not come again is none.',
  },
  {
    fault: 'every-20th-is-reset',
    scenarios: ['*'],
    sure: ['valid/error-codes-all', 'http/burst', 'http/burst-mixed'],
    reason: 'Which delivery is the twentieth depends on their order; many deliveries always contain one.',
  },
  {
    fault: 'every-50th-answers-500',
    scenarios: ['*'],
    sure: ['valid/steady'],
    reason: 'Which delivery is the fiftieth depends on their order.',
  },
  {
    fault: 'deep-nesting-ends-the-process',
    scenarios: ['malformed/cut-off', 'malformed/cut-off-before-body'],
    reason: 'They are in transit while the server is down, and have no answer to judge on a second attempt.',
  },
  {
    fault: 'unverified-nesting-ends-the-process',
    scenarios: ['malformed/cut-off', 'malformed/cut-off-before-body'],
    reason: 'They are in transit while the server is down, and have no answer to judge on a second attempt.',
  },
  {
    fault: 'global-regexp-keeps-position',
    scenarios: ['delivery/stays-up', 'raw-body/first-byte-alone'],
    reason:
      'A plain valid delivery fails and is accepted when it is repeated, so no delivery is found to be the cause.',
  },
  {
    fault: 'body-in-module-variable',
    scenarios: ['*'],
    sure: [
      'raw-body/in-pieces',
      'raw-body/split-characters',
      'raw-body/large-in-pieces',
      'http/forged-while-others-arrive',
    ],
    reason: 'Which other bodies arrive at the same time depends on the order of deliveries.',
  },
  {
    fault: 'one-request-at-a-time',
    scenarios: ['*'],
    sure: ['http/burst', 'http/burst-mixed'],
    reason: 'Which deliveries are simultaneous depends on the machine, and a 503 proves nothing in most scenarios.',
  },
  {
    fault: 'fails-after-200-deliveries',
    scenarios: ['*'],
    sure: ['delivery/stays-up'],
    reason: 'Which scenarios come before the two hundredth delivery depends on their order.',
  },
  {
    fault: 'refusals-keep-their-connection',
    scenarios: ['*'],
    sure: ['delivery/stays-up'],
    reason: 'Which scenarios come before the fiftieth rejection depends on the order of deliveries.',
  },
  {
    fault: 'right-certificate-refused-over-tls-1-2',
    scenarios: ['mtls/*'],
    sure: ['mtls/tls-1-2-right-certificate'],
    reason: 'No delivery over TLS 1.2 is accepted, so a rejection over it proves nothing.',
  },
  {
    fault: 'compares-digests-as-text',
    scenarios: ['signature/*'],
    sure: ['signature/same-as-text', 'signature/last-character-spare-bits'],
    reason: 'Whether a changed character changes the text depends on the bytes of the digest.',
  },
  {
    fault: 'unparsable-target-ends-the-process',
    scenarios: ['signature/*', 'api-key/*', 'delivery/stays-up'],
    sure: ['signature/missing-at-other-paths', 'api-key/missing-at-other-paths'],
    reason: 'Some checks end the process; which other checks are in flight then depends on the order of deliveries.',
  },
  ...['api-key-missing-ends-the-process', 'unverified-json-ends-the-process'].map((fault) => ({
    fault,
    scenarios: ['leaks/other-urls'],
    reason: 'A GET of another check in flight may have ended the process.',
  })),
  {
    fault: 'handles-staged-cards-before-it-answers',
    scenarios: ['*'],
    sure: ['valid/payment-method-staged'],
    reason: 'After three deliveries without an answer the waits are short; which three come first is chance.',
  },
  {
    fault: 'content-type-missing-hangs',
    scenarios: ['*'],
    sure: ['http/content-type-missing', 'signature/missing-without-content-type'],
    reason: 'After three deliveries without an answer the waits are short; which three come first is chance.',
  },
  {
    fault: 'every-10th-lost',
    scenarios: ['*'],
    sure: ['effects/accepted-handled'],
    reason: 'Which notification is the tenth depends on their order; a run always has more than ten.',
  },
  {
    fault: 'every-7th-handled-twice',
    scenarios: ['*'],
    sure: ['effects/accepted-once'],
    reason: 'Which notification is the seventh depends on their order; a run always has more than seven.',
  },
  {
    fault: 'cut-off-requests-keep-their-worker',
    scenarios: ['malformed/cut-off-many-times', 'malformed/pollution-proto'],
    reason: 'Whether the last of sixteen aborted requests is counted before or after the next delivery is chance.',
  },
  {
    fault: 'handles-malformed',
    scenarios: ['effects/nothing-else'],
    reason:
      'It counts handlings that no id explains, less the deliveries that may explain them; with about three of each, ' +
      'which were answered in time decides.',
  },
  {
    fault: 'unknown-type-stops-the-worker',
    scenarios: ['*'],
    sure: ['effects/unknown-type'],
    reason: 'Which notifications come after the first of an unknown type depends on their order.',
  },
];
