/** The stored standings: they follow the records of every program, and a forged row has no effect. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Pool } from 'pg';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { keyIdOf } from '../../../harness/certify/keys.ts';
import {
  makeRecord,
  openDatabase,
  openRegister,
  type Register,
  type RegisterRecord,
  readStandingRow,
  refreshStandings,
  type StandingRow,
  signGrant,
} from '../../../harness/register/index.ts';
import { newDatabase } from '../../setup/postgres.ts';

const server = inject('postgresUrl');
const operator = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const keys = [operator.publicKey];
const URL_OF_ALL = 'https://acme.example/hooks';
const DAY = 86_400_000;
const timeIn = (days: number) => new Date(Date.now() + days * DAY);

function certified(partner: string, days: number, key: KeyObject = operator.privateKey): RegisterRecord {
  const grant = signGrant(
    {
      ...{ kind: 'certificate', partner, url: URL_OF_ALL, certificate: 'c'.repeat(64), keyId: keyIdOf(key) },
      ...{ issuedAt: timeIn(days).toISOString(), expiresAt: timeIn(days + 90).toISOString() },
      ...{ profile: 'production', revision: 2, evidenceLevel: 1 },
    },
    key,
  );
  return { ...plain(partner, days), event: 'certified', grant };
}

function plain(partner: string, days: number): RegisterRecord {
  const about = { catalogue: 'sha256:abc', version: '0.1.0', url: URL_OF_ALL, at: timeIn(days).toISOString() };
  return makeRecord({ ...about, partner, event: 'failed', reason: 'a scored check failed' });
}

let pool: Pool;
let register: Register;
beforeEach(async () => {
  if (server === null) return;
  const url = await newDatabase(server);
  register = await openRegister(url);
  pool = await openDatabase(url, { max: 4, name: 'test' });
});
afterEach(async () => {
  await register?.close();
  await pool?.end();
});

const refresh = (partners?: readonly string[], now = new Date()) =>
  refreshStandings(pool, keys, { currentRevision: 2, now }, partners);

async function rowOf(partner: string): Promise<StandingRow & Record<string, unknown>> {
  const { rows } = await pool.query('SELECT * FROM hookproof_standing WHERE partner = $1', [partner]);
  return rows[0];
}

/** Returns the standing that a reader trusts at this time. */
async function believed(partner: string, at = new Date()) {
  return readStandingRow(await rowOf(partner), keys, at);
}

it.skipIf(server === null)('follows each record that is added and named', async () => {
  const steps: readonly [RegisterRecord, string][] = [
    [plain('acme', -9), 'failing'],
    [certified('acme', -8), 'certified'],
    [{ ...plain('acme', -7), event: 'drifted', reason: 'another key' }, 'drifted'],
    [certified('acme', -6), 'certified'],
    [{ ...plain('acme', -5), event: 'unreachable', reason: 'timed out' }, 'certified'],
    [{ ...plain('acme', -4), event: 'revoked', reason: 'leaked key' }, 'revoked'],
  ];
  for (const [record, state] of steps) {
    await register.append([record]);
    await register.refresh(keys, { currentRevision: 2, now: new Date() }, ['acme']);
    expect(await believed('acme')).toMatchObject({ state, disbelieved: null });
  }
  expect(await rowOf('acme')).toMatchObject({
    ...{ state: 'revoked', reason: 'leaked key', host: 'acme.example', last_event: 'revoked', profile: 'production' },
    ...{ revision: 2, grant: null, until: null },
  });
});

it.skipIf(server === null)('finds the records that another program has added, and only their partners', async () => {
  await register.append([certified('found', -3), certified('other', -3)]);
  expect(await refresh()).toEqual(['found', 'other']);
  expect(await refresh()).toEqual([]);
  await register.append([{ ...plain('found', -2), event: 'revoked' }]);
  expect(await refresh()).toEqual(['found']);
  expect(await believed('found')).toMatchObject({ state: 'revoked', grant: null });
  expect(await believed('other')).toMatchObject({ state: 'certified' });
});

it.skipIf(server === null)('includes a record of the future when its time has come', async () => {
  await register.append([certified('early', -3), { ...plain('early', 1), event: 'revoked' }, plain('early', -9)]);
  await refresh();
  expect(await believed('early')).toMatchObject({ state: 'certified' });
  expect(await refresh()).toEqual(['early']);
  await refresh(undefined, timeIn(2));
  expect(await believed('early')).toMatchObject({ state: 'revoked' });
  expect(await refresh(undefined, timeIn(2))).toEqual([]);
});

