/** `hookproof sign`: signs a body, offline. */
import { DEFAULT_SIGNATURE_HEADER, HookproofError } from '../../../contract/index.ts';
import { SIGNING_MISTAKES, signBody } from '../../../contract/signing/index.ts';
import { readBodyToSign, requiredSecret } from '../command-input.ts';
import { didYouMean } from '../did-you-mean.ts';

export async function signCommand(
  file: string,
  flags: { readonly secretFile?: string; readonly as: string; readonly headerLine?: string | true },
): Promise<number> {
  if (flags.as === 'list') {
    const rows = [{ name: 'base64', title: 'the correct signature' }, ...SIGNING_MISTAKES];
    const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
    for (const { name, title } of rows) process.stdout.write(`${name.padEnd(width)}${title}\n`);
    return 0;
  }
  const names = ['base64', ...SIGNING_MISTAKES.map(({ name }) => name)];
  if (!names.includes(flags.as)) {
    throw new HookproofError('SIGN_UNKNOWN_SPELLING', `\`--as ${flags.as}\` is not known`, {
      hint: `${didYouMean(flags.as, names)}\`hookproof sign --as list\` lists all encodings.`,
    });
  }
  if (file === '-' && flags.secretFile === '-') {
    throw new HookproofError('SIGN_ONE_INPUT', 'body and secret cannot both come from standard input', {
      hint: 'Give a file for one of them.',
    });
  }
  const secret = await requiredSecret(flags.secretFile);
  const signature = signBody(await readBodyToSign(file), secret, flags.as);
  const { headerLine } = flags;
  const name = headerLine === true ? DEFAULT_SIGNATURE_HEADER : headerLine;
  process.stdout.write(name === undefined ? `${signature}\n` : `${name}: ${signature}\n`);
  return 0;
}
