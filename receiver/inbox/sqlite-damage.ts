/**
 * Finds damage to a SQLite file at the start. SQLite itself notices most of it only when it reads the page, and a
 * damaged log never: it ends its recovery there, and what was committed after it is gone.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { HookproofError } from '../../contract/index.ts';

/**
 * Up to this many bytes a file is checked completely, indexes against entries included (about 5 s for 1 GiB), up to the
 * second number page by page (about 1 s for 1 GiB), and beyond it not at all: a start must not take minutes.
 */
const COMPLETE_CHECK_BYTES = 512 * 1024 ** 2;
const PAGE_CHECK_BYTES = 4 * 1024 ** 3;

const CORRUPT = 11;

/** The primary result code of an error of SQLite, without the details in the upper bits; 0 for other errors. */
export function sqliteCode(error: unknown): number {
  return Number((error as { errcode?: unknown }).errcode) & 0xff;
}

/** Whether an error of SQLite means that the file is damaged. */
export function isDamage(error: unknown): boolean {
  return sqliteCode(error) === CORRUPT;
}

export function damagedFile(file: string, found: string): HookproofError {
  return new HookproofError('INBOX_DAMAGED', `The inbox ${file} is damaged (${found.replaceAll('\n', ' ')}).`, {
    hint:
      `Keep copies of it and of ${file}-wal. When only an index is damaged, \`sqlite3 ${file} REINDEX\` repairs it. ` +
      'Otherwise restore a backup; or save what can be read with ' +
      `\`sqlite3 ${file} .recover | sqlite3 recovered.db\` (not with sqlite3 3.40), and start with that file.`,
  });
}

/** Reads the whole file. Throws `HookproofError` `INBOX_DAMAGED`. False when the file is too large to be checked. */
export function checkPages(database: { prepare(sql: string): { all(): unknown[] } }, file: string): boolean {
  const { size } = statSync(file);
  if (size > PAGE_CHECK_BYTES) return false;
  const check = size > COMPLETE_CHECK_BYTES ? 'quick_check' : 'integrity_check';
  const rows = database.prepare(`PRAGMA ${check}(1)`).all() as Readonly<Record<string, unknown>>[];
  const [found = 'ok'] = rows.map((row) => String(row[check]));
  if (found !== 'ok') throw damagedFile(file, found);
  return true;
}

/**
 * To be called before SQLite opens the file, because that can remove the log. Throws `HookproofError` `INBOX_DAMAGED`
 * when entries that were acknowledged are in the log, and SQLite would not read them.
 */
export function checkLog(file: string): void {
  const log = `${file}-wal`;
  const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > 0 && statSync(file).size === 0) {
    throw new HookproofError('INBOX_DAMAGED', `The inbox ${file} is missing or empty, but its log ${log} is not.`, {
      hint: 'Put the file back. To begin with an empty inbox, and lose what is in the log, move the log away.',
    });
  }
  // Twice, because another receiver may be writing to it.
  if (bytes === 0 || !losesCommits(log) || !losesCommits(log)) return;
  throw new HookproofError('INBOX_DAMAGED', `The log ${log} is damaged: what was stored last would be lost.`, {
    hint:
      `Keep copies of it and of ${file}. Restore a backup of both; or continue without what follows the damage: ` +
      `\`sqlite3 ${file} 'PRAGMA wal_checkpoint(TRUNCATE)'\`.`,
  });
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

type Checksum = readonly [number, number];

/**
 * Whether a frame that SQLite will not read is followed by a complete transaction and by a frame of the next one. That
 * one began when the transaction before it was on the disk, so this is damage. Damage to the last transaction looks
 * like one that a crash has interrupted. https://www.sqlite.org/fileformat2.html#walformat
 */
function losesCommits(log: string): boolean {
  const file = openSync(log, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(file, header, 0, HEADER_BYTES, 0);
    const magic = header.readUInt32BE(0);
    const sum = (bytes: Buffer, seed: Checksum) => addChecksum(bytes, seed, magic === MAGIC + 1);
    let previous = sum(header.subarray(0, 24), [0, 0]);
    const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8));
    // The header is on the disk before the first frame is written.
    const isHeader = (magic === MAGIC || magic === MAGIC + 1) && isEqual(previous, checksumAt(header, 24));
    if (!isHeader) return readSync(file, frame, 0, 1, HEADER_BYTES) > 0;

    let intact = true;
    let ended = false;
    for (let at = HEADER_BYTES; readSync(file, frame, 0, frame.length, at) === frame.length; at += frame.length) {
      const isOfThisLog = frame.compare(header, 16, 24, 8, 16) === 0;
      const stored = checksumAt(frame, 16);
      const continues =
        isOfThisLog && isEqual(sum(frame.subarray(FRAME_HEADER_BYTES), sum(frame.subarray(0, 8), previous)), stored);
      if (continues && !intact && ended) return true;
      intact &&= continues;
      // The size of the database after the transaction, in its last frame only.
      ended = isOfThisLog && frame.readUInt32BE(4) > 0;
      previous = stored;
    }
    return false;
  } finally {
    closeSync(file);
  }
}

function addChecksum(bytes: Buffer, [first, second]: Checksum, bigEndian: boolean): Checksum {
  let [one, two] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + two) >>> 0;
    two = (two + (bigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + one) >>> 0;
  }
  return [one, two];
}

function checksumAt(bytes: Buffer, at: number): Checksum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function isEqual(one: Checksum, other: Checksum): boolean {
  return one[0] === other[0] && one[1] === other[1];
}
