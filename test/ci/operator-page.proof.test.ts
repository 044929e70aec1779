/** Runs the `sh` blocks of the page for operators in order, in one shell and in an empty folder. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { MAIN } from '../cli/hookproof.ts';
import { freePort } from '../endpoints/listen.ts';
import { newDatabase } from '../setup/postgres.ts';
import { lacks } from '../setup/programs.ts';

const server = inject('postgresUrl');
const isSkipped = server === null || lacks('bash', 'curl', 'jq', 'openssl', 'psql');
/** Waits until the worker has judged every partner. */
const RECHECKED = `until psql "$HOOKPROOF_REGISTER" -tAc \
  "SELECT 'rechecked ' || count(*) FROM hookproof_register WHERE event = 'unchanged'" | grep -q 'rechecked 5'
do sleep 1; done`;
let folder = '';
let page = '';
let ran = { code: -1, stdout: '', stderr: '' };

beforeAll(async () => {
  if (server === null || isSkipped) return;
  folder = await mkdtemp(join(tmpdir(), 'hookproof-operator-'));
  page = await readFile(new URL('../../docs/operator.md', import.meta.url), 'utf8');
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'empty'));
  await writeFile(join(folder, 'bin', 'hookproof'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  await chmod(join(folder, 'bin', 'hookproof'), 0o755);
  const ports = await Promise.all(Array.from({ length: 5 }, () => freePort()));
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const script = ["trap 'kill $(jobs -p)' EXIT", `PORTS=(0 ${ports.join(' ')})`, ...blocks, RECHECKED]
    .join('\n')
    .replaceAll('4100$n', `\${PORTS[$n]}`)
    .replaceAll('localhost:4100%s', 'localhost:%s')
    .replaceAll("' $n $n >", `' \${PORTS[$n]} $n >`)
    // A slow machine must not make a partner fail.
    .replaceAll('wait: 60s', 'wait: 2m\\ntimeout: 2m')
    .replaceAll('8790', `${await freePort()}`)
    .replaceAll('postgres://hookproof@localhost:5432/hookproof', await newDatabase(server));
  await writeFile(join(folder, 'script'), script);
  const { HOME, PATH } = process.env;
  ran = await new Promise((resolve) => {
    const options = {
      cwd: join(folder, 'empty'),
      env: { HOME, PATH: `${join(folder, 'bin')}${delimiter}${PATH}` },
      maxBuffer: 2 ** 26,
    };
    const child = execFile('bash', ['-eu', join(folder, 'script')], options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
});
afterAll(async () => {
  if (folder !== '') await rm(folder, { recursive: true, force: true });
});

const linesOf = async (file: string) => (await readFile(join(folder, 'empty', file), 'utf8')).trim().split('\n').length;

it.skipIf(isSkipped)('every command ends as the page says', () => {
  expect([ran.code, ran.stderr.slice(-2000)]).toEqual([0, expect.any(String)]);
  expect(ran.stdout.match(/✓ 5 partners: 5 certified/g)).toHaveLength(3);
  expect(ran.stdout).toContain('p1  revoked');
});

it.skipIf(isSkipped)('the worker has rechecked the partners, and the console says who may get traffic', async () => {
  expect(ran.stderr.match(/ p[1-5]: unchanged$/gm)).toHaveLength(5);
  expect(JSON.parse(/\{"partner":"p1"[^}]*\}/.exec(ran.stdout)?.[0] ?? '{}')).toMatchObject({ mayGetTraffic: true });
});

it.skipIf(isSkipped)('the register is pruned down to the last certificates and what follows them', async () => {
  // Five certificates, five rechecks, the revocation, and the second certificate of p1.
  expect(await linesOf('register-before.ndjson')).toBe(12);
  expect(await linesOf('hookproof-partners/register.ndjson')).toBe(9);
});
