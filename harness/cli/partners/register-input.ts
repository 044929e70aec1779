/** Opens the register and reads the keys that verify its records, from flags that several commands share. */
import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import { CURRENT_REVISION } from '../../certify/index.ts';
import {
  isDatabase,
  openRegister,
  type Register,
  type RegisterRecord,
  type Standing,
  standingsOf,
} from '../../register/index.ts';
import { trustedKeys } from '../certify/signing-key.ts';
import { hasPassword } from '../command-input.ts';
import { printAdvice } from '../terminal.ts';

/**
 * The output folder of `certify --partners`. It contains the register unless `--register` or HOOKPROOF_REGISTER is set.
 */
export const FLEET_FOLDER = 'hookproof-partners';

export interface RegisterFlags {
  readonly register?: string | undefined;
  readonly outputDir?: string | undefined;
}

/**
 * Opens the register that `--register`, HOOKPROOF_REGISTER or the output folder locates. The flag must not contain a
 * password, because other users of the machine can read the command line.
 *
 * @throws HookproofError REGISTER_PASSWORD_IN_ARGUMENT, REGISTER_PLACE, REGISTER_DATABASE
 */
export function registerOf(flags: RegisterFlags): Promise<Register> {
  return openRegister(registerPlace(flags));
}

/**
 * Throws `REGISTER_PLACE` if the folder of the register does not exist. For commands that read the register.
 *
 * @throws HookproofError REGISTER_PASSWORD_IN_ARGUMENT, REGISTER_PLACE
 */
export function requireRegister(flags: RegisterFlags): void {
  const place = registerPlace(flags);
  if (isDatabase(place) || existsSync(place)) return;
  throw new HookproofError('REGISTER_PLACE', `there is no ${visible(place)} here`, {
    hint: 'Change to the folder in which partners were certified, or name the register with `--register`.',
  });
}

/**
 * Returns the URL of a register in PostgreSQL, from `--register` or HOOKPROOF_REGISTER.
 *
 * @throws HookproofError REGISTER_PASSWORD_IN_ARGUMENT, REGISTER_PLACE
 */
export function databaseUrl(register: string | undefined): string {
  const place = registerPlace({ register });
  if (isDatabase(place)) return place;
  throw new HookproofError('REGISTER_PLACE', 'the register is not a postgres:// URL', {
    hint: 'Several workers need a database: `--register postgres://user@localhost/database`, or HOOKPROOF_REGISTER.',
  });
}

/**
 * Returns the folder or the URL of the register.
 *
 * @throws HookproofError REGISTER_PASSWORD_IN_ARGUMENT
 */
function registerPlace({ register, outputDir }: RegisterFlags): string {
  if (register !== undefined && hasPassword(register)) {
    throw new HookproofError('REGISTER_PASSWORD_IN_ARGUMENT', 'the URL in `--register` contains a password', {
      hint: 'Set HOOKPROOF_REGISTER to the URL, or remove the password from the URL and set PGPASSWORD.',
    });
  }
  return register ?? (process.env.HOOKPROOF_REGISTER || outputDir || FLEET_FOLDER);
}

const STANDARD_KEY = 'hookproof-certify.pub.pem';

/**
 * Reads the public keys of `--key`, or the one that `certify keygen` wrote to the current folder.
 *
 * @throws HookproofError REGISTER_NO_KEY
 */
export function publicKeys(files: readonly string[] = []): Promise<KeyObject[]> {
  if (files.length > 0) return trustedKeys(files);
  if (existsSync(STANDARD_KEY)) return trustedKeys([STANDARD_KEY]);
  throw new HookproofError('REGISTER_NO_KEY', 'no public key was given to verify the records of the register', {
    hint: `Name it with \`--key\`. \`hookproof certify keygen\` writes ${STANDARD_KEY}.`,
  });
}

/** Reads the records, and prints notes about unreadable lines on standard error. */
export async function readRecords(register: Register): Promise<readonly RegisterRecord[]> {
  const { records, notes } = await register.read();
  printAdvice(notes);
  return records;
}

/** Derives who may get traffic at the time `at`. */
export function standingsAt(records: readonly RegisterRecord[], keys: readonly KeyObject[], at: Date): Standing[] {
  return standingsOf(records, { keys, at, currentRevision: CURRENT_REVISION });
}

/** Reads the register and derives who may get traffic. Default of `at`: now. */
export async function readStandings(
  register: Register,
  keys: readonly KeyObject[],
  at = new Date(),
): Promise<Standing[]> {
  return standingsAt(await readRecords(register), keys, at);
}

/** Adds records, and updates the stored standings of their partners, if the register stores standings. */
export async function appendRecords(
  register: Register,
  keys: readonly KeyObject[],
  records: readonly RegisterRecord[],
): Promise<void> {
  await register.append(records);
  const partners = records.map(({ partner }) => partner);
  await register.refresh(keys, { currentRevision: CURRENT_REVISION, now: new Date() }, partners);
}

/** Number of records that are added at once, which bounds the size of a statement. */
const IMPORTED_AT_ONCE = 5000;

/** Adds the records of another register, in a folder or a database, that are missing here. Returns their number. */
export async function importRecords(register: Register, keys: readonly KeyObject[], from: string): Promise<number> {
  const other = await registerOf({ register: from });
  try {
    const known = new Set((await readRecords(register)).map(({ id }) => id));
    const records = (await readRecords(other)).filter(({ id }) => !known.has(id));
    for (let at = 0; at < records.length; at += IMPORTED_AT_ONCE) {
      await appendRecords(register, keys, records.slice(at, at + IMPORTED_AT_ONCE));
    }
    return records.length;
  } finally {
    await other.close();
  }
}
