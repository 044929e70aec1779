/** Resolves the configuration of a run from flags, the environment, hookproof.yaml and defaults, in this order. */

import { resolve } from 'node:path';
import { HookproofError } from '../../contract/index.ts';
import { visible } from '../../contract/visible.ts';
import { missingFeatures, type Profile, plainHttpAdvice } from '../../scenarios/profiles.ts';
import type { SourceOptions } from '../effects/index.ts';
import type { Partner } from '../partner.ts';
import type { Reporter } from '../report/reporters.ts';
import { type ClientFixtures, resolveFixtures } from './client-fixtures.ts';
import { findConfigFile } from './config-file.ts';
import {
  adviseOnVariables,
  type Environment,
  type Given,
  type GivenSettings,
  gatherSettings,
  givenText,
  type Input,
  type PartnerScope,
  problemWith,
  type Resolution,
  type ShownSetting,
  startResolution,
} from './given.ts';
import { type Advice, adviceTexts, inOrder, type Problem, throwIfAny } from './problems.ts';
import { MAX_DOCUMENT_BYTES, type ReadFile } from './read-file.ts';
import { type NoticeDestination, resolveNotices } from './resolve-notices.ts';
import { type PartnerReading, resolvePartner } from './resolve-partner.ts';
import { resolveReporters, resolveRun } from './resolve-run.ts';
import { resolveSources } from './resolve-sources.ts';
import { type ConfigFlags, type RunSettings, SETTINGS } from './settings.ts';

/** The validated configuration of a run. */
export interface ResolvedConfig {
  readonly partner: Partner;
  readonly clientFixtures: ClientFixtures;
  readonly run: RunSettings;
  /** The evidence sources in addition to the answers. */
  readonly evidenceSources: SourceOptions;
  /** The reporters; never empty, and at most one writes to standard output. */
  readonly reporters: readonly Reporter[];
  /** Advice for the user, one sentence each. */
  readonly advice: readonly string[];
  /** The source of each setting: `flag --timeout`, `environment HOOKPROOF_URL`, `hookproof.yaml:3:11`, `default`. */
  readonly sources: Readonly<Record<string, string>>;
  /** The lines of {@link describeConfig}. */
  readonly settings: readonly ShownSetting[];
  /** The secret values in use, for redaction by value. Never write these anywhere. */
  readonly secrets: readonly string[];
  /** The path of the configuration file as the user would write it; null if there is none. */
  readonly configFile: string | null;
  /** Whether the configuration file names the host of the URL, which shows that this endpoint is intended. */
  readonly namesHost: boolean;
}

/** The problems of a configuration, and the values that could be read despite them. */
export interface CollectedConfig {
  /** The configuration; null if there is any problem. */
  readonly config: ResolvedConfig | null;
  readonly problems: readonly Problem[];
  readonly advice: readonly Advice[];
  /** Raw values by setting path. Empty values appear only in `attempted`. */
  readonly given: GivenSettings;
  readonly attempted: ReadonlySet<string>;
  /** Absolute paths of the files that settings were read from. */
  readonly files: ReadonlyMap<string, string>;
  readonly values: PartnerReading;
  readonly run: RunSettings;
  /**
   * The destinations of `hookproof operate`'s notices: the partner's from its own file, the operator's from the file of
   * defaults.
   */
  readonly notices: { readonly partner: NoticeDestination | null; readonly operator: NoticeDestination | null };
  /** Every secret that was read, including unusable ones. */
  readonly secrets: readonly string[];
}

export interface LoadOptions {
  readonly flags: ConfigFlags;
  readonly env: Environment;
  /** The folder in which `hookproof.yaml` is looked up, and against which paths in flags and variables are resolved. */
  readonly cwd: string;
  /** The file of `--config`. Undefined reads `hookproof.yaml` if it exists; null reads no file. */
  readonly configFile?: string | null | undefined;
  /** The input for `--secret-file -` and `--api-key-file -`. */
  readonly stdin?: Input | undefined;
  /** Reads the configuration file and every file that it refers to. Default: from disk. */
  readonly readFile?: ReadFile | undefined;
  /** Whether a run follows. If so, the selection must match a check, and the baseline must exist. */
  readonly forRun?: boolean;
  /**
   * Set if `configFile` belongs to one of many partners. Environment variables are then not settings, because all
   * partners share them. `defaultsFile` is the operator's file; the partner's settings take precedence over it.
   */
  readonly partner?: PartnerScope & { readonly partner: string; readonly defaultsFile: string | null };
}

