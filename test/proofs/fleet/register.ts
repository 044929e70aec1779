/**
 * `npm run proofs -- register`: a register of 3,000 partners with 102,000 records, in files and in PostgreSQL. Prints
 * the time, processor time and peak memory of each query, and how fast the page of partners is in a browser.
 */
import { spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeKeyPair } from '../../../harness/certify/index.ts';
import { makeRecord, openRegister, type RegisterRecord, signGrant } from '../../../harness/register/index.ts';
import { MAIN } from '../../cli/hookproof.ts';
import { launchChromium } from '../../setup/chromium.ts';
import { startPostgres } from '../../setup/postgres.ts';

const PARTNERS = 3_000;
const RECORDS_OF_A_PARTNER = 34;
const DAY_MS = 86_400_000;

const folder = await mkdtemp(join(tmpdir(), 'hookproof-register-'));
const { privatePem, publicPem, keyId } = makeKeyPair();
const privateKey = createPrivateKey(privatePem);
const key = join(folder, 'operator.pub.pem');
await writeFile(key, publicPem);

/**
 * Creates the records of a partner: a certificate, a recheck per day and, for every tenth partner, a failing run. The
 * certificate expires in 1 to 90 days.
 */
function recordsOf(at: number): RegisterRecord[] {
  const partner = `partner-${String(at).padStart(5, '0')}`;
  const url = `https://${partner}.example/hooks`;
  const time = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS + at).toISOString();
  const about = { partner, url, catalogue: `sha256:${'a'.repeat(64)}`, version: '0.1.0' };
  const grant = signGrant(
    {
      kind: 'certificate',
      partner,
      url,
      issuedAt: time(RECORDS_OF_A_PARTNER),
      expiresAt: time(-1 - (at % 90)),
      certificate: 'b'.repeat(64),
      profile: 'production',
      revision: 2,
      evidenceLevel: 0,
      keyId,
    },
    privateKey,
  );
  return Array.from({ length: RECORDS_OF_A_PARTNER }, (_, day) => {
    const last = day === RECORDS_OF_A_PARTNER - 1;
    const event = day === 0 ? 'certified' : last && at % 10 === 0 ? 'failed' : 'unchanged';
    const daysAgo = RECORDS_OF_A_PARTNER - day - 0.5;
    const started = time(daysAgo);
    return makeRecord({
      ...about,
      event,
      at: started,
      run: { startedAt: started },
      grant: day === 0 ? grant : null,
    });
  });
}

/** Runs the program, and prints wall time, processor time and peak memory. */
async function measure(label: string, args: readonly string[]): Promise<void> {
  const usage = 'process.on("exit",()=>process.stderr.write("\\nusage "+JSON.stringify(process.resourceUsage())))';
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', `data:text/javascript,${usage}`, MAIN, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (data) => {
    errors += data;
  });
  const [code] = await once(child, 'close');
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(/usage (.*)/.exec(errors)?.[1] ?? '{}');
  const wall = ((performance.now() - started) / 1000).toFixed(2);
  const cpu = ((userCPUTime + systemCPUTime) / 1e6).toFixed(2);
  console.log(`${label.padEnd(38)} ${wall} s, processor ${cpu} s, peak ${Math.round(maxRSS / 1024)} MB, exit ${code}`);
  if (code !== 0 && code !== 1) throw new Error(errors);
}

async function ask(where: string, register: string): Promise<void> {
  const given = ['--output-dir', folder, '--key', key];
  process.env.HOOKPROOF_REGISTER = register;
  await measure(`${where}: partners`, ['partners', ...given]);
  await measure(`${where}: partners --expiring 14d`, ['partners', '--expiring', '14d', ...given]);
  await measure(`${where}: partners --changed`, ['partners', '--changed', ...given]);
  await measure(`${where}: partners NAME`, ['partners', 'partner-00011', ...given]);
  await measure(`${where}: revoke, with the page`, ['revoke', 'partner-00012', '--reason', 'measured', ...given]);
}

const records = Array.from({ length: PARTNERS }, (_, at) => recordsOf(at)).flat();
console.log(`${PARTNERS} partners, ${records.length} records`);

const places: (readonly [string, string])[] = [['files', folder]];
const server = await startPostgres();
if (server === null) console.log('PostgreSQL is not installed');
else places.push(['PostgreSQL', server.url]);
try {
  for (const [where, place] of places) {
    const register = await openRegister(place);
    for (let at = 0; at < records.length; at += 5_000) await register.append(records.slice(at, at + 5_000));
    await register.close();
    await ask(where, place);
  }
  await openPage(join(folder, 'fleet.html'));
} finally {
  await server?.remove();
  await rm(folder, { recursive: true, force: true });
}

/** Opens the page, filters it and sorts it. Each time ends when the browser has painted the result. */
async function openPage(file: string): Promise<void> {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const started = performance.now();
    await page.goto(`file://${file}`, { waitUntil: 'load' });
    const rows = await page.locator('tbody tr').count();
    const kb = Math.round((await stat(file)).size / 1024);
    console.log(`page: ${rows} rows, ${kb} kB, loaded in ${Math.round(performance.now() - started)} ms`);
    const painted = (name: string, act: string) =>
      page
        .evaluate<number>(
          `new Promise((resolve) => { const t = performance.now(); ${act};
           requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - t))); })`,
        )
        .then((ms) => console.log(`page: ${name} ${Math.round(ms)} ms`));
    await painted(
      'a keystroke in the filter',
      `const i = document.querySelector('input[type=search], input:not([type]), input[type=text]'); i.value = '7';
       i.dispatchEvent(new Event('input', { bubbles: true }))`,
    );
    await painted(
      'a sort',
      `const s = document.getElementById('sort'); s.value = 'n';
       s.dispatchEvent(new Event('input', { bubbles: true }))`,
    );
  } finally {
    await browser.close();
  }
}
