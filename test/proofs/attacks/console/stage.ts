/**
 * The environment of the attacks: a register in PostgreSQL that an attacker has written to, an output folder with links
 * to the outside, and two separate processes of the console, one for this machine and one behind a reverse proxy.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { keyIdOf } from '../../../../harness/certify/keys.ts';
import {
  type Grant,
  makeRecord,
  openDatabase,
  openRegister,
  type RegisterRecord,
  signGrant,
} from '../../../../harness/register/index.ts';
import { freePort } from '../../../endpoints/listen.ts';
import { newDatabase } from '../../../setup/postgres.ts';
import type { Target } from './requests.ts';

export const MARKUP = '"><script>alert(1)</script><img src=x onerror=alert(2)>';
const DAY_MS = 86_400_000;
const URL_OF = 'https://partner.example/hooks';

const operator = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const iso = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

/** The command that runs `hookproof`: the compiled program, or the sources of a changed copy. */
export type Program = readonly [program: string, ...args: string[]];

export interface Stage {
  readonly folder: string;
  readonly database: string;
  readonly pool: Pool;
  readonly target: Target;
  /** The ports of the console for this machine, and of the one behind a reverse proxy. */
  readonly ports: { readonly local: number; readonly public: number };
  close(): Promise<void>;
}

function grantOf(partner: string, parts: Partial<Grant> = {}, key: KeyObject = operator.privateKey): string {
  const grant = {
    ...({ kind: 'certificate', partner, url: URL_OF, issuedAt: iso(-1), expiresAt: iso(60) } as const),
    ...({ certificate: 'c'.repeat(64), profile: 'production', revision: 2, evidenceLevel: 0 } as const),
    keyId: keyIdOf(key),
  };
  return signGrant({ ...grant, ...parts }, key);
}

interface Envelope {
  payload: string;
  signatures: { keyid: string; sig: string }[];
}

/** Creates a grant whose envelope names the operator's key, but that another key has signed. */
function renamed(): string {
  const keyId = keyIdOf(operator.privateKey);
  const envelope: Envelope = JSON.parse(grantOf('renamed', { keyId }, stranger.privateKey));
  for (const signature of envelope.signatures) signature.keyid = keyId;
  return JSON.stringify(envelope);
}

/** Creates a copy of a grant of the operator with a later end. */
function extended(): string {
  const envelope: Envelope = JSON.parse(grantOf('extended', { expiresAt: iso(-0.5) }));
  const payload = { ...JSON.parse(Buffer.from(envelope.payload, 'base64').toString()), expiresAt: iso(90) };
  return JSON.stringify({ ...envelope, payload: Buffer.from(JSON.stringify(payload)).toString('base64') });
}

/** Creates a certificate that another key has signed. */
export function forgedCertificate(): string {
  return grantOf('good', { keyId: keyIdOf(operator.privateKey) }, stranger.privateKey);
}

const ABOUT = { catalogue: 'sha256:abc', version: '0.1.0', url: URL_OF, at: iso(-1) };
const certified = (partner: string, grant: string | null) =>
  makeRecord({ ...ABOUT, partner, event: 'certified', grant });

/** For each forgery, the partner that gets traffic if the forgery is trusted, and how it was forged. */
export const FORGERIES: readonly (readonly [partner: string, how: string, record: RegisterRecord])[] = [
  ['unsigned', 'a record without a grant', certified('unsigned', null)],
  ['borrowed', 'a record with the grant of another partner', certified('borrowed', grantOf('good'))],
  [
    'stranger',
    'a record that another key has signed',
    certified('stranger', grantOf('stranger', {}, stranger.privateKey)),
  ],
  ['renamed', "a record that another key has signed, with the id of the operator's", certified('renamed', renamed())],
  ['extended', 'a record with a grant that somebody has extended', certified('extended', extended())],
  ['garbage', 'a record with a grant that is none', certified('garbage', '{"payload":"e30="}')],
  [
    'expired',
    'a record with a grant that has expired',
    certified('expired', grantOf('expired', { expiresAt: iso(-0.5) })),
  ],
  [
    'overridden',
    'an override of a revocation',
    makeRecord({
      ...ABOUT,
      partner: 'overridden',
      event: 'override',
      grant: grantOf('overridden', { kind: 'override' }),
    }),
  ],
];

/** Forged rows of the cache that allow traffic to a partner, although no record does. */
export const FORGED_ROWS: readonly (readonly [partner: string, how: string, grant: string | null])[] = [
  ['row-unsigned', 'a row of the cache without a grant', null],
  ['row-borrowed', 'a row of the cache with the grant of another partner', grantOf('good')],
  ['row-stranger', 'a row of the cache that another key has signed', grantOf('row-stranger', {}, stranger.privateKey)],
  ['row-expired', 'a row of the cache whose grant has expired', grantOf('row-expired', { expiresAt: iso(-0.5) })],
];

const processes = new Set<ChildProcess>();
/** Ends the processes that were started here. */
export function endProcesses(): void {
  for (const child of processes) child.kill('SIGKILL');
}

