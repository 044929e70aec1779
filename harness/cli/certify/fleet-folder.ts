/**
 * The output folder of a certification of many partners. When a partner is finished, its complete folder is renamed
 * into place. Names of folders that a killed process left unfinished begin with a dot, and these folders are ignored.
 * Nothing of an earlier certification is deleted, and a certificate stays in place until a run reaches a verdict.
 */
import { type KeyObject, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { MAX_DOCUMENT_BYTES, readFile } from '../../config/read-file.ts';
import {
  exitCodeOfFleet,
  type FleetDocument,
  type FleetPartner,
  fleetDocument,
  mergeFleets,
  type NamedFleet,
  withPrevious,
} from '../../fleet.ts';
import { replaceFile, withinFolder } from '../../report/index.ts';
import { whyNotWritable } from '../../writable.ts';
import { writePartnersPage } from '../partners/partners-page.ts';
import { importRecords, readStandings, registerOf } from '../partners/register-input.ts';
import { flagsInShell } from '../repeated-flags.ts';
import { errorCode } from '../terminal.ts';
import { writeNew } from './certify-files.ts';
import { checkFinished, type Finished, OUTCOME, readFinished } from './finished-partner.ts';
import { exitOnOfFlag, printFleet } from './fleet-output.ts';
import { trustedKeys } from './signing-key.ts';

/** The summary of all partners, next to their folders. */
const DOCUMENT = 'fleet.json';
const UNFINISHED = '.unfinished-';
/** The folder for results that a later certification has replaced, and for runs without a verdict. */
export const EARLIER = '_earlier';

interface MergeFlags {
  readonly key: readonly string[];
  readonly outputDir: string;
  readonly previous?: string;
  readonly register?: string;
  readonly exitOn?: string;
  readonly json?: boolean;
}

/**
 * Runs `hookproof certify merge`: joins the folders of all shards into one. Every certificate is verified, and the
 * contents of the folders must agree with it, because they may have been changed in transit.
 */
export async function certifyMergeCommand(folders: readonly string[], flags: MergeFlags): Promise<number> {
  const exitOn = exitOnOfFlag(flags.exitOn);
  const keys = await trustedKeys(flags.key);
  const given: NamedFleet[] = [];
  for (const name of folders) {
    const fleet = await readFleet(name);
    if (fleet === null) {
      throw new HookproofError('FLEET_FILE', `there is no fleet.json in ${name}`, {
        hint: 'Give the folders that `hookproof certify --partners FOLDER --shard i/n --output-dir FOLDER` wrote.',
      });
    }
    given.push({ name, fleet });
  }
  const folder = outputFolder(flags.outputDir);
  const last = await readFleet(folder);
  const document = withPrevious(mergeFleets(given), await previousOf(flags.previous, null));
  if (last !== null) {
    throw new HookproofError('FLEET_IN_THE_WAY', `${flags.outputDir} already contains a certification`, {
      hint: 'Give a folder that does not exist yet. To compare with this one, give it with `--previous`.',
    });
  }
  refuseUnwritable(folder);
  const problems: string[] = [];
  for (const shard of given) problems.push(...(await checkShard(shard, keys)));
  if (problems.length > 0) {
    throw notMerged(`the shards cannot be joined:${problems.map((line) => `\n  ${line}`).join('')}`, {
      hint: 'Get the unchanged folders from the machines that certified the partners, or certify these partners again.',
    });
  }
  for (const shard of given) await copyPartners(shard, folder, keys);
  await writeFleet(folder, document);
  await joinRegisters(given, folder, keys, flags.register);
  const place = flagsInShell({ register: flags.register, outputDir: flags.outputDir });
  printFleet(document, folder, { json: flags.json, exitOn, place });
  return exitCodeOfFleet(document, exitOn);
}

/** Adds the shards' records to the register, unless the shards share it, and writes the page of all partners. */
async function joinRegisters(
  given: readonly NamedFleet[],
  folder: string,
  keys: readonly KeyObject[],
  place: string | undefined,
): Promise<void> {
  const register = await registerOf({ register: place, outputDir: folder });
  try {
    for (const { name } of given) await importRecords(register, keys, name);
    await writePartnersPage({ outputDir: folder }, await readStandings(register, keys));
  } finally {
    await register.close();
  }
}

/**
 * Reads `fleet.json` from a folder, or the named file itself; null if it does not exist. Throws `FLEET_FILE` if it is
 * invalid.
 */
export async function readFleet(place: string): Promise<FleetDocument | null> {
  const path = place.endsWith('.json') ? place : join(place, DOCUMENT);
  const content = await readFile(path, MAX_DOCUMENT_BYTES);
  if ('reason' in content) {
    if (content.missing) return null;
    throw new HookproofError('FLEET_FILE', `${path} ${content.reason}`, { hint: 'Check the path.' });
  }
  const value = orNull(() => fleetDocument.parse(JSON.parse(content.bytes.toString())));
  if (value !== null) return value;
  throw new HookproofError('FLEET_FILE', `${path} is not a fleet.json that this version of hookproof can read`, {
    hint: 'Give the fleet.json that `hookproof certify --partners` wrote, or its folder.',
  });
}

export async function writeFleet(folder: string, document: FleetDocument): Promise<void> {
  await mkdir(folder, { recursive: true });
  await replaceFile(join(folder, DOCUMENT), `${JSON.stringify(document, null, 1)}\n`);
}

/**
 * Returns the absolute path of an output folder. Throws `FLEET_FOLDER` if a symbolic link leads out of the current
 * folder.
 */
export function outputFolder(named: string): string {
  try {
    return withinFolder(resolve(named), process.cwd());
  } catch (cause) {
    throw new HookproofError('FLEET_FOLDER', `the output folder ${named} cannot be used: ${(cause as Error).message}`, {
      hint: 'Give the folder that the link leads to.',
      cause,
    });
  }
}

/** Throws `FLEET_FOLDER` if the output folder is not writable. Called before partners are certified or copied. */
function refuseUnwritable(folder: string): void {
  const obstacle = whyNotWritable(folder);
  if (obstacle === null) return;
  throw new HookproofError('FLEET_FOLDER', `the output folder ${folder} cannot be used: ${obstacle.reason}`, {
    hint: `${obstacle.fix} Or give a writable folder with \`--output-dir\`.`,
  });
}

/** Creates the output folder, and removes the unfinished folders of killed processes. */
export async function openFolder(folder: string): Promise<void> {
  refuseUnwritable(folder);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (name.startsWith(UNFINISHED)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Creates an empty, hidden folder for a partner. */
export async function beginPartner(folder: string, name: string): Promise<string> {
  const place = join(folder, `${UNFINISHED}${name}-${randomUUID().slice(0, 8)}`);
  await mkdir(place);
  return place;
}

/** Writes the result of a partner into its folder, and moves the folder into place. */
export async function placePartner(folder: string, unfinished: string, finished: Finished): Promise<void> {
  await finishPartner(unfinished, finished);
  await moveIntoPlace(folder, unfinished, finished);
}

/** Writes the result of a partner into its folder, which completes the folder. */
export async function finishPartner(unfinished: string, finished: Finished): Promise<void> {
  await writeNew(join(unfinished, OUTCOME), `${JSON.stringify(finished, null, 1)}\n`);
}

/**
 * Renames a complete folder to the name of its partner. A folder from an earlier certification is moved aside. But a
 * run without a verdict does not affect a valid certificate, so in that case the new folder is moved aside instead.
 */
export async function moveIntoPlace(folder: string, unfinished: string, finished: Finished): Promise<void> {
  const { name, outcome } = finished.partner;
  if (outcome !== 'certified' && outcome !== 'failed') {
    const current = await readFinished(join(folder, name));
    if ((current?.partner.certificate?.expiresAt ?? '') > new Date().toISOString()) {
      const aside = asideWithoutVerdict(folder, name, finished.certification);
      await mkdir(dirname(aside), { recursive: true });
      await rm(aside, { recursive: true, force: true });
      return rename(unfinished, aside);
    }
  }
  try {
    await rename(unfinished, join(folder, name));
  } catch (error) {
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
    await setAside(folder, name, finished.certification);
    await rename(unfinished, join(folder, name));
  }
}

/**
 * Returns the folders of a partner that killed processes left behind, each with its result, which is null if the folder
 * is incomplete.
 */
export async function leftBehind(
  folder: string,
  name: string,
): Promise<{ readonly place: string; readonly finished: Finished | null }[]> {
  const begin = `${UNFINISHED}${name}-`;
  const own = (await readdir(folder)).filter(
    (entry) => entry.startsWith(begin) && /^[0-9a-f]{8}$/.test(entry.slice(begin.length)),
  );
  return Promise.all(
    own.map(async (entry) => ({ place: join(folder, entry), finished: await readFinished(join(folder, entry)) })),
  );
}

/** Returns the partner's result from the interrupted certification; null if the partner must be run. */
export async function finishedPartner(
  folder: string,
  name: string,
  { certification, key, keys }: Pick<Finished, 'certification' | 'key'> & { readonly keys: readonly KeyObject[] },
): Promise<FleetPartner | null> {
  const place = await placeOf(folder, name, certification);
  const found = await readFinished(place);
  if (found?.certification !== certification || found.key !== key || found.partner.name !== name) return null;
  const { partner } = found;
  const checked = await checkFinished(place, { certification, partner, keys });
  return 'files' in checked ? partner : null;
}

/** Whether the partner was run and therefore has a folder. After an internal error it has none. */
const hasFolder = ({ startedAt }: FleetPartner) => startedAt !== null;

/** Checks the folders of a shard's partners. Returns one line for each folder that is rejected, with the reason. */
async function checkShard({ name: from, fleet }: NamedFleet, keys: readonly KeyObject[]): Promise<string[]> {
  const problems: string[] = [];
  for (const partner of fleet.partners) {
    const place = await placeOf(from, partner.name, fleet.startedAt);
    if (hasFolder(partner)) {
      const checked = await checkFinished(place, { certification: fleet.startedAt, partner, fleet, keys });
      if ('problem' in checked) problems.push(`${place} ${checked.problem}`);
    } else if ((await readFinished(place))?.certification === fleet.startedAt) {
      problems.push(`${place} contains a result, but fleet.json lists none`);
    }
  }
  return problems;
}

/** Copies the folders of a shard's partners. Writes the bytes that were verified, without reading the files again. */
async function copyPartners({ name: from, fleet }: NamedFleet, to: string, keys: readonly KeyObject[]): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const partner of fleet.partners.filter(hasFolder)) {
    const [source, target] = [await placeOf(from, partner.name, fleet.startedAt), join(to, partner.name)];
    const checked = await checkFinished(source, { certification: fleet.startedAt, partner, fleet, keys });
    if ('problem' in checked)
      throw notMerged(`${source} ${checked.problem}`, { hint: 'Nothing else may write to it.' });
    try {
      await mkdir(target);
      for (const [name, bytes] of checked.files) await writeFile(join(target, name), bytes, { flag: 'wx' });
    } catch (cause) {
      throw notMerged(`the folder ${source} cannot be copied to ${to} (${errorCode(cause)})`, {
        hint: 'Give an output folder that does not exist yet.',
        cause,
      });
    }
  }
}

function notMerged(message: string, options: { hint: string; cause?: unknown }): HookproofError {
  return new HookproofError('FLEET_NOT_MERGED', message, options);
}

/** Returns the certification to compare with: the one that `named` refers to, or the latest in the output folder. */
export async function previousOf(named: string | undefined, last: FleetDocument | null): Promise<FleetDocument | null> {
  if (named === undefined) return last;
  const found = await readFleet(named);
  if (found !== null) return found;
  throw new HookproofError('FLEET_FILE', `--previous: there is no fleet.json at ${named}`, {
    hint: 'Give the file or its folder.',
  });
}

/** Returns the folder for a run without a verdict, if the certificate of the partner stays in place. */
function asideWithoutVerdict(folder: string, name: string, certification: string): string {
  return withinFolder(join(folder, EARLIER, `without-verdict-${nameOfTime(certification)}`, name), folder);
}

const nameOfTime = (time: string) => time.replaceAll(/[:.]/g, '-');

/**
 * Returns the folder with the result of a partner from the given certification: the usual one, or the one moved aside.
 */
async function placeOf(folder: string, name: string, certification: string): Promise<string> {
  const aside = asideWithoutVerdict(folder, name, certification);
  return (await readFinished(aside)) === null ? join(folder, name) : aside;
}

/** Moves the folder of a partner from an earlier certification aside, to make way for `certification`. */
async function setAside(folder: string, name: string, certification: string): Promise<void> {
  const aside = withinFolder(join(folder, EARLIER, `before-${nameOfTime(certification)}`), folder);
  await mkdir(aside, { recursive: true });
  try {
    await rename(join(folder, name), join(aside, name));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
