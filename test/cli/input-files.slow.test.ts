/** Commands read only regular files, so that a pipe or a device never makes them wait. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKeyPair } from '../../harness/certify/index.ts';
import { clientMaterial } from '../certs/client-material.ts';
import { lacks } from '../setup/programs.ts';
import { hookproof, MAIN } from './hookproof.ts';

let cwd = '';
let socket: Server;

const makePipe = (name: string) => execFileSync('sh', ['-c', 'mkfifo "$0"', join(cwd, name)]);

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-input-'));
  makePipe('fifo');
  makePipe('fifo.mjs');
  await writeFile(join(cwd, 'body.json'), '{}');
  await writeFile(join(cwd, 'operator.pub.pem'), makeKeyPair().publicPem);
  await mkdir(join(cwd, 'partners'));
  makePipe('partners/acme.yaml');
  await mkdir(join(cwd, 'shard'));
  makePipe('shard/fleet.json');
  socket = createServer().listen(join(cwd, 'socket'));
});
afterAll(async () => {
  socket.close();
  await rm(cwd, { recursive: true, force: true });
});

const ENDPOINT = 'http://127.0.0.1:9/';
const env = { HOOKPROOF_SECRET: 'made-for-this-test-and-nothing-else' };
const PIPE = 'is a named pipe, expected a regular file';

describe.skipIf(process.platform === 'win32')('a command does not wait for a pipe', () => {
  it.each([
    ['configuration', ['run', ENDPOINT, '--config', 'fifo']],
    ['secret', ['run', ENDPOINT, '--secret-file', 'fifo']],
    ['API key', ['trigger', 'buy', ENDPOINT, '--api-key-file', 'fifo']],
    ['certificates', ['run', 'https://127.0.0.1:9/', '--ca', 'fifo']],
    ['client certificate', ['doctor', 'https://127.0.0.1:9/', '--client-cert', 'fifo', '--client-key', 'fifo']],
    ['header', ['run', ENDPOINT, '--header', `X-A: \${file:fifo}`]],
    ['baseline', ['run', ENDPOINT, '--baseline', 'fifo']],
    ['baseline to update', ['baseline', 'update', 'fifo', '--run', 'body.json']],
    ['saved run of a baseline', ['baseline', 'update', 'new.yaml', '--run', 'fifo']],
    ['saved run', ['report', 'fifo']],
    ['body to sign', ['sign', 'fifo']],
    ['body to verify', ['verify', 'fifo', '--signature', 'x']],
    ['partner', ['certify', '--partners', 'partners', '--check']],
    ['signing key', ['certify', 'https://127.0.0.1:9/', '--profile', 'staging', '--key', 'fifo']],
    ['certificate', ['certify', 'verify', 'fifo', '--key', 'operator.pub.pem']],
    ['shard', ['certify', 'merge', 'shard', '-o', 'whole', '--key', 'operator.pub.pem']],
    ['public key', ['certify', 'verify', 'body.json', '--key', 'fifo']],
    ['certificate of the receiver', ['receiver', '--port', '0', '--tls-cert', 'fifo', '--tls-key', 'fifo']],
    ['handlers', ['receiver', '--port', '0', '--handlers', 'fifo.mjs', '--inbox', 'memory:']],
  ])('as %s', async (_, args) => {
    const { code, stdout, stderr } = await hookproof(args, { cwd, env });
    const refused = `${stdout}${stderr}`;
    expect(refused).toMatch(/is a named pipe, expected a regular file|it is not a regular file/);
    expect(code).toBe(args[0] === 'doctor' ? 3 : 2);
  });

  it.each([
    ['a device', '/dev/zero', 'is a device, expected a regular file'],
    ['a socket', 'socket', 'is a socket, expected a regular file'],
    ['a folder', 'partners', 'is a directory'],
    ['a link to a pipe', 'link', PIPE],
  ])('nor for %s', async (_, file, reason) => {
    if (file === 'link') await symlink('fifo', join(cwd, 'link'));
    const { code, stderr } = await hookproof(['sign', file], { cwd, env });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`the file ${file} ${reason}`)]);
  });
});

describe('a pipe that the shell opens', () => {
  const shell = (program: string, script: string) =>
    new Promise<string>((resolve) => {
      const child = execFile(program, ['-c', script, process.execPath, MAIN], { cwd }, (_, out, err) =>
        resolve(out + err),
      );
      child.stdin?.end();
    });

  it.each(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])('is read as %s', async (name) => {
    if (name.startsWith('/proc') && process.platform !== 'linux') return;
    const file = await shell('sh', 'printf %s the-secret > secret; "$0" "$1" sign body.json --secret-file secret');
    const piped = await shell('sh', `printf %s the-secret | "$0" "$1" sign body.json --secret-file ${name}`);
    expect(piped).toBe(file);
    expect(piped).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
  });

  it.skipIf(lacks('bash'))('is read when it replaces a process', async () => {
    const file = await shell('sh', 'printf %s the-secret > secret; "$0" "$1" sign body.json --secret-file secret');
    expect(await shell('bash', '"$0" "$1" sign <(printf {}) --secret-file <(printf %s the-secret)')).toBe(file);
  });

  it.skipIf(lacks('bash'))('is read only once by doctor, for a secret, a certificate and its key', async () => {
    const { cert, key } = await clientMaterial('right');
    for (const [name, text] of Object.entries({ secret: 's'.repeat(40), cert, key }))
      await writeFile(join(cwd, name), text);
    const files = '--secret-file <(cat secret) --client-cert <(cat cert) --client-key <(cat key)';
    const document = JSON.parse(await shell('bash', `"$0" "$1" doctor --json ${files} 2>/dev/null`));
    const facts = JSON.stringify(document);
    expect([facts.includes('unreadable'), facts.includes('"pair":true'), facts.includes('"characters":40')]).toEqual([
      false,
      true,
      true,
    ]);
  });
});
