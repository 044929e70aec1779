/** `hookproof config`: prints the resolved configuration, and the schema of its file. */
import { type ConfigFlags, describeConfig, jsonSchema } from '../../config/index.ts';
import { commandConfig } from '../command-input.ts';
import { printAdvice } from '../terminal.ts';

export async function configShowCommand(
  url: string | undefined,
  flags: ConfigFlags & { config?: string },
): Promise<number> {
  const { config: configFile, ...given } = flags;
  const config = await commandConfig(url, configFile, given);
  process.stdout.write(`${describeConfig(config).trimEnd()}\n`);
  printAdvice(config.advice);
  return 0;
}

/** Returns the JSON Schema of hookproof.yaml as text. */
export async function schemaText(): Promise<string> {
  return `${JSON.stringify(await jsonSchema(), null, 2)}\n`;
}

export async function configSchemaCommand(): Promise<number> {
  process.stdout.write(await schemaText());
  return 0;
}
