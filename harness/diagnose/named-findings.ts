/** Lists the findings that are not in the fault dictionary, for look-ups by name without a run. */
import type { Finding } from './finding.ts';
import { preflightFindings } from './preflight-findings.ts';
import { refusalFindings } from './refused-delivery.ts';
import { rejectionFindings } from './rejected-credentials.ts';
import { runFindings } from './run-findings.ts';

/** Returns the findings in general words. If two causes share a name, only one of them is included. */
export function namedFindings(): Finding[] {
  const all = [...preflightFindings(), ...refusalFindings(), ...rejectionFindings(), ...runFindings()];
  return [...new Map(all.toReversed().map((finding) => [finding.fault, finding])).values()].toReversed();
}
