/** Invalid certificates and keys end the program with exit code 2, before anything is sent, and are never printed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysFromNow, type Material, material, openSsh, pfx } from '../certs/material.ts';
import { hookproof } from './hookproof.ts';

const directory = mkdtempSync(join(tmpdir(), 'hookproof-material-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let m: Material;
beforeAll(async () => {
  m = await material();
  const old = await m.issue({ notBefore: new Date(0), notAfter: daysFromNow(-1) });
  const files = {
    'client.pem': m.client.cert,
    'client.key': m.client.key,
    'other.key': m.other.key,
    'old.pem': old.cert,
    'old.key': old.key,
    'store.pfx': pfx(),
    id: openSsh(),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
});

// Nothing is listening there: a run that gets this far ends with 3.
const URL = 'https://127.0.0.1:9/';
const run = (cert: string, key: string, more: string[] = []) =>
  hookproof(['run', URL, '--client-cert', cert, '--client-key', key, '--recovery', '0ms', ...more], { cwd: directory });

describe('hookproof run', () => {
  it.each([
    [
      'client.pem',
      'other.key',
      '--client-key: the file other.key does not belong to the certificate in the file client.pem',
    ],
    [
      'client.key',
      'client.pem',
      'the file client.key contains a private key, and the file client.pem contains a certificate',
    ],
    ['store.pfx', 'client.key', 'openssl pkcs12 -in store.pfx -clcerts -nokeys -out certificate.pem'],
    ['client.pem', 'id', 'ssh-keygen -p -m PEM -f key.pem'],
    ['old.pem', 'old.key', 'the certificate in the file old.pem expired on'],
    ['.', 'client.key', '--client-cert: the file . is a directory'],
  ])('%s with %s exits 2', async (cert, key, message) => {
    const { code, stdout, stderr } = await run(cert, key);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    for (const line of `${m.client.key}${m.other.key}`.split('\n')) {
      if (line !== '' && !line.startsWith('-----')) expect(stderr).not.toContain(line);
    }
  });

  it('continues with a valid pair: to an endpoint that does not exist', async () => {
    expect((await run('client.pem', 'client.key')).code).toBe(3);
  });

  it('prints fixtures as the names of their files', async () => {
    const yaml =
      'url: https://partner.example/\ntls: { client-cert: client.pem, client-key: client.key }\n' +
      'mtls: { fixtures: { expired: { cert: old.pem, key: old.key } } }\n';
    writeFileSync(join(directory, 'hookproof.yaml'), yaml);
    const { code, stdout } = await hookproof(['config', 'show'], { cwd: directory });
    rmSync(join(directory, 'hookproof.yaml'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^mtls\.fixtures\.expired\.key +old\.key +hookproof\.yaml:3:\d+$/m);
  });
});
