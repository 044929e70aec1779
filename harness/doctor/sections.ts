/** Makes sections. Pure. */
import type { DoctorFinding, DoctorSection, FactsOf, SectionId } from './doctor-document.ts';

const TITLES: Readonly<Record<SectionId, string>> = {
  dns: 'DNS',
  connection: 'Connection',
  tls: 'TLS',
  'client-certificate': 'Client certificate',
  authorities: 'Extra authorities',
  http: 'HTTP',
  clock: 'Clock',
  delivery: 'Delivery',
  secret: 'Signature secret',
  'api-key': 'API key',
  configuration: 'Configuration',
};

/** It was looked at. The findings come with the most serious first. */
export function looked<Id extends SectionId>(
  id: Id,
  facts: FactsOf<Id> | null,
  findings: readonly DoctorFinding[],
): DoctorSection {
  // The compiler does not see that id and facts go together.
  return { id, title: TITLES[id], state: 'looked', reason: '', facts, findings: sorted(findings) } as DoctorSection;
}

/** It could not be looked at, or was not asked for. */
export function skipped(id: SectionId, reason: string, findings: readonly DoctorFinding[] = []): DoctorSection {
  return { id, title: TITLES[id], state: 'skipped', reason, facts: null, findings: sorted(findings) };
}

const ORDER = ['problem', 'advice', 'info'] as const;

function sorted(findings: readonly DoctorFinding[]): DoctorFinding[] {
  return ORDER.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
}
