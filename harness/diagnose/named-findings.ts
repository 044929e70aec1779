/** The findings of a diagnosis that are not in the fault dictionary, by name: for look-ups without a run. */
import type { Finding } from './finding.ts';
import { preflightFindings } from './preflight-findings.ts';
import { refusalFindings } from './refused-delivery.ts';
import { rejectionFindings } from './rejected-credentials.ts';
import { runFindings } from './run-findings.ts';

/** The findings in general words. A name that two causes share comes once. */
export function namedFindings(): Finding[] {
  const all = [...preflightFindings(), ...refusalFindings(), ...rejectionFindings(), ...runFindings(), CANDIDATES];
  return [...new Map(all.toReversed().map((finding) => [finding.fault, finding])).values()].toReversed();
}

/** A finding that lists candidates. */
export const CANDIDATES: Finding = {
  fault: 'one-of',
  title: 'One of several faults, which this run does not separate',
  mistake: null,
  why: 'The outcomes of this run are not enough to name the fault: it may also be one that is not known.',
  fix: 'See the candidates in the report, the most probable first; `hookproof explain NAME` explains each.',
};
