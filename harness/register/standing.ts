/** Derives from the register's records which partners may get traffic at a given time, until when and why. Pure. */
import type { KeyObject } from 'node:crypto';
import { keyIdOf } from '../certify/keys.ts';
import { headlineOf, warnedInWords } from '../fleet.ts';
import { type Grant, type RegisterRecord, readGrant } from './record.ts';

/**
 * - `certified`: the newest certificate counts.
 * - `allowed`: it counts because an operator overrode a failure or a drift.
 * - `failing`, `drifted`, `revoked`, `expired`: it no longer counts. A partner that failed without ever having had a
 *   certificate is `failing`, too.
 * - `uncertified`: there has never been a certificate, nor a failure.
 */
export const STATES = ['certified', 'allowed', 'failing', 'drifted', 'revoked', 'expired', 'uncertified'] as const;
export type State = (typeof STATES)[number];

export interface Standing {
  readonly partner: string;
  readonly state: State;
  readonly mayGetTraffic: boolean;
  /** When the partner entered this state, ISO 8601; null for `uncertified`. */
  readonly since: string | null;
  /** When the permission to get traffic ends if nothing else ends it, ISO 8601; null if there is none. */
  readonly until: string | null;
  /** The reason for the state, in words; null for `certified`. */
  readonly reason: string | null;
  /** The newest certificate with a valid signature; null if there is none. */
  readonly certificate: Grant | null;
  /** The signed grant that allows the traffic, as a DSSE envelope; null if there is none. */
  readonly grant: string | null;
  /** Sentences for the operator about facts that do not change the state. */
  readonly warnings: readonly string[];
  /** The latest records, newest first. */
  readonly last: readonly RegisterRecord[];
}

const KEPT = 20;
const UNDECIDED: ReadonlySet<string> = new Set(['inconclusive', 'refused', 'harness-error', 'unreachable']);
const ENDS = { failed: 'failing', drifted: 'drifted', revoked: 'revoked' } as const;

export interface StandingOptions {
  /** The trusted public keys of the operator. */
  readonly keys: readonly KeyObject[];
  readonly at: Date;
  /** The newest revision of the catalogue. A certificate for an older one gets a warning. */
  readonly currentRevision?: number;
}

/** Returns the standing of each partner at the given time, sorted by name. Later records are ignored. */
export function standingsOf(records: readonly RegisterRecord[], options: StandingOptions): Standing[] {
  const at = options.at.toISOString();
  const byPartner = new Map<string, RegisterRecord[]>();
  for (const record of records) {
    if (record.at > at) continue;
    const own = byPartner.get(record.partner);
    if (own === undefined) byPartner.set(record.partner, [record]);
    else own.push(record);
  }
  const keys = new Map(options.keys.map((key) => [keyIdOf(key), key]));
  return [...byPartner]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([partner, own]) => standingOf(partner, own.toSorted(byTime), keys, options));
}

const byTime = (a: RegisterRecord, b: RegisterRecord) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0);

/** The newest certificate, the record that ended it, and the override that reinstates it. */
interface Chain {
  readonly certified: RegisterRecord;
  readonly grant: Grant;
  end: RegisterRecord | null;
  override: { readonly record: RegisterRecord; readonly grant: Grant } | null;
}

function standingOf(
  partner: string,
  records: readonly RegisterRecord[],
  keys: ReadonlyMap<string, KeyObject>,
  { at, currentRevision }: StandingOptions,
): Standing {
  const { chain, failures, disbelieved } = followed(records, keys);
  const failed = failures.at(-1);
  const last = records.slice(-KEPT).toReversed();
  const newest = last[0];
  const warnings = [...disbelieved];
  if (newest !== undefined && UNDECIDED.has(newest.event)) {
    warnings.push(describeMissingVerdict(newest));
  }
  if (chain !== null && currentRevision !== undefined && chain.grant.revision < currentRevision) {
    warnings.push(`certified for revision ${chain.grant.revision} of the catalogue; the newest is ${currentRevision}`);
  }
  const common = { partner, certificate: chain?.grant ?? null, grant: null, warnings, last };
  if (chain === null) {
    return {
      ...common,
      state: failed === undefined ? 'uncertified' : 'failing',
      mayGetTraffic: false,
      since: failures[0]?.at ?? null,
      until: null,
      reason: failed === undefined ? 'no certificate was ever issued' : reasonOf(failed),
    };
  }
  const { certified, end, grant, override } = chain;
  const none = { ...common, mayGetTraffic: false, until: null };
  if (end !== null && override === null) {
    return {
      ...none,
      state: ENDS[end.event as keyof typeof ENDS],
      since: end.at,
      reason: reasonSince(end, failed),
    };
  }
  const until = override?.grant.expiresAt ?? grant.expiresAt;
  if (until <= at.toISOString()) {
    return {
      ...none,
      state: 'expired',
      since: until,
      reason: `the ${override ? 'override' : 'certificate'} has expired`,
    };
  }
  const since = override?.record.at ?? certified.at;
  const state = override === null ? 'certified' : 'allowed';
  const { grant: envelope, reason } = override?.record ?? { ...certified, reason: null };
  const warned = warnedInWords({ ...certified, diagnosis: certified.cause });
  if (warned !== null) warnings.unshift(warned);
  return { ...common, mayGetTraffic: true, state, since, until, reason, grant: envelope };
}

