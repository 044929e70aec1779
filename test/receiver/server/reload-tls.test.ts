/** New certificates while the receiver runs. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../../../certs/index.ts';
import { HookproofError } from '../../../contract/index.ts';
import { type RunningReceiver, type ServerTls, startReceiver } from '../../../receiver/index.ts';
import { buy, headersFor, SECRET } from '../deliveries.ts';
import { collectLogs } from '../logs.ts';
import { receiverForTest } from '../raw-http.ts';
import { deliver, makeCertificates, makeServer, only, openTls, presenting, VERSIONS } from '../tls-clients.ts';

const { serverCa, server, clientCa, otherCa, clients, trust, material } = await makeCertificates();
const signing = { secrets: [SECRET] };
const next = await makeServer(serverCa);

/** Returns the certificate that a new connection gets, in PEM. */
async function servedBy(port: number): Promise<string> {
  const { socket, end } = openTls(port, trust);
  await once(socket, 'secureConnect');
  const pem = new X509Certificate(socket.getPeerCertificate().raw).toString();
  await end();
  return pem;
}

function reload(receiver: RunningReceiver, tls: unknown): string {
  try {
    receiver.reloadTls(tls as ServerTls);
    return 'reloaded';
  } catch (error) {
    expect(error).toBeInstanceOf(HookproofError);
    expect((error as HookproofError).message).not.toContain('BEGIN');
    return (error as HookproofError).code;
  }
}

