/** `hookproof sign`: the signature of a body, offline. */
import { HookproofError } from '../../../contract/index.ts';
import { SIGNING_MISTAKES, signBody } from '../../../contract/signing/index.ts';
import { nearestName } from '../../config/index.ts';
import { readInput, requiredSecret } from '../signing-input.ts';

export async function signCommand(
  file: string,
  flags: { readonly secretFile?: string; readonly as: string },
): Promise<number> {
  if (flags.as === 'list') {
    process.stdout.write('base64                     the right way\n');
    for (const { name, title } of SIGNING_MISTAKES) process.stdout.write(`${name.padEnd(27)}${title}\n`);
    return 0;
  }
  const names = ['base64', ...SIGNING_MISTAKES.map(({ name }) => name)];
  if (!names.includes(flags.as)) {
    const near = nearestName(flags.as, names);
    throw new HookproofError('SIGN_UNKNOWN_SPELLING', `--as "${flags.as}" is not known`, {
      hint: `${near === null ? '' : `Did you mean "${near}"? `}\`hookproof sign --as list\` shows them all.`,
    });
  }
  if (file === '-' && flags.secretFile === '-') {
    throw new HookproofError('SIGN_ONE_INPUT', 'body and secret cannot both come from standard input', {
      hint: 'Name a file for one of them.',
    });
  }
  const secret = await requiredSecret(flags.secretFile);
  process.stdout.write(`${signBody(await readInput(file), secret, flags.as)}\n`);
  return 0;
}
