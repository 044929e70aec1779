/** Options that `hookproof console` rejects before it connects to anything. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hookproof } from './hookproof.ts';

const REGISTER = ['--register', 'postgres://nobody@127.0.0.1:9/none'];
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  await writeFile(join(folder, 'tokens'), `alice ${'a'.repeat(24)}\n`);
  await writeFile(join(folder, 'short'), 'alice secret-1\n');
  await writeFile(join(folder, 'twice'), `alice ${'a'.repeat(24)}\nalice ${'b'.repeat(24)}\n`);
});
afterAll(() => rm(folder, { recursive: true }));

it.each([
  ['a register in a folder', ['--register', 'folder'], 'REGISTER_PLACE'],
  ['a password in the URL', ['--register', 'postgres://a:b@localhost/c'], 'REGISTER_PASSWORD_IN_ARGUMENT'],
  ['another address in plain text', [...REGISTER, '--host', '0.0.0.0'], 'CONSOLE_PUBLIC'],
  ['a proxy in plain text', [...REGISTER, '--public-origin', 'http://console.example'], 'CONSOLE_ORIGIN'],
  ['an origin with a path', [...REGISTER, '--public-origin', 'https://console.example/x'], 'CONSOLE_ORIGIN'],
  ['a proxy without tokens', [...REGISTER, '--public-origin', 'https://console.example'], 'CONSOLE_NO_TOKENS'],
  ['half of a key pair', [...REGISTER, '--tls-cert', 'tokens'], 'CONSOLE_TLS'],
  ['a token that can be guessed', [...REGISTER, '--token-file', 'short'], 'CONSOLE_TOKENS'],
  ['two tokens of one name', [...REGISTER, '--token-file', 'twice'], 'CONSOLE_TOKENS'],
])('refuses %s', async (_what, args, expected) => {
  const { code, stderr } = await hookproof(['console', ...args], { cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`(${expected})`)]);
  expect(stderr).not.toMatch(/secret-1|aaaa/);
});
