/** What the endpoint behaves like, before anything else: the evidence, where it comes from, why it matters and how to mend it. */
import type { Diagnosis, ResultDocument } from '../result/result-document.ts';
import { closeness, NOTHING_FITS, namesOf, unexplained } from './diagnosis-words.ts';
import { counted, type Layout } from './layout.ts';

function inFull(diagnosis: Diagnosis, layout: Layout): string[] {
  const { title, evidence, alike, seen, why, fix, stack } = diagnosis;
  const field = (lead: string, text: string, ...styles: Parameters<Layout['paint']>[1][]) =>
    text === '' ? [] : layout.paragraph(`  ${lead.padEnd(8)}  `, text, ...styles);
  return [
    ...layout.paragraph('  ', title, 'bold'),
    ...layout.paragraph('  ', closeness(diagnosis), 'dim'),
    ...field('evidence', namesOf(evidence), 'dim'),
    ...field('seen', seen),
    ...field('why', why),
    ...field('fix', fix, 'cyan'),
    ...field('for', stack === null ? '' : `${stack.name} (${stack.told})`, 'dim'),
    // What the dictionary has, it has more of.
    ...field('more', seen === '' ? '' : `hookproof explain ${diagnosis.fault}`),
    ...field('same as', alike.length === 0 ? '' : `${namesOf(alike)}: this run cannot tell them apart`, 'dim'),
  ];
}

/** The nearest fault and what comes with it in full, those that also come in question in a line each. */
export function renderDiagnosis(document: Pick<ResultDocument, 'diagnosis' | 'results'>, layout: Layout): string[] {
  const { diagnosis, results } = document;
  const failed = results.filter(({ verdict }) => verdict === 'fail').length;
  if (diagnosis.length === 0) return failed < 2 ? [] : layout.paragraph('', NOTHING_FITS, 'bold');
  const together = diagnosis.filter(({ relation }) => relation !== 'or');
  const rest = unexplained(document);
  return [
    layout.paint('Your endpoint behaves like this', 'bold'),
    ...together.flatMap((one, at) => [...(at === 0 ? [] : ['', '  and at the same time']), ...inFull(one, layout)]),
    ...diagnosis
      .filter(({ relation }) => relation === 'or')
      .flatMap((other) => layout.paragraph('  or        ', `${other.title} (${closeness(other)})`, 'dim')),
    ...(rest.length > 0 && rest.length < failed
      ? layout.paragraph(
          '  besides   ',
          `${counted(rest.length, 'failure')} that this does not explain: ${namesOf(rest)}`,
        )
      : []),
  ];
}
