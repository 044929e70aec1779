/** Reporters from flags alone, for commands that render and do not run. */
import type { ConfigFlags, ReporterChoice } from './config.ts';
import { type Environment, gatherSettings } from './gather-settings.ts';
import { throwIfAny } from './problems.ts';
import { startResolution } from './resolution.ts';
import { resolveReporters } from './resolve-reporters.ts';

/** Throws a HookproofError of kind `usage` with every problem. */
export function loadReporters(
  { reporter, outputDir }: Pick<ConfigFlags, 'reporter' | 'outputDir'>,
  env: Environment,
  cwd: string,
): ReporterChoice[] {
  // Only whether this is GitHub Actions matters of the environment: what is set there is for runs.
  const started = startResolution({ env: { GITHUB_ACTIONS: env.GITHUB_ACTIONS } });
  const layers = { flags: { reporter, outputDir }, env: {}, file: new Map(), cwd };
  const resolution = { ...started, ...gatherSettings(layers, started.problems) };
  const reporters = resolveReporters(resolution);
  throwIfAny(started.problems);
  return reporters;
}
