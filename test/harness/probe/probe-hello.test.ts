import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type https from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeCertificate } from '../../../certs/index.ts';
import { suiteName } from '../../../harness/probe/client-hello.ts';
import { matchHello, type ProbeOffer, probeHello } from '../../../harness/probe/index.ts';
import { lacks } from '../../setup/programs.ts';
import {
  type Authority,
  authority,
  bundle,
  closedPort,
  helloIn,
  httpsPort,
  match,
  OFFERS,
  plainPort,
  probe,
  rawPort,
} from './servers.ts';

let test: Authority;
let rsa: { cert: string; key: string };

beforeAll(async () => {
  test = await authority();
  rsa = await makeCertificate({ subject: 'CN=localhost', hosts: ['localhost'], key: 'rsa2048' });
});

const served = () => ({ cert: bundle(test.leaf, test.intermediate), key: test.leaf.key });

/** Returns the matches of the five versions, starting with the lowest. */
async function versions(port: number): Promise<string> {
  const found = [];
  for (const offer of Object.values(OFFERS)) found.push((await match(port, offer)) ?? 'null');
  return found.join(' ');
}

describe('probeHello against a Node server', () => {
  const OLD_ALLOWED = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  it.each<[string, https.ServerOptions, string]>([
    ['as it comes', {}, 'alert alert alert granted granted'],
    ['TLS 1.3 only', { minVersion: 'TLSv1.3' }, 'alert alert alert alert granted'],
    ['TLS 1.2 only', { maxVersion: 'TLSv1.2' }, 'alert alert alert granted alert'],
    ['TLS 1.0 listed and not usable', { minVersion: 'TLSv1' }, 'alert alert alert granted granted'],
    ['TLS 1.0 really accepted', OLD_ALLOWED, 'alert granted granted granted granted'],
    ['TLS 1.1 really accepted', { ...OLD_ALLOWED, minVersion: 'TLSv1.1' }, 'alert alert granted granted granted'],
    ['TLS 1.0 alone', { ...OLD_ALLOWED, maxVersion: 'TLSv1' }, 'alert granted declined alert alert'],
  ])('detects %s', async (_what, options, expected) => {
    expect(await versions(await httpsPort({ ...served(), ...options }))).toBe(expected);
    expect(await versions(await httpsPort({ ...rsa, ...options }))).toBe(expected);
  });

  it('reports what was negotiated, and the alert of a rejection', async () => {
    const port = await httpsPort({ ...served(), ALPNProtocols: ['http/1.1'] });
    expect(await probe(port, OFFERS.tls10)).toMatchObject({ kind: 'alert', alert: 'protocol_version', level: 'fatal' });
    const unusable = await httpsPort({ ...served(), minVersion: 'TLSv1' });
    // OpenSSL 3.0 answers internal_error, 3.5 protocol_version.
    const alert = expect.stringMatching(/^(?:internal_error|protocol_version)$/);
    expect(await probe(unusable, OFFERS.tls10)).toMatchObject({ kind: 'alert', alert });
    const granted = helloIn(await probe(port, { ...OFFERS.tls12, alpn: ['h2', 'http/1.1'] }));
    expect(granted).toMatchObject({
      version: 'TLSv1.2',
      suite: { name: 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256' },
      suiteOffered: true,
      compressed: false,
      stapled: false,
      secureRenegotiation: true,
      certificateRequest: null,
      complete: true,
      alpn: 'http/1.1',
    });
    expect(granted.certificates.map((der) => Buffer.from(der))).toEqual([
      Buffer.from(test.leaf.der),
      Buffer.from(test.intermediate.der),
    ]);
    expect(granted.bytesReceived).toBeGreaterThan(1_000);
    expect(granted.ms).toBeGreaterThan(0);
    expect(helloIn(await probe(port, OFFERS.tls13)).certificates).toEqual([]);
  });

  it('detects the weak suites that OpenSSL still supports', async () => {
    const weak = { ciphers: 'ALL:eNULL:aNULL:@SECLEVEL=0', maxVersion: 'TLSv1.2' } as const;
    const [bad, right] = [await httpsPort({ ...served(), ...weak }), await httpsPort(served())];
    for (const group of ['null', 'anonymous'] as const) {
      const offer: ProbeOffer = { version: 'TLSv1.2', suites: [group] };
      expect([group, await match(bad, offer), await match(right, offer)]).toEqual([group, 'granted', 'alert']);
    }
    const cbc: ProbeOffer = { version: 'TLSv1.2', suites: ['cbc'] };
    expect([
      await match(right, cbc),
      await match(await httpsPort({ ...served(), minVersion: 'TLSv1.3' }), cbc),
    ]).toEqual(['granted', 'alert']);
  });

  it('reports that compression is declined', async () => {
    expect(await match(await httpsPort(served()), { ...OFFERS.tls12, compression: true })).toBe('declined');
  });

  it('reports a certificate request and its CAs', async () => {
    const port = await httpsPort({ ...served(), requestCert: true, ca: bundle(test.root, test.intermediate) });
    const { certificateRequest } = helloIn(await probe(port, OFFERS.tls12));
    expect(certificateRequest?.authorities).toHaveLength(2);
  });
});

describe.skipIf(lacks('openssl'))('the s_server of OpenSSL', () => {
  async function sServer(...options: string[]): Promise<number> {
    const folder = mkdtempSync(join(tmpdir(), 'hookproof-s-server-'));
    writeFileSync(join(folder, 'cert.pem'), test.leaf.cert);
    writeFileSync(join(folder, 'key.pem'), test.leaf.key, { mode: 0o600 });
    const args = ['s_server', '-accept', '127.0.0.1:0', '-cert', 'cert.pem', '-key', 'key.pem', ...options];
    const child = spawn('openssl', args, { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
    onTestFinished(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    });
    let output = '';
    for await (const piece of child.stdout) {
      output += String(piece);
      const port = /ACCEPT 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (port !== undefined) return Number(port);
    }
    throw new Error(`s_server did not start: ${output}`);
  }

  it.each([
    ['as it comes', [], 'alert alert alert granted granted'],
    ['with TLS 1.0', ['-cipher', 'ALL:@SECLEVEL=0', '-min_protocol', 'TLSv1'], 'alert granted granted granted granted'],
    ['with TLS 1.3 alone', ['-tls1_3'], 'alert alert alert alert granted'],
  ])('%s', async (_what, options, expected) => {
    expect(await versions(await sServer(...options))).toBe(expected);
  });

  it('uses the same suite names as our table', () => {
    const args = ['ciphers', '-V', '-stdname', 'ALL:COMPLEMENTOFALL:@SECLEVEL=0'];
    const list = execFileSync('openssl', args, { encoding: 'utf8' });
    const named = [...list.matchAll(/0x(..),0x(..) - (\S+)/g)].map(([, high, low, name]) => ({
      id: Number.parseInt(`${high}${low}`, 16),
      name,
    }));
    const ours = named.filter(({ id }) => !suiteName(id).startsWith('suite '));
    expect(ours.length).toBeGreaterThan(30);
    expect(ours.map(({ id }) => ({ id, name: suiteName(id) }))).toEqual(ours);
  });
});

describe('a server without a TLS answer', () => {
  const outcomes = (port: number, timeoutMs?: number) => probe(port, OFFERS.tls10, timeoutMs);
  const matched = async (port: number) => matchHello(await outcomes(port), OFFERS.tls10);

  it('that speaks plain HTTP is not-tls', async () => {
    const port = await plainPort(http.createServer());
    const outcome = await outcomes(port);
    if (outcome.kind !== 'not-tls') throw new Error(outcome.kind);
    expect(Buffer.from(outcome.received).toString()).toMatch(/^HTTP\/1\.1 400/);
    expect(outcome.received.length).toBeLessThanOrEqual(40);
    expect(matchHello(outcome, OFFERS.tls10)).toBeNull();
  });

  it('that sends data first is not-tls', async () => {
    const port = await rawPort((socket) => socket.write('220 mail.example ESMTP\r\n'));
    expect(await matched(port)).toBeNull();
  });

  it('that closes or resets is reported as such', async () => {
    const closing = await rawPort((socket) => socket.once('data', () => socket.end()));
    expect(await outcomes(closing)).toMatchObject({ kind: 'closed', bytesReceived: 0 });
    expect(await matched(closing)).toBe('closed');
    const resetting = await rawPort((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await outcomes(resetting)).toMatchObject({ kind: 'reset', bytesReceived: 0 });
    expect(await matched(resetting)).toBe('closed');
  });

  it('that stays silent is a timeout', async () => {
    const port = await rawPort((socket) => socket.resume());
    const outcome = await outcomes(port, 80);
    expect(outcome).toMatchObject({ kind: 'timeout', bytesReceived: 0 });
    expect(outcome.ms).toBeGreaterThan(70);
    expect(matchHello(outcome, OFFERS.tls10)).toBe('none');
  });
});

const isLinux = process.platform === 'linux';
if (!isLinux) process.stderr.write('skipped: a full queue of connections can be had on Linux alone\n');

describe('a probe that could not be sent is a connect-error', () => {
  const send = (host: string, port: number, signal?: AbortSignal) =>
    probeHello({ host, port, serverName: null }, OFFERS.tls10, { timeoutMs: 2_000, signal });

  it.each<[string, string, () => Promise<ReturnType<typeof send>> | ReturnType<typeof send>]>([
    ['nothing is listening', 'refused', async () => send('127.0.0.1', await closedPort())],
    ['the name does not resolve', 'dns', () => send('nowhere.invalid', 443)],
    ['the port is none', 'local', () => send('127.0.0.1', 70_000)],
    [
      'it was broken off before',
      'local',
      async () => send('127.0.0.1', await httpsPort(served()), AbortSignal.abort()),
    ],
  ])('%s', async (_what, kind, run) => {
    const outcome = await run();
    expect(outcome).toMatchObject({ kind: 'connect-error', error: { kind }, bytesReceived: 0 });
    expect(matchHello(outcome, OFFERS.tls10)).toBeNull();
  });

  // A stopped process accepts nothing, and its queue of one or two connections is full, so another connection waits
  // forever.
  it.skipIf(!isLinux)('no connection in time', async () => {
    const script =
      "const s=net.createServer().listen({port:0,host:'127.0.0.1',backlog:1},()=>console.log(s.address().port))";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(child.stdout, 'data');
    const port = Number(line);
    child.kill('SIGSTOP');
    const queue = Array.from({ length: 6 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    onTestFinished(async () => {
      for (const socket of queue) socket.destroy();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    });
    await Promise.all(queue.slice(0, 2).map((socket) => once(socket, 'connect')));
    const outcome = await probe(port, OFFERS.tls10, 200);
    expect(outcome).toMatchObject({ kind: 'connect-error', error: { kind: 'unreachable', phase: 'connect' } });
    expect(matchHello(outcome, OFFERS.tls10)).toBeNull();
  });

  it('cancelled while it waits', async () => {
    const stop = new AbortController();
    const port = await rawPort((socket) => socket.once('data', () => stop.abort()));
    const outcome = await send('127.0.0.1', port, stop.signal);
    expect(outcome).toMatchObject({ kind: 'connect-error', error: { kind: 'local' } });
    expect(matchHello(outcome, OFFERS.tls10)).toBeNull();
  });
});

describe('the time limit of a hello', () => {
  it('does not expire while this process is paused', async () => {
    const port = await httpsPort(served());
    const endpoint = { host: '127.0.0.1', port, serverName: 'localhost' };
    const outcome = probeHello(endpoint, OFFERS.tls12, { timeoutMs: 1000 });
    // Blocks this process for longer than the time limit.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    expect((await outcome).kind).toBe('server-hello');
  });

  it('expires if the endpoint stays silent', async () => {
    const port = await rawPort(() => {});
    const started = performance.now();
    const endpoint = { host: '127.0.0.1', port, serverName: null };
    expect((await probeHello(endpoint, OFFERS.tls12, { timeoutMs: 200 })).kind).toBe('timeout');
    expect(performance.now() - started).toBeGreaterThan(190);
  });
});
