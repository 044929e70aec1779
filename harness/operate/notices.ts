/** Decides which notices to send when a partner's standing changes or time passes, and what they say. Pure. */
import type { JsonObject } from '../../contract/index.ts';
import { describeMissingVerdict, endpointOf, judgedBy, type RegisterRecord, type Standing } from '../register/index.ts';

/**
 * - `failing`: a run found failures, and the partner may not get traffic.
 * - `key-or-chain-changed`: a recheck found another key or an untrusted chain.
 * - `worse`: the partner lost its traffic for another reason, or its latest run found more than the previous one.
 * - `expiring`: the certificate or the override ends within 14 days.
 * - `revision-superseded`: the certificate is for an older revision of the catalogue.
 * - `no-verdict`: a run had no verdict, and the one before had one: the endpoint is down, or its file was refused.
 */
const NOTICE_KINDS = [
  'failing',
  'key-or-chain-changed',
  'worse',
  'expiring',
  'revision-superseded',
  'no-verdict',
] as const;
type NoticeKind = (typeof NOTICE_KINDS)[number];

/** Who is notified: the operator, at the URL in the file of defaults; the partner, at the URL in its own file. */
export const RECIPIENTS = ['operator', 'partner'] as const;
export type Recipient = (typeof RECIPIENTS)[number];

export interface Notice {
  readonly partner: string;
  readonly kind: NoticeKind;
  /** What the notice is about: there is at most one for a partner, kind and subject. */
  readonly subject: string;
  /** The id of the record that caused it; null when only time has passed. */
  readonly record: string | null;
}

export interface NoticeOccasion {
  /** The standing before; null for a partner that was unknown. The same as `after` when only time has passed. */
  readonly before: Standing | null;
  readonly after: Standing;
  /** The record that was added in between; null when only time has passed. */
  readonly record: RegisterRecord | null;
  readonly at: Date;
  readonly currentRevision: number;
}

const DAY_MS = 86_400_000;
const EXPIRING_MS = 14 * DAY_MS;

/**
 * Returns the notices to send. The same occasion always gives the same subjects, so a notice that is stored under
 * (partner, kind, subject) is sent only once.
 */
export function noticesFor(given: NoticeOccasion): Notice[] {
  const { before, record } = given;
  const after = asOf(given.after, given.at);
  const occasion = { ...given, after };
  const notice = (kind: NoticeKind, subject: string): Notice => ({
    partner: after.partner,
    kind,
    subject,
    record: record?.id ?? null,
  });
  const ended = endOf(before, after);
  return [
    ...(ended === null ? [] : [notice(ended, `${after.state} ${after.since}`)]),
    ...(ended === null && record !== null && findsMore(before, after) ? [notice('worse', `run ${record.id}`)] : []),
    ...(isExpiring(occasion) ? [notice('expiring', `${after.certificate?.certificate} ${after.until}`)] : []),
    ...(isSuperseded(occasion)
      ? [notice('revision-superseded', `${occasion.currentRevision} ${after.certificate?.certificate}`)]
      : []),
    ...(record !== null && isWithoutVerdict(record) && !before?.last.slice(0, 1).some(isWithoutVerdict)
      ? [notice('no-verdict', `run ${record.id}`)]
      : []),
  ];
}

/** Returns the standing at a later time. The certificate or override may have expired since the standing was stored. */
function asOf(standing: Standing, at: Date): Standing {
  const { mayGetTraffic, until } = standing;
  if (!mayGetTraffic || until === null || until > at.toISOString()) return standing;
  const reason = 'the certificate or the override has expired';
  return { ...standing, state: 'expired', mayGetTraffic: false, since: until, until: null, reason };
}

/** Returns the kind of notice for a partner that may no longer get traffic, or that has just failed; otherwise null. */
function endOf(before: Standing | null, after: Standing): NoticeKind | null {
  if (after.state === 'failing') return before?.state === 'failing' ? null : 'failing';
  if (after.mayGetTraffic || before?.mayGetTraffic !== true) return null;
  const [newest] = after.last;
  const isIdentity = newest?.drift === 'endpoint-key-changed' || newest?.drift === 'not-publicly-trusted';
  return after.state === 'drifted' && isIdentity ? 'key-or-chain-changed' : 'worse';
}

/** Returns whether the last run has more failures than the previous one, or the same number and more warnings. */
function findsMore(before: Standing | null, after: Standing): boolean {
  const [was, is] = [before && judgedBy(before), judgedBy(after)];
  if (!was || is === undefined || was.id === is.id) return false;
  const of = ({ suites }: RegisterRecord, what: 'fail' | 'warn') =>
    Object.values(suites).reduce((sum, counts) => sum + counts[what], 0);
  const more = of(is, 'fail') - of(was, 'fail');
  return more > 0 || (more === 0 && of(is, 'warn') > of(was, 'warn'));
}

/**
 * Returns whether the permission ends within 14 days. A short one counts as expiring only in the second half of its
 * time.
 */
function isExpiring({ after, at }: NoticeOccasion): boolean {
  const { since, until } = after;
  if (since === null || until === null) return false;
  const within = Math.min(EXPIRING_MS, (Date.parse(until) - Date.parse(since)) / 2);
  return Date.parse(until) - at.getTime() <= within;
}

/** Whether a run could not judge the endpoint. An internal error, which only the operator can repair, is not meant. */
const isWithoutVerdict = ({ event }: RegisterRecord): boolean =>
  event === 'inconclusive' || event === 'refused' || event === 'unreachable';

function isSuperseded({ after: { certificate, mayGetTraffic }, currentRevision }: NoticeOccasion): boolean {
  return mayGetTraffic && certificate !== null && certificate.revision < currentRevision;
}

/**
 * The `type` of a notice. The specification does not define it, and receivers must accept unknown types: the reference
 * receiver stores a notice as a notification of the kind UNKNOWN, and a handler reads `data`.
 */
export const NOTICE_TYPE = 'HOOKPROOF_NOTICE';

/** Returns the notification that a recipient gets. A reason that the operator wrote is omitted for the partner. */
export function noticeBody(
  { kind, partner, record }: Notice,
  { id, at, recipient, standing }: { id: string; at: Date; recipient: Recipient; standing: Standing },
): JsonObject {
  const { certificate, mayGetTraffic, reason, since, state, until } = asOf(standing, at);
  const isOwn = state === 'revoked' || state === 'allowed';
  const cause = judgedBy(standing)?.cause ?? null;
  const run = kind === 'no-verdict' ? standing.last.find((one) => one.id === record) : undefined;
  return {
    id,
    type: NOTICE_TYPE,
    at: at.toISOString(),
    data: {
      kind,
      partner,
      record,
      state,
      mayGetTraffic,
      since,
      until,
      url: endpointOf(standing),
      reason: run ? describeMissingVerdict(run) : recipient === 'partner' && isOwn ? 'decided by the operator' : reason,
      cause: cause && { fault: cause.fault, title: cause.title },
      certificate: certificate && {
        sha256: certificate.certificate,
        profile: certificate.profile,
        revision: certificate.revision,
        expiresAt: certificate.expiresAt,
      },
    },
  };
}
