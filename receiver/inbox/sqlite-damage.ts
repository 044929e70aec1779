/**
 * Detects damage to a SQLite file at start-up. SQLite itself detects most damage only when it reads a damaged page,
 * and never detects a damaged log: recovery stops at the damage, and later commits are lost.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { HookproofError } from '../../contract/index.ts';

/**
 * Maximum file sizes for the two checks. Up to the first size, a file is checked completely, including indexes against
 * entries (about 5 s per GiB). Up to the second size, it is checked page by page (about 1 s per GiB). Larger files are
 * not checked, because start-up must not take minutes.
 */
const COMPLETE_CHECK_BYTES = 512 * 1024 ** 2;
const PAGE_CHECK_BYTES = 4 * 1024 ** 3;

const CORRUPT = 11;

/**
 * Returns the primary result code of a SQLite error, without the details in the upper bits. Returns 0 for other errors.
 */
export function sqliteCode(error: unknown): number {
  return Number((error as { errcode?: unknown }).errcode) & 0xff;
}

/** Returns true when a SQLite error means that the file is damaged. */
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

/**
 * Checks the whole file. Throws `HookproofError` `INBOX_DAMAGED`. Returns false, without a check, if the file is too
 * large.
 */
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
 * Checks the write-ahead log. Call this before SQLite opens the file, because opening can remove the log. Throws
 * `HookproofError` `INBOX_DAMAGED` when the log contains acknowledged entries that SQLite would not read.
 */
export function checkLog(file: string): void {
  const log = `${file}-wal`;
  const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > 0 && statSync(file).size === 0) {
    throw new HookproofError('INBOX_DAMAGED', `The inbox ${file} is missing or empty, but its log ${log} is not.`, {
      hint: 'Put the file back. To start with an empty inbox and lose the entries in the log, move the log away.',
    });
  }
  // Checked twice, because another receiver may be writing to the log.
  if (bytes === 0 || !losesCommits(log) || !losesCommits(log)) return;
  throw new HookproofError('INBOX_DAMAGED', `The log ${log} is damaged: the last stored notifications would be lost.`, {
    hint:
      `Keep copies of it and of ${file}. Restore a backup of both; or continue without the entries after the damage: ` +
      `\`sqlite3 ${file} 'PRAGMA wal_checkpoint(TRUNCATE)'\`.`,
  });
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

type Checksum = readonly [number, number];

/**
 * Returns true when a frame that SQLite will not read is followed by a complete transaction and by a frame of the next
 * one. A transaction begins only after the previous one is on disk, so this is damage. Damage to the last transaction
 * cannot be distinguished from a crash. https://www.sqlite.org/fileformat2.html#walformat
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
    // The header is on disk before the first frame is written.
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
      // Only the last frame of a transaction contains the size of the database.
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
