/** `hookproof init`: writes a commented hookproof.yaml to start from. */
import { writeFile } from 'node:fs/promises';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { CONFIG_FILE, configTemplate } from '../../config/index.ts';
import { errorCode } from '../terminal.ts';

export async function initCommand(file: string | undefined, flags: { readonly force?: boolean }): Promise<number> {
  const target = file ?? CONFIG_FILE;
  try {
    await writeFile(target, configTemplate(), { flag: flags.force === true ? 'w' : 'wx' });
  } catch (cause) {
    if (errorCode(cause) === 'EEXIST') {
      throw new HookproofError('INIT_EXISTS', `the file ${target} already exists`, {
        hint: 'Name another file, or replace this one with `--force`.',
        cause,
      });
    }
    throw new HookproofError('INIT_NOT_WRITTEN', `the file ${target} cannot be written`, {
      hint: 'Check that its folder exists and is writable.',
      cause,
    });
  }
  const named = target === CONFIG_FILE ? '' : ` --config ${target}`;
  process.stdout.write(
    [
      `wrote ${target}`,
      '',
      'Next:',
      `  1. Set the URL of your endpoint in ${target}, and remove what you do not use.`,
      '  2. Put the HMAC secret into the variable that the file names: export WEBHOOK_SECRET=...',
      `  3. Print the resolved settings:  hookproof config show${named}`,
      `  4. Run the checks:               hookproof run${named}`,
      '',
    ].join('\n'),
  );
  return 0;
}
