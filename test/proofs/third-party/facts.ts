/**
 * The checks of the catalogue that concern each measured fact (written by hand), and what the rulings say about the
 * fact.
 */
import { isForgery, type Outcome } from './prober.ts';

/** The measured facts of one receiver. */
export type Facts = ReadonlyMap<string, Outcome>;

/** How an endpoint answers valid and forged deliveries in the sender's own shape. */
export interface Dialect {
  readonly valid: string;
  readonly missing: string;
  readonly wrong: string;
}

export function dialectOf(facts: Facts): Dialect {
  const how = (id: string) => facts.get(id)?.how ?? '';
  return { valid: how('valid/buy'), missing: how('unsigned/json'), wrong: how('forged/random') };
}

/** `kept`, `broken`, or `soft`: not ideal, but not a failure under the rulings. */
export type State = 'kept' | 'broken' | 'soft';

export function stateOf(id: string, { result, how }: Outcome, facts: Facts): State {
  const { missing, wrong } = dialectOf(facts);
  if (isForgery(id)) {
    if (result === 'rejected' || how === '501' || how === '505') return 'kept';
    // An endpoint that answers every forgery with the same 5xx rejects with this status.
    if (result === 'crashed' && how === missing && how === wrong) return 'kept';
    if (how === 'closed' && id.endsWith('-mb')) return 'soft';
    if (result === 'crashed') return 'broken';
    if (id.startsWith('forged/lenient-')) return 'soft';
    return id.startsWith('unsigned/path-') && facts.get('unsigned/path-random')?.result === 'accepted'
      ? 'kept'
      : 'broken';
  }
  if (id.startsWith('http/') && (how === '501' || how === '505')) return 'kept';
  if (result === 'crashed') return 'broken';
  if (/^(malformed|http|leak)\//.test(id) || result === 'accepted') return 'kept';
  // A rejection with a status that differs from that of forgeries comes from a limit or a strict schema.
  const isAsForged = how === missing || how === wrong;
  if (!isAsForged && (SHOULD_BE_ACCEPTED.has(id) || id.startsWith('bytes/'))) return 'soft';
  return 'broken';
}

/** Facts for which the rulings require only acceptance or a clear 4xx. */
const SHOULD_BE_ACCEPTED = new Set([
  'valid/16-kb',
  'valid/99-kb',
  'valid/150-kb',
  'valid/1000-kb',
  'valid/ten-at-once',
  'valid/twice',
  'valid/unknown-type',
  'valid/long-text',
  'valid/charset',
  'valid/absolute-target',
  'valid/upgrade-offered',
  'bytes/lone-surrogate',
  'bytes/null-character',
]);

/** Returns whether the fact is a forgery that passes, which a run must not overlook. */
export const isBypass = (id: string, outcome: Outcome, facts: Facts) =>
  isForgery(id) && outcome.result === 'accepted' && stateOf(id, outcome, facts) === 'broken';

/** The ids of checks, by fact. `*` stands for any text. A check may concern several facts. */
const CHECKS: Readonly<Record<string, string | readonly string[]>> = {
  'valid/buy': [
    'delivery/kept-connection valid/* typo-key/* combination/both-right http/forty-headers http/headers-lower',
    'delivery/other-id-same-data delivery/same-second delivery/order-* delivery/sell-* delivery/hash-*',
    'delivery/older-* delivery/unknown-* delivery/refund* delivery/onboarding delivery/staged-*',
    'delivery/two-deposits delivery/after-long',
  ],
  'valid/sell': 'valid/sell-*',
  'valid/tracking': 'valid/tracking-*',
  'valid/refund': 'valid/refund-*',
  'valid/payment': 'delivery/three-cards valid/payment-*',
  'valid/wallet': 'valid/wallet-*',
  'valid/deposit': 'valid/deposit-* typo-key/*',
  'valid/unknown-type': 'valid/unknown-type valid/unknown-caas-type',
  'valid/twice': [
    'delivery/kept-connection delivery/twice delivery/three-times delivery/deposit-twice delivery/wallet-twice',
    'delivery/same-id-*',
  ],
  'valid/ten-at-once': 'delivery/two-at-once delivery/ten-at-once delivery/order-all-at-once http/burst*',
  'valid/charset': 'http/content-type-charset* http/content-type-quoted',
  'valid/lower-case-headers': 'http/headers-lower http/signature-header-lower api-key/lower-case-name',
  'valid/upper-case-headers': 'http/signature-header-upper http/signature-header-mixed api-key/upper-case-name',
  'valid/unknown-headers': 'valid/unknown-headers valid/long-header http/forty-headers',
  'valid/chunked': 'http/chunked raw-body/in-pieces raw-body/first-byte-alone raw-body/split-characters',
  'valid/http-1-0': 'http/version-1-0',
  'valid/expect': 'http/expect-continue',
  'valid/long-text': 'valid/free-text-long valid/free-text-unicode',
  'valid/upgrade-offered': 'http/upgrade-offered',
  'valid/absolute-target': 'http/absolute-target',
  'valid/16-kb': 'malformed/size-16-kb',
  'valid/99-kb': 'malformed/size-99-kb',
  'valid/150-kb': 'malformed/size-150-kb raw-body/large-in-pieces',
  'valid/1000-kb': 'malformed/size-1-mb',
  'valid/after-all': 'delivery/after-* delivery/stays-up delivery/poisoned-* delivery/forged-beside-right http/after-*',

  'bytes/spaces': 'raw-body/spaces raw-body/python-separators raw-body/mixed-space raw-body/tabs',
  'bytes/indented': 'raw-body/indent-* raw-body/tabs delivery/same-id-other-layout',
  'bytes/crlf-lines': 'raw-body/crlf-lines raw-body/cr-lines',
  'bytes/space-around': 'raw-body/leading-* raw-body/trailing-space',
  'bytes/newline-behind': 'raw-body/trailing-lf raw-body/trailing-crlf',
  'bytes/escaped-slash': 'raw-body/escaped-slash',
  'bytes/escaped-letter': 'raw-body/escaped-letter raw-body/escape-lower',
  'bytes/escape-upper': 'raw-body/escape-upper',
  'bytes/accent': 'raw-body/raw-accent raw-body/charset-*',
  'bytes/emoji': 'raw-body/raw-emoji raw-body/split-characters valid/free-text-emoji',
  'bytes/escaped-emoji': 'raw-body/escaped-emoji',
  'bytes/line-separator': 'valid/free-text-invisible raw-body/line-separator raw-body/format-characters',
  'bytes/html': 'raw-body/plain-html raw-body/plain-slash',
  'bytes/escaped-html': 'raw-body/escaped-html',
  'bytes/percent': 'raw-body/percent-escapes',
  'bytes/null-character': 'raw-body/null-character',
  'bytes/delete-character': 'valid/free-text-invisible raw-body/delete-character',
  'bytes/lone-surrogate': 'raw-body/lone-surrogate',
  'bytes/combining-accent': 'raw-body/combining-accent',
  'bytes/keys-reversed': 'raw-body/keys-reversed',
  'bytes/keys-like-integers': 'raw-body/keys-like-integers',
  'bytes/keys-repeated': 'raw-body/keys-repeated',
  'bytes/float-1-0': 'raw-body/float-1-0 raw-body/negative-zero-float',
  'bytes/exponent': 'raw-body/exponent raw-body/exponent-plus raw-body/exponent-21',
  'bytes/trailing-zero': 'raw-body/trailing-zero',
  'bytes/negative-zero': 'raw-body/negative-zero*',
  'bytes/big-integer': 'raw-body/integer-*',
  'bytes/long-decimal': 'raw-body/long-decimal',

  'unsigned/json': [
    'signature/missing-at-other-paths signature/unsigned-open-paths signature/missing-at-local-host',
    'leaks/known-id signature/in-* delivery/poisoned-unsigned malformed/pollution-* http/burst-mixed',
    'signature/missing combination/missing-signature-* signature/unsigned-buy http/after-refused-signature',
    'signature/status signature/after-broken signature/forged-repeat http/forged-while-others-arrive',
  ],
  'unsigned/sell': 'signature/unsigned-sell signature/wrong-on-*',
  'unsigned/tracking': 'signature/unsigned-order-tracking',
  'unsigned/refund': 'signature/unsigned-refund',
  'unsigned/payment': 'signature/unsigned-payment-method',
  'unsigned/wallet': 'signature/unsigned-wallet',
  'unsigned/deposit': 'signature/unsigned-deposit',
  'unsigned/unknown-type': 'signature/unsigned-unknown-type',
  'unsigned/charset': 'signature/unsigned-with-charset',
  'unsigned/type-text': 'signature/missing-as-text signature/missing-in-other-types signature/wrong-in-other-types',
  'unsigned/type-form': [
    'signature/missing-as-form signature/missing-in-form-fields signature/missing-in-other-types',
    'signature/wrong-in-other-types',
  ],
  'unsigned/type-multipart':
    'signature/missing-in-form-fields signature/missing-in-other-types signature/wrong-in-other-types',
  'unsigned/type-xml': 'signature/missing-in-other-types signature/wrong-in-other-types',
  'unsigned/type-suffix': 'signature/missing-in-other-types signature/wrong-in-other-types',
  'unsigned/type-upper': 'signature/missing-in-other-types signature/wrong-in-other-types',
  'unsigned/type-other': 'signature/missing-in-other-types signature/wrong-in-other-types',
  'unsigned/type-none':
    'signature/missing-without-content-type signature/missing-in-other-types signature/wrong-in-other-types',
  'unsigned/empty-body': 'signature/missing-on-pings malformed/unsigned-empty',
  'unsigned/no-body': 'signature/missing-without-body signature/wrong-in-other-framings',
  'unsigned/gzip': 'signature/missing-with-gzip signature/wrong-in-other-framings',
  'unsigned/chunked': 'signature/unsigned-chunked signature/wrong-in-other-framings',
  'unsigned/http-1-0': 'signature/missing-in-http-1-0 signature/wrong-in-other-framings',
  'unsigned/expect': 'signature/missing-with-expect signature/wrong-in-other-framings',
  'unsigned/put': 'signature/missing-by-other-methods signature/wrong-by-other-methods http/method-put',
  'unsigned/patch': 'signature/missing-by-other-methods signature/wrong-by-other-methods http/method-patch',
  'unsigned/delete': 'signature/missing-by-other-methods signature/wrong-by-other-methods http/method-delete',
  'unsigned/get':
    'signature/missing-by-get signature/missing-by-other-methods signature/wrong-by-other-methods http/method-get',
  'unsigned/get-empty':
    'signature/missing-by-get signature/missing-by-other-methods signature/wrong-by-other-methods http/get-empty',
  'unsigned/head':
    'signature/missing-by-get signature/missing-by-other-methods signature/wrong-by-other-methods http/method-head',
  'unsigned/array': 'signature/missing-on-lists',
  'unsigned/challenge': 'signature/missing-on-handshakes',
  'unsigned/tiny': 'signature/unsigned-tiny signature/missing-on-pings',
  'unsigned/test-flag': 'signature/unsigned-test-flag',
  'unsigned/verified-state': 'signature/unsigned-verified-state',
  'unsigned/gzip-that-is-plain': 'malformed/unsigned-gzip',
  'unsigned/overridden': 'signature/missing-with-overridden-method',
  'unsigned/9-mb': 'malformed/unsigned-8-mb',
  'unsigned/150-kb': 'malformed/unsigned-1-mb',
  'unsigned/2-mb': 'malformed/unsigned-1-mb',
  'unsigned/path-slash-end': 'signature/missing-at-other-paths api-key/missing-at-other-paths',
  'unsigned/path-upper-case': 'signature/missing-at-other-paths api-key/missing-at-other-paths',
  'unsigned/path-double-slash': 'signature/missing-at-other-paths api-key/missing-at-other-paths',
  'unsigned/path-encoded': 'signature/missing-at-other-paths api-key/missing-at-other-paths',
  'unsigned/path-others': 'signature/missing-at-other-paths api-key/missing-at-other-paths',
  'unsigned/path-query': 'signature/missing-at-other-paths signature/unsigned-query-* api-key/missing-at-other-paths',
  'unsigned/path-through-open': 'signature/missing-through-open-path api-key/missing-at-other-paths',
  'unsigned/by-query': 'signature/unsigned-query-* signature/unsigned-open-path-in-query',
  'unsigned/by-header': [
    'signature/unsigned-debug-header signature/unsigned-verified-header signature/unsigned-environment-*',
    'signature/unsigned-skip-headers signature/unsigned-identity-headers',
  ],
  'unsigned/by-algorithm': 'signature/unsigned-algorithm-headers',
  'unsigned/by-forwarded':
    'signature/unsigned-forwarded-* signature/unsigned-real-ip-* signature/unsigned-private-address',
  'unsigned/by-user-agent': 'signature/unsigned-sender-user-agent signature/unsigned-health-agent',
  'unsigned/by-cookie': 'signature/unsigned-session-cookie',
  'unsigned/by-authorization':
    'signature/unsigned-authorization signature/unsigned-bearer-token signature/in-authorization',
  'unsigned/by-platform': 'signature/unsigned-platform-headers',
  'unsigned/by-sender': 'signature/unsigned-sender-headers',
  'unsigned/by-connection-options': 'signature/unsigned-connection-options',
  'unsigned/by-internal': 'signature/unsigned-internal-*',
  'unsigned/by-override': 'signature/unsigned-method-override signature/unsigned-open-paths',

  'forged/json': [
    'http/burst-mixed delivery/poisoned-unsigned delivery/poisoned-other-content delivery/after-forged',
    'signature/random-bytes combination/wrong-signature-* signature/wrong-* signature/43-characters signature/in-*',
    'delivery/poisoned-wrong-secret delivery/forged-beside-right signature/forged-copy',
    'signature/status signature/after-broken signature/forged-repeat http/forged-while-others-arrive',
  ],
  'forged/empty': 'signature/empty',
  'forged/blank': 'signature/blank',
  'forged/random': 'signature/random-bytes signature/45-characters signature/88-characters',
  'forged/zero-bytes': 'signature/zero-bytes',
  'forged/other-secret': 'signature/other-secret signature/secret-*',
  'forged/empty-secret': 'signature/secret-empty',
  'forged/secret-undefined': 'signature/secret-undefined signature/secret-null',
  'forged/secret-placeholder': 'signature/secret-placeholders signature/secret-*',
  'forged/signed-with-key': 'signature/secret-api-key',
  'forged/other-body': 'signature/of-* signature/over-other-* signature/one-year-old signature/forged-copy',
  'forged/changed-body': 'signature/byte-changed-in-middle signature/last-byte-changed signature/over-*',
  'forged/empty-body-signed': 'signature/over-empty-body',
  'forged/id-and-body': 'signature/over-id-only signature/over-time-and-body raw-body/mirror-id-and-body',
  'forged/data-only': 'signature/over-data-only raw-body/mirror-data-only',
  'forged/short': 'signature/checksums signature/1-character signature/first-1-character signature/first-4-characters',
  'forged/first-20': 'signature/first-20-characters signature/half-digest',
  'forged/lenient-first-43': 'signature/first-43-characters signature/43-characters',
  'forged/lenient-longer': [
    'signature/45-characters signature/88-characters signature/four-more-characters signature/*-behind',
    'signature/characters-before',
  ],
  'forged/4000-characters': 'signature/4000-characters',
  'forged/non-ascii': 'signature/non-ascii-start signature/non-ascii-behind',
  'forged/non-ascii-same-length': 'signature/eighth-bit signature/non-ascii-same-length',
  'forged/last-changed': 'signature/last-* signature/characters-exchanged',
  'forged/first-changed': [
    'signature/eighth-bit signature/bytes-exchanged signature/first-character-changed',
    'signature/middle-character-changed',
  ],
  'forged/lower-case': 'signature/over-folded-body signature/lower-case signature/swapped-case',
  'forged/undefined': 'signature/same-as-text signature/text-*',
  'forged/pattern': 'signature/patterns signature/pattern-any',
  'forged/star': 'signature/patterns signature/pattern-star',
  'forged/separator': 'signature/lists-without-signature',
  'forged/prefix-alone': 'signature/prefixes-without-signature',
  'forged/base64-twice': 'signature/base64-twice',
  'forged/unkeyed': 'signature/checksums signature/other-digests-in-hex signature/sha256-of-body signature/sha256-hex',
  'forged/hash-with-secret': 'signature/sha256-secret-body signature/sha256-body-secret',
  'forged/sha1': 'signature/hmac-sha1 signature/sha1-prefix',
  'forged/sha512': 'signature/hmac-sha512 signature/hmac-sha384 signature/sha512-prefix',
  'forged/md5': 'signature/other-digests-in-hex signature/hmac-md5',
  'forged/secret-itself':
    'signature/secret-cut signature/secret-itself signature/secret-in-base64 signature/secret-as-bearer',
  'forged/key-itself': 'signature/api-key-as-signature',
  'forged/lenient-two-lines': 'signature/two-lines-right-first',
  'forged/two-lines-wrong-first': 'signature/two-lines-wrong-first',
  'forged/lenient-list': 'signature/list-*',
  'forged/lenient-hex': 'signature/hex signature/hex-upper-case signature/base64-of-hex',
  'forged/lenient-prefixed-hex': 'signature/version-prefix signature/sha256-hex',
  'forged/lenient-prefixed-base64': 'signature/sha256-base64 signature/version-prefix signature/characters-before',
  'forged/over-compact': 'raw-body/mirror-javascript',
  'forged/over-pretty': 'raw-body/mirror-pretty',
  'forged/over-python': 'raw-body/mirror-python',
  'forged/over-sorted': 'raw-body/mirror-sorted',
  'forged/over-php': 'raw-body/mirror-php',
  'forged/over-trimmed': 'raw-body/mirror-trimmed',
  'forged/over-line-ends': 'raw-body/mirror-newlines',
  'forged/over-latin-1': 'raw-body/mirror-latin-1',
  'forged/over-ascii': 'raw-body/mirror-ascii',
  'forged/over-escapes': 'raw-body/mirror-escapes',
  'forged/over-until-zero-byte': 'raw-body/mirror-zero-byte',
  'forged/over-decoded-text': 'raw-body/mirror-invalid-utf-8-twin',
  'forged/over-without-byte-order-mark': 'raw-body/mirror-byte-order-mark',
  'forged/over-nothing-as-other-type': 'signature/over-nothing-in-other-types',
  'forged/over-empty-object-as-other-type': 'signature/over-unread-body',
  'forged/lenient-url-alphabet': 'signature/base64url*',
  'forged/lenient-quoted': 'signature/in-quotes',
  'forged/lenient-blank-inside': 'signature/blank-inside',

  'keyless/json': [
    'api-key/missing-at-other-paths api-key/missing api-key/missing-with-* combination/*missing-key',
    'delivery/poisoned-missing-key api-key/in-* http/after-refused-key',
  ],
  'keyless/sell': 'api-key/missing-for-every-kind',
  'keyless/charset': 'api-key/missing-with-charset',
  'keyless/type-text': 'api-key/missing-in-other-shapes',
  'keyless/type-form': 'api-key/missing-in-other-shapes',
  'keyless/type-none': 'api-key/missing-in-other-shapes',
  'keyless/gzip': 'api-key/missing-in-other-shapes',
  'keyless/chunked': 'api-key/missing-in-other-shapes',
  'keyless/empty-body': 'api-key/missing-in-other-shapes',
  'wrong-key/json': 'api-key/wrong combination/*wrong-key delivery/poisoned-wrong-key api-key/placeholders',
  'wrong-key/empty': 'api-key/empty api-key/blank',
  'wrong-key/short': 'api-key/one-character-short api-key/first-character-missing',
  'wrong-key/half': 'api-key/first-half api-key/1-character',
  'wrong-key/longer': 'api-key/one-character-more api-key/prefixed',
  'wrong-key/other-case': 'api-key/swapped-case api-key/upper-case',
  'wrong-key/last-changed': 'api-key/same-characters api-key/*-character-changed',
  'wrong-key/non-ascii': 'api-key/non-ascii',
  'wrong-key/5000-characters': 'api-key/5000-characters',
  'wrong-key/bearer': 'api-key/bearer-prefix',
  'wrong-key/pattern': 'api-key/patterns api-key/any-pattern api-key/percent',
  'wrong-key/star': 'api-key/patterns api-key/asterisk',
  'wrong-key/undefined': 'api-key/text-*',
  'wrong-key/in-query': 'api-key/in-query-*',
  'wrong-key/in-authorization': 'api-key/in-authorization',
  'wrong-key/two-lines': 'api-key/two-lines-*',
  'wrong-key/150-kb': 'api-key/wrong-with-large-body',
  'wrong-key/and-unsigned': 'combination/missing-signature-missing-key',

  'malformed/truncated': [
    'malformed/truncated malformed/cut-in-half malformed/half-literal delivery/poisoned-broken',
    'delivery/after-broken delivery/poisoned-malformed signature/after-broken',
  ],
  'malformed/text': 'malformed/half-literal malformed/unquoted-keys',
  'malformed/empty': 'malformed/empty',
  'malformed/blank': 'malformed/only-white-space',
  'malformed/trailing-comma': 'malformed/trailing-comma malformed/comments malformed/unquoted-keys',
  'malformed/two-documents': 'malformed/two-documents',
  'malformed/single-quotes': 'malformed/single-quotes',
  'malformed/not-a-number': 'malformed/not-a-number',
  'malformed/leading-zero': 'malformed/leading-zero',
  'malformed/raw-newline': 'malformed/raw-newline-in-string',
  'malformed/form': 'malformed/form-encoded',
  'malformed/xml': 'malformed/xml',
  'malformed/binary': 'malformed/binary',
  'malformed/utf-16': 'malformed/utf-16 raw-body/charset-utf-16',
  'malformed/byte-order-mark': 'raw-body/byte-order-mark',
  'malformed/invalid-utf-8': 'raw-body/invalid-utf-8 raw-body/latin-1-bytes',
  'malformed/null': 'malformed/null',
  'malformed/string': 'malformed/string',
  'malformed/number': 'malformed/number',
  'malformed/boolean': 'malformed/boolean',
  'malformed/array': 'malformed/array',
  'malformed/array-of-notifications': 'malformed/array-of-notifications',
  'malformed/empty-object': 'malformed/empty-object',
  'malformed/id-missing': 'malformed/id-missing',
  'malformed/id-null': 'malformed/id-null',
  'malformed/id-object': 'malformed/id-object malformed/id-array',
  'malformed/id-number': 'malformed/id-number',
  'malformed/id-long': 'malformed/id-long malformed/id-very-long malformed/long-key',
  'malformed/id-odd':
    'malformed/id-path malformed/id-quote malformed/id-newline malformed/id-null-* malformed/id-template',
  'malformed/type-missing': 'malformed/type-missing',
  'malformed/type-null': 'malformed/type-null malformed/type-empty',
  'malformed/type-number': 'malformed/type-number malformed/caas-type-*',
  'malformed/type-inherited': 'malformed/type-inherited',
  'malformed/type-proto': 'malformed/type-proto',
  'malformed/at-missing': 'malformed/at-missing',
  'malformed/at-odd':
    'malformed/at-null malformed/at-object malformed/at-words malformed/at-out-of-range malformed/at-*',
  'malformed/data-missing': 'malformed/data-missing malformed/data-empty',
  'malformed/data-null': 'malformed/data-null',
  'malformed/data-string': 'malformed/data-string',
  'malformed/data-array': 'malformed/data-array',
  'malformed/metadata-null': 'malformed/metadata-* malformed/blockchain-data-*',
  'malformed/fields-odd': [
    'malformed/transaction-id-* malformed/error-* malformed/order-status-* malformed/wallet-* malformed/refund-*',
    'malformed/deposit-* malformed/payment-method-* malformed/tracking-* delivery/after-invalid',
  ],
  'malformed/proto': 'malformed/pollution-*',
  'malformed/constructor': 'malformed/pollution-constructor',
  'malformed/many-keys': 'malformed/many-keys',
  'malformed/many-long-keys': 'malformed/many-keys',
  'malformed/long-number': 'malformed/long-number*',
  'bytes/huge-exponent': 'raw-body/exponent-400',
  'bytes/empty-members': 'raw-body/empty-array raw-body/empty-object',
  'malformed/depth-200': 'malformed/depth-200',
  'malformed/depth-2000': 'malformed/depth-2000 malformed/depth-objects',
  'malformed/depth-20000': 'malformed/depth-20000 malformed/depth-objects',
  'malformed/depth-40000': 'malformed/depth-100000',
  'malformed/depth-100000': 'malformed/depth-100000',
  'malformed/1-mb': 'malformed/size-1-mb',
  'unsigned/malformed-truncated': 'malformed/unsigned-json malformed/wrongly-signed-json api-key/missing-on-malformed',
  'unsigned/malformed-text': 'malformed/unsigned-json malformed/wrongly-signed-json',
  'unsigned/malformed-empty': 'malformed/unsigned-empty',
  'unsigned/malformed-null': 'malformed/unsigned-null',
  'unsigned/malformed-binary': 'malformed/unsigned-binary',
  'unsigned/malformed-1-mb': 'malformed/unsigned-1-mb',
  'unsigned/malformed-depth-20000': 'malformed/unsigned-depth',
  'unsigned/malformed-depth-40000': 'malformed/unsigned-depth',
  'unsigned/malformed-depth-100000': 'malformed/unsigned-depth',

  'http/content-types':
    'http/content-type-text http/content-type-form http/content-type-multipart http/content-type-broken',
  'http/content-type-upper': 'http/content-type-upper',
  'http/content-type-suffix': 'http/content-type-suffix',
  'http/content-type-none': 'http/content-type-missing',
  'http/charset-other': 'raw-body/charset-*',
  'http/gzip': 'raw-body/gzip raw-body/gzip-signed-plain',
  'http/gzip-that-is-plain': 'malformed/gzip-that-is-plain',
  'http/gzip-cut': 'malformed/gzip-cut',
  'http/encoding-unknown': 'malformed/encoding-unknown',
  'http/methods': 'http/method-* http/get-empty',
  'http/header-20-kb': 'http/header-20-kb',
  'http/forty-headers': 'http/forty-headers',
  'http/header-non-ascii': 'http/header-non-ascii http/header-repeated',
  'http/broken-query': 'http/broken-query',
  'http/override-on-get': 'http/override-on-get',
  'http/host-missing': 'http/host-missing',
  'http/cut-off': 'malformed/cut-off malformed/cut-off-many-times',
  'http/cut-off-before-body': 'malformed/cut-off-before-body',
  'http/stays-up': 'delivery/stays-up leaks/*',
  'http/garbage': 'http/garbage-request-line',
  'http/version-unknown': 'http/version-unknown',
  'http/two-content-lengths': 'http/two-content-lengths',
  'http/content-length-and-chunked': 'http/content-length-and-chunked',
  'http/content-length-words': 'http/content-length-words',
  'http/content-length-negative': 'http/content-length-negative',
  'http/content-length-short': 'http/content-length-short',
  'http/chunk-size-broken': 'http/chunk-size-broken',
  'http/null-in-header': 'http/null-in-header',
  'http/header-without-colon': 'http/header-without-colon',
  'http/space-before-colon': 'http/space-before-colon',

  'leak/secret': 'leaks/nowhere',
  'leak/key': 'leaks/nowhere leaks/wrong-key leaks/missing-key',
  'leak/signature': 'leaks/nowhere leaks/wrong-signature leaks/missing-signature leaks/debug-switch',
  'leak/stack-trace': 'leaks/*',
  'leak/message': 'leaks/*',
};

/** Names of the diagnosis that are true only if a fact is broken. */
const TRUE_WITH: Readonly<Record<string, string>> = {
  'broken-json-answers-500': 'malformed/truncated',
  'content-type-missing-throws': 'http/content-type-none',
  'content-type-other-throws': 'http/content-types',
  'cut-off-requests-end-the-process': 'http/cut-off',
  'decompression-unguarded': 'http/gzip-that-is-plain',
  'dies-and-is-restarted': 'http/stays-up',
  'empty-body-answers-500': 'malformed/empty',
  'fails-on-bodies-above-100-kb': 'valid/1000-kb',
  'falsy-signature-accepted': 'unsigned/json',
  'large-bodies-answer-500': 'valid/1000-kb',
  'missing-signature-accepted': 'unsigned/json',
  'missing-signature-answers-500': 'unsigned/json',
  'missing-signature-kills': 'unsigned/json',
  'non-ascii-answers-500': 'forged/non-ascii',
  'only-json-types-verified': 'unsigned/type-text',
  'other-length-answers-500': 'forged/short',
  'replaces-invalid-bytes': 'forged/over-decoded-text',
  'strips-byte-order-mark': 'forged/over-without-byte-order-mark',
  'text-not-verified': 'unsigned/type-text',
  'unverified-json-answers-500': 'unsigned/malformed-truncated',
};

/** Returns whether the measured facts allow a name of the diagnosis. */
export function isPossible(name: string, facts: Facts): boolean {
  const fact = TRUE_WITH[name] ?? '';
  const outcome = facts.get(fact);
  return outcome === undefined || stateOf(fact, outcome, facts) === 'broken';
}

/**
 * Returns the group of a bypass. Bypasses in a group have the same cause, whatever the credential and the exact value.
 */
export function shapeGroupOf(fact: string): string {
  const [, credential = '', shape = ''] = /^([^/]*)\/(.*)$/.exec(fact) ?? [];
  const kind = SHAPE_GROUPS.find(([, shapes]) => shapes.test(shape))?.[0] ?? shape;
  return `${/key/.test(credential) ? 'keyless' : 'unsigned'} ${kind}`;
}

const SHAPE_GROUPS: readonly (readonly [name: string, shapes: RegExp])[] = [
  ['other content types', /^type-/],
  ['empty bodies', /^empty-body$|^malformed-(empty|blank)$/],
  ['other methods', /^(put|patch|delete|get|get-empty|head)$/],
  ['other paths', /^path-/],
  ['other bytes', /^over-/],
];

const idsIn = (lines: string | readonly string[]) => [lines].flat().flatMap((line) => line.split(' '));

/** Returns the patterns of a fact. A fact about another framing shares those of the unsigned request. */
function patternsOf(fact: string): string[] {
  const own = CHECKS[fact];
  if (own !== undefined) return idsIn(own);
  const [, credential, shape] = /^(forged|keyless|wrong-key)\/(.*)$/.exec(fact) ?? [];
  if (shape === undefined) return [];
  const shared = idsIn(CHECKS[`unsigned/${shape}`] ?? []);
  return credential === 'forged'
    ? shared
    : [...KEYLESS_SHAPES, ...shared.map((pattern) => pattern.replace(/^signature\//, 'api-key/'))];
}

const KEYLESS_SHAPES = ['in-other-shapes', 'in-other-requests', 'on-other-contents', 'with-switches'].map(
  (name) => `api-key/missing-${name}`,
);

/** Returns whether a check concerns a fact. */
export const isAbout = (check: string, fact: string) => patternsOf(fact).some((one) => regExpOf(one).test(check));

/** Returns the patterns that match none of the given checks. */
export function stalePatterns(checks: readonly string[]): string[] {
  const patterns = [...new Set(Object.values(CHECKS).flatMap(idsIn))];
  return patterns.filter((pattern) => !checks.some((check) => regExpOf(pattern).test(check)));
}

const regExpOf = (pattern: string) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
