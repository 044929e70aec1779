/** The output boundary: removes secrets and terminal control characters from every string. */
import { visible } from '../../contract/visible.ts';
import { type Plan, planOf, type Redactor, redactValue } from '../report/index.ts';
import { anySection, type DoctorFinding, type DoctorSection, type FactsOf, type SectionId } from './doctor-document.ts';

export interface Cleaner {
  /** Cleans facts, which may contain anything that the endpoint sent. The section's schema decides how. */
  facts<Id extends SectionId, Facts extends FactsOf<Id> | null>(id: Id, facts: Facts): Facts;
  /**
   * Cleans findings. They are hookproof's own sentences, so a short secret that is also an ordinary word is kept:
   * replacing it would reveal it.
   */
  findings(findings: readonly DoctorFinding[]): DoctorFinding[];
  text(text: string): string;
}

const FACTS_PLANS: ReadonlyMap<SectionId, Plan> = new Map(
  anySection.options.map(({ shape }) => [shape.id.value, planOf(shape.facts)]),
);

export function createCleaner(redactor: Redactor): Cleaner {
  const text = (input: string) => visible(redactor.text(input));
  const wording = (input: string) => visible(redactor.wording(input));
  const cleaning = { ...redactor, text, wording };
  return {
    text,
    facts: (id, facts) => redactValue(facts, FACTS_PLANS.get(id) ?? 'untrusted', cleaning) as typeof facts,
    findings: (findings) =>
      findings.map(({ title, detail, fix, ...rest }) => ({
        ...rest,
        title: wording(title),
        detail: wording(detail),
        fix: fix === null ? null : wording(fix),
      })),
  };
}

/** Cleans a section whose findings were made from uncleaned facts: those of the configuration. */
export function cleanSection(section: DoctorSection, cleaner: Cleaner): DoctorSection {
  const { facts, findings, reason } = section;
  // The compiler cannot see that the cleaned facts have the type of the section's facts.
  return {
    ...section,
    reason: cleaner.text(reason),
    facts: cleaner.facts(section.id, facts),
    findings: cleaner.findings(findings),
  } as DoctorSection;
}
