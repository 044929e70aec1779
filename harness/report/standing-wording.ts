/** The signs and words for a partner's standing, which the terminal and the pages share. */
import type { RegisterEvent, RegisterRecord } from '../register/record.ts';
import type { Standing, State } from '../register/standing.ts';
import { counted } from './layout.ts';
import type { Verdict } from './result-document.ts';

/** The verdict whose sign represents each state. */
export const STATE_SIGNS = {
  certified: 'pass',
  allowed: 'warn',
  failing: 'fail',
  drifted: 'fail',
  revoked: 'fail',
  expired: 'fail',
  uncertified: 'inconclusive',
} as const satisfies Readonly<Record<State, Verdict>>;

/** The verdict whose sign represents each event in the register. */
export const EVENT_SIGNS = {
  certified: 'pass',
  unchanged: 'pass',
  override: 'warn',
  failed: 'fail',
  drifted: 'fail',
  revoked: 'fail',
  refused: 'inconclusive',
  inconclusive: 'inconclusive',
  unreachable: 'inconclusive',
  'harness-error': 'harness-error',
} as const satisfies Readonly<Record<RegisterEvent, Verdict>>;

/** Returns text such as "production, revision 2, evidence level 1"; empty without a certificate. */
export function certificateInWords({ certificate }: Pick<Standing, 'certificate'>): string[] {
  if (certificate === null) return [];
  const { evidenceLevel, profile, revision, scheme } = certificate;
  const inScheme = scheme === undefined ? '' : `, scheme ${scheme}`;
  return [`${profile}, revision ${revision}${inScheme}, evidence level ${evidenceLevel}`];
}

/** Returns text such as "2 in tls, 1 in http": the suites with checks of this verdict; empty if there are none. */
export function countsInWords(suites: RegisterRecord['suites'], verdict: 'fail' | 'warn'): string {
  const found = Object.entries(suites).filter(([, counts]) => counts[verdict] > 0);
  return found.map(([suite, counts]) => `${counts[verdict]} in ${suite}`).join(', ');
}

/** Returns text such as "5 of 6 partners may get traffic". */
export function trafficInWords(standings: readonly Standing[]): string {
  const allowed = standings.filter(({ mayGetTraffic }) => mayGetTraffic).length;
  return `${allowed} of ${counted(standings.length, 'partner')} may get traffic`;
}
