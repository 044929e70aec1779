/**
 * The journal of a receiver: a file with one line of JSON per notification, which is on disk before the notification is
 * acknowledged. Only one process can own it, because the known ids are in memory. It requires Linux or macOS and a
 * local disk: the lock is a Unix domain socket next to the journal, `PATH.lock`.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants, link, open, rename, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const BEGINNING = Buffer.from('{"id":');

/** Resolves when this process owns the journal and has read its ids. Rejects with a message for the operator. */
export async function openJournal(path) {
  const owner = await lock(path);
  try {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
    if (!(await file.stat()).isFile()) throw new Error(`${path} is not a regular file`);
    const { ids, size } = await readIds(file, path);
    await file.truncate(size); // The process was killed while it wrote the last line.
    const journal = new Journal(file, path, ids, size, [await inodeOf(path), owner]);
    await journal.check();
    return journal;
  } catch (error) {
    if ((await inodeOf(`${path}.lock`)) === owner) await rm(`${path}.lock`);
    throw error;
  }
}

/**
 * Listens on a socket for as long as this process lives, and returns its inode. The socket of a killed process does not
 * respond and is replaced by a rename. When two processes do that, `check` rejects in the one that was replaced.
 */
async function lock(path) {
  const name = `${path}.lock`;
  const own = `${name}.${randomUUID().slice(0, 8)}`;
  if (Buffer.byteLength(own) > 100) throw new Error(`${path} is too long for its lock: give a relative path`);
  const server = createServer((socket) => socket.destroy()).unref();
  await once(server.listen({ path: own, exclusive: true }), 'listening');
  try {
    await link(own, name).catch(async (error) => {
      if (error.code !== 'EEXIST') throw error;
      if (await isAnswered(name)) throw new Error(`${path} is in use by another process`);
      await rename(own, name);
    });
    return await inodeOf(name);
  } finally {
    await rm(own, { force: true });
  }
}

function isAnswered(socketPath) {
  return new Promise((resolve) => {
    const socket = connect(socketPath, () => resolve(true));
    socket.on('error', ({ code }) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT')).unref();
  });
}

class Journal {
  #last = Promise.resolve();

  constructor(file, path, ids, size, inodes) {
    Object.assign(this, { file, path, ids, size, inodes });
  }

  /**
   * Resolves when the notification is on disk; when it rejects, the sender can deliver again. Calls run one at a time,
   * so that a duplicate waits for the first delivery. A duplicate adds no line.
   */
  store(id, rawBody) {
    const stored = this.#last.then(() => (this.ids.has(id) ? this.check() : this.append(id, rawBody)));
    this.#last = stored.catch(() => {});
    return stored;
  }

  async append(id, rawBody) {
    const line = Buffer.from(`${JSON.stringify({ id, receivedAt: new Date(), body: rawBody.toString() })}\n`);
    const before = this.size;
    await this.check();
    try {
      const { bytesWritten } = await this.file.write(line);
      if (bytesWritten < line.length) throw new Error('the disk is full');
      await this.file.sync();
      this.size += line.length;
      await this.check();
      this.ids.add(id);
    } catch (error) {
      this.size = before;
      await this.file.truncate(before);
      throw error;
    }
  }

  /** Rejects when the path now names another file, another process has the lock, or another program has written. */
  async check() {
    const inodes = [await inodeOf(this.path), await inodeOf(`${this.path}.lock`)];
    if (inodes.join() !== this.inodes.join()) throw new Error(`${this.path} or its lock was removed or replaced`);
    if ((await this.file.stat()).size !== this.size) throw new Error(`${this.path} was changed by another program`);
  }
}

/** Reads the file in pieces. Returns its ids and the size of its complete lines, in bytes. */
async function readIds(file, path) {
  const ids = new Set();
  let [size, number, rest] = [0, 1, Buffer.alloc(0)];
  const refuse = () => new Error(`${path} line ${number} is not a line of a journal`);
  for await (const piece of file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1024 * 1024 })) {
    let from = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', from)) {
      const line = Buffer.concat([rest, piece.subarray(from, end)]);
      const read = idOf(line);
      if (read === null) throw refuse();
      ids.add(read);
      [size, number, rest, from] = [size + line.length + 1, number + 1, Buffer.alloc(0), end + 1];
    }
    rest = Buffer.concat([rest, piece.subarray(from)]);
    if (rest.length > MAX_LINE_BYTES) throw refuse();
  }
  if (rest.length > 0 && !rest.subarray(0, BEGINNING.length).equals(BEGINNING)) throw refuse();
  return { ids, size };
}

function idOf(line) {
  try {
    const { id } = JSON.parse(line.toString());
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

/** Returns the device and the inode of a file; null when there is none. */
const inodeOf = (path) =>
  stat(path, { bigint: true }).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => null,
  );
