/** `hookproof run`: configuration, run, reports. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { ConfigFlags } from '../../config/index.ts';
import { commandConfig } from '../command-config.ts';
import { conduct } from '../conduct.ts';

interface RunFlags extends ConfigFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function runCommand(url: string | undefined, flags: RunFlags): Promise<number> {
  const { config: configFile, dryRun: dry = false, json = false, ...given } = flags;
  if (json && !dry) {
    throw new HookproofError('RUN_JSON', '--json is for --dry-run alone', { hint: 'For a run, use --reporter json.' });
  }
  const config = await commandConfig(url, configFile, given);
  if (!dry) return conduct(config);
  const { dryRun } = await import('../dry-run.ts');
  return dryRun(config, json);
}
