/** Which reporters write where. */
import { resolve } from 'node:path';
import { REPORTERS, type ReporterChoice } from './config.ts';
import { type Given, givenText, givenTexts, problemWith } from './given.ts';
import { type Resolution, show } from './resolution.ts';
import { OUTPUT_FILES } from './settings.ts';
import { oneOf } from './values.ts';

const OUTPUT_NAMES = ['json', 'junit', 'html'] as const;

interface GivenReporter extends ReporterChoice {
  readonly given: Given<string>;
}

/**
 * `name=file` writes a file, `name` and `name=-` write standard output. A reporter on standard output stands in for the human
 * one; files never do. In GitHub Actions the `github` reporter stands there unless another one is asked for: it says what the human one
 * says, and annotates. An output directory gets `run.json`, `junit.xml` and `report.html` beside whatever else is asked for.
 */
export function resolveReporters(resolution: Resolution): ReporterChoice[] {
  const { settings, problems } = resolution;
  const reporters = givenTexts(settings, 'reporters').flatMap((given) => parseReporter(given, resolution));
  const outputDir = givenText(settings, 'output-dir');
  for (const name of OUTPUT_NAMES) {
    if (outputDir === undefined) continue;
    const file = resolve(outputDir.base, outputDir.value, OUTPUT_FILES[name]);
    // Asked for by name and by directory alike: it is one file.
    if (reporters.some((other) => other.file === file && other.name === name)) continue;
    reporters.push({ name, file, given: outputDir });
  }
  for (const [index, reporter] of reporters.entries()) {
    const earlier = reporters.slice(0, index).find(({ file }) => file === reporter.file);
    if (earlier !== undefined) problems.push(clash(earlier, reporter));
  }
  const usual = resolution.env.GITHUB_ACTIONS === 'true' ? 'github' : 'human';
  const terminal: ReporterChoice[] = reporters.some(({ file }) => file === null) ? [] : [{ name: usual, file: null }];
  const all = [...terminal, ...reporters.map(({ name, file }) => ({ name, file }))];
  const text = all.map(({ name, file }) => `${name}=${file ?? '-'}`).join(', ');
  show(resolution, 'reporters', text, reporters[0]?.given);
  return all;
}

function parseReporter(given: Given<string>, { problems }: Resolution): GivenReporter[] {
  const equals = given.value.indexOf('=');
  const word = equals < 0 ? given.value : given.value.slice(0, equals);
  const target = equals < 0 ? '-' : given.value.slice(equals + 1);
  const name = oneOf(word, REPORTERS, 'a reporter', given, problems);
  if (name === undefined) return [];
  if (target === '') {
    problems.push(
      problemWith(given, `the file for ${name} is missing`, `Write ${name}=FILE, or ${name}=- for standard output.`),
    );
    return [];
  }
  return [{ name, file: target === '-' ? null : resolve(given.base, target), given }];
}

function clash(earlier: GivenReporter, later: GivenReporter): ReturnType<typeof problemWith> {
  const where = later.file === null ? 'standard output' : 'the same file';
  const what = `${earlier.name} and ${later.name} both write to ${where}`;
  return problemWith(later.given, what, `Give each its own place, for example ${later.name}=FILE.`, 'CONFIG_REPORTERS');
}
