/**
 * Counts flushes. If deliveries are sent in sequence, each needs one flush before its acknowledgement. A SIGKILL cannot
 * show this, because written data that is not flushed survives the process, but is lost in a power failure.
 */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { deliver, notification } from './deliveries.ts';
import type { Fault } from './faulty-receivers.ts';
import { type Store, startReceiverProcess } from './receiver-process.ts';
import { query, unsettled, waitUntil } from './stored-state.ts';

export interface SerialResult {
  readonly store: string;
  readonly deliveries: number;
  readonly acknowledged: number;
  /** Number of flushes. Null if they cannot be counted. */
  readonly fsyncs: number | null;
}

export async function serialFsyncs(store: Store, deliveries: number, fault?: Fault): Promise<SerialResult> {
  const { url: inbox, folder, name } = store;
  const counter = name === 'SQLite' ? fsyncCounter(folder.path) : null;
  const setup = { how: 'script', inbox, folder, env: counter?.env() ?? {}, withHandlers: false } as const;
  const receiver = await startReceiverProcess({ ...setup, ...(fault === undefined ? {} : { fault }) });
  const flushes = async () => (name === 'PostgreSQL' ? serverFlushes(inbox) : 0);
  const before = await flushes();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let acknowledged = 0;
  for (let n = 0; n < deliveries; n += 1) {
    const answer = await deliver(receiver.url, agent, notification(`id-${n}`, `t-${n}`, 1_700_000_000 + n));
    if (answer?.status === 200) acknowledged += 1;
  }
  agent.destroy();
  await waitUntil('everything is settled', async () => (await unsettled(inbox)) === 0);
  const { stderr } = await receiver.end();
  const flushed = (await flushes()) - before;
  const fsyncs = name === 'PostgreSQL' ? flushed : (counter?.read(stderr) ?? null);
  return { store: name, deliveries, acknowledged, fsyncs };
}

/**
 * Returns the number of flushes of the server's write-ahead log. PostgreSQL adds those of a connection when the
 * connection ends.
 */
async function serverFlushes(url: string): Promise<number> {
  const [row] = await query<{ wal_sync: string }>(url, 'SELECT wal_sync FROM pg_stat_wal');
  return Number(row?.wal_sync);
}

/** A preloaded library that counts calls of fsync and fdatasync. */
const SOURCE = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static atomic_int count;
static void note(void) { const char *us = getenv("FSYNC_US"); atomic_fetch_add(&count, 1); if (us) usleep(atoi(us)); }
int fsync(int fd) { int (*real)(int) = dlsym(RTLD_NEXT, "fsync"); note(); return real(fd); }
int fdatasync(int fd) { int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync"); note(); return real(fd); }
__attribute__((destructor)) static void report(void) { if (count > 0) fprintf(stderr, "fsyncs=%d\\n", count); }
`;

interface FsyncCounter {
  /** The environment for the process. `delayUs` is added to every call, to simulate a slower disk. */
  readonly env: (delayUs?: number) => NodeJS.ProcessEnv;
  /** Reads the count from the complete standard error of the process. */
  readonly read: (stderr: string) => number;
}

/** Creates the counter. Prints a message and returns null if there is no C compiler. */
export function fsyncCounter(folder: string): FsyncCounter | null {
  const [source, library] = [join(folder, 'count-fsyncs.c'), join(folder, 'count-fsyncs.so')];
  writeFileSync(source, SOURCE);
  try {
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { stdio: 'ignore' });
  } catch {
    process.stderr.write(
      'skipped: fsyncs are not counted, because gcc is not installed (apt-get install gcc libc6-dev)\n',
    );
    return null;
  }
  return {
    env: (delayUs) => ({ LD_PRELOAD: library, ...(delayUs === undefined ? {} : { FSYNC_US: String(delayUs) }) }),
    read: (stderr) => Number(/^fsyncs=(\d+)$/m.exec(stderr)?.[1] ?? 0),
  };
}
