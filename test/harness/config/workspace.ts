import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { HookproofError } from '../../../contract/index.ts';
import { type ConfigFlags, type LoadOptions, loadConfig, type ResolvedConfig } from '../../../harness/config/index.ts';

/** Creates a directory with these files until the end of the test. */
export function workspace(files: Record<string, string | Uint8Array> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'hookproof-config-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}

export interface Given {
  readonly flags?: ConfigFlags;
  readonly env?: Record<string, string>;
  readonly files?: Record<string, string | Uint8Array>;
  /** The content of hookproof.yaml. */
  readonly yaml?: string;
  readonly configFile?: string;
  readonly stdin?: LoadOptions['stdin'];
}

/** Loads the configuration in a new directory. A URL is given unless `flags` has the key. */
export function load(given: Given): Promise<ResolvedConfig> {
  const files = { ...given.files, ...(given.yaml !== undefined && { 'hookproof.yaml': given.yaml }) };
  const hasUrl = given.yaml !== undefined && /^url:/m.test(given.yaml);
  const flags = hasUrl ? { ...given.flags } : { url: 'https://partner.example/hook', ...given.flags };
  return loadConfig({
    flags,
    env: given.env ?? {},
    cwd: workspace(files),
    configFile: given.configFile,
    stdin: given.stdin,
  });
}

/** Returns the error of a load that must fail, as plain data. `problem` is `message` and `hint` on two lines. */
export async function refusal(given: Given): Promise<{ code: string; message: string; hint: string }> {
  const outcome = await load(given).catch((error: unknown) => error);
  if (!(outcome instanceof HookproofError)) throw new Error('expected a HookproofError', { cause: outcome });
  const { code, message, hint } = outcome;
  return { code, message, hint };
}
