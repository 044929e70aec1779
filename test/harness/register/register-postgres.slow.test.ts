/** The register in PostgreSQL: concurrent writers, records that are added twice, and an unavailable server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { importRecords } from '../../../harness/cli/partners/register-input.ts';
import {
  inTransaction,
  makeRecord,
  openDatabase,
  openRegister,
  type Register,
} from '../../../harness/register/index.ts';
import { freePort } from '../../endpoints/listen.ts';
import { newDatabase } from '../../setup/postgres.ts';

const server = inject('postgresUrl');
const recordOf = (partner: string, due: string | null = null) =>
  makeRecord({ partner, event: 'failed', catalogue: 'sha256:abc', version: '0.1.0', due });

let url = '';
let register: Register;
beforeAll(async () => {
  if (server === null) return;
  url = await newDatabase(server);
  // Writers that start together create the table one after the other.
  const others = await Promise.all(Array.from({ length: 4 }, () => openRegister(url)));
  await Promise.all(others.map((other, at) => other.append([recordOf(`p${at}`)])));
  await Promise.all(others.map((other) => other.close()));
  register = await openRegister(url);
});
afterAll(() => register?.close());

it.skipIf(server === null)('has the records of all writers, as they were added', async () => {
  const { records, notes } = await register.read();
  expect(records.map(({ partner }) => partner).toSorted()).toEqual(['p0', 'p1', 'p2', 'p3']);
  expect(notes).toEqual([]);
  const one = recordOf('exact');
  await register.append([one]);
  expect((await register.read()).records.find(({ partner }) => partner === 'exact')).toEqual(one);
});

it.skipIf(server === null)('has a record once, and one record of a partner for each due time', async () => {
  const due = '2026-11-27T00:00:00.000Z';
  const one = recordOf('twice', due);
  await register.append([one, one]);
  await register.append([one, recordOf('twice', due), recordOf('twice', '2026-11-28T00:00:00.000Z')]);
  const { records } = await register.read();
  expect(records.filter(({ partner }) => partner === 'twice').map((record) => record.due)).toEqual([
    due,
    '2026-11-28T00:00:00.000Z',
  ]);
});

it.skipIf(server === null)('has records of the same millisecond in the order in which they were added', async () => {
  const { at } = recordOf('same');
  const added = Array.from({ length: 30 }, () => ({ ...recordOf('same'), at }));
  await register.append(added);
  const { records } = await register.read();
  expect(records.filter(({ partner }) => partner === 'same').map(({ id }) => id)).toEqual(added.map(({ id }) => id));
});

it.skipIf(server === null)('names a row that it cannot read', async () => {
  const row = `'00000000-0000-4000-8000-000000000000', 'odd', 'failed', now(), NULL, '{"schemaVersion":9}'`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`INSERT INTO hookproof_register (id, partner, event, at, due, record) VALUES (${row})`);
  await client.end();
  const { notes, records } = await register.read();
  expect(notes).toEqual([expect.stringMatching(/^record 00000000-.*: not a record that this version/)]);
  expect(records.length).toBeGreaterThan(4);
});

it.skipIf(server === null)('is an error without the password when the server is away', async () => {
  const away = new URL(url);
  away.port = String(await freePort());
  const error = await openRegister(away.href).catch((reason: Error) => reason);
  expect(error).toMatchObject({ code: 'REGISTER_DATABASE', kind: 'usage' });
  expect(String(error)).not.toContain(new URL(url).password);
});

it.skipIf(server === null)('fails only the work whose connection breaks between two statements', async () => {
  const pool = await openDatabase(url, { max: 1, name: 'breaks' });
  const work = inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await endBackend(rows[0]?.pid ?? 0);
    await ended;
    await client.query('SELECT 1');
  });
  await expect(work).rejects.toThrow(/not queryable|terminat/i);
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
});

async function endBackend(pid: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('SELECT pg_terminate_backend($1)', [pid]);
  await client.end();
}

it.skipIf(server === null)('imports a register from a folder, with its revocations, once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-import-'));
  const files = await openRegister(folder);
  const decided = makeRecord({ partner: 'moved', event: 'revoked', reason: 'x', catalogue: 'c', version: '0.1.0' });
  await files.append([recordOf('moved'), decided]);
  await files.close();
  expect([await importRecords(register, [], folder), await importRecords(register, [], folder)]).toEqual([2, 0]);
  const { records } = await register.read();
  expect(records.filter(({ partner }) => partner === 'moved').map(({ event }) => event)).toEqual(['failed', 'revoked']);
  await rm(folder, { recursive: true });
});
