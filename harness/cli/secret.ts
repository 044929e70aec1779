/** The signature secret for the commands that cannot go without one. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { readCredential } from '../config/index.ts';

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
