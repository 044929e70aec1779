/** `hookproof certify merge`: one page about all partners from the folders of the shards. */
import { resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { against, exitCodeOfFleet, mergeFleets, type NamedFleet } from '../../fleet/index.ts';
import { previousOf } from '../fleet/certify-fleet.ts';
import { copyPartners, readFleet, writeFleet } from '../fleet/fleet-folder.ts';
import { sayFleet } from '../fleet/fleet-words.ts';

interface MergeFlags {
  readonly outputDir: string;
  readonly previous?: string;
  readonly json?: boolean;
}

export async function certifyMergeCommand(folders: readonly string[], flags: MergeFlags): Promise<number> {
  const given: NamedFleet[] = [];
  for (const name of folders) {
    const fleet = await readFleet(name);
    if (fleet === null) {
      throw new HookproofError('FLEET_FILE', `there is no fleet.json in ${name}`, {
        hint: 'Name the folders that `hookproof certify --partners DIR --shard i/n --output-dir FOLDER` has written.',
      });
    }
    given.push({ name, fleet });
  }
  const folder = resolve(flags.outputDir);
  const last = await readFleet(folder);
  const document = against(mergeFleets(given), await previousOf(flags.previous, null));
  if (last !== null) {
    throw new HookproofError('FLEET_IN_THE_WAY', `${flags.outputDir} holds a certification already`, {
      hint: 'Name a folder that is not there yet. To compare with it, name it with --previous.',
    });
  }
  for (const { name, fleet } of given) await copyPartners(name, folder, fleet.partners);
  await writeFleet(folder, document, true);
  sayFleet(document, folder, flags.json === true);
  return exitCodeOfFleet(document);
}
