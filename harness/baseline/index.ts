/** Known failures: reading the list, holding a run against it, and bringing it up to date. */
export { baselineOutcome, knownIn } from './apply-baseline.ts';
export type { Baseline, BaselineEntry } from './baseline.ts';
export { readBaseline, readBaselineIfThere } from './read-baseline.ts';
export { updateBaseline } from './update-baseline.ts';

/** The text of the file: YAML is loaded when it is asked for. */
export async function renderBaseline(
  ...given: Parameters<typeof import('./render-baseline.ts').renderBaseline>
): Promise<string> {
  const { renderBaseline: render } = await import('./render-baseline.ts');
  return render(...given);
}
