/** The configuration of a command: its flags over the environment over the file. */
import { type ConfigFlags, loadConfig } from '../config/index.ts';

/** @throws HookproofError of kind `usage` with every problem at once */
export function commandConfig(
  url: string | undefined,
  configFile: string | undefined,
  flags: ConfigFlags,
): ReturnType<typeof loadConfig> {
  return loadConfig({
    flags: { ...flags, ...(url === undefined ? {} : { url }) },
    env: process.env,
    cwd: process.cwd(),
    configFile,
    stdin: process.stdin,
  });
}
