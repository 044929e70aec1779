/** `hookproof init`: writes a commented hookproof.yaml to begin with. */
import { writeFile } from 'node:fs/promises';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { CONFIG_FILE, configTemplate } from '../../config/index.ts';

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

export async function initCommand(file: string | undefined, flags: { readonly force?: boolean }): Promise<number> {
  const target = file ?? CONFIG_FILE;
  try {
    await writeFile(target, configTemplate(), { flag: flags.force === true ? 'w' : 'wx' });
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') {
      throw new HookproofError('INIT_EXISTS', `the file ${target} is already there`, {
        hint: 'Name another file, or replace it with --force.',
        cause,
      });
    }
    throw new HookproofError('INIT_NOT_WRITTEN', `the file ${target} cannot be written`, {
      hint: 'Check that the folder exists and can be written to.',
      cause,
    });
  }
  const named = target === CONFIG_FILE ? '' : ` --config ${target}`;
  process.stdout.write(
    [
      `wrote ${target}`,
      '',
      'Next:',
      `  1. Set the URL of your endpoint in ${target}, and turn off what you do not use.`,
      '  2. Put the signature secret into the variable that the file names: export WEBHOOK_SECRET=...',
      `  3. See what is understood:  hookproof config show${named}`,
      `  4. Run the checks:          hookproof run${named}`,
      '',
    ].join('\n'),
  );
  return 0;
}
