/** `hookproof run`: configuration, run, reports. */
import { type ConfigFlags, loadConfig } from '../../config/index.ts';
import { conduct } from '../conduct.ts';

export async function runCommand(url: string | undefined, flags: ConfigFlags & { config?: string }): Promise<number> {
  const { config: configFile, ...given } = flags;
  const config = await loadConfig({
    flags: { ...given, ...(url === undefined ? {} : { url }) },
    env: process.env,
    cwd: process.cwd(),
    configFile,
    stdin: process.stdin,
  });
  return conduct(config);
}