export async function openStage(program: Program, serverUrl: string): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-attacks-'));
  const database = await newDatabase(serverUrl);
  const token = randomBytes(24).toString('hex');
  const canary = `canary-${randomBytes(8).toString('hex')}`;
  const target = { token, name: 'alice', canary, markup: MARKUP, partners: { certified: 'good', hostile: 'evil' } };
  await writeFolders(folder, target);
  const pool = await openDatabase(database, { max: 2, name: 'attacks' });
  await writeRegister(database);
  const common = ['console', '--key', 'operator.pub.pem', '--signing-key', 'operator.pem', '--token-file', 'tokens'];
  const start = (...more: string[]) => startConsole(program, { folder, database }, [...common, ...more]);
  const local = await start();
  // The first console has created the tables.
  await forgeRows(pool);
  const other = await start('--public-origin', 'https://console.example');
  return {
    ...{ folder, database, pool, target, ports: { local: local.port, public: other.port } },
    async close() {
      for (const { child } of [local, other]) child.kill('SIGTERM');
      await Promise.all([local.ended, other.ended]);
      await pool.end();
    },
  };
}

async function writeFolders(folder: string, { canary, name, token }: Target): Promise<void> {
  const pem = (key: KeyObject, type: 'pkcs8' | 'spki') => key.export({ type, format: 'pem' });
  await writeFile(join(folder, 'operator.pem'), pem(operator.privateKey, 'pkcs8'), { mode: 0o600 });
  await writeFile(join(folder, 'operator.pub.pem'), pem(operator.publicKey, 'spki'));
  await writeFile(join(folder, 'tokens'), `${name} ${token}\n`, { mode: 0o600 });
  await writeFile(join(folder, 'outside.json'), JSON.stringify({ canary }));
  const own = join(folder, 'hookproof-partners', 'good');
  await mkdir(own, { recursive: true });
  await writeFile(join(folder, 'hookproof-partners', 'outside.json'), JSON.stringify({ canary }));
  await writeFile(join(own, 'run.json'), '{"startedAt":"2026-11-27T00:00:00.000Z"}');
  await writeFile(join(own, 'report.html'), `<!doctype html><p>${MARKUP}`);
  await writeFile(join(own, 'outcome.json'), JSON.stringify({ canary }));
  await symlink(join(folder, 'outside.json'), join(own, 'configuration.json'));
  await symlink(join(folder, 'outside.json'), join(own, 'linked.json'));
}

async function writeRegister(database: string): Promise<void> {
  const failed = makeRecord({
    ...ABOUT,
    ...{
      partner: 'evil',
      event: 'failed',
      at: iso(-0.5),
      url: `https://evil.example/${MARKUP}`,
      reason: MARKUP,
      version: MARKUP,
    },
    ...{ catalogue: MARKUP, cause: { fault: MARKUP, title: MARKUP } },
    suites: { [MARKUP]: { pass: 1, fail: 1, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 } },
  });
  const revoked = makeRecord({ ...ABOUT, partner: 'overridden', event: 'revoked', at: iso(-0.8), reason: 'ticket 1' });
  const register = await openRegister(database);
  await register.append([
    ...[certified('good', grantOf('good')), failed, certified('overridden', grantOf('overridden')), revoked],
    ...FORGERIES.map(([, , record]) => (record.event === 'override' ? { ...record, at: iso(-0.5) } : record)),
  ]);
  await register.close();
}

/** Adds the rows that an attacker with write access to the database would add. */
async function forgeRows(pool: Pool): Promise<void> {
  const { rows } = await pool.query('SELECT * FROM hookproof_standing WHERE partner = $1', ['good']);
  const forge = (row: object) =>
    pool.query('INSERT INTO hookproof_standing SELECT * FROM jsonb_populate_record(NULL::hookproof_standing, $1)', [
      JSON.stringify({ ...rows[0], ...row }),
    ]);
  for (const [partner, , grant] of FORGED_ROWS) {
    await forge({ partner, grant, state: 'certified', until: iso(900), added: '9000000000000000000' });
  }
  const texts = { url: MARKUP, host: MARKUP, cause: MARKUP, reason: MARKUP, warnings: [MARKUP], profile: MARKUP };
  await forge({ partner: MARKUP, state: 'failing', grant: null, added: '9000000000000000000', ...texts });
  await pool.query('INSERT INTO hookproof_audit (who, action, partner, reason, details) VALUES ($1, $1, $1, $1, $2)', [
    MARKUP,
    JSON.stringify({ [MARKUP]: MARKUP }),
  ]);
}

async function startConsole(
  [command, ...args]: Program,
  { database, folder }: { readonly folder: string; readonly database: string },
  flags: readonly string[],
) {
  const env = { PATH: process.env.PATH, HOOKPROOF_REGISTER: database };
  const port = await freePort();
  const child = spawn(command, [...args, ...flags, '--port', String(port)], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  processes.add(child);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let says = '';
  for await (const piece of child.stderr.iterator({ destroyOnReturn: false })) {
    says += piece;
    if (!says.includes('console at ')) continue;
    child.stderr.resume();
    return { child, ended, port };
  }
  throw new Error(`the console did not start: ${says}`);
}
