import { execFile } from 'node:child_process';
import { randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateBlocks, serverFixture } from '../../certs/index.ts';
import type { Partner } from '../../harness/partner.ts';
import { assemble } from '../../harness/run/assemble.ts';
import { createKit } from '../../harness/run/kit.ts';
import { curlScript } from '../../harness/run/reproduce.ts';
import { findScenario } from '../../scenarios/index.ts';
import { clientMaterial } from '../certs/client-material.ts';
import { lacks } from '../setup/programs.ts';

interface Seen {
  readonly version: string | null;
  readonly authorized: boolean;
  readonly protocol: string | false | null;
}

describe.skipIf(lacks('bash', 'curl', 'openssl'))('the curl script of a probe over mutual TLS', () => {
  const seen: Seen[] = [];
  let partner: Partner = { url: '' };
  let env: NodeJS.ProcessEnv = {};
  let folder = '';
  let close = () => {};

  beforeAll(async () => {
    const server = await serverFixture('p256');
    const client = await clientMaterial('right');
    const options = {
      cert: server.cert,
      key: server.key,
      ca: client.authority,
      requestCert: true,
      rejectUnauthorized: false,
    };
    const listening = createServer(options, (request, response) => {
      const socket = request.socket as TLSSocket;
      seen.push({ version: socket.getProtocol(), authorized: socket.authorized, protocol: socket.alpnProtocol });
      request.resume().on('end', () => response.end());
    });
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    close = () => listening.close();
    folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
    const files = { CA: server.ca, CLIENT_CERT: client.cert, CLIENT_KEY: client.key };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
    env = {
      ...process.env,
      TMPDIR: folder,
      HOOKPROOF_SECRET: 's'.repeat(32),
      HOOKPROOF_API_KEY: 'k'.repeat(32),
      ...Object.fromEntries(Object.keys(files).map((name) => [`HOOKPROOF_${name}`, join(folder, name)])),
    };
    partner = {
      url: `https://localhost:${(listening.address() as AddressInfo).port}/hooks`,
      signing: { secret: randomBytes(16).toString('hex') },
      apiKey: { value: randomBytes(16).toString('hex') },
      tls: { ca: server.ca, clientCert: client.cert, clientKey: client.key },
    };
  });
  afterAll(async () => {
    close();
    await rm(folder, { recursive: true, force: true });
  });

  /** There is no script if a header contains four characters of a credential by chance, so some are tried. */
  function scriptOf(id: string, to = partner): string | null {
    return Array.from({ length: 5 }, () => scriptOfOne(id, to)).find((script) => script !== null) ?? null;
  }

  function scriptOfOne(id: string, to: typeof partner): string | null {
    const scenario = findScenario(id);
    const kit = createKit(to, 'seed', id, new Date());
    const [first] = scenario === undefined || !('flow' in scenario) ? [scenario] : scenario.flow(kit).flat();
    if (first === undefined || !('change' in first)) throw new Error(`${id} sends nothing`);
    return curlScript(assemble(first.change, kit, to), to);
  }

  it.each([
    ['valid/plain', { authorized: true }],
    ['mtls/tls-1-2-no-certificate', { authorized: false, version: 'TLSv1.2' }],
    ['mtls/tls-1-3-no-certificate', { authorized: false, version: 'TLSv1.3' }],
    ['mtls/tls-1-2-right-certificate', { authorized: true, version: 'TLSv1.2' }],
    ['mtls/forged-headers', { authorized: false }],
    ['tls/http-1-1', { authorized: true, protocol: 'http/1.1' }],
    ['tls/no-protocol-offer', { authorized: true, protocol: false }],
  ])('connects as the harness does: %s', async (id, expected) => {
    seen.length = 0;
    const script = scriptOf(id) ?? '';
    const said = await new Promise<string>((resolve) => {
      execFile('bash', ['-c', script], { env, timeout: 120_000 }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
    expect(said).toContain('HTTP/1.1 200');
    expect(seen).toMatchObject([expected]);
    expect(script).not.toContain('PRIVATE KEY');
  });

  it('exists even if a certificate in a header contains a piece of the secret by chance', () => {
    const inside = encodeURIComponent(certificateBlocks(partner.tls?.clientCert ?? '')[0]?.text ?? '').slice(400, 420);
    const likely = { ...partner, signing: { secret: `${inside}${randomBytes(16).toString('hex')}` } };
    expect(scriptOf('mtls/forged-headers', likely)).toContain('X-SSL-Client-Cert');
    const digest = new X509Certificate(partner.tls?.clientCert ?? '').fingerprint256.replaceAll(':', '').slice(0, 20);
    const alike = { ...partner, signing: { secret: `${digest}-${randomUUID()}` } };
    expect(scriptOf('mtls/forged-headers', alike)).toContain('X-SSL-Client-Cert');
  });

  it.each([
    'mtls/tls-1-3-self-signed',
    'mtls/tls-1-2-expired',
    'mtls/tls-1-3-resumed-none',
    'tls/plain-http-refused',
    'tls/no-server-name',
  ])('does not exist where curl cannot connect like that: %s', (id) => expect(scriptOf(id)).toBeNull());
});
