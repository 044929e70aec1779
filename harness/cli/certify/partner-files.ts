/** Reads the files of the partners and checks all of them before the first request. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import { CURRENT_REVISION, loadRevision } from '../../certify/index.ts';
import {
  type CollectedConfig,
  type ConfigFlags,
  collectConfig,
  type ResolvedConfig,
  variablePrefix,
} from '../../config/index.ts';
import { configurationRefusals } from './issuing.ts';

export interface FleetMember {
  readonly name: string;
  readonly config: ResolvedConfig;
}

/** Returns the host of a partner's endpoint, without its port. */
export function hostOf({ config }: Pick<FleetMember, 'config'>): string {
  return new URL(config.partner.url).hostname;
}

/** A partner whose file cannot be used, and why. */
export interface BrokenMember {
  readonly name: string;
  readonly problems: readonly string[];
}

const DEFAULTS = '_defaults.yaml';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The problems of one file or of the folder. Indented lines after a problem are its hint. */
interface FileProblems {
  readonly place: string;
  readonly lines: readonly string[];
}

/**
 * Reads and checks every partner, or those in `only`. Variables such as HOOKPROOF_URL and HOOKPROOF_SECRET are ignored,
 * because they would apply to every partner. The files of partners are not trusted: a file may only refer to variables
 * and files of its own partner, and may only set what describes its endpoint. If one file cannot be used, the others
 * are still read.
 *
 * @throws HookproofError FLEET_INVALID, which lists every problem of the folder, its file names and its defaults
 */
export async function readPartners(
  directory: string,
  flags: ConfigFlags,
  only: readonly string[],
): Promise<{ members: FleetMember[]; broken: BrokenMember[] }> {
  const problems: FileProblems[] = [];
  const { names, defaults } = await namesIn(directory, problems);
  for (const name of only) {
    if (!names.includes(name))
      problems.push({ place: '--only', lines: [`there is no partner ${name} in ${directory}`] });
  }
  const wanted = only.length === 0 ? names : names.filter((name) => only.includes(name));
  if (wanted.length === 0 && problems.length === 0) {
    problems.push({
      place: directory,
      lines: ['contains no partner\n    Write one file for each: acme.yaml, in the format of hookproof.yaml.'],
    });
  }
  const members: FleetMember[] = [];
  const broken: BrokenMember[] = [];
  for (const name of wanted) {
    const configFile = join(directory, `${name}.yaml`);
    const collected = await collectPartner(directory, name, { names, defaults }, flags);
    const { config } = collected;
    const lines =
      config === null
        ? collected.problems.map(({ message, hint }) => `${visible(message)}\n    ${hint}`)
        : problemsOf(config);
    const ofDefaults = lines.filter((line) => line.includes(DEFAULTS));
    if (ofDefaults.length > 0) problems.push({ place: configFile, lines: ofDefaults });
    if (config === null || lines.length > 0) broken.push({ name, problems: lines });
    else members.push({ name, config });
  }
  const others = broken.map(({ name, problems: lines }) => ({ place: join(directory, `${name}.yaml`), lines }));
  if (problems.length > 0) throw invalid([...problems, ...others]);
  return { members, broken };
}

function collectPartner(directory: string, name: string, { names, defaults }: FolderNames, flags: ConfigFlags) {
  return collectConfig({
    flags,
    env: process.env,
    cwd: process.cwd(),
    configFile: join(directory, `${name}.yaml`),
    partner: { partner: name, folder: directory, names, defaultsFile: defaults ? join(directory, DEFAULTS) : null },
  });
}

/**
 * Reads the destinations of notices about a partner, and its secrets, even if its file is invalid or missing: the
 * operator is notified in any case.
 */
export async function noticesOfPartner(
  directory: string,
  name: string,
): Promise<Pick<CollectedConfig, 'notices' | 'secrets'>> {
  return collectPartner(directory, name, await namesIn(directory, []), {});
}

/**
 * Returns the names of all partners, and the path of the file of defaults; the path is null if the file does not exist.
 *
 * @throws HookproofError FLEET_INVALID for names that cannot be used
 */
export async function partnersIn(
  directory: string,
): Promise<{ names: readonly string[]; defaultsFile: string | null }> {
  const problems: FileProblems[] = [];
  const { names, defaults } = await namesIn(directory, problems);
  if (problems.length > 0) throw invalid(problems);
  return { names, defaultsFile: defaults ? join(directory, DEFAULTS) : null };
}

interface FolderNames {
  readonly names: readonly string[];
  /** Whether the file of defaults exists. */
  readonly defaults: boolean;
}

/** Returns the sorted names of the partners, and whether the file of defaults exists. */
async function namesIn(directory: string, problems: FileProblems[]): Promise<FolderNames> {
  const files = await readdir(directory, { withFileTypes: true }).catch((cause) => {
    throw new HookproofError('FLEET_FOLDER', `the folder of the partners, ${directory}, cannot be read`, {
      hint: 'Give a folder with one file for each partner: partners/acme.yaml, in the format of hookproof.yaml.',
      cause,
    });
  });
  const names: string[] = [];
  const known = new Map<string, string>();
  for (const { name: file } of files.filter((entry) => !entry.isDirectory())) {
    if (file === DEFAULTS || file.startsWith('.')) continue;
    const problem = (line: string) => problems.push({ place: join(directory, file), lines: [line] });
    if (/\.yml$/i.test(file)) problem('is ignored\n    Rename it to .yaml.');
    if (!file.endsWith('.yaml')) continue;
    const name = file.slice(0, -'.yaml'.length);
    const prefix = variablePrefix(name);
    const other = known.get(prefix);
    if (!NAME.test(name) || /^fleet\b/i.test(name)) {
      problem(
        'is not a valid name for a partner\n' +
          '    Use letters, digits and . _ -; begin with a letter or digit, but not with "fleet".',
      );
    } else if (other !== undefined)
      problem(`differs from ${visible(other)} only in letter case or punctuation\n    Give it another name.`);
    else {
      known.set(prefix, file);
      names.push(name);
    }
  }
  return { names: names.toSorted(), defaults: files.some(({ name }) => name === DEFAULTS) };
}

/** Returns why a partner with a valid configuration cannot be certified. */
function problemsOf(config: ResolvedConfig): string[] {
  const { run } = config;
  const problems = configurationRefusals(config).map(({ message, fix }) => `${message}\n    ${fix}`);
  try {
    if (run.profile !== null) loadRevision(run.revision ?? CURRENT_REVISION);
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    problems.push(`${error.message}\n    ${error.hint}`);
  }
  return problems;
}

/**
 * Creates an error that lists all problems. A problem in the file of defaults affects every partner, but is listed
 * once.
 */
function invalid(problems: readonly FileProblems[]): HookproofError {
  const listed = new Set<string>();
  const list = problems.flatMap(({ place, lines }) => {
    const fresh = lines.filter((line) => !line.includes(DEFAULTS) || !listed.has(line));
    for (const line of lines) listed.add(line);
    return fresh.map((line) => (line.includes('.yaml:') ? `\n  ${line}` : `\n  ${visible(place)}: ${line}`));
  });
  return new HookproofError('FLEET_INVALID', `the partners cannot be certified:${list.join('')}`, {
    hint: 'Nothing was sent. All problems are listed, so that you can fix them in one pass.',
  });
}
