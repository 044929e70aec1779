/** Endpoints that cannot be reached, use another protocol, or answer in an unusual way. */
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { addressScope } from '../../../harness/doctor/connect.ts';
import { doctorDocument } from '../../../harness/doctor/doctor-document.ts';
import { examineWith, factsOf, found, type Inputs, problems, sectionOf } from './examining.ts';
import { closedPort, plainServer, rawServer, validServer } from './servers.ts';

const silent = { flags: { timeout: '1s' } };

/** Examines a port of the loopback interface. */
const examineOver =
  (scheme: 'http' | 'https') =>
  async (port: number | Promise<number>, inputs: Inputs = {}) =>
    examineWith(`${scheme}://127.0.0.1:${await port}/`, inputs);
const examineHttp = examineOver('http');
const examineHttps = examineOver('https');

describe('the connection', () => {
  it('fails for a name that does not resolve', async () => {
    const document = await examineWith('https://partner.invalid/hooks');
    expect(problems(document)).toHaveLength(1);
    // Without a name server, the missing answer is the problem.
    expect(['problem name-does-not-resolve', 'problem name-server-silent']).toContain(problems(document, 'dns')[0]);
    expect(document).toMatchObject({ reached: false, url: 'https://partner.invalid/hooks' });
    const skipped = document.sections.filter(({ state }) => state === 'skipped').map(({ id }) => id);
    expect(skipped).toEqual(['connection', 'tls', 'http', 'clock', 'delivery', 'secret', 'api-key']);
  });

  it('fails when nothing is listening', async () => {
    const document = await examineHttps(closedPort(), { deliver: true });
    expect(problems(document)).toEqual(['problem nothing-listens']);
    expect(document.reached).toBe(false);
    expect(factsOf(document, 'connection').addresses).toMatchObject([{ outcome: 'refused', code: 'ECONNREFUSED' }]);
    expect(sectionOf(document, 'delivery').reason).toBe('no connection');
  });

  it('succeeds with one of several addresses', async () => {
    const port = await plainServer();
    const document = await examineWith(`http://localhost:${port}/`);
    expect(problems(document)).toEqual([]);
    // Whether localhost also has ::1 depends on the machine.
    const others = factsOf(document, 'connection').addresses.filter(({ outcome }) => outcome !== 'connected');
    expect(found(document, 'connection')).toEqual(others.length > 0 ? ['info some-addresses-fail'] : []);
    expect(document.reached).toBe(true);
  });

  it('does not use a proxy, and says so', async () => {
    const env = { HTTPS_PROXY: 'http://127.0.0.1:1' };
    const document = await examineHttps(closedPort(), { env });
    expect(found(document, 'connection')).toEqual(['problem nothing-listens', 'info proxy-not-used']);
  });
});

