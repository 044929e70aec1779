/** The kinds of partners in a test fleet, and their expected outcomes. */
import type { FleetDocument, PartnerOutcome } from '../../../harness/fleet.ts';

export interface Kind {
  readonly name: string;
  readonly outcome: PartnerOutcome;
  /** The mutant, for a faulty partner. */
  readonly fault?: string;
  /** The behaviour of a partner that is not a receiver. */
  readonly behaviour?: 'closed' | 'silent' | 'mute-tls' | 'endless' | 'escapes' | 'garbage' | 'drip' | 'huge-headers';
  /** Additional settings in the partner's file. */
  readonly settings?: string;
}

const QUICK = 'timeout: 1s\nrecovery: 1s';
export const RIGHT: Kind = { name: 'right', outcome: 'certified' };

const faulty = (fault: string): Kind => ({ name: 'faulty', outcome: 'failed', fault });

/** Mutants that are visible without an API key or a client certificate, and that neither hang nor crash. */
export const FAULTY: readonly Kind[] = [
  'signature-not-checked',
  'verifies-reserialised-json',
  'hex-accepted',
  'missing-signature-accepted',
  'trims-body',
  'ignores-letter-case',
  'expects-hex',
  'verifies-python-json',
  'signature-presence-is-enough',
  'escapes-non-ascii',
  'sha1-accepted',
].map(faulty);

/** A partner whose fault the specification does not forbid. The certificate lists the warning. */
export const WARNED: Kind = { name: 'warned', outcome: 'certified', fault: 'content-type-compared-exactly' };

/**
 * A partner that refuses connections at once. On a busy machine, a time limit would only end the lookup of its name.
 */
export const DEAD: Kind = { name: 'dead', outcome: 'inconclusive', behaviour: 'closed', settings: 'recovery: 1s' };

/** Partners that never answer the plain valid delivery within the time limit, so they fail. */
export const HANGING: readonly Kind[] = [
  { name: 'hanging', outcome: 'failed', behaviour: 'silent', settings: QUICK },
  { name: 'hanging', outcome: 'failed', behaviour: 'mute-tls', settings: QUICK },
];

/** A partner that takes longer than the time limit, so there is no verdict. */
export const LATE: Kind = { name: 'late', outcome: 'inconclusive', behaviour: 'mute-tls', settings: 'timeout: 5m' };

/** Partners that accept nothing, so the plain valid delivery fails. */
export const HOSTILE: readonly Kind[] = [
  { name: 'hostile', outcome: 'failed', behaviour: 'escapes', settings: QUICK },
  { name: 'hostile', outcome: 'failed', behaviour: 'endless', settings: QUICK },
  { name: 'hostile', outcome: 'failed', behaviour: 'garbage', settings: QUICK },
  { name: 'hostile', outcome: 'failed', behaviour: 'drip', settings: QUICK },
  { name: 'hostile', outcome: 'failed', behaviour: 'huge-headers', settings: QUICK },
];

/** Returns a line for each partner with an unexpected outcome. */
export function surprises(document: FleetDocument, kindOf: ReadonlyMap<string, Kind>): string[] {
  const seen = new Set(document.partners.map(({ name }) => name));
  const absent = [...kindOf.keys()].filter((name) => !seen.has(name)).map((name) => `${name}: not in the document`);
  const wrong = document.partners.flatMap(({ name, outcome, refusals }) => {
    const kind = kindOf.get(name);
    if (kind?.outcome === outcome) return [];
    const asked = `${kind?.outcome} for ${kind?.fault ?? kind?.behaviour ?? kind?.name}`;
    return [
      `${name}: ${outcome}, not ${asked} (${refusals.map(({ code, message }) => `${code}: ${message}`).join('; ')})`,
    ];
  });
  return [...absent, ...wrong];
}

const TIMES: ReadonlySet<string> = new Set(['startedAt', 'durationMs', 'issuedAt', 'expiresAt']);

/** Matches partners whose checks end by time limits. Their counts depend on the speed of the machine. */
const TIMED = /-(?:hanging|hostile|late)$/;

/**
 * Returns the document as text, without its times and without the counts, findings and sentences that depend on them.
 */
export function withoutTimes(document: FleetDocument): string {
  const partners = document.partners.map((one) => {
    if (!TIMED.test(one.name)) return one;
    return { ...one, counts: null, suites: {}, diagnosis: null, refusals: one.refusals.map(({ code }) => code) };
  });
  return JSON.stringify({ ...document, partners }, (key, value) => (TIMES.has(key) ? null : value), 1);
}
