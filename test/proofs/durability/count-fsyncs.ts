/**
 * Counts the calls that bring a file to the disk, by a library that is loaded before all others: a SIGKILL cannot tell
 * whether they were made.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

export interface FsyncCounter {
  /** For the environment of the process. `delayUs` is added to every call: a slower disk. */
  readonly env: (delayUs?: number) => NodeJS.ProcessEnv;
  /** From what the process wrote to standard error until its end. */
  readonly read: (words: string) => number;
}

/** Null where there is no C compiler, which is printed. */
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
    read: (words) => Number(/^fsyncs=(\d+)$/m.exec(words)?.[1] ?? 0),
  };
}
