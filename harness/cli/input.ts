/** The bytes that a command works on: a file, or standard input for "-". */
import { readFile } from 'node:fs/promises';
import { HookproofError } from '../../contract/hookproof-error.ts';

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
