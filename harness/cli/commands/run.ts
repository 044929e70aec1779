/** `hookproof run`: configuration, run, reports. */
import type { ConfigFlags } from '../../config/index.ts';
import { commandConfig } from '../command-config.ts';
import { conduct } from '../conduct.ts';

export async function runCommand(url: string | undefined, flags: ConfigFlags & { config?: string }): Promise<number> {
  const { config: configFile, ...given } = flags;
  const config = await commandConfig(url, configFile, given);
  return conduct(config);
}
