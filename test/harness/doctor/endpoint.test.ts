/** What the doctor says of endpoints that cannot be reached, speak something else, or answer oddly. */
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { doctorDocument } from '../../../harness/doctor/doctor-document.ts';
import { factsOf, found, look, problems, sectionOf } from './examining.ts';
import { closedPort, plainServer, rawServer, rightServer } from './servers.ts';

const SILENT_MS = 1_000;
const silent = { flags: { timeout: `${SILENT_MS}ms` } };

describe('an endpoint that is not reached', () => {
  it('has a name that does not resolve', async () => {
    const document = await look('https://partner.invalid/hooks');
    expect(problems(document)).toHaveLength(1);
    // Without any name server that is what is told.
    expect(['problem name-does-not-resolve', 'problem name-server-silent']).toContain(problems(document, 'dns')[0]);
    expect(document).toMatchObject({ reached: false, url: 'https://partner.invalid/hooks' });
    const skipped = document.sections.filter(({ state }) => state === 'skipped').map(({ id }) => id);
    expect(skipped).toEqual(['connection', 'tls', 'http', 'clock', 'delivery', 'secret', 'api-key']);
  });

  it('listens to nothing', async () => {
    const document = await look(`https://127.0.0.1:${await closedPort()}/`, { deliver: true });
    expect(problems(document)).toEqual(['problem nothing-listens']);
    expect(document.reached).toBe(false);
    expect(factsOf(document, 'connection').addresses).toMatchObject([{ outcome: 'refused', code: 'ECONNREFUSED' }]);
    expect(sectionOf(document, 'delivery').reason).toBe('no connection');
  });

  it('is reached by one of its addresses alone', async () => {
    const port = await plainServer();
    const document = await look(`http://localhost:${port}/`);
    expect(problems(document)).toEqual([]);
    // Whether localhost has ::1 too is the machine's own.
    const others = factsOf(document, 'connection').addresses.filter(({ outcome }) => outcome !== 'connected');
    expect(found(document, 'connection')).toEqual(others.length > 0 ? ['info some-addresses-fail'] : []);
    expect(document.reached).toBe(true);
  });

  it('is behind a proxy that is not used', async () => {
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    const document = await look(`https://127.0.0.1:${await closedPort()}/`, { env });
    expect(found(document, 'connection')).toEqual(['problem nothing-listens', 'info proxy-not-used']);
  });
});

