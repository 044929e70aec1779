/**
 * Finds out what rejects the first delivery by comparing it with other deliveries: one with another signature, one of
 * another kind, and one for another host. All functions are pure.
 */

import type { JsonValue } from '../../contract/index.ts';
import type { MistakeId } from '../../contract/mistakes/index.ts';
import { visible } from '../../contract/visible.ts';
import type { ControlKind } from '../../scenarios/index.ts';
import type { Credential } from '../judge/index.ts';
import type { Answer, Attempt, StatedLimit } from '../transport/index.ts';
import { type Finding, findingOf } from './finding.ts';
import { SETTING_TEXTS } from './setting-texts.ts';

/** Which credentials the delivery contains: a signature made with the secret, an API key. */
export interface Credentials {
  readonly secret: boolean;
  readonly apiKey: boolean;
}

/**
 * The plain delivery, sent twice, the same delivery without a credential, and the same delivery with an invalid one.
 */
export interface Refusal {
  readonly first: Attempt;
  readonly second: Attempt;
  readonly missing: Attempt;
  /** The delivery with a well-formed but invalid credential. */
  readonly wrong: Attempt;
}

/**
 * When the plain delivery is rejected: `before` the credentials are checked, `at` the check (which finds them invalid
 * or fails), or `after` the check.
 */
export type Stage = 'before' | 'at' | 'after';

export function stageOf({ first, second, missing, wrong }: Refusal): Stage {
  // If two equal deliveries get different texts, only the status is comparable.
  const looks = looksOf(first) === looksOf(second) ? looksOf : statusOf;
  if (looks(wrong) !== looks(first)) return 'after';
  return looks(missing) === looks(first) ? 'before' : 'at';
}

const MAX_TEXT = 4096;

const textOf = ({ body }: Answer) => Buffer.from(body.subarray(0, MAX_TEXT)).toString('latin1');

const statusOf = ({ answer, error }: Attempt) => `${answer?.status ?? error?.kind}`;

/** Returns the status, type and text of an answer without ids, numbers and times, which always differ. */
function looksOf(attempt: Attempt): string {
  const { answer } = attempt;
  if (answer === null) return statusOf(attempt);
  const text = textOf(answer).replace(/\b(?=[\w-]*\d)[\w-]+/g, '#');
  return `${statusOf(attempt)} ${headerOf(answer, 'content-type')} ${text}`;
}

const headerOf = ({ headers }: Answer, wanted: string) =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';

/**
 * Other components that reject a delivery before its credentials are checked, recognised by the text or a header of the
 * answer.
 */
const SIGNS: readonly (readonly [sign: RegExp, fault: string, title: string, mistake: MistakeId])[] = [
  [
    /DisallowedHost|Invalid HTTP_HOST|Blocked hosts?:|<h1>Bad Request \(400\)<\/h1>|Invalid host header/i,
    'host-not-allowed',
    'The endpoint does not allow the host name of the URL',
    'host-not-allowed',
  ],
  [
    /\bCSRF\b|InvalidAuthenticityToken|change you wanted was rejected|^419 |Page Expired|^422 *$/i,
    'asks-for-csrf-token',
    'The endpoint requires a CSRF token, which no webhook has',
    'csrf-token-required',
  ],
  [/^415 /, 'rejects-json', 'The endpoint does not read application/json', 'body-parser-by-content-type'],
  [
    /^401 \S* ?(?:basic|bearer|digest)\b/i,
    'asks-for-login',
    'The endpoint requires a user login',
    'rejected-before-verification',
  ],
  [
    /mod_?security|request (?:was )?blocked|cloudflare|akamai|incapsula|web application firewall|not acceptable!/i,
    'blocked-by-firewall',
    'A firewall in front of the endpoint blocks the delivery',
    'rejected-before-verification',
  ],
];

const BEFORE = 'Deliveries with missing and with invalid credentials get the same answer';

/** What is known about a delivery that is rejected before its credentials are checked. */
export interface InFront {
  /** Another host name, and the answer to the same delivery with this name in the Host header. */
  readonly host: string;
  readonly otherHost: Attempt;
  /** The answer to a GET of the same URL. */
  readonly get: Attempt;
}

/**
 * Explains a rejection before the credentials are checked; null if it may also be due to the credentials or the path.
 */
