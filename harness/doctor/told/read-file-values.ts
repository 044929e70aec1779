/** The settings of hookproof.yaml that the doctor looks at itself. What is wrong with the file besides has been said before this. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CONFIG_FILE } from '../../config/index.ts';
import { type FileValues, PLACES, type Sources, type ToldName } from './told.ts';

/** null when there is no file, or none that can be read. */
export async function readFileValues({ cwd, configFile = CONFIG_FILE }: Sources): Promise<FileValues | null> {
  const path = resolve(cwd, configFile);
  const data = await parsed(path);
  if (data === undefined) return null;
  const found = PLACES.flatMap(({ name, keys }): [ToldName, string][] => {
    const value = keys.reduce<unknown>(member, data);
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
  });
  return { name: configFile, base: dirname(path), values: Object.fromEntries(found) };
}

async function parsed(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
  const { parse } = await import('yaml');
  try {
    return parse(text.replace(/^\uFEFF/, ''), { logLevel: 'silent', maxAliasCount: 20 });
  } catch {
    return undefined;
  }
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
