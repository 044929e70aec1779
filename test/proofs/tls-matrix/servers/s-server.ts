/**
 * The test server of OpenSSL. It speaks no HTTP that a delivery could be answered in, and handshakes are what it is
 * for.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverFixture } from '../../../../certs/index.ts';
import type { Open } from '../cell.ts';

export async function openSServer(...options: readonly string[]): Promise<Open> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  const { cert, key, ca } = await serverFixture('p256');
  const [leaf = '', ...rest] = cert.split(/(?=-----BEGIN)/);
  await writeFile(join(folder, 'leaf.pem'), leaf);
  await writeFile(join(folder, 'rest.pem'), rest.join(''));
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 });
  const files = ['-cert', 'leaf.pem', '-cert_chain', 'rest.pem', '-key', 'key.pem'];
  // -rev answers each line with the same line backwards.
  const args = ['s_server', '-accept', '127.0.0.1:0', '-rev', ...files, ...options];
  const child = spawn('openssl', args, { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true });
  };
  let output = '';
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(piece);
    const port = /ACCEPT 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
    if (port === undefined) continue;
    // It goes on printing, and would stand still once nobody takes it.
    child.stdout.resume();
    return { url: `https://localhost:${port}/hooks`, tls: { ca }, close };
  }
  await close();
  throw new Error(`s_server did not start: ${output}`);
}
