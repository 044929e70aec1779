/**
 * The folder of a certification of many partners. A partner's folder appears whole, by a rename, when the partner is finished; what a
 * process that was killed leaves behind begins with a dot and is never taken for anything. Nothing of an earlier certification is deleted.
 */
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import {
  against,
  exitCodeOfFleet,
  type FleetDocument,
  type FleetPartner,
  fleetDocument,
  fleetPartner,
  mergeFleets,
  type NamedFleet,
} from '../../fleet.ts';
import { renderFleetCsv, renderFleetHtml } from '../../report/index.ts';
import { writeNew } from './certify-files.ts';
import { sayFleet } from './fleet-output.ts';

/** What lies in the folder besides the folders of the partners. */
const FILES = { json: 'fleet.json', csv: 'fleet.csv', html: 'fleet.html' } as const;
const OUTCOME = 'outcome.json';
const UNFINISHED = '.unfinished-';
const EARLIER = '_earlier';

/** When a partner is not done again: in the same certification, and when `key` is the same. */
interface Finished {
  readonly certification: string;
  readonly key: string;
  readonly partner: FleetPartner;
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** The document of a folder, or of the file itself. Null when there is none. Throws `FLEET_FILE` when it cannot be used. */
export async function readFleet(place: string): Promise<FleetDocument | null> {
  const path = place.endsWith('.json') ? place : join(place, FILES.json);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return null;
    throw new HookproofError('FLEET_FILE', `${path} cannot be read`, { hint: 'Check its permissions.', cause });
  }
  const value = attempt(() => fleetDocument.parse(JSON.parse(text)));
  if (value !== null) return value;
  throw new HookproofError('FLEET_FILE', `${path} is not a document about many partners that this hookproof can read`, {
    hint: 'It is the fleet.json that `hookproof certify --partners` writes. Give the folder in which it lies, or name another.',
  });
}

function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  await writeFile(temporary, text, { flag: 'wx' });
  await rename(temporary, path);
}

/** Writes the document, and with `pages` the table and the page too. */
export async function writeFleet(folder: string, document: FleetDocument, pages: boolean): Promise<void> {
  await mkdir(folder, { recursive: true });
  await replace(join(folder, FILES.json), `${JSON.stringify(document, null, 1)}\n`);
  if (!pages) return;
  await replace(join(folder, FILES.csv), await renderFleetCsv(document));
  await replace(join(folder, FILES.html), await renderFleetHtml(document));
}

/** Makes the folder, and removes what processes that were killed have left half done. */
export async function openFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (name.startsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Puts what an earlier certification has left of a partner aside. */
async function setAside(folder: string, name: string, certification: string): Promise<void> {
  const aside = join(folder, EARLIER, `before-${certification.replaceAll(/[:.]/g, '-')}`);
  await mkdir(aside, { recursive: true });
  try {
    await rename(join(folder, name), join(aside, name));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** An empty folder for a partner that is begun. */
export async function beginPartner(folder: string, name: string): Promise<string> {
  const place = join(folder, `${UNFINISHED}${name}-${randomUUID().slice(0, 8)}`);
  await mkdir(place);
  return place;
}

/** Takes the folder of a partner that is finished into its place. */
export async function placePartner(folder: string, unfinished: string, finished: Finished): Promise<void> {
  const { name } = finished.partner;
  await writeNew(join(unfinished, OUTCOME), `${JSON.stringify(finished, null, 1)}\n`);
  try {
    await rename(unfinished, join(folder, name));
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    await setAside(folder, name, finished.certification);
    await rename(unfinished, join(folder, name));
  }
}

/** What the same certification has found of this partner before it was interrupted; null when it has to be done. */
export async function finishedPartner(
  folder: string,
  name: string,
  { certification, key }: Pick<Finished, 'certification' | 'key'>,
): Promise<FleetPartner | null> {
  const text = await readFile(join(folder, name, OUTCOME), 'utf8').catch(() => null);
  const found = text === null ? null : attempt(() => JSON.parse(text) as Finished);
  if (found?.certification !== certification || found.key !== key) return null;
  const partner = fleetPartner.safeParse(found.partner);
  return partner.success && partner.data.name === name ? partner.data : null;
}

/** Copies the folders of the partners of a shard, as they are. */
export async function copyPartners(from: string, to: string, partners: readonly FleetPartner[]): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const { name, outcome } of partners) {
    if (outcome === 'not-run') continue;
    await cp(join(from, name), join(to, name), { recursive: true, errorOnExist: true, force: false }).catch((cause) => {
      throw new HookproofError('FLEET_NOT_MERGED', `the folder ${join(from, name)} cannot be copied to ${to}`, {
        hint: 'Hand over the whole folder of every shard, and name a folder for the whole that is not there yet.',
        cause,
      });
    });
  }
}

/** The certification to compare with: the one that is named, or the last in the folder. */
export async function previousOf(named: string | undefined, last: FleetDocument | null): Promise<FleetDocument | null> {
  if (named === undefined) return last;
  const found = await readFleet(named);
  if (found !== null) return found;
  throw new HookproofError('FLEET_FILE', `--previous: there is no fleet.json at ${named}`, {
    hint: 'Name the file, or the folder in which it lies.',
  });
}

interface MergeFlags {
  readonly outputDir: string;
  readonly previous?: string;
  readonly json?: boolean;
}

/** `hookproof certify merge`: one page about all partners from the folders of the shards. */
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
