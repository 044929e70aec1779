/** Makes sections and findings. Their texts contain no value of a credential. */
import type { DoctorFinding, DoctorSection, FactsOf, SectionId, Severity } from './doctor-document.ts';

/** The titles of the sections. */
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

/** It was examined. The findings are sorted, the most serious first. */
export function examined<Id extends SectionId>(
  id: Id,
  facts: FactsOf<Id> | null,
  findings: readonly DoctorFinding[],
): DoctorSection {
  const section = { id, title: DOCTOR_SECTIONS[id], state: 'examined', reason: '', facts, findings: sorted(findings) };
  // The compiler does not see that id and facts go together.
  return section as DoctorSection;
}

/** It could not be examined, or was not asked for. */
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

/** Deliveries fail, or are not safe. */
export const problem = maker('problem');
/** It works, and should be fixed. */
export const advice = maker('advice');
/** Worth knowing. */
export const info = maker('info');

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Returns the elements of a list that are there: `[condition && element]` omits the element. */
export function present<T extends object>(list: readonly (T | false | null | undefined)[]): T[] {
  return list.filter((one): one is T => Boolean(one));
}