export function explainBefore(first: Attempt, { host, otherHost, get }: InFront): Finding | null {
  const { answer } = first;
  if (answer === null) return null;
  const { status } = answer;
  if (otherHost.answer !== null && otherHost.answer.status < 300) {
    const proof = `The same delivery with \`Host: ${host}\` is accepted (${otherHost.answer.status}).`;
    return found('host-not-allowed', 'The endpoint does not allow the host name of the URL', status, proof);
  }
  const login = headerOf(answer, 'www-authenticate');
  const sign = SIGNS.find(([pattern]) => pattern.test(`${status} ${login} ${textOf(answer)}`));
  const isSameForGet = statusOf(get) === statusOf(first);
  const note = `${BEFORE}${isSameForGet ? ', and so does a GET' : ''}.`;
  if (sign !== undefined) {
    const [, fault, title, mistake] = sign;
    return findingOf(fault, `${title} (${status})`, mistake, note);
  }
  const isUnclear = status < 400 || status === 401 || (status === 403 && !isSameForGet);
  if (isUnclear || status === 404 || status === 410 || status >= 500) return null;
  return found(
    'rejected-before-verification',
    'The endpoint rejects the delivery before it checks the credentials',
    status,
    note,
  );
}

/** Explains a rejection after the credentials are checked: they are valid, because invalid ones get another answer. */
export function explainAfter({ first, wrong }: Refusal, { secret, apiKey }: Credentials): Finding {
  const status = first.answer?.status ?? 0;
  const other = wrong.answer?.status ?? 'none';
  const note = `Invalid credentials get another answer (${other}), so the valid ones are accepted.`;
  if ((status === 401 || status === 403) && !(secret && apiKey)) {
    const [accepted, missing] = secret ? ['signature', 'an API key'] : ['API key', 'a signature'];
    const title = `The endpoint accepts the ${accepted}, but seems to require ${missing} as well (${status})`;
    const fix = secret ? KEY_HINT : `If it verifies signatures, ${SETTING_TEXTS.secret.flag}.`;
    return { ...findingOf('requires-another-credential', title, 'credentials-differ', note), fix };
  }
  const findsNothing = status === 404 || status === 410;
  const then = status >= 500 ? 'fails' : findsNothing ? 'finds nothing' : 'rejects the notification';
  const more = findsNothing ? ' Some frameworks, such as Koa, send this status if a handler sets none.' : '';
  const title = `The endpoint accepts the credentials, but then ${then}`;
  return found('rejected-after-verification', title, status, `${note}${more}`);
}

export const KEY_HINT = `If the endpoint requires an API key, ${SETTING_TEXTS.apiKey.flag}.`;

/** A sentence for findings about a check that fails for every delivery: why the status does not concern the payload. */
export const FAILS_FOR_ALL: Readonly<Record<Stage, string>> = {
  before: `${BEFORE}, so it fails before or while it checks them.`,
  at: 'Invalid credentials get this answer and missing ones get another, so it fails while it checks them.',
  after: '',
};

function found(fault: MistakeId, title: string, status: number, note: string): Finding {
  return findingOf(fault, `${title} (${status})`, fault, note);
}

/** Findings that also explain accepted forgeries. */
export const EXPLAIN_FORGERIES: ReadonlySet<string> = new Set([
  'accepts-forged-and-rejects-valid',
  'answers-by-timeout',
]);

const UNSET = {
  signature: ['its secret', 'unset-secret'],
  'api-key': ['its key', 'unset-key'],
} as const;

/**
 * Returns the finding that the endpoint accepts forgeries (`accepted` describes them) and rejects valid deliveries. If
 * `unset` is given, only forgeries without this credential are accepted.
 */
export function acceptsForgeries(accepted: readonly string[], status: string, unset: Credential | null): Finding {
  const title = `The endpoint accepts deliveries with ${accepted.join(' or ')}, but rejects valid ones (${status})`;
  const why = 'Anyone who knows the URL can forge a notification.';
  const fault = 'accepts-forged-and-rejects-valid';
  if (unset === null) return findingOf(fault, title, 'verification-fails-open', why);
  const [what, mistake] = UNSET[unset];
  const one = findingOf(fault, `${title}: ${what} is probably not set`, mistake, why);
  return { ...one, fix: `Set the value in the receiver, and restart it. ${one.fix}` };
}

/** Returns the finding that the endpoint seems not to receive this header, whose name contains an underscore. */
export function underscoreIn(name: string, status: string): Finding {
  return findingOf(
    'header-name-with-underscore',
    `The endpoint rejects the delivery as if it had no ${name} (${status}): a proxy may drop the header`,
    'header-name-with-underscore',
    'The same delivery without this header gets the same answer.',
  );
}

/** Maximum number of bytes of an answer that a title quotes. */
const MAX_WORDS = 60;

