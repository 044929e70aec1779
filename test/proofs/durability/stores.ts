/** The two stores that the proofs run on, each new and empty. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { newDatabase } from '../../setup/postgres.ts';
import { type Folder, openFolder } from './receiver-process.ts';

export interface Store {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly url: string;
  readonly folder: Folder;
}

export function sqliteStore(): Store {
  const folder = openFolder();
  return { name: 'SQLite', url: pathToFileURL(join(folder.path, 'inbox.db')).href, folder };
}

/** `server` is the URL of a server on which databases can be made. */
export async function postgresStore(server: string): Promise<Store> {
  return { name: 'PostgreSQL', url: await newDatabase(server), folder: openFolder() };
}
