/** Reads the input of commands: the configuration, credentials, and the bytes to work on. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { visible } from '../../contract/visible.ts';
import {
  type ConfigFlags,
  type CredentialSource,
  type LoadOptions,
  loadConfig,
  readCredential,
} from '../config/index.ts';
import { MAX_DOCUMENT_BYTES, readFile, readStream } from '../config/read-file.ts';
import { printAdvice } from './terminal.ts';

/**
 * Loads the configuration of a command: flags take precedence over the environment, which takes precedence over the
 * file.
 *
 * @throws HookproofError of kind `usage` that lists every problem
 */
export function commandConfig(
  url: string | undefined,
  configFile: string | undefined,
  flags: ConfigFlags,
  { forRun = false }: Pick<LoadOptions, 'forRun'> = {},
): ReturnType<typeof loadConfig> {
  return loadConfig({
    flags: { ...flags, ...(url === undefined ? {} : { url }) },
    env: process.env,
    cwd: process.cwd(),
    configFile,
    stdin: process.stdin,
    forRun,
  });
}

/**
 * Reads a credential from the file that a flag names, or from an environment variable; undefined if neither is given.
 * Prints advice.
 */
export async function credential(
  source: Pick<CredentialSource, 'noun' | 'flag' | 'file' | 'variable' | 'stdin'>,
): Promise<string | undefined> {
  const { value, advice } = await readCredential({
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    ...source,
  });
  printAdvice(advice);
  return value;
}

/** Whether the URL of a database contains a password, which must not be on the command line. */
export function hasPassword(url: string): boolean {
  try {
    const { password, searchParams } = new URL(url);
    return password !== '' || searchParams.has('password');
  } catch {
    return false;
  }
}

/** Reads the signature secret for commands that require one. */
export async function requiredSecret(file: string | undefined): Promise<string> {
  const secret = await credential({ noun: 'HMAC secret', flag: '--secret-file', file, variable: 'HOOKPROOF_SECRET' });
  if (secret !== undefined) return secret;
  throw new HookproofError('SECRET_MISSING', 'no HMAC secret was given', {
    hint: 'Set HOOKPROOF_SECRET, or give a file with `--secret-file`.',
  });
}

/** Reads the bytes of a body to sign. Prints advice about a line feed at the end, which is part of the body. */
export async function readBodyToSign(file: string): Promise<Buffer> {
  const body = await readInput(file);
  if (body.at(-1) === 0x0a) {
    const where = file === '-' ? 'standard input' : visible(file);
    printAdvice([`${where}: the line feed at the end is part of the body, and is signed.`]);
  }
  return body;
}

/** Reads the bytes of a file, or of standard input for "-": at most 64 MiB. */
export async function readInput(file: string): Promise<Buffer> {
  const unreadable = (what: string) =>
    new HookproofError('INPUT_UNREADABLE', what, { hint: 'Check the path, or pipe the body to standard input.' });
  if (file !== '-') {
    const content = await readFile(file, MAX_DOCUMENT_BYTES);
    if ('bytes' in content) return content.bytes;
    throw unreadable(`the file ${file} ${content.reason}`);
  }
  if (process.stdin.isTTY) {
    throw new HookproofError('INPUT_MISSING', 'there is no body: standard input is a terminal', {
      hint: 'Give a file, or pipe the body to standard input.',
    });
  }
  const bytes = await readStream(process.stdin, MAX_DOCUMENT_BYTES);
  if (bytes === undefined) throw unreadable('standard input is larger than 64 MiB');
  return bytes;
}
