/** The files of the page: plain HTML, CSS and JavaScript, read once at the start. */
import { readdir, readFile } from 'node:fs/promises';
import { HookproofError } from '../../contract/index.ts';

export interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

/** Where they are, seen from the sources, from the compiled library, and from the bundled program. */
const PLACES = ['./page/', '../../../receiver/inspector/page/', './page/'];

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** By name. Throws `HookproofError` (`INSPECTOR_PAGE`). */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  for (const place of PLACES) {
    const folder = new URL(place, import.meta.url);
    const names: string[] = await readdir(folder).catch(() => []);
    if (!names.includes('index.html')) continue;
    const files = names.map(async (name): Promise<[string, PageFile]> => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      return [name, { type, content: await readFile(new URL(name, folder)) }];
    });
    return new Map(await Promise.all(files));
  }
  throw new HookproofError('INSPECTOR_PAGE', 'The files of the inspector page are not there.', {
    hint: 'They are in receiver/inspector/page/ of the package: copy that folder too.',
    kind: 'internal',
  });
}