/**
 * Loads and checks the whole configuration, so that every problem is reported before the first request.
 *
 * Throws a {@link HookproofError} of kind `usage`: the only problem, or `CONFIG_INVALID` with all of them. The error
 * never contains the value of a secret; in the result, only `partner`, `clientFixtures` and `secrets` do.
 */
export async function loadConfig(options: LoadOptions): Promise<ResolvedConfig> {
  const { config, problems } = await collectConfig(options);
  throwIfAny(problems);
  if (config !== null) return config;
  throw new HookproofError('CONFIG_INTERNAL', 'the configuration has no URL, and no problem was reported for it', {
    hint: 'This is a bug in hookproof; please report it.',
    kind: 'internal',
  });
}

/**
 * Like {@link loadConfig}, but collects the problems instead of throwing: `doctor` also examines invalid
 * configurations.
 */
export async function collectConfig(options: LoadOptions): Promise<CollectedConfig> {
  const started = startResolution(options);
  const { problems, advice, secrets, files, readFile } = started;
  const { configFile, cwd, partner: one } = options;
  const file = await findConfigFile({ configFile, cwd, readFile, ...(one && { scope: one }) }, problems, advice);
  const scope = one && { ...one, partner: null };
  const defaults =
    scope === undefined || scope.defaultsFile === null
      ? null
      : await findConfigFile({ configFile: scope.defaultsFile, cwd, readFile, scope }, problems, advice);
  const settings = new Map([...(defaults?.settings ?? []), ...file.settings]);
  const complete = file.complete && defaults?.complete !== false;
  const unusable = [...file.unusable, ...(defaults?.unusable ?? [])];
  const layers = { flags: options.flags, env: one === undefined ? options.env : {}, file: settings, unusable, cwd };
  const resolution = { ...started, ...gatherSettings(layers, problems) };
  const values = await resolvePartner(resolution, complete);
  const { partner } = values;
  const clientFixtures = await resolveFixtures(resolution, partner?.tls?.clientCert);
  const { run, reporters } = resolveRun(resolution);
  const { evidenceSources, decimals } = await resolveSources(resolution, run, partner);
  const notices = {
    partner: await resolveNotices(resolution, file.settings),
    operator: await resolveNotices(resolution, defaults?.settings),
  };
  resolution.shown.sort((a, b) => placeInTable(a.path) - placeInTable(b.path));
  const profile = givenText(resolution.settings, 'profile');
  if (profile !== undefined && run.profile !== null && complete) {
    checkProfile(run.profile, profile, partner, resolution);
  }
  if (SELECTING.some((path) => resolution.settings.has(path))) {
    const { checkNames, checkSelection } = await import('./selection.ts');
    checkNames(resolution);
    if (options.forRun === true) checkSelection(run, resolution);
  }
  if (options.forRun === true) await checkBaseline(resolution);
  if (run.revision !== null && run.profile === null) {
    const message = 'The revision is ignored: it selects what is scored for a profile, and no profile is set.';
    advice.push({ path: 'revision', reason: 'ignored', message, hint: '' });
  }
  // A variable left over from an earlier shell session would make the receiver seem to reject valid credentials.
  for (const path of ['hmac.secret', 'api-key.value']) {
    const [used] = resolution.settings.get(path) ?? [];
    if (used?.layer !== 'environment' || !file.settings.has(path)) continue;
    const message = `${used.where} is used instead of \`${path}\` in the configuration file.`;
    advice.push({ path, reason: 'overridden', message, hint: '' });
  }
  if (one === undefined) advice.push(...adviseOnVariables(options.env, file.referenced));
  const config =
    partner === undefined || problems.length > 0
      ? null
      : {
          partner: { ...partner, ...(decimals && { decimals }) },
          clientFixtures,
          run,
          evidenceSources,
          reporters,
          advice: adviceTexts(advice),
          sources: Object.fromEntries(resolution.shown.map(({ path, source }) => [path, source])),
          settings: resolution.shown,
          secrets: [...new Set(secrets)],
          configFile: file.name,
          namesHost: file.settings.get('url')?.some(({ value }) => hostOf(value) === hostOf(partner.url)) ?? false,
        };
  const { settings: given, attempted } = resolution;
  return {
    config,
    problems: inOrder(problems),
    advice,
    given,
    attempted,
    files,
    values,
    run,
    notices,
    secrets: [...new Set(secrets)],
  };
}

