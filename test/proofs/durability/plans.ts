/** How SQLite answers the questions of the receiver. */
import { migrations, SQLITE } from '../../../receiver/inbox/schema.ts';
import { loadSqlite } from '../../../receiver/inbox/sqlite-database.ts';
import { statements } from '../../../receiver/inbox/statements.ts';

const SHOWN = ['claim', 'release', 'settle', 'reclaim', 'nextDue', 'depths'] as const;

/** For each statement the tables and indexes that it reads, and whether it reads all of them. */
async function readsOf(): Promise<readonly (readonly [statement: string, reads: readonly string[]])[]> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(':memory:');
  for (const statement of migrations(SQLITE).flat()) database.exec(statement);
  const sql = statements(SQLITE);
  const explain = (text: string) =>
    (database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .filter((detail) => /^(?:SEARCH|SCAN) \w/.test(detail) && / USING /.test(detail));
  const found = SHOWN.map((name) => [name, [...new Set(explain(sql[name]))]] as const);
  database.close();
  return found;
}

export async function sqlitePlans(): Promise<string> {
  const rows = (await readsOf()).map(
    ([name, reads]) => `| ${name} | ${reads.map((each) => `\`${each}\``).join('<br>')} |`,
  );
  return ['| statement | what it reads |', '| --- | --- |', ...rows].join('\n');
}