describe('the protocol of the port', () => {
  it('is HTTP under an https URL', async () => {
    const document = await examineHttps(plainServer(), { deliver: true });
    expect(problems(document, 'tls')).toEqual(['problem plain-http-on-port']);
    expect(found(document, 'http')).toEqual([]);
    expect(problems(document, 'delivery')).toEqual(['problem tls-handshake-fails']);
  });

  it('is TLS under an http URL', async () => {
    const { port } = await validServer();
    const document = await examineHttp(port);
    expect(problems(document)).toEqual(['problem tls-on-port']);
    expect(sectionOf(document, 'tls').findings[0]?.fix).toContain('https');
  });

  it('is TLS under an http URL, with an answer in plain HTTP as from nginx', async () => {
    const { port } = await validServer();
    // The proxy passes TLS on to the server, and answers plain HTTP itself.
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
    expect(problems(await examineHttp(nginx))).toEqual(['problem tls-on-port']);
  });

  it('is HTTP on a port that never answers a TLS handshake, without waiting for the handshake', async () => {
    const port = await rawServer((socket) => {
      socket.once('data', (data) => {
        if (data[0] !== 0x16) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    const document = await examineHttp(port, { flags: { timeout: '10m' } });
    expect(problems(document)).toEqual([]);
  });

  it('is neither TLS nor HTTP', async () => {
    const port = await rawServer((socket) => socket.write('220 mail.example ESMTP\x1b[2J\r\n'));
    const document = await examineHttps(port, silent);
    expect(problems(document)).toEqual(['problem not-tls']);
    expect(JSON.stringify(document)).not.toContain('\\u001b');
    const plain = await examineHttp(port, silent);
    expect(problems(plain)).toEqual(['problem not-http']);
  });

  it('is HTTP as in the URL, on this machine', async () => {
    const document = await examineHttp(plainServer(), { env: { HOOKPROOF_CA: 'x' } });
    expect(found(document, 'tls')).toEqual(['info plain-http']);
  });
});

describe('an endpoint without an answer', () => {
  it.each(['http', 'https'])('times out over %s', async (scheme) => {
    const port = await rawServer(() => {});
    const document = await examineWith(`${scheme}://127.0.0.1:${port}/`, { ...silent, deliver: true });
    expect(problems(document, 'tls')).toEqual(scheme === 'https' ? ['problem tls-silent'] : []);
    expect(problems(document, 'http')).toEqual(scheme === 'http' ? ['problem http-silent'] : []);
    expect(problems(document, 'delivery')).toEqual(['problem never-answers']);
  });

  it('times out when only HTTP is silent', async () => {
    const { port, ca } = await validServer(() => {});
    const inputs = { ...silent, env: { HOOKPROOF_CA: ca }, deliver: true };
    const document = await examineWith(`https://localhost:${port}/`, inputs);
    expect(problems(document)).toEqual(['problem http-silent', 'problem never-answers']);
  });

  it('closes the connection', async () => {
    const port = await rawServer((socket) => socket.once('data', () => socket.end()));
    expect(problems(await examineHttps(port))).toEqual(['problem closes-in-handshake']);
    expect(problems(await examineHttp(port))).toEqual(['problem closes-without-answer']);
  });
});

describe('the versions of TLS', () => {
  it.each<['TLSv1.2' | 'TLSv1.3', string]>([
    ['TLSv1.2', 'info no-tls13'],
    ['TLSv1.3', 'info no-tls12'],
  ])('have a finding for %s only', async (version, expected) => {
    const { port, ca } = await validServer(undefined, { minVersion: version, maxVersion: version });
    const document = await examineWith(`https://localhost:${port}/`, { env: { HOOKPROOF_CA: ca } });
    expect(found(document, 'tls')).toEqual([expected]);
    const tls = factsOf(document, 'tls');
    expect(tls.negotiated?.version).toBe(version);
    expect(tls.chain?.exact).toBe(true);
  });

  it('have a problem without a version that a sender offers', async () => {
    const ciphers = 'ALL:@SECLEVEL=0';
    const { port } = await validServer(undefined, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers });
    expect(problems(await examineWith(`https://localhost:${port}/`), 'tls')).toContain('problem tls-too-old');
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
  ])('%i %j has the findings %j', async (status, headers, expected) => {
    const port = await plainServer((request, response) => {
      request.resume();
      response.writeHead(status, headers).end();
    });
    const document = await examineHttp(port);
    expect(found(document, 'http')).toEqual(expected);
    expect(factsOf(document, 'http').answer?.status).toBe(status);
  });

  it('is escaped and truncated', async () => {
    const port = await plainServer((_, response) => {
      response.writeHead(200, { Server: `n\u009bginx${'x'.repeat(500)}`, Allow: `\u0085POST` }).end();
    });
    const { server, allow } = factsOf(await examineHttp(port), 'http').answer!;
    expect([server?.slice(0, 10), server?.length, allow]).toEqual(['n\\x9bginxx', 120, '\\x85POST']);
  });

  it('is to a request without credentials', async () => {
    const seen: string[][] = [];
    const port = await plainServer((request, response) => {
      seen.push([request.method!, request.url!, ...request.rawHeaders.filter((_, at) => at % 2 === 0)]);
      response.end();
    });
    const env = { HOOKPROOF_SECRET: 'x'.repeat(40), HOOKPROOF_API_KEY: 'k'.repeat(40) };
    await examineWith(`http://127.0.0.1:${port}/hooks?tenant=1`, { env, flags: { header: ['X-Tenant: secret'] } });
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
    ['correct', 0, [], /^$/],
    ['20 seconds off', -20_000, [], /^$/],
    ['a minute behind', -65_000, ['advice clock-skew'], /is 6\d seconds ahead of/],
    ['an hour ahead', 3_600_000, ['advice clock-skew'], /is 60 minutes behind/],
    ['two years behind', -2 * 365 * 86_400_000, ['advice clock-skew'], /is 730 days ahead of/],
  ])('of the endpoint is %s', async (_, offsetMs, expected, says) => {
    const document = await examineHttp(dated(offsetMs));
    expect(found(document, 'clock')).toEqual(expected);
    expect(sectionOf(document, 'clock').findings[0]?.title ?? '').toMatch(says);
    const { aheadMs, uncertaintyMs } = factsOf(document, 'clock');
    expect(Math.abs(aheadMs + offsetMs)).toBeLessThanOrEqual(uncertaintyMs + 20);
  });

  it('is corrected by the age of a cached answer', async () => {
    const document = await examineHttp(dated(-3_600_000, { Age: '3600' }));
    expect(found(document, 'clock')).toEqual([]);
  });

  it.each([
    ['no Date header', {}],
    ['an invalid one', { Date: 'yesterday' }],
    ['an impossible time', { Date: 'Sat, 13 Sep 275760 00:00:00 GMT' }],
  ])('is unknown with %s', async (_, headers) => {
    const port = await plainServer((_request, response) => {
      response.sendDate = false;
      response.writeHead(200, headers).end();
    });
    const clock = sectionOf(await examineHttp(port), 'clock');
    expect(clock).toMatchObject({ state: 'skipped', reason: 'the answer has no Date header' });
  });

  it('is less certain after a late answer', async () => {
    const port = await plainServer((_, response) => {
      const date = new Date().toUTCString();
      response.sendDate = false;
      setTimeout(() => response.writeHead(200, { Date: date }).end(), 300);
    });
    const { uncertaintyMs } = factsOf(await examineHttp(port), 'clock');
    expect(uncertaintyMs).toBeGreaterThanOrEqual(640);
  });
});

describe('the document', () => {
  it('matches its schema, also when it was interrupted', async () => {
    const controller = new AbortController();
    const port = await rawServer(() => controller.abort());
    const document = await examineHttps(port, { signal: controller.signal, deliver: true });
    expect(document.interrupted).toBe(true);
    expect(problems(document)).toEqual([]);
    expect(sectionOf(document, 'tls')).toMatchObject({ state: 'skipped', reason: 'interrupted' });
    expect(doctorDocument.parse(document)).toEqual(document);
  });
});

describe('the scope of an address', () => {
  it.each(
    Object.entries({
      public: ['8.8.8.8', '2606:4700::1111', '172.15.255.255', '::ffff:8.8.8.8'],
      private: ['172.16.0.1', '10.1.2.3', '192.168.1.1', '100.64.0.1', 'fd00::1'],
      loopback: ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'],
      'link-local': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
      special: ['0.0.0.0', '::', '192.0.2.7', '2001:db8::7', '224.0.0.1', '255.255.255.255'],
    }),
  )('%s', (scope, addresses) => {
    expect(addresses.map(addressScope)).toEqual(addresses.map(() => scope));
  });
});
