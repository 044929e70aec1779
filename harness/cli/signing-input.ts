/** The bytes that a command works on: a file, or standard input for "-". */
import { readFile } from 'node:fs/promises';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { readCredential } from '../config/index.ts';

export async function readInput(file: string): Promise<Buffer> {
  if (file !== '-') {
    try {
      return await readFile(file);
    } catch (cause) {
      throw new HookproofError('INPUT_UNREADABLE', `the file ${file} cannot be read`, {
        hint: 'Check the path, or pipe the body in.',
        cause,
      });
    }
  }
  if (process.stdin.isTTY) {
    throw new HookproofError('INPUT_MISSING', 'there is no body: standard input is a terminal', {
      hint: 'Name a file, or pipe the body in.',
    });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The signature secret for the commands that cannot go without one. */

export async function requiredSecret(file: string | undefined): Promise<string> {
  const { value, advice } = await readCredential({
    noun: 'signature secret',
    flag: '--secret-file',
    file,
    variable: 'HOOKPROOF_SECRET',
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
  });
  for (const sentence of advice) process.stderr.write(`advice: ${sentence}\n`);
  if (value !== undefined) return value;
  throw new HookproofError('SECRET_MISSING', 'no signature secret is given', {
    hint: 'Set HOOKPROOF_SECRET, or name a file with --secret-file.',
  });
}
