/** The files of the partners: one each, all of them read and checked before the first request. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { CURRENT_REVISION, loadRevision, refusalsBefore } from '../../certify/index.ts';
import { type ConfigFlags, collectConfig, type Problem, type ResolvedConfig } from '../../config/index.ts';
import { visible } from '../../report/index.ts';
import { featuresOf } from '../../run/index.ts';

export interface FleetMember {
  readonly name: string;
  readonly config: ResolvedConfig;
}

const DEFAULTS = '_defaults.yaml';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What is wrong with one file, or with the folder. */
interface Trouble {
  readonly place: string;
  readonly lines: readonly string[];
}

/** The names of the partners, sorted, and whether there is a file of defaults. */
async function namesIn(directory: string, troubles: Trouble[]): Promise<{ names: string[]; defaults: boolean }> {
  const files = await readdir(directory, { withFileTypes: true }).catch((cause) => {
    throw new HookproofError('FLEET_FOLDER', `the folder ${directory} of the partners cannot be read`, {
      hint: 'Name a folder with one file for each partner: partners/acme.yaml, written as hookproof.yaml is.',
      cause,
    });
  });
  const names: string[] = [];
  const known = new Map<string, string>();
  for (const { name: file } of files.filter((entry) => !entry.isDirectory())) {
    if (file === DEFAULTS || file.startsWith('.')) continue;
    const wrong = (line: string) => troubles.push({ place: join(directory, file), lines: [line] });
    if (/\.yml$/i.test(file)) wrong('is not read\n    Call it .yaml.');
    if (!file.endsWith('.yaml')) continue;
    const name = file.slice(0, -'.yaml'.length);
    const other = known.get(name.toLowerCase());
    if (!NAME.test(name) || /^fleet\b/i.test(name)) {
      wrong(
        'is no name for a partner\n    Letters, digits and . _ - are, beginning with a letter or digit, and not with "fleet".',
      );
    } else if (other !== undefined)
      wrong(`differs from ${other} only by its letters being small or large\n    Give it another name.`);
    else {
      known.set(name.toLowerCase(), file);
      names.push(name);
    }
  }
  return { names: names.toSorted(), defaults: files.some(({ name }) => name === DEFAULTS) };
}

function lineOf({ message, hint }: Problem): string {
  return `${visible(message)}
    ${hint}`;
}

function refusedBefore({ run, partner, clientFixtures, sources }: ResolvedConfig): string[] {
  const lines = refusalsBefore({
    profile: run.profile,
    features: featuresOf(partner, clientFixtures),
    selected: [...run.suites, ...run.scenarios, ...run.greps],
    shard: false,
    bail: run.bail,
    baseline: run.baseline !== null,
    extraCa: partner.tls?.ca !== undefined,
    environment: process.env,
  }).map(({ message, fix }) => `${message}\n    ${fix}`);
  const elsewhere = (['reporters', 'output-dir'] as const).filter((path) => (sources[path] ?? 'default') !== 'default');
  const told = elsewhere.map(
    (path) => `${path} has no place here\n    What is written for each partner goes into a folder with its name.`,
  );
  try {
    if (run.profile !== null) loadRevision(run.revision ?? CURRENT_REVISION);
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    told.push(`${error.message}\n    ${error.hint}`);
  }
  return [...lines, ...told];
}

/**
 * Reads and checks every partner, those of `only` alone when there are any. The variables of the environment that are settings elsewhere
 * (HOOKPROOF_URL, HOOKPROOF_SECRET, ...) are none here: they would be those of every partner. A file may refer to any variable.
 * Throws {@link HookproofError} `FLEET_INVALID` with everything that is wrong with any of them.
 */
export async function readPartners(
  directory: string,
  flags: ConfigFlags,
  only: readonly string[],
): Promise<FleetMember[]> {
  const troubles: Trouble[] = [];
  const { names, defaults } = await namesIn(directory, troubles);
  for (const name of only) {
    if (!names.includes(name))
      troubles.push({ place: '--only', lines: [`there is no partner ${name} in ${directory}`] });
  }
  const wanted = only.length === 0 ? names : names.filter((name) => only.includes(name));
  if (wanted.length === 0 && troubles.length === 0) {
    troubles.push({
      place: directory,
      lines: ['there is no partner in it\n    Write one file for each: acme.yaml, as hookproof.yaml.'],
    });
  }
  const members: FleetMember[] = [];
  for (const name of wanted) {
    const configFile = join(directory, `${name}.yaml`);
    const defaultsFile = defaults ? join(directory, DEFAULTS) : undefined;
    const { config, problems } = await collectConfig({
      flags,
      env: process.env,
      cwd: process.cwd(),
      configFile,
      variables: false,
      ...(defaultsFile !== undefined && { defaultsFile }),
    });
    const lines = config === null ? problems.map(lineOf) : refusedBefore(config);
    if (config === null || lines.length > 0) troubles.push({ place: configFile, lines });
    else members.push({ name, config });
  }
  if (troubles.length === 0) return members;
  throw invalid(troubles);
}

/** What is wrong with the defaults is wrong with everybody: it is told once. */
function invalid(troubles: readonly Trouble[]): HookproofError {
  const told = new Set<string>();
  const list = troubles.flatMap(({ place, lines }) => {
    const fresh = lines.filter((line) => !line.includes(DEFAULTS) || !told.has(line));
    for (const line of lines) told.add(line);
    return fresh.map((line) => (line.includes('.yaml:') ? `\n  ${line}` : `\n  ${place}: ${line}`));
  });
  return new HookproofError('FLEET_INVALID', `the partners cannot be certified as they are:${list.join('')}`, {
    hint: 'Nothing was sent. All problems are listed, so that you can fix them in one pass.',
  });
}
