/** `hookproof config`: the configuration as it is understood, and its schema. */
import { type ConfigFlags, describeConfig, jsonSchema } from '../../config/index.ts';
import { commandConfig } from '../command-config.ts';

export async function configShowCommand(
  url: string | undefined,
  flags: ConfigFlags & { config?: string },
): Promise<number> {
  const { config: configFile, ...given } = flags;
  const config = await commandConfig(url, configFile, given);
  process.stdout.write(`${describeConfig(config).trimEnd()}\n`);
  for (const sentence of config.advice) process.stderr.write(`advice: ${sentence}\n`);
  return 0;
}

export async function configSchemaCommand(): Promise<number> {
  process.stdout.write(`${JSON.stringify(await jsonSchema(), null, 2)}\n`);
  return 0;
}