/**
 * Derives the state from a partner's records, oldest first. Records without a conclusion change nothing. `failures` are
 * the failed runs since the newest certificate.
 */
function followed(records: readonly RegisterRecord[], keys: ReadonlyMap<string, KeyObject>) {
  let chain: Chain | null = null;
  const failures: RegisterRecord[] = [];
  const disbelieved: string[] = [];
  for (const record of records) {
    const { at, event } = record;
    if (event === 'certified' || event === 'override') {
      const grant = readGrant(record, keys);
      if (typeof grant === 'string') disbelieved.push(`the record of ${dayOf(at)} that says "${event}" ${grant}`);
      else if (event === 'certified') {
        chain = { certified: record, grant, end: null, override: null };
        failures.length = 0;
      } else if (chain !== null && chain.end !== null && chain.end.event !== 'revoked') {
        if (grant.certificate === chain.grant.certificate) chain.override = { record, grant };
        else disbelieved.push(`the override of ${dayOf(at)} is for another certificate`);
      }
    } else if (event in ENDS) {
      if (event === 'failed') failures.push(record);
      if (chain === null) continue;
      // Of several failures, the first one counts. A revocation replaces them, because no override can undo it.
      if (chain.end === null || chain.override !== null || event === 'revoked') chain.end = record;
      chain.override = null;
    }
  }
  return { chain, failures, disbelieved };
}

const dayOf = (at: string) => at.slice(0, 10);

function reasonOf({ cause, event, reason }: RegisterRecord): string {
  if (event === 'failed') return (cause === null ? reason : headlineOf(cause)) ?? 'scored checks failed';
  return reason ?? event;
}

/** Returns why a certificate no longer counts. A newer failed run replaces the cause of an older one. */
function reasonSince(end: RegisterRecord, newest: RegisterRecord | undefined): string {
  if (newest === undefined || newest.at <= end.at) return reasonOf(end);
  if (end.event === 'failed') return reasonOf(newest);
  return `${reasonOf(end)}; the run of ${dayOf(newest.at)} failed: ${lowerFirst(reasonOf(newest))}`;
}

/** Describes a run without a verdict in one sentence: its known cause, or why no certificate was issued. */
export function describeMissingVerdict({ at, cause, event, reason, run, url }: RegisterRecord): string {
  if (event === 'refused') {
    // A certification that was refused before its run has no URL, because its file cannot be used.
    const what = run === null && url !== null ? 'recheck' : 'certification';
    return `the last ${what} (${dayOf(at)}) was refused: ${reason ?? event}`;
  }
  return `the last run (${dayOf(at)}) had no verdict: ${cause === null ? (reason ?? event) : lowerFirst(cause.title)}`;
}

/** Keeps the first letter of an abbreviation such as TLS. */
const lowerFirst = (text: string) => text.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());

/** Groups standings by state: states without traffic first; within a state, the order is unchanged. */
export function byNeed(standings: readonly Standing[]): { readonly state: State; readonly standings: Standing[] }[] {
  return STATES.toReversed().flatMap((state) => {
    const own = standings.filter((one) => one.state === state);
    return own.length === 0 ? [] : [{ state, standings: own }];
  });
}

/** Returns the last record with counts by suite, skipping later rechecks and runs that were not judged. */
export function judgedBy({ last }: Pick<Standing, 'last'>): RegisterRecord | undefined {
  return last.find(({ suites }) => Object.keys(suites).length > 0);
}

/** Returns the origin and path of the endpoint; null if no record contains them. */
export function endpointOf({ certificate, last }: Pick<Standing, 'certificate' | 'last'>): string | null {
  const urls = [...last.map(({ url }) => url), certificate?.url ?? null];
  return urls.find((url) => url !== null && URL.canParse(url)) ?? null;
}

/** Returns the standings whose permission to get traffic ends within `ms` milliseconds after `at`. */
export function expiringWithin(standings: readonly Standing[], at: Date, ms: number): Standing[] {
  const limit = new Date(at.getTime() + ms).toISOString();
  return standings.filter(({ until }) => until !== null && until <= limit);
}

export interface Changed {
  readonly now: Standing;
  /** The standing at the earlier time; null if the partner was not in the register. */
  readonly before: Standing | null;
}

/** Returns the partners whose state differs from that at an earlier time. */
export function changedSince(now: readonly Standing[], before: readonly Standing[]): Changed[] {
  const earlier = new Map(before.map((one) => [one.partner, one]));
  return now
    .map((one) => ({ now: one, before: earlier.get(one.partner) ?? null }))
    .filter(({ now: one, before: old }) => old?.state !== one.state);
}
