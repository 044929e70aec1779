/** What the proofs ran on. */
import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { query } from './from-outside.ts';

/** Names nobody's machine: what it can do, and the versions of what was used. `postgres` is the URL of the server. */
export async function describeMachine(postgres: string | null): Promise<string[]> {
  const { loadSqlite } = await import('../../../receiver/inbox/sqlite-database.ts');
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(':memory:');
  const [sqlite] = database.prepare('SELECT sqlite_version() AS version').all() as { version: string }[];
  database.close();
  const server = postgres === null ? [] : await query<{ server_version: string }>(postgres, 'SHOW server_version');
  const { stdout } = spawnSync('df', ['--output=fstype', '/tmp'], { encoding: 'utf8' });
  return [
    `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB of memory`,
    `Linux ${release()}, file system ${stdout.split('\n')[1]?.trim() ?? 'unknown'}`,
    `Node ${process.versions.node}`,
    `SQLite ${sqlite?.version}`,
    server[0] === undefined ? 'no PostgreSQL' : `PostgreSQL ${server[0].server_version}`,
  ];
}
