/** Checks that are newer than the revision of the catalogue: told, so that nobody is surprised when it is raised. */
import type { ResultDocument, ScenarioResult } from '../result/result-document.ts';
import { isScored } from '../result/tally.ts';
import { counted, type Layout } from './layout.ts';

function isRed({ verdict }: ScenarioResult): boolean {
  return verdict !== 'pass' && verdict !== 'not-applicable';
}

/** Empty where everything is scored. */
export function renderNotScored(document: ResultDocument, layout: Layout): string[] {
  const { results, scoring } = document;
  if (scoring === undefined || scoring.notScored.length === 0) return [];
  const aside = results.filter((result) => !isScored(document, result));
  const red = aside.filter(isRed);
  const count = `${counted(aside.length, 'check')} newer than revision ${scoring.revision}: without weight until the revision is raised`;
  return [
    layout.paint(`Not scored (${aside.length})`, 'bold'),
    ...layout.paragraph('  ', red.length === 0 ? count : `${count}; ${red.length} would not pass`, 'dim'),
    ...red.flatMap((result) => [
      ...layout.paragraph(`  ${layout.sign(result.verdict)} `, `${result.id}: ${result.title}`),
      ...layout.paragraph('    observed  ', result.observed || result.reason),
      ...layout.paragraph('    fix       ', result.fix, 'cyan'),
    ]),
  ];
}
