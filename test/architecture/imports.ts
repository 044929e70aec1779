import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface Import {
  /** `from` and `to` are paths from the root of the project. For a package, `to` is its name. */
  readonly from: string;
  readonly to: string;
}

export const ROOT = new URL('../../', import.meta.url).pathname;

/** Lists the TypeScript files under these folders, as paths from the root. Installed packages are excluded. */
export function sourceFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
      .map((file) => posix.join(folder, file.replaceAll('\\', '/'))),
  );
}

/** Returns what a source file imports or re-exports, including types and `import()`. */
export function importsIn(from: string, source: string): Import[] {
  const found = source.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^\s*import\s+)'([^']+)'/gm);
  return Array.from(found, ([, name = '']) => ({
    from,
    to: name.startsWith('.') ? posix.join(posix.dirname(from), name) : name,
  }));
}

export function importsOf(file: string): Import[] {
  return importsIn(file, readFileSync(join(ROOT, file), 'utf8'));
}
