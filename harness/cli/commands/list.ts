/** `hookproof list`: lists scenarios, suites, requirements, faults and error codes, as text or JSON. */
import { asyncApiDocument, type NotificationExamples, openApiDocument } from '../../../contract/api-documents.ts';
import { effectsSchema } from '../../../contract/effects.ts';
import {
  ERROR_CODES,
  emittedNotification,
  HookproofError,
  type JsonObject,
  jsonSchemas,
  kindOf,
  type NotificationKind,
} from '../../../contract/index.ts';
import { explainMistake, MISTAKES } from '../../../contract/mistakes/index.ts';
import { readPackageFile } from '../../../contract/package-file.ts';
import { describeScheme, SCHEMES } from '../../../contract/signing/index.ts';
import { CATALOGUE, catalogueDigest, changedStages, REQUIREMENTS, type Scenario } from '../../../scenarios/index.ts';
import { type DictionaryFault, loadDictionary } from '../../diagnose/index.ts';
import { comparisonSchema, eventSchema, resultSchema } from '../../report/index.ts';
import { version } from '../../version.ts';
import { didYouMean } from '../did-you-mean.ts';

/** The values of `--what`. */
export const LISTS = ['scenarios', 'suites', 'requirements', 'mistakes', 'faults', 'schemes', 'error-codes'] as const;

interface ListFlags {
  readonly what: (typeof LISTS)[number];
  readonly suite?: string[];
  readonly json?: boolean;
  readonly schemas?: boolean;
  readonly openapi?: boolean;
  readonly asyncapi?: boolean;
}

export async function listCommand(flags: ListFlags): Promise<number> {
  if (flags.schemas === true) {
    const [result, event, comparison] = [resultSchema(), eventSchema(), comparisonSchema()];
    const schemas = { notifications: jsonSchemas(), result, event, comparison, effects: effectsSchema() };
    process.stdout.write(`${JSON.stringify(schemas, null, 2)}\n`);
    return 0;
  }
  const rows = await rowsFor(flags);
  if (flags.openapi === true || flags.asyncapi === true) {
    process.stdout.write(contractDocuments()[flags.openapi === true ? 'openapi' : 'asyncapi']);
    return 0;
  }
  if (flags.json === true) {
    const document = { catalogue: catalogueDigest(), what: flags.what, items: rows.map(({ data }) => data) };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...rows.map(({ id }) => id.length));
  process.stdout.write(rows.map(({ id, text }) => `${id.padEnd(width)}  ${text}\n`).join(''));
  process.stderr.write(`${rows.length} ${flags.what}; \`hookproof explain ID\` prints details\n`);
  return 0;
}

/** Returns the documents of the contract as text. Their examples are the vectors of valid bodies, one for each kind. */
export function contractDocuments(): { readonly openapi: string; readonly asyncapi: string } {
  const examples = loadExamples();
  const text = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
  return {
    openapi: text(openApiDocument({ version, examples })),
    asyncapi: text(asyncApiDocument({ version, examples })),
  };
}

function loadExamples(): NotificationExamples {
  const file = readPackageFile('scenarios/vectors/valid-bodies.json');
  if (file === null) {
    throw new HookproofError('VECTORS_MISSING', 'the file of the valid vectors is missing', {
      hint: 'The installation of hookproof is incomplete: reinstall it.',
      kind: 'internal',
    });
  }
  const { vectors }: { vectors: Vector[] } = JSON.parse(file.toString());
  const examples: Partial<Record<NotificationKind, NotificationExamples[NotificationKind]>> = {};
  for (const { bodyText = 'null', comment } of vectors) {
    const { data, success } = emittedNotification.safeParse(JSON.parse(bodyText));
    if (success) examples[kindOf(data)] ??= { summary: comment, value: data as unknown as JsonObject };
  }
  return examples as NotificationExamples;
}

/** A test vector. `body` is text if the bytes are valid UTF-8. */
interface Vector {
  readonly comment: string;
  readonly bodyText?: string;
}

/** Returns the rows of the listing: an id, text for people, and the same as data. */
export async function rowsFor(flags: ListFlags): Promise<{ id: string; text: string; data: unknown }[]> {
  switch (flags.what) {
    case 'scenarios':
      return selectedSuites(flags).flatMap((suite) =>
        suite.scenarios.map((scenario) => ({
          id: scenario.id,
          text: `${scenario.level.padEnd(6)}  ${scenario.title}`,
          data: describeScenario(scenario, suite.name),
        })),
      );
    case 'suites':
      return selectedSuites(flags).map(({ name, title, scenarios }) => ({
        id: name,
        text: `${String(scenarios.length).padStart(3)}  ${title}`,
        data: { name, title, scenarios: scenarios.map(({ id }) => id) },
      }));
    case 'requirements':
      return REQUIREMENTS.map((entry) => ({
        id: entry.id,
        text: `${entry.level.padEnd(6)}  ${entry.text}`,
        data: {
          ...entry,
          scenarios: CATALOGUE.flatMap(({ scenarios }) =>
            scenarios.filter((s) => s.requirements.includes(entry.id)).map(({ id }) => id),
          ),
        },
      }));
    case 'mistakes':
      return Object.entries(MISTAKES).map(([id, mistake]) => ({
        id,
        text: `${mistake.severity.padEnd(8)}  ${mistake.title}`,
        data: { id, ...mistake },
      }));
    case 'faults':
      return (await loadDictionary()).faults.map(faultRow);
    case 'schemes':
      return SCHEMES.map(({ samples, ...scheme }) => ({
        id: scheme.name,
        text: `${scheme.title}: ${describeScheme(scheme)}`,
        data: { ...scheme, samples: samples.map(({ name }) => name) },
      }));
    case 'error-codes':
      return ERROR_CODES.map((entry) => ({ id: entry.code, text: entry.meaning, data: entry }));
  }
}

function selectedSuites(flags: ListFlags) {
  for (const name of flags.suite ?? []) {
    if (CATALOGUE.some((suite) => suite.name === name)) continue;
    const names = CATALOGUE.map((suite) => suite.name);
    throw new HookproofError('PLAN_UNKNOWN_NAME', `unknown suite "${name}"`, {
      hint: `${didYouMean(name, names)}\`hookproof list --what suites\` lists all suites.`,
    });
  }
  return CATALOGUE.filter(({ name }) => flags.suite === undefined || flags.suite.includes(name));
}

function describeScenario(scenario: Scenario, suite: string) {
  const { id, title, level, requirements, needs = [], mistake } = scenario;
  const expected = 'expect' in scenario ? scenario.expect.text : null;
  return {
    id,
    suite,
    title,
    level,
    requirements,
    needs,
    stages: 'change' in scenario ? changedStages(scenario.change) : ['flow' in scenario ? 'flow' : 'observation'],
    expected,
    mistake,
    ...explainMistake(scenario),
  };
}

/** Returns the row of a fault: the scenarios that detect it, without their outcomes. */
function faultRow({ outcomes, features: _, ...fault }: DictionaryFault) {
  const { severity, seen, fix } = MISTAKES[fault.mistake];
  const { why } = explainMistake(fault);
  const data = {
    ...fault,
    severity,
    forbidden: fault.forbidden !== false,
    seen,
    why,
    fix,
    failedBy: Object.keys(outcomes),
  };
  return { id: fault.name, text: `${severity.padEnd(8)}  ${fault.area.padEnd(11)}  ${fault.title}`, data };
}
