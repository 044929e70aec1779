/** Who may get traffic at a time, until when and why: derived from the records of the register. Pure. */
import type { KeyObject } from 'node:crypto';
import { keyIdOf } from '../certify/keys.ts';
import { type Grant, type RegisterRecord, readGrant } from './record.ts';

/**
 * - `certified`: a certificate counts. - `allowed`: it counts because an operator overrode a failure or a drift. -
 * `failing`, `drifted`, `revoked`, `expired`: it no longer counts. - `uncertified`: there has never been one.
 */
export const STATES = ['certified', 'allowed', 'failing', 'drifted', 'revoked', 'expired', 'uncertified'] as const;
export type State = (typeof STATES)[number];

export interface Standing {
  readonly partner: string;
  readonly state: State;
  /** Whether the partner may get traffic. */
  readonly mayGetTraffic: boolean;
  /** When the partner entered this state, ISO 8601; null for `uncertified`. */
  readonly since: string | null;
  /** Until when the certificate counts if nothing else happens; null where none does. */
  readonly until: string | null;
  /** The reason for the state, in words; null if a certificate counts. */
  readonly reason: string | null;
  /** The newest certificate; null without one whose signature is valid. */
  readonly certificate: Grant | null;
  /** The signed grant that allows the traffic, as a DSSE envelope; null if there is none. */
  readonly grant: string | null;
  /** What an operator should know, although it changes nothing. */
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
  /** The newest revision of the catalogue: an older one is a warning. */
  readonly currentRevision?: number;
}

/** Returns the standing of each partner at a time, sorted by name. Records after that time are ignored. */
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

/** The newest certificate, what ended it, and what let it count again. */
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
  const { chain, lastFailure, disbelieved } = followed(records, keys);
  const last = records.slice(-KEPT).toReversed();
  const newest = last[0];
  const warnings = [...disbelieved];
  if (newest !== undefined && UNDECIDED.has(newest.event)) {
    warnings.push(`the last run (${dayOf(newest.at)}) led to no verdict: ${newest.reason ?? newest.event}`);
  }
  if (chain !== null && currentRevision !== undefined && chain.grant.revision < currentRevision) {
    warnings.push(`certified for revision ${chain.grant.revision} of the catalogue; the newest is ${currentRevision}`);
  }
  const common = { partner, certificate: chain?.grant ?? null, grant: null, warnings, last };
  if (chain === null) {
    const isFailing = lastFailure !== null;
    return {
      ...common,
      state: isFailing ? 'failing' : 'uncertified',
      mayGetTraffic: false,
      since: lastFailure?.at ?? null,
      until: null,
      reason: isFailing ? reasonOf(lastFailure) : 'no certificate was ever issued',
    };
  }
  const { certified, end, grant, override } = chain;
  const none = { ...common, mayGetTraffic: false, until: null };
  if (end !== null && override === null) {
    return { ...none, state: ENDS[end.event as keyof typeof ENDS], since: end.at, reason: reasonOf(end) };
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
  return { ...common, mayGetTraffic: true, state, since, until, reason, grant: envelope };
}

/** Follows the records of a partner in the order of time. What is undecided changes nothing. */
function followed(records: readonly RegisterRecord[], keys: ReadonlyMap<string, KeyObject>) {
  let chain: Chain | null = null;
  let lastFailure: RegisterRecord | null = null;
  const disbelieved: string[] = [];
  for (const record of records) {
    const { at, event } = record;
    if (event === 'certified' || event === 'override') {
      const grant = readGrant(record, keys);
      if (typeof grant === 'string') disbelieved.push(`the record of ${dayOf(at)} that says "${event}" ${grant}`);
      else if (event === 'certified') {
        chain = { certified: record, grant, end: null, override: null };
        lastFailure = null;
      } else if (chain !== null && chain.end !== null && chain.end.event !== 'revoked') {
        if (grant.certificate === chain.grant.certificate) chain.override = { record, grant };
        else disbelieved.push(`the override of ${dayOf(at)} is for another certificate`);
      }
    } else if (event in ENDS) {
      if (event === 'failed') lastFailure ??= record;
      if (chain === null) continue;
      // "Failing since" is the first failure; a revocation is final whatever came before.
      if (chain.end === null || chain.override !== null || event === 'revoked') chain.end = record;
      chain.override = null;
    }
  }
  return { chain, lastFailure, disbelieved };
}

const dayOf = (at: string) => at.slice(0, 10);

function reasonOf({ cause, event, reason }: RegisterRecord): string {
  if (event === 'failed') return cause?.title ?? reason ?? 'scored checks failed';
  return reason ?? event;
}

/** Returns the standings of each state, those that need attention first, and by name within a state. */
export function byNeed(standings: readonly Standing[]): { readonly state: State; readonly standings: Standing[] }[] {
  return STATES.toReversed().flatMap((state) => {
    const own = standings.filter((one) => one.state === state);
    return own.length === 0 ? [] : [{ state, standings: own }];
  });
}

/** Returns the last record with verdicts: a recheck or a run without a verdict does not hide them. */
export function judgedBy({ last }: Pick<Standing, 'last'>): RegisterRecord | undefined {
  return last.find(({ suites }) => Object.keys(suites).length > 0);
}

/** Returns origin and path of the endpoint; null when no record has them. */
export function endpointOf({ certificate, last }: Pick<Standing, 'certificate' | 'last'>): string | null {
  const urls = [...last.map(({ url }) => url), certificate?.url ?? null];
  return urls.find((url) => url !== null && URL.canParse(url)) ?? null;
}

/** The partners whose certificate counts now and ends within a time. */
export function expiringWithin(standings: readonly Standing[], at: Date, ms: number): Standing[] {
  const limit = new Date(at.getTime() + ms).toISOString();
  return standings.filter(({ until }) => until !== null && until <= limit);
}

export interface Changed {
  readonly now: Standing;
  /** The standing at the earlier time; null for a partner that was unknown. */
  readonly before: Standing | null;
}

/** The partners whose state is another one than at an earlier time. */
export function changedSince(now: readonly Standing[], before: readonly Standing[]): Changed[] {
  const earlier = new Map(before.map((one) => [one.partner, one]));
  return now
    .map((one) => ({ now: one, before: earlier.get(one.partner) ?? null }))
    .filter(({ now: one, before: old }) => old?.state !== one.state);
}
