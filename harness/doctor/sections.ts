/** Creates sections and findings. Their texts contain no value of a credential. */
import type { DoctorFinding, DoctorSection, FactsOf, SectionId, Severity } from './doctor-document.ts';

export const DOCTOR_SECTIONS: Readonly<Record<SectionId, string>> = {
  dns: 'DNS',
  connection: 'Connection',
  tls: 'TLS',
  'client-certificate': 'Client certificate',
  'extra-cas': 'Extra CAs',
  http: 'HTTP',
  clock: 'Clock',
  delivery: 'Delivery',
  secret: 'HMAC secret',
  'api-key': 'API key',
  configuration: 'Configuration',
};

/** Creates an examined section. The findings are sorted, the most serious first. */
export function examined<Id extends SectionId>(
  id: Id,
  facts: FactsOf<Id> | null,
  findings: readonly DoctorFinding[],
): DoctorSection {
  const section = { id, title: DOCTOR_SECTIONS[id], state: 'examined', reason: '', facts, findings: sorted(findings) };
  // The compiler cannot see that id and facts belong together.
  return section as DoctorSection;
}

/** Creates a section that could not be examined, or was not requested. */
export function skipped(id: SectionId, reason: string, findings: readonly DoctorFinding[] = []): DoctorSection {
  return { id, title: DOCTOR_SECTIONS[id], state: 'skipped', reason, facts: null, findings: sorted(findings) };
}

const ORDER = ['problem', 'advice', 'info'] as const;

function sorted(findings: readonly DoctorFinding[]): DoctorFinding[] {
  return ORDER.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
}

type Make = (code: string, title: string, fix: string | null, detail?: string) => DoctorFinding;

function maker(severity: Severity): Make {
  return (code, title, fix, detail = '') => ({ severity, code, title, detail, fix });
}

/** Creates a finding that makes deliveries fail or unsafe. */
export const problem = maker('problem');
/** Creates a finding about something that works but should be fixed. */
export const advice = maker('advice');
/** Creates a finding that is worth knowing. */
export const info = maker('info');

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Returns the elements that are present: `[condition && element]` omits the element. */
export function present<T extends object>(list: readonly (T | false | null | undefined)[]): T[] {
  return list.filter((one): one is T => Boolean(one));
}
