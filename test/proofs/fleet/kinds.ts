/** The kinds of partners in a test fleet, and their expected outcomes. */
import type { FleetDocument, PartnerOutcome } from '../../../harness/fleet.ts';

export interface Kind {
  readonly name: string;
  readonly outcome: PartnerOutcome;
  /** The mutant, for a faulty one. */
  readonly fault?: string;
  /** How it behaves, if it is not a receiver. */
  readonly behaviour?: 'closed' | 'silent' | 'mute-tls' | 'endless' | 'escapes' | 'garbage' | 'drip' | 'huge-headers';
  /** Its own settings. */
  readonly settings?: string;
}

const QUICK = 'timeout: 1s\nrecovery: 1s';
export const RIGHT: Kind = { name: 'right', outcome: 'certified' };

const faulty = (fault: string): Kind => ({ name: 'faulty', outcome: 'failed', fault });

/** Mutants that show without API key and client certificate, and that neither hang nor crash. */
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

/** What the specification does not forbid is a warning, which the certificate lists. */
export const WARNED: Kind = { name: 'warned', outcome: 'certified', fault: 'content-type-compared-exactly' };

/** It refuses connections at once. A time limit would only end the lookup of its name on a busy machine. */
export const DEAD: Kind = { name: 'dead', outcome: 'inconclusive', behaviour: 'closed', settings: 'recovery: 1s' };

/** A partner that never answers the plain valid delivery within the time limit fails. */
export const HANGING: readonly Kind[] = [
  { name: 'hanging', outcome: 'failed', behaviour: 'silent', settings: QUICK },
  { name: 'hanging', outcome: 'failed', behaviour: 'mute-tls', settings: QUICK },
];

/** It takes longer than the time limit of a partner, so there is no verdict. */
export const LATE: Kind = { name: 'late', outcome: 'inconclusive', behaviour: 'mute-tls', settings: 'timeout: 5m' };

/** They accept nothing: the plain valid delivery fails. */
export const HOSTILE: readonly Kind[] = [
  { name: 'hostile', outcome: 'failed', behaviour: 'escapes', settings: QUICK },
  { name: 'hostile', outcome: 'failed', behaviour: 'endless', settings: QUICK },
  { name: 'hostile', outcome: 'failed', behaviour: 'garbage', settings: QUICK },
  { name: 'hostile', outcome: 'failed', behaviour: 'drip', settings: QUICK },
  { name: 'hostile', outcome: 'failed', behaviour: 'huge-headers', settings: QUICK },
];

/** A line for each partner with an unexpected outcome. */
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

/** Their checks end by time limits, so the counts depend on the speed of the machine. */
const TIMED = /-(?:hanging|hostile|late)$/;

/** The document without its times, and without counts, findings and sentences that depend on them, as text. */
export function withoutTimes(document: FleetDocument): string {
  const partners = document.partners.map((one) => {
    if (!TIMED.test(one.name)) return one;
    return { ...one, counts: null, suites: {}, diagnosis: null, refusals: one.refusals.map(({ code }) => code) };
  });
  return JSON.stringify({ ...document, partners }, (key, value) => (TIMES.has(key) ? null : value), 1);
}
