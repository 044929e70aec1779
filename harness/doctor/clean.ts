/** The output boundary: no secret in any string, and no character that acts on a display. */
import { type Redactor, visible } from '../report/index.ts';
import type { DoctorDocument, DoctorFinding, DoctorSection } from './doctor-document.ts';

/** Words of closed lists, names and times of ours or of OpenSSL: whatever the secrets are, these stay what the schema allows. */
const OURS: ReadonlySet<string> = new Set([
  'checkedAt',
  'cipher',
  'code',
  'endpointTime',
  'fingerprint',
  'keyFingerprint',
  'kind',
  'localTime',
  'looksLike',
  'method',
  'notAfter',
  'notBefore',
  'outcome',
  'phase',
  'role',
  'scope',
  'signature',
  'usages',
  'version',
]);

export interface Cleaner {
  /** Facts, in which anything may be the endpoint's own. What comes out has the shape of what went in: only strings change. */
  facts<Facts>(facts: Facts): Facts;
  /** Findings, whose sentences are ours: in them a gap would tell a short secret that is a plain word. */
  findings(findings: readonly DoctorFinding[]): DoctorFinding[];
  text(text: string): string;
}

export function createCleaner(redactor: Redactor): Cleaner {
  const text = (input: string) => visible(redactor.text(input));
  const wording = (input: string) => visible(redactor.wording(input));
  return {
    text,
    facts: (facts) => mapped(facts, '', text) as typeof facts,
    findings: (findings) =>
      findings.map(({ title, detail, fix, ...rest }) => ({
        ...rest,
        title: wording(title),
        detail: wording(detail),
        fix: fix === null ? null : wording(fix),
      })),
  };
}

function mapped(value: unknown, key: string, change: (text: string) => string): unknown {
  if (typeof value === 'string') return OURS.has(key) ? value : change(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, key, change));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapped(item, name, change)]));
  }
  return value;
}

/** A section whose findings were made of facts that may not have been cleaned: those of what is configured here. */
export function cleanSection(section: DoctorSection, cleaner: Cleaner): DoctorSection {
  const { facts, findings, reason } = section;
  // The compiler does not see that the facts stay those of the section.
  return {
    ...section,
    reason: cleaner.text(reason),
    facts: cleaner.facts(facts),
    findings: cleaner.findings(findings),
  } as DoctorSection;
}

export function countFindings(sections: DoctorDocument['sections']): DoctorDocument['counts'] {
  const all = sections.flatMap(({ findings }) => findings);
  const count = (wanted: DoctorFinding['severity']) => all.filter(({ severity }) => severity === wanted).length;
  return { problem: count('problem'), advice: count('advice'), info: count('info') };
}
