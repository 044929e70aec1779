/** `hookproof sign`: signs a body, offline. */
import { DEFAULT_SIGNATURE_HEADER, HookproofError } from '../../../contract/index.ts';
import { SIGNING_MISTAKES, signBody } from '../../../contract/signing/index.ts';
import { readBodyToSign, requiredSecret } from '../command-input.ts';
import { didYouMean } from '../did-you-mean.ts';
import { signInScheme } from './scheme.ts';

interface SignFlags {
  readonly secretFile?: string;
  readonly as: string;
  readonly headerLine?: string | true;
  readonly scheme?: string;
  readonly id?: string;
  readonly timestamp?: string;
  readonly url?: string;
}

export async function signCommand(file: string, flags: SignFlags): Promise<number> {
  const { scheme } = flags;
  if (scheme === undefined && [flags.id, flags.timestamp, flags.url].some((value) => value !== undefined)) {
    throw new HookproofError('SIGN_NEEDS_SCHEME', '`--id`, `--timestamp` and `--url` need `--scheme`', {
      hint: 'The signature of this service is over the body alone.',
    });
  }
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
  if (scheme !== undefined) {
    if (flags.as === 'base64') return signInScheme(file, { ...flags, scheme });
    throw new HookproofError('SIGN_ONE_WAY', '`--as` supports only mistakes in the scheme of this service', {
      hint: 'Leave `--as` or `--scheme` out.',
    });
  }
  const secret = await requiredSecret(flags.secretFile);
  const signature = signBody(await readBodyToSign(file), secret, flags.as);
  const { headerLine } = flags;
  const name = headerLine === true ? DEFAULT_SIGNATURE_HEADER : headerLine;
  process.stdout.write(name === undefined ? `${signature}\n` : `${name}: ${signature}\n`);
  return 0;
}