describe('reloading', () => {
  it('serves the new certificate on new connections and keeps open ones', async () => {
    const logs = collectLogs();
    const receiver = await receiverForTest({ signing, tls: material, logger: logs.logger });
    const kept = openTls(receiver.port, trust);
    expect((await kept.post())?.status).toBe(200);
    receiver.reloadTls({ cert: next.cert, key: next.key });
    await logs.next('tls-reloaded');
    expect(await servedBy(receiver.port)).toBe(new X509Certificate(next.cert).toString());
    expect((await kept.post())?.status).toBe(200);
    await kept.end();
    const tls11 = { ...trust, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    expect((await deliver(receiver.port, tls11)).status).toBeNull();
  });

  it('rejects unusable material and keeps the old', async () => {
    const receiver = await receiverForTest({ signing, tls: material });
    const rsa = await makeServer(serverCa, { key: 'rsa2048' });
    for (const bad of [
      { cert: next.cert, key: server.key },
      { cert: server.cert, key: rsa.key },
      { cert: rsa.cert, key: server.key },
      { cert: server.cert.slice(0, 200), key: server.key },
      { cert: server.cert, key: '' },
      { cert: '', key: server.key },
      { cert: server.cert },
      { ...material, ca: clientCa.cert },
      { ...material, ca: clientCa.cert, clientCertificate: 'required' },
    ]) {
      expect(reload(receiver, bad)).toBe('RECEIVER_TLS');
      expect(await servedBy(receiver.port)).toBe(new X509Certificate(server.cert).toString());
    }
    expect(reload(receiver, { cert: rsa.cert, key: rsa.key })).toBe('reloaded');
    expect(await servedBy(receiver.port)).toBe(new X509Certificate(rsa.cert).toString());
    const http = await receiverForTest({ signing });
    expect(reload(http, material)).toBe('RECEIVER_TLS');
  });

  it.each(['required', 'optional'] as const)('cannot turn mutual TLS off or change its mode: %s', async (mode) => {
    const tls: ServerTls = { ...material, ca: clientCa.cert, clientCertificate: mode };
    const receiver = await receiverForTest({ signing, tls });
    const other = mode === 'required' ? 'optional' : 'required';
    for (const bad of [material, { ...tls, clientCertificate: other }, { ...tls, ca: '' }, { ...tls, ca: undefined }]) {
      expect(reload(receiver, bad)).toBe('RECEIVER_TLS');
    }
    expect((await deliver(receiver.port, trust)).status).toBe(mode === 'required' ? null : 401);
  });
});

describe.each(['required', 'optional'] as const)('removing a client CA: %s', (mode) => {
  const refused = mode === 'required' ? null : 401;

  it.each(VERSIONS)('rejects its clients, on new and on resumed sessions: %s', async (version) => {
    const tls: ServerTls = { ...material, ca: clientCa.cert, clientCertificate: mode };
    const receiver = await receiverForTest({ signing, tls });
    const client = { ...trust, ...only(version), ...presenting(clients.valid) };
    const { status, session } = await deliver(receiver.port, client);
    expect(status).toBe(200);
    expect(await deliver(receiver.port, { ...client, session })).toMatchObject({ status: 200, resumed: true });

    receiver.reloadTls({ ...tls, ca: otherCa.cert });
    for (const given of [client, { ...client, session }, { ...trust, ...only(version), session }]) {
      expect(await deliver(receiver.port, given)).toMatchObject({ status: refused, resumed: false });
    }
    const ofOtherCa = { ...trust, ...only(version), ...presenting(clients['unknown CA']) };
    expect((await deliver(receiver.port, ofOtherCa)).status).toBe(200);
    // The old session stays invalid when the CA is added again.
    receiver.reloadTls(tls);
    expect(await deliver(receiver.port, { ...client, session })).toMatchObject({ status: 200, resumed: false });
  });
});

describe('under load', () => {
  it('drops no delivery while certificates are replaced 20 times', async () => {
    const connections = 8;
    const tls = (cert: { cert: string; key: string }, ca = clientCa.cert): ServerTls => ({
      cert: cert.cert,
      key: cert.key,
      ca,
      clientCertificate: 'required',
    });
    const receiver = await receiverForTest({ signing, tls: tls(server) });
    const { cert, key } = clients.valid;
    const agent = new Agent({ ...trust, cert, key, keepAlive: true, maxSockets: connections });
    const statuses: (number | string)[] = [];
    let done = false;
    let wake = () => {};

    const post = (using: Agent) =>
      new Promise<number | string>((resolve) => {
        const body = JSON.stringify(buy());
        const headers = { ...headersFor(body), 'Content-Length': Buffer.byteLength(body) };
        const sent = request(receiver.url, { method: 'POST', agent: using, headers }, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
        });
        sent.on('error', (error) => resolve(String(error))).end(body);
      });
    const keepPosting = async () => {
      while (!done) {
        statuses.push(await post(agent));
        wake();
      }
    };
    const lanes = Array.from({ length: connections }, keepPosting);
    // In addition to the kept connections, new ones are opened continuously.
    const fresh = (async () => {
      while (!done) {
        const once = new Agent({ ...trust, cert, key, maxCachedSessions: 0 });
        statuses.push(await post(once));
        once.destroy();
      }
    })();

    for (let swap = 0; swap < 20; swap += 1) {
      const target = statuses.length + connections;
      while (statuses.length < target) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      receiver.reloadTls(
        tls(swap % 2 === 0 ? next : server, swap % 3 === 0 ? clientCa.cert + otherCa.cert : clientCa.cert),
      );
    }
    done = true;
    await Promise.all([...lanes, fresh]);
    agent.destroy();
    expect(statuses.length).toBeGreaterThan(160);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});

describe('a handshake in progress', () => {
  it('is completed with the old certificate', async () => {
    const receiver = await receiverForTest({ signing, tls: material });
    const client = openTls(receiver.port, trust);
    await once(client.socket, 'connect');
    receiver.reloadTls({ cert: next.cert, key: next.key });
    expect((await client.post())?.status).toBe(200);
    await client.end();
  });
});

describe('material that node:tls accepts silently', () => {
  it('is rejected at the start', async () => {
    const rsa = await makeCertificate({ subject: 'CN=localhost', key: 'rsa2048' });
    for (const tls of [
      { cert: server.cert, key: rsa.key },
      { cert: rsa.cert, key: server.key },
      { cert: server.cert + serverCa.cert, key: serverCa.key },
      { cert: server.cert, key: undefined },
      { cert: undefined, key: server.key },
    ]) {
      await expect(startReceiver({ signing, tls: tls as ServerTls })).rejects.toMatchObject({ code: 'RECEIVER_TLS' });
    }
  });
});
