/** Standard input and pipes (`<(command)` in a shell) can be read once, and two want to read them: they become variables. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConfigFlags } from '../../config/index.ts';
import { readFileBytes } from './read-file-bytes.ts';
import { PLACES, type Sources } from './told.ts';

/** More than any of these files may have. */
const MOST_BYTES = 1024 * 1024;

/** Standard input, as `process.stdin` is. */
export type Input = AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };

/** The same sources, with what pipes and standard input hold in the environment. A terminal is left alone, and said to be one later. */
export async function settlePipes(sources: Sources, stdin: Input): Promise<Sources> {
  const flags: { -readonly [Name in keyof ConfigFlags]: ConfigFlags[Name] } = { ...sources.flags };
  const env = { ...sources.env };
  const piped = new Map<string, string>();
  for (const { name, flag, label, variable } of PLACES) {
    const given = flag === null || name === 'url' ? undefined : flags[flag];
    if (flag === null || variable === null || typeof given !== 'string') continue;
    const isSecret = name === 'secret' || name === 'apiKey';
    const text = await onceReadable(given, isSecret, sources.cwd, stdin);
    if (text === undefined) continue;
    delete flags[flag];
    // One newline at the end is what `echo` adds; in certificates and keys it does not matter.
    env[variable] = isSecret ? text.replace(/\r?\n$/, '') : text;
    piped.set(variable, label);
  }
  return { ...sources, flags, env, piped };
}

async function onceReadable(given: string, isSecret: boolean, cwd: string, stdin: Input): Promise<string | undefined> {
  if (isSecret && given === '-') {
    if (stdin.isTTY === true) return undefined;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stdin) {
      chunks.push(Buffer.from(chunk));
      size += chunks.at(-1)?.length ?? 0;
      if (size > MOST_BYTES) break;
    }
    return Buffer.concat(chunks).toString('utf8');
  }
  const path = resolve(cwd, given);
  const isPipe = await stat(path).then(
    (found) => found.isFIFO(),
    () => false,
  );
  if (!isPipe) return undefined;
  const content = await readFileBytes(path, MOST_BYTES);
  return 'bytes' in content ? content.bytes.toString('utf8') : undefined;
}
