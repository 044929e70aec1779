/** New certificates while the receiver runs. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../../../certs/index.ts';
import { HookproofError } from '../../../contract/index.ts';
import { type RunningReceiver, type ServerTls, startReceiver } from '../../../receiver/index.ts';
import { buy, headersFor, SECRET } from '../deliveries.ts';
import {
  deliver,
  ended,
  keepingLogger,
  makeCertificates,
  makeServer,
  only,
  openTls,
  VERSIONS,
} from '../tls-clients.ts';

const { serverAuthority, server, authority, stranger, clients } = await makeCertificates();
const signing = { secrets: [SECRET] };
const trust = { ca: serverAuthority.cert };
const next = await makeServer(serverAuthority);
const plain: ServerTls = { cert: server.cert, key: server.key };

/** The certificate that a new connection is shown. */
async function shown(port: number): Promise<string> {
  const { socket, end } = openTls(port, trust);
  await once(socket, 'secureConnect');
  const pem = new X509Certificate(socket.getPeerCertificate().raw).toString();
  await end();
  return pem;
}

function refusal(receiver: RunningReceiver, tls: unknown): string {
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
  it('shows the new certificate to new connections, and leaves open ones alone', async () => {
    const log = keepingLogger();
    const receiver = await startReceiver({ signing, tls: plain, logger: log.logger });
    const kept = openTls(receiver.port, trust);
    expect((await kept.post())?.status).toBe(200);
    receiver.reloadTls({ cert: next.cert, key: next.key });
    await log.next('tls-reloaded');
    expect(await shown(receiver.port)).toBe(new X509Certificate(next.cert).toString());
    expect((await kept.post())?.status).toBe(200);
    await kept.end();
    const old = { ...trust, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    expect((await deliver(receiver.port, old)).status).toBeNull();
    await receiver.close();
  });

  it('refuses what cannot be used, and goes on with the old', async () => {
    const receiver = await startReceiver({ signing, tls: plain });
    const rsa = await makeServer(serverAuthority, { key: 'rsa2048' });
    for (const bad of [
      { cert: next.cert, key: server.key },
      { cert: server.cert, key: rsa.key },
      { cert: rsa.cert, key: server.key },
      { cert: server.cert.slice(0, 200), key: server.key },
      { cert: server.cert, key: '' },
      { cert: '', key: server.key },
      { cert: server.cert },
      { ...plain, ca: authority.cert },
      { ...plain, ca: authority.cert, clientCertificate: 'required' },
    ]) {
      expect(refusal(receiver, bad)).toBe('RECEIVER_TLS');
      expect(await shown(receiver.port)).toBe(new X509Certificate(server.cert).toString());
    }
    expect(refusal(receiver, { cert: rsa.cert, key: rsa.key })).toBe('reloaded');
    expect(await shown(receiver.port)).toBe(new X509Certificate(rsa.cert).toString());
    await receiver.close();
    const http = await startReceiver({ signing });
    expect(refusal(http, plain)).toBe('RECEIVER_TLS');
    await http.close();
  });

  it.each(['required', 'optional'] as const)('cannot turn mutual TLS off or weaken it: %s', async (mode) => {
    const tls: ServerTls = { ...plain, ca: authority.cert, clientCertificate: mode };
    const receiver = await startReceiver({ signing, tls });
    const other = mode === 'required' ? 'optional' : 'required';
    for (const bad of [plain, { ...tls, clientCertificate: other }, { ...tls, ca: '' }, { ...tls, ca: undefined }]) {
      expect(refusal(receiver, bad)).toBe('RECEIVER_TLS');
    }
    expect((await deliver(receiver.port, trust)).status).toBe(mode === 'required' ? null : 401);
    await receiver.close();
  });
});

describe.each(['required', 'optional'] as const)('an authority that is removed: %s', (mode) => {
  const refused = mode === 'required' ? null : 401;

  it.each(VERSIONS)('lets nobody in any more, on a session of before either: %s', async (version) => {
    const tls: ServerTls = { ...plain, ca: authority.cert, clientCertificate: mode };
    const receiver = await startReceiver({ signing, tls });
    const { cert, key } = clients.right;
    const client = { ...trust, ...only(version), cert, key };
    const before = await deliver(receiver.port, client);
    const { session } = before;
    expect(before.status).toBe(200);
    expect(await deliver(receiver.port, { ...client, session })).toMatchObject({ status: 200, resumed: true });

    receiver.reloadTls({ ...tls, ca: stranger.cert });
    for (const given of [client, { ...client, session }, { ...trust, ...only(version), session }]) {
      expect(await deliver(receiver.port, given)).toMatchObject({ status: refused, resumed: false });
    }
    const theirs = clients['unknown authority'];
    const newcomer = { ...trust, ...only(version), cert: theirs.cert, key: theirs.key };
    expect((await deliver(receiver.port, newcomer)).status).toBe(200);
    // Back, and the session of before is good for nothing still.
    receiver.reloadTls(tls);
    expect(await deliver(receiver.port, { ...client, session })).toMatchObject({ status: 200, resumed: false });
    await receiver.close();
  });
});

describe('under load', () => {
  it('drops nothing while certificates are swapped 20 times', async () => {
    const connections = 8;
    const tls = (cert: { cert: string; key: string }, ca = authority.cert): ServerTls => ({
      cert: cert.cert,
      key: cert.key,
      ca,
      clientCertificate: 'required',
    });
    const receiver = await startReceiver({ signing, tls: tls(server) });
    const { cert, key } = clients.right;
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
    // Beside those that are kept, a new connection all the time.
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
        tls(swap % 2 === 0 ? next : server, swap % 3 === 0 ? authority.cert + stranger.cert : authority.cert),
      );
    }
    done = true;
    await Promise.all([...lanes, fresh]);
    agent.destroy();
    expect(statuses.length).toBeGreaterThan(160);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    await receiver.close();
  });
});

describe('a handshake under way', () => {
  it('ends as it began', async () => {
    const receiver = await startReceiver({ signing, tls: plain });
    const client = openTls(receiver.port, trust);
    await once(client.socket, 'connect');
    receiver.reloadTls({ cert: next.cert, key: next.key });
    expect((await client.post())?.status).toBe(200);
    await client.end();
    await ended(client.socket);
    await receiver.close();
  });
});

describe('material that node:tls takes silently', () => {
  it('is refused at the start', async () => {
    const rsa = await makeCertificate({ subject: 'CN=localhost', key: 'rsa2048' });
    for (const tls of [
      { cert: server.cert, key: rsa.key },
      { cert: rsa.cert, key: server.key },
      { cert: server.cert + serverAuthority.cert, key: serverAuthority.key },
      { cert: server.cert, key: undefined },
      { cert: undefined, key: server.key },
    ]) {
      await expect(startReceiver({ signing, tls: tls as ServerTls })).rejects.toMatchObject({ code: 'RECEIVER_TLS' });
    }
  });
});
