/** The output boundary: no secret in any string, and no character that controls a terminal. */
import { visible } from '../../contract/visible.ts';
import type { Redactor } from '../report/index.ts';
import type { DoctorFinding, DoctorSection } from './doctor-document.ts';

/**
 * Fields with words of closed lists, names and times that we or OpenSSL write: they keep the schema whatever the
 * secrets are.
 */
const OWN_FIELDS: ReadonlySet<string> = new Set([
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
  /** Facts, which may contain anything that the endpoint sent. The result has the same shape: only strings change. */
  facts<Facts>(facts: Facts): Facts;
  /** Findings, whose sentences are our own: a gap in them would reveal a short secret that is an ordinary word. */
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
  if (typeof value === 'string') return OWN_FIELDS.has(key) ? value : change(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, key, change));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapped(item, name, change)]));
  }
  return value;
}

/** For a section whose findings were made of facts that may not have been cleaned: those of the configuration. */
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