/** Returns the finding that the endpoint answers every delivery alike, after the same time. */
export function answersByTimeout(status: number, ms: number, body: Uint8Array = new Uint8Array()): Finding {
  const words = Buffer.from(body.subarray(0, MAX_WORDS)).toString('utf8').trim();
  const answer = words === '' ? `${status}` : `${status} ("${visible(words)}")`;
  return findingOf(
    'answers-by-timeout',
    `The endpoint answers ${answer} after ${(ms / 1000).toFixed(1)} s, regardless of credentials and payload: ` +
      'the answer comes from a timeout',
    'answers-by-timeout',
    'A valid delivery, one with an invalid signature and one without fields got the same status after the same time.',
  );
}

/** Returns the finding that the endpoint rejects a delivery with `what` at once and does not answer a valid one. */
export function waitsAfterCheck(what: string, status: number): Finding {
  return findingOf(
    'never-answers-after-check',
    `The endpoint answers a delivery with ${what} (${status}), but never a valid one`,
    'body-consumed-twice',
    'It is not blocked, so the code after the check waits: for a body that was already read, or for a call that ' +
      'does not return.',
  );
}

/** Returns the finding that the endpoint answered 429 after `answered` deliveries of the run. */
export function limitsDeliveries({
  answered,
  stated: { headers, intervalMs },
}: {
  readonly answered: number;
  readonly stated: StatedLimit;
}): Finding {
  const title = `The endpoint limits deliveries: about ${answered} were answered, then 429`;
  const finding = findingOf('rate-limits', headers === '' ? title : `${title}; ${headers}`, 'sender-throttled');
  const perMinute = intervalMs === null ? 0 : 60_000 / intervalMs;
  const rate = perMinute < 1 ? 'N/m' : `${Math.floor(perMinute)}/m`;
  return { ...finding, fix: `${finding.fix} Or limit the rate of the run: \`--max-rate ${rate}\`.` };
}

/** The kinds of notification that the endpoint rejects, and the first kind that it accepts. */
export interface RejectedKind {
  readonly accepted: ControlKind;
  /** The rejected kinds, in the order in which they were sent. */
  readonly tried: readonly ControlKind[];
  /** The fields of an order that are each enough for a rejection. Empty if orders of every status are rejected. */
  readonly fields: readonly { readonly path: string; readonly value: JsonValue }[];
}

/**
 * Returns the finding that the endpoint rejects some kinds of plain notifications. `isLikeInvalid` is true if it
 * rejects them like an invalid signature.
 */
export function rejectsKind(
  { accepted, tried, fields }: RejectedKind,
  status: string,
  isLikeInvalid: boolean,
): Finding {
  const withFields = fields
    .map(({ path, value }) => {
      const name = path.split('.').at(-1);
      return typeof value === 'string' && !value.startsWith('0x') ? `${name} ${value}` : `a ${name}`;
    })
    .join(' and ');
  const what = fields.length === 0 ? `${tried.join(', ')} notifications` : `a BUY with ${withFields}`;
  return findingOf(
    'rejects-plain-notification',
    `The endpoint rejects ${what} (${status}), but accepts ${accepted}`,
    isLikeInvalid ? 'reserialised-body' : 'valid-kind-rejected',
    isLikeInvalid
      ? 'It answers as for an invalid signature, so it computes the signature over other bytes.'
      : `The run continued with ${accepted}; checks that send the rejected kind have no verdict.`,
  );
}

/**
 * Returns the finding that the endpoint accepts the notification only in a form that the specification does not
 * require.
 */
export function rejectsForm(form: string, mistake: MistakeId, status: string): Finding {
  const title = `The endpoint rejects a valid delivery (${status}), but accepts it ${form}`;
  return findingOf('rejects-plain-form', title, mistake, 'Nothing else is different, so this is what it requires.');
}

const SOME: Attempt = {
  startedAt: '',
  timings: { connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0, reused: false },
  answer: { status: 400, reasonPhrase: '', headers: [], body: new Uint8Array(), truncated: false },
  error: null,
};

/** Returns every finding of this module in general words, for look-ups by name. */
export function refusalFindings(): Finding[] {
  const before = found(
    'rejected-before-verification',
    'The endpoint rejects the delivery before it checks the credentials',
    400,
    '',
  );
  return [
    ...SIGNS.map(([, fault, title, mistake]) => findingOf(fault, title, mistake)),
    before,
    explainAfter({ first: SOME, second: SOME, missing: SOME, wrong: SOME }, { secret: true, apiKey: true }),
    findingOf('requires-another-credential', 'The endpoint requires another credential as well', 'credentials-differ'),
    acceptsForgeries(['no signature'], '401', 'signature'),
    underscoreIn('api_key', '401'),
    answersByTimeout(202, 9000),
    waitsAfterCheck('no signature', 401),
    rejectsForm('in another form', 'over-strict-validation', '400'),
    rejectsKind({ accepted: 'BUY CONFIRMED', tried: ['BUY COMPLETED'], fields: [] }, '400', false),
  ];
}
