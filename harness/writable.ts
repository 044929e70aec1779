import { accessSync, constants } from 'node:fs';
import { dirname, resolve } from 'node:path';

interface Obstacle {
  readonly reason: string;
  readonly fix: string;
}

/**
 * Returns why no file can be created in the folder, which need not exist yet, with the fix; null if no obstacle is
 * known. Call this before creating folders: on a read-only disk, a recursive `mkdir` fails with a misleading ENOENT.
 */
export function whyNotWritable(folder: string): Obstacle | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    try {
      accessSync(at, constants.W_OK);
      return null;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' && at !== dirname(at)) continue;
      return code === undefined ? null : obstacleAt(at, code);
    }
  }
}

function obstacleAt(folder: string, code: string): Obstacle | null {
  if (code === 'EROFS') {
    const fix = `In a container, mount a volume at ${folder} (-v "$PWD:${folder}").`;
    return { reason: `${folder} is on a read-only file system`, fix };
  }
  if (code !== 'EACCES' && code !== 'EPERM') return null;
  const user = process.getuid?.();
  const fix = `Make it writable${user === undefined ? '' : ` for user ${user}`}.`;
  return { reason: `the folder ${folder} is not writable (${code})`, fix };
}
