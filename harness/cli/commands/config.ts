/** `hookproof config`: the configuration as it is understood, and its schema. */
import { type ConfigFlags, describeConfig, jsonSchema, loadConfig } from '../../config/index.ts';

export async function configShowCommand(
  url: string | undefined,
  flags: ConfigFlags & { config?: string },
): Promise<number> {
  const { config: configFile, ...given } = flags;
  const config = await loadConfig({
    flags: { ...given, ...(url === undefined ? {} : { url }) },
    env: process.env,
    cwd: process.cwd(),
    configFile,
    stdin: process.stdin,
  });
  process.stdout.write(`${describeConfig(config).trimEnd()}\n`);
  for (const sentence of config.advice) process.stderr.write(`advice: ${sentence}\n`);
  return 0;
}

export async function configSchemaCommand(): Promise<number> {
  process.stdout.write(`${JSON.stringify(await jsonSchema(), null, 2)}\n`);
  return 0;
}
