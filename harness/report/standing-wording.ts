/** The signs and words for a partner's standing, which the terminal and the pages share. */
import type { RegisterEvent } from '../register/record.ts';
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

/** Formats "production, revision 2, evidence level 1"; empty without a certificate. */
export function certificateInWords({ certificate }: Pick<Standing, 'certificate'>): string[] {
  if (certificate === null) return [];
  return [`${certificate.profile}, revision ${certificate.revision}, evidence level ${certificate.evidenceLevel}`];
}

/** Formats "5 of 6 partners may get traffic". */
export function trafficInWords(standings: readonly Standing[]): string {
  const allowed = standings.filter(({ mayGetTraffic }) => mayGetTraffic).length;
  return `${allowed} of ${counted(standings.length, 'partner')} may get traffic`;
}
