/** Outputs that cannot be written are reported before any work, with the fix. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whyNotWritable } from '../../harness/writable.ts';
import { hookproof } from '../cli/hookproof.ts';

const IS_ROOT = process.getuid?.() === 0;
const base = mkdtempSync(join(tmpdir(), 'hookproof-writable-'));
const closed = join(base, 'closed');
let [reason, fix] = ['', ''];

/** Creates a folder that this user cannot write to. For root, who can write to every folder, it is a read-only disk. */
beforeAll(() => {
  mkdirSync(closed, { mode: 0o555 });
  if (IS_ROOT) spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', closed]);
  [reason, fix] = IS_ROOT
    ? [`${closed} is on a read-only file system`, `mount a volume at ${closed} (-v "$PWD:${closed}").`]
    : [`the folder ${closed} is not writable (EACCES)`, `Make it writable for user ${process.getuid?.()}.`];
});
afterAll(() => {
  // A program that was started in the folder may still be running.
  if (IS_ROOT) spawnSync('umount', ['-l', closed]);
  rmSync(base, { recursive: true, force: true });
});

it('a folder that does not exist is judged by the first one above it that does', () => {
  writeFileSync(join(base, 'file'), '');
  expect([base, join(base, 'a', 'b')].map(whyNotWritable)).toEqual([null, null]);
  expect([closed, join(closed, 'a', 'b')].map((folder) => whyNotWritable(folder)?.reason)).toEqual([reason, reason]);
  // The writer itself reports that a file is not a folder.
  expect(whyNotWritable(join(base, 'file', 'a'))).toBeNull();
});

describe('in a folder that cannot be written', () => {
  it('the demo and a run send nothing, and name the folder and the fix', async () => {
    for (const args of [['demo'], ['run', 'http://127.0.0.1:9/', '--open', '--output-dir', 'out']]) {
      const { code, stdout, stderr } = await hookproof(args, { cwd: closed });
      expect({ code, stdout, sent: /\d+ checks/.test(stderr) }, stderr).toEqual({ code: 2, stdout: '', sent: false });
      expect(stderr).toContain(`run.json: ${reason}`);
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`${fix} Or give a file in a writable folder`);
    }
    expect((await hookproof(['run', 'http://127.0.0.1:9/', '--open'], { cwd: closed })).code).toBe(3);
  });

  it('init and a certification of many partners say the same', async () => {
    const init = await hookproof(['init', '--stack', 'go'], { cwd: closed });
    expect([init.code, init.stderr]).toEqual([
      2,
      expect.stringContaining(`the file main.go cannot be written: ${reason}`),
    ]);
    const key = join(base, 'operator.pem');
    await hookproof(['certify', 'keygen', key]);
    const partners = join(base, 'partners');
    mkdirSync(partners);
    writeFileSync(join(partners, 'acme.secret'), 'the secret of acme, for this test');
    const settings = ['url: https://127.0.0.1:9/', 'profile: staging', 'hmac:', `  secret: \${file:acme.secret}`];
    writeFileSync(join(partners, 'acme.yaml'), settings.join('\n'));
    const args = ['certify', '--partners', partners, '--key', key, '--allow-private', '127.0.0.1'];
    const certify = await hookproof(args, { cwd: closed });
    expect(certify.code).toBe(2);
    expect(certify.stderr).toContain(`hookproof-partners cannot be used: ${reason}`);
    // Planning a run needs no folder.
    expect((await hookproof([...args, '--check'], { cwd: closed })).code).toBe(0);
  });
});