/**
 * Returns the position of a line of `config show`. A group may be one line (`mtls.fixtures`); each header has its own
 * (`headers.X-Tenant`).
 */
function placeInTable(shown: string): number {
  return SETTINGS.findIndex(
    ({ path }) => path === shown || path.startsWith(`${shown}.`) || shown.startsWith(`${path}.`),
  );
}

/** The settings that select checks. */
const SELECTING = ['suites', 'scenarios', 'grep', 'shard'] as const;

async function checkBaseline({ settings, problems, readFile }: Resolution): Promise<void> {
  const given = givenText(settings, 'baseline');
  if (given === undefined) return;
  const content = await readFile(resolve(given.base, given.value), MAX_DOCUMENT_BYTES);
  if ('bytes' in content) return;
  const hint = 'Check the path. `hookproof baseline update FILE` writes one from a run.';
  problems.push(problemWith(given, `the baseline ${given.value} ${content.reason}`, hint, 'BASELINE_NOT_READ'));
}

function hostOf(url: string | boolean): string | null {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).hostname : null;
}

/** Notes each feature that the profile requires but that is not configured. */
function checkProfile(
  profile: Profile,
  given: Given<string>,
  partner: Partner | undefined,
  { problems, advice, attempted }: Resolution,
): void {
  const configured = {
    hmac: attempted.has('hmac.secret'),
    'api-key': attempted.has('api-key.value'),
    url: partner?.url,
  };
  const { missing, plainLoopback } = missingFeatures(profile, configured);
  for (const { feature, what } of missing) {
    const text = `the profile ${profile} needs ${what}`;
    problems.push(problemWith(given, text, PROFILE_HINTS[feature], 'CONFIG_PROFILE'));
  }
  if (plainLoopback)
    advice.push({ path: 'profile', reason: 'plain-http', message: plainHttpAdvice(profile), hint: '' });
}

const PROFILE_HINTS = {
  hmac: 'Give the secret with `--secret-file`, HOOKPROOF_SECRET, or `hmac.secret` in the configuration file.',
  'api-key': 'Give the key with `--api-key-file`, HOOKPROOF_API_KEY, or `api-key.value` in the configuration file.',
  https: 'Give an https:// URL. Only an endpoint on this machine may use plain HTTP.',
} as const;

/**
 * Resolves reporters from flags alone, for commands that render reports without a run.
 *
 * @throws HookproofError with every problem
 */
export function loadReporters(
  { reporter, outputDir }: Pick<ConfigFlags, 'reporter' | 'outputDir'>,
  env: Environment,
  cwd: string,
): Reporter[] {
  // Only GitHub Actions is detected from the environment; the other variables are settings of runs.
  const started = startResolution({ env: { GITHUB_ACTIONS: env.GITHUB_ACTIONS } });
  const layers = { flags: { reporter, outputDir }, env: {}, file: new Map(), unusable: [], cwd };
  const resolution = { ...started, ...gatherSettings(layers, started.problems) };
  const reporters = resolveReporters(resolution);
  throwIfAny(started.problems);
  return reporters;
}

/** Returns the output of `hookproof config show`: one line per setting, with its key, redacted value and source. */
export function describeConfig(config: ResolvedConfig): string {
  const rows = config.settings.map(({ path, value, source }) => [path, visible(value), source] as const);
  const width = (column: 0 | 1, max: number) => Math.min(max, Math.max(...rows.map((row) => row[column].length)));
  const [first, second] = [width(0, 24), width(1, 48)];
  return rows
    .map(([path, value, source]) => `${path.padEnd(first)}  ${value.padEnd(second)}  ${visible(source)}\n`)
    .join('');
}