it.skipIf(server === null)('allows nothing once the certificate has expired, without a new record', async () => {
  await register.append([certified('old', -89)]);
  await refresh();
  expect(await believed('old')).toMatchObject({ state: 'certified', until: expect.any(String) });
  expect(await believed('old', timeIn(2))).toMatchObject({ state: 'expired', until: null });
  // The expiry is signed, so an attacker cannot change it.
  await pool.query("UPDATE hookproof_standing SET until = now() + interval '10 years' WHERE partner = 'old'");
  expect(await believed('old', timeIn(2))).toMatchObject({ state: 'expired', until: null });
});

it.skipIf(server === null)('believes no forged row', async () => {
  await register.append([plain('forged', -3), certified('genuine', -3)]);
  await refresh();
  const genuine = (await rowOf('genuine')).grant;
  const strangers = certified('forged', -3, stranger.privateKey).grant;
  for (const [state, grant] of [
    ['certified', null],
    ['certified', 'no envelope'],
    ['certified', genuine],
    ['certified', strangers],
    ['allowed', genuine],
  ] as const) {
    await pool.query('UPDATE hookproof_standing SET state = $1, "grant" = $2 WHERE partner = $3', [
      ...[state, grant, 'forged'],
    ]);
    expect(await believed('forged')).toMatchObject({
      ...{ state: 'uncertified', until: null, grant: null },
      disbelieved: expect.stringContaining(`the register says that forged is ${state}, but the row `),
    });
  }
  await refresh(['forged']);
  expect(await believed('forged')).toMatchObject({ state: 'failing' });
});

it.skipIf(server === null)('believes no forged record', async () => {
  const genuine = certified('victim', -3);
  await register.append([
    certified('intruder', -2, stranger.privateKey),
    { ...genuine, id: certified('x', 0).id, partner: 'intruder' },
    { ...certified('unsigned', -2), grant: null },
  ]);
  await refresh();
  for (const partner of ['intruder', 'unsigned']) {
    expect(await believed(partner)).toMatchObject({ state: 'uncertified', grant: null });
    expect((await rowOf(partner)).warnings).toHaveLength(partner === 'intruder' ? 2 : 1);
  }
});

it.skipIf(server === null)('is derived again with other keys, and with another revision', async () => {
  await register.append([certified('rotated', -3)]);
  await refresh();
  const options = { currentRevision: 2, now: new Date() };
  expect(await refreshStandings(pool, [stranger.publicKey], options)).toContain('rotated');
  expect(await rowOf('rotated')).toMatchObject({ state: 'uncertified' });
  await refreshStandings(pool, [stranger.publicKey, operator.publicKey], options);
  expect(await refreshStandings(pool, [operator.publicKey, stranger.publicKey], options)).toEqual([]);
  expect(await rowOf('rotated')).toMatchObject({ state: 'certified' });
  expect(await refreshStandings(pool, keys, { ...options, currentRevision: 3 })).toContain('rotated');
  expect((await rowOf('rotated')).warnings).toEqual([expect.stringContaining('the newest is 3')]);
});

it.skipIf(server === null)('has all records when many writers add and derive at the same time', async () => {
  await Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      const event = at === 7 ? 'revoked' : 'unchanged';
      await register.append([at === 0 ? certified('busy', -3) : { ...plain('busy', -2), event }]);
      await refresh(['busy']);
    }),
  );
  const { rows } = await pool.query("SELECT max(added) FROM hookproof_register WHERE partner = 'busy'");
  expect(await rowOf('busy')).toMatchObject({ added: rows[0].max, state: 'revoked' });
});

it.skipIf(server === null)('says that a record cannot be read', async () => {
  await register.append([certified('newer', -3)]);
  const row = `gen_random_uuid(), 'newer', 'paused', now(), NULL, '{"schemaVersion":9}'`;
  await pool.query(`INSERT INTO hookproof_register (id, partner, event, at, due, record) VALUES (${row})`);
  expect(await refresh()).toEqual(['newer']);
  expect((await rowOf('newer')).warnings).toEqual([expect.stringContaining('1 of its records cannot be read')]);
});