describe('another protocol than the URL says', () => {
  it('is plain HTTP under https', async () => {
    const document = await look(`https://127.0.0.1:${await plainServer()}/`, { deliver: true });
    expect(problems(document, 'tls')).toEqual(['problem plain-http-on-port']);
    expect(found(document, 'http')).toEqual([]);
    expect(problems(document, 'delivery')).toEqual(['problem tls-handshake-fails']);
  });

  it('is TLS under http', async () => {
    const { port } = await rightServer();
    const document = await look(`http://127.0.0.1:${port}/`);
    expect(problems(document)).toEqual(['problem tls-on-port']);
    expect(sectionOf(document, 'tls').findings[0]?.fix).toContain('https');
  });

  it('is TLS under http, and says so in plain HTTP as nginx does', async () => {
    const { port } = await rightServer();
    // The two kinds of bytes go to different servers, as they would within one.
    const nginx = await rawServer((socket) => {
      socket.once('data', (data) => {
        if (data[0] !== 0x16) {
          socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
          return;
        }
        const behind = connect(port, '127.0.0.1');
        behind.on('error', () => socket.destroy());
        behind.write(data);
        socket.pipe(behind).pipe(socket);
      });
    });
    expect(problems(await look(`http://127.0.0.1:${nginx}/`))).toEqual(['problem tls-on-port']);
  });

  it('is plain HTTP that never answers a TLS handshake: it is not waited for', async () => {
    const port = await rawServer((socket) => {
      socket.once('data', (data) => {
        if (data[0] !== 0x16) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    const started = performance.now();
    expect(problems(await look(`http://127.0.0.1:${port}/`))).toEqual([]);
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it('greets like a mail server', async () => {
    const port = await rawServer((socket) => socket.write('220 mail.example ESMTP\x1b[2J\r\n'));
    const document = await look(`https://127.0.0.1:${port}/`, silent);
    expect(problems(document)).toEqual(['problem not-tls']);
    expect(JSON.stringify(document)).not.toContain('\\u001b');
    const plain = await look(`http://127.0.0.1:${port}/`, silent);
    expect(problems(plain)).toEqual(['problem not-http']);
  });

  it('is plain HTTP as the URL says, on this machine', async () => {
    const document = await look(`http://127.0.0.1:${await plainServer()}/`, { env: { HOOKPROOF_CA: 'x' } });
    expect(found(document, 'tls')).toEqual(['info plain-http']);
  });
});

describe('a silent endpoint', () => {
  it.each(['http', 'https'])('%s: ends after one time limit', async (scheme) => {
    const port = await rawServer(() => {});
    const started = performance.now();
    const document = await look(`${scheme}://127.0.0.1:${port}/`, { ...silent, deliver: true });
    expect(performance.now() - started).toBeLessThan(2 * SILENT_MS + 1_000);
    expect(problems(document, 'tls')).toEqual(scheme === 'https' ? ['problem tls-silent'] : []);
    expect(problems(document, 'http')).toEqual(scheme === 'http' ? ['problem http-silent'] : []);
    expect(problems(document, 'delivery')).toEqual(['problem never-answers']);
  });

  it('ends after one time limit when only HTTP is silent', async () => {
    const { port, ca } = await rightServer(() => {});
    const started = performance.now();
    const asked = { ...silent, env: { HOOKPROOF_CA: ca }, deliver: true };
    const document = await look(`https://localhost:${port}/`, asked);
    expect(performance.now() - started).toBeLessThan(2 * SILENT_MS + 2_000);
    expect(problems(document)).toEqual(['problem http-silent', 'problem never-answers']);
  });

  it('is closed in the handshake', async () => {
    const port = await rawServer((socket) => socket.once('data', () => socket.end()));
    const document = await look(`https://127.0.0.1:${port}/`);
    expect(problems(document)).toEqual(['problem closes-in-handshake']);
  });

  it('is closed after the request', async () => {
    const port = await rawServer((socket) => socket.once('data', () => socket.end()));
    expect(problems(await look(`http://127.0.0.1:${port}/`))).toEqual(['problem closes-without-answer']);
  });
});

describe('versions of TLS', () => {
  it.each<['TLSv1.2' | 'TLSv1.3', string]>([
    ['TLSv1.2', 'info no-tls13'],
    ['TLSv1.3', 'info no-tls12'],
  ])('%s alone', async (version, expected) => {
    const { port, ca } = await rightServer(undefined, { minVersion: version, maxVersion: version });
    const document = await look(`https://localhost:${port}/`, { env: { HOOKPROOF_CA: ca } });
    expect(found(document, 'tls')).toEqual([expected]);
    const tls = factsOf(document, 'tls');
    expect(tls.negotiated?.version).toBe(version);
    expect(tls.chain?.exact).toBe(true);
  });

  it('none that a sender offers', async () => {
    const ciphers = 'ALL:@SECLEVEL=0';
    const { port } = await rightServer(undefined, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers });
    expect(problems(await look(`https://localhost:${port}/`), 'tls')).toContain('problem tls-too-old');
  });
});

describe('an answer', () => {
  it.each<[number, Record<string, string>, string[]]>([
    [204, { Allow: 'POST, OPTIONS' }, []],
    [405, { Allow: 'POST' }, []],
    [405, {}, []],
    [200, { Allow: 'GET, HEAD' }, ['advice post-not-listed']],
    [301, { Location: 'https://elsewhere.example/' }, ['advice redirects']],
    [404, {}, ['info path-unknown']],
    [429, {}, ['advice rate-limited']],
    [500, {}, ['advice http-fails']],
    [501, {}, []],
    [502, {}, ['problem nothing-behind-proxy']],
  ])('%i %j', async (status, headers, expected) => {
    const port = await plainServer((request, response) => {
      request.resume();
      response.writeHead(status, headers).end();
    });
    const document = await look(`http://127.0.0.1:${port}/`);
    expect(found(document, 'http')).toEqual(expected);
    expect(factsOf(document, 'http').answer?.status).toBe(status);
  });

  it('is made visible, and cut', async () => {
    const port = await plainServer((_, response) => {
      response.writeHead(200, { Server: `n\u009bginx${'x'.repeat(500)}`, Allow: `\u0085POST` }).end();
    });
    const { server, allow } = factsOf(await look(`http://127.0.0.1:${port}/`), 'http').answer!;
    expect([server?.slice(0, 10), server?.length, allow]).toEqual(['n\\x9bginxx', 120, '\\x85POST']);
  });

  it('comes to a request without credentials', async () => {
    const seen: string[][] = [];
    const port = await plainServer((request, response) => {
      seen.push([request.method!, request.url!, ...request.rawHeaders.filter((_, at) => at % 2 === 0)]);
      response.end();
    });
    const env = { HOOKPROOF_SECRET: 'x'.repeat(40), HOOKPROOF_API_KEY: 'k'.repeat(40) };
    await look(`http://127.0.0.1:${port}/hooks?tenant=1`, { env, flags: { header: ['X-Tenant: secret'] } });
    expect(seen).toEqual([['OPTIONS', '/hooks?tenant=1', 'Host', 'User-Agent', 'Accept', 'Connection']]);
  });
});

describe('the clock', () => {
  const dated = (offsetMs: number, headers: Record<string, string> = {}) =>
    plainServer((_, response) => {
      response.sendDate = false;
      response.writeHead(200, { Date: new Date(Date.now() + offsetMs).toUTCString(), ...headers }).end();
    });

  it.each<[string, number, string[], RegExp]>([
    ['right', 0, [], /^$/],
    ['20 seconds off', -20_000, [], /^$/],
    ['a minute behind', -65_000, ['advice clock-skew'], /is 6\d seconds ahead of/],
    ['an hour ahead', 3_600_000, ['advice clock-skew'], /is 60 minutes behind/],
    ['two years behind', -2 * 365 * 86_400_000, ['advice clock-skew'], /is 730 days ahead of/],
  ])('of the endpoint is %s', async (_, offsetMs, expected, says) => {
    const document = await look(`http://127.0.0.1:${await dated(offsetMs)}/`);
    expect(found(document, 'clock')).toEqual(expected);
    expect(sectionOf(document, 'clock').findings[0]?.title ?? '').toMatch(says);
    const { aheadMs, uncertaintyMs } = factsOf(document, 'clock');
    expect(Math.abs(aheadMs + offsetMs)).toBeLessThanOrEqual(uncertaintyMs + 20);
  });

  it('counts the time that a cache kept the answer', async () => {
    const document = await look(`http://127.0.0.1:${await dated(-3_600_000, { Age: '3600' })}/`);
    expect(found(document, 'clock')).toEqual([]);
  });

  it.each([
    ['no Date header', {}],
    ['nonsense', { Date: 'yesterday' }],
    ['a time that no clock has', { Date: 'Sat, 13 Sep 275760 00:00:00 GMT' }],
  ])('says nothing with %s', async (_, headers) => {
    const port = await plainServer((_request, response) => {
      response.sendDate = false;
      response.writeHead(200, headers).end();
    });
    expect(sectionOf(await look(`http://127.0.0.1:${port}/`), 'clock')).toMatchObject({
      state: 'skipped',
      reason: 'the answer has no Date header',
    });
  });

  it('takes an answer that came late into account', async () => {
    const port = await plainServer((_, response) => {
      const date = new Date().toUTCString();
      response.sendDate = false;
      setTimeout(() => response.writeHead(200, { Date: date }).end(), 300);
    });
    const { uncertaintyMs } = factsOf(await look(`http://127.0.0.1:${port}/`), 'clock');
    expect(uncertaintyMs).toBeGreaterThanOrEqual(640);
  });
});

describe('the document', () => {
  it('keeps to its schema, also when it was interrupted', async () => {
    const controller = new AbortController();
    const port = await rawServer(() => controller.abort());
    const document = await look(`https://127.0.0.1:${port}/`, { signal: controller.signal, deliver: true });
    expect(document.interrupted).toBe(true);
    expect(problems(document)).toEqual([]);
    expect(sectionOf(document, 'tls')).toMatchObject({ state: 'skipped', reason: 'interrupted' });
    expect(doctorDocument.parse(document)).toEqual(document);
  });
});
