/**
 * Old versions, weak ciphers and unusual connections: only the scenario concerned fails, and a missing answer is not a
 * pass.
 */
import http2 from 'node:http2';
import https from 'node:https';
import { connect, createServer, type Server } from 'node:net';
import { type ServerFixtureName, serverFixture } from '../../../certs/index.ts';
import type { ParsedHello } from '../../endpoints/client-hello.ts';
import { listen } from '../../endpoints/listen.ts';
import { grants, grantsSuite, type ScriptedReply, startRightTlsThatAlso } from '../../endpoints/scripted-tls.ts';
import type { Cell, OpenServer } from './cell.ts';
import { ALL_TLS, all, type Expected, HANDSHAKES, NEED_DELIVERY } from './expected.ts';
import type { Upstreams } from './matrix.ts';
import type { Nginx } from './nginx.ts';
import { openNode, openServer, openSServer, receiving } from './servers.ts';

type Row = Pick<Cell, 'row' | 'server' | 'expected' | 'open' | 'limits' | 'program'>;

const OLD = ['tls/tls-1-0-refused', 'tls/tls-1-1-refused'];
const ALPN = ['tls/tls-1-2-http-1-1', 'tls/tls-1-3-http-1-1'];
/** The limits of cells that wait for silence. */
const SHORT_TIMEOUT = { timeoutMs: 3000 } as const;

async function material(name: ServerFixtureName = 'p256') {
  const { cert, key, ca } = await serverFixture(name);
  return { served: { cert, key }, access: { tls: { ca } } };
}

function onNode(row: string, options: https.ServerOptions, expected: Expected): Row {
  const open = async () => {
    const { served, access } = await material();
    return openNode({ ...served, ...options }, access);
  };
  return { row, server: 'Node https', expected, open };
}

const NODE: readonly Row[] = [
  onNode('TLS 1.0 and 1.1 too', { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }, all('fail', OLD)),
  onNode('TLS 1.1 too', { minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, { 'tls/tls-1-1-refused': 'fail' }),
  onNode('TLS 1.0 and 1.1 configured, but not usable', { minVersion: 'TLSv1' }, {}),
  onNode(
    'only TLS 1.0 and 1.1',
    { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    {
      ...all('fail', OLD),
      ...all('warn', ALPN),
      ...all('recorded', ['tls/tls-1-2-spoken', 'tls/tls-1-3-spoken']),
      ...all('inconclusive', NEED_DELIVERY),
    },
  ),
  onNode('suites without encryption', { ciphers: 'ALL:!aNULL:eNULL:@SECLEVEL=0' }, { 'tls/null-refused': 'warn' }),
  onNode('suites without a certificate', { ciphers: 'ALL:@SECLEVEL=0' }, { 'tls/anonymous-refused': 'warn' }),
];

function onSServer(row: string, options: readonly string[], expected: Expected): Row {
  return {
    row,
    server: 's_server',
    program: 'openssl',
    expected: { ...all('inconclusive', NEED_DELIVERY), ...expected },
    open: () => openSServer(...options),
  };
}

const S_SERVER: readonly Row[] = [
  onSServer('default settings', [], {}),
  onSServer('TLS 1.0 and 1.1 too', ['-cipher', 'DEFAULT:@SECLEVEL=0', '-min_protocol', 'TLSv1'], all('fail', OLD)),
  onSServer('suites without encryption', ['-cipher', 'ALL:!aNULL:eNULL:@SECLEVEL=0', '-min_protocol', 'TLSv1.2'], {
    'tls/null-refused': 'warn',
  }),
  onSServer(
    'TLS 1.0 and 1.1, and every suite with encryption',
    ['-cipher', 'ALL:@SECLEVEL=0', '-min_protocol', 'TLSv1'],
    {
      ...all('fail', OLD),
      'tls/anonymous-refused': 'warn',
    },
  ),
];

const SSL_LINES: readonly (readonly [string, string, Expected])[] = [
  [
    'TLS 1.0 and 1.1 too',
    'ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; ssl_ciphers DEFAULT@SECLEVEL=0;',
    all('fail', OLD),
  ],
  ['TLS 1.0 and 1.1 configured, but not usable', 'ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;', {}],
  [
    'suites without encryption or certificate',
    'ssl_protocols TLSv1.2; ssl_ciphers ALL:eNULL:@SECLEVEL=0;',
    {
      ...all('warn', ['tls/null-refused', 'tls/anonymous-refused']),
      'tls/tls-1-3-spoken': 'recorded',
      'tls/tls-1-3-http-1-1': 'not-applicable',
    },
  ],
];

function onNginx(nginx: Nginx, { plain }: Upstreams): Row[] {
  return SSL_LINES.map(([row, lines, expected]) => {
    const port = nginx.add(async () => {
      const [{ served }, behind] = await Promise.all([material(), plain()]);
      return { ...served, lines: `${lines} location / { proxy_pass http://127.0.0.1:${behind.port}; }` };
    });
    const open = async () => {
      const { access } = await material();
      return { url: `https://localhost:${await port()}/hooks`, tls: access.tls, close: async () => {} };
    };
    return { row, server: 'nginx', program: 'nginx', expected, open };
  });
}

/** Creates a cell for a correct server that also answers hellos that no correct sender sends. */
function scripted(
  row: string,
  also: (hello: ParsedHello) => ScriptedReply | null,
  expected: Expected,
  limits: Cell['limits'] = {},
): Row {
  const open = async (): Promise<OpenServer> => {
    const { served, access } = await material();
    const right = await openNode(served, access);
    const front = await startRightTlsThatAlso(Number(new URL(right.url).port), also);
    const close = async () => void (await Promise.all([front.close(), right.close()]));
    return { url: `https://localhost:${front.port}/hooks`, tls: right.tls, close };
  };
  return { row, server: 'scripted', expected, open, limits };
}

const NUMBERS = { SSLv3: 0x0300, TLSv1: 0x0301, 'TLSv1.1': 0x0302 } as const;

function oldVersion(version: keyof typeof NUMBERS) {
  return (hello: ParsedHello) =>
    hello.version === NUMBERS[version] ? grants({ version, suite: hello.suites[0] ?? 0 }) : null;
}

/** Returns a function that accepts these suites from a TLS 1.2 client. */
function suites(...ids: readonly number[]) {
  const grant = grantsSuite(ids, { version: 'TLSv1.2' });
  return (hello: ParsedHello) => (hello.version === 0x0303 ? grant(hello) : null);
}

const isOld = ({ version }: ParsedHello) => version < 0x0303;

const SCRIPTED: readonly Row[] = [
  scripted('SSL 3.0', oldVersion('SSLv3'), { 'tls/ssl-3-0-refused': 'fail' }),
  scripted('TLS 1.0', oldVersion('TLSv1'), { 'tls/tls-1-0-refused': 'fail' }),
  scripted('TLS 1.1', oldVersion('TLSv1.1'), { 'tls/tls-1-1-refused': 'fail' }),
  scripted('RC4', suites(0x0005), { 'tls/rc4-refused': 'warn' }),
  scripted('triple DES', suites(0x000a, 0xc012), { 'tls/3des-refused': 'warn' }),
  scripted('no encryption', suites(0x003b), { 'tls/null-refused': 'warn' }),
  scripted('keys of 40 bits', suites(0x0003, 0x0008), { 'tls/export-refused': 'warn' }),
  scripted('no certificate', suites(0x0034, 0xc018), { 'tls/anonymous-refused': 'warn' }),
  scripted('no forward secrecy', suites(0x009c, 0x002f), { 'tls/forward-secrecy': 'recorded' }),
  scripted(
    'compression',
    ({ compressions }) =>
      compressions.includes(1) ? grants({ version: 'TLSv1.2', suite: 0xc02b, compression: 1 }) : null,
    { 'tls/compression-declined': 'warn' },
  ),
  scripted('a reset for old versions', (hello) => (isOld(hello) ? 'reset' : null), {}),
  scripted(
    'silence for old versions',
    (hello) => (isOld(hello) ? 'silence' : null),
    all('inconclusive', ['tls/ssl-3-0-refused', ...OLD]),
    SHORT_TIMEOUT,
  ),
];

function open(server: Server, url = 'localhost') {
  return async (): Promise<OpenServer> => {
    const { access } = await material();
    return { ...(await openServer(server, access)), ...(url === 'localhost' ? {} : { url }) };
  };
}

/** Endpoints whose answers cannot be judged. */
const NO_ANSWER: readonly Row[] = [
  {
    row: 'nothing is listening',
    server: 'none',
    expected: all('inconclusive', ALL_TLS),
    async open() {
      const { port, close } = await listen(createServer());
      await close();
      return { url: `https://localhost:${port}/hooks`, tls: {}, close: async () => {} };
    },
  },
  {
    row: 'the name does not resolve',
    server: 'none',
    expected: all('inconclusive', ALL_TLS),
    open: async () => ({ url: 'https://nowhere.invalid/hooks', tls: {}, close: async () => {} }),
  },
  {
    row: 'connections are closed at once',
    server: 'scripted',
    expected: all('inconclusive', ALL_TLS),
    open: async () => open(createServer((socket) => socket.end()))(),
  },
  {
    row: 'connections are accepted, but not answered',
    server: 'scripted',
    // This cell takes twelve seconds.
    expected: all('inconclusive', ALL_TLS),
    limits: SHORT_TIMEOUT,
    open: async () => open(createServer((socket) => void socket.resume()))(),
  },
  {
    row: 'plain HTTP instead of TLS',
    server: 'scripted',
    expected: all('inconclusive', ALL_TLS),
    open: async () =>
      open(createServer((socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))))(),
  },
  {
    row: 'stops at the first unusual hello',
    server: 'scripted',
    // The run has already seen the certificates of the endpoint.
    expected: all('inconclusive', [...HANDSHAKES, ...NEED_DELIVERY]),
    async open() {
      const { served, access } = await material();
      const right = await openNode(served, access);
      const front: { close: () => void } = { close: () => {} };
      const started = await startRightTlsThatAlso(Number(new URL(right.url).port), () => {
        front.close();
        return 'close';
      });
      let closed: Promise<unknown> | undefined;
      front.close = () => {
        closed ??= started.close();
      };
      const close = async () => {
        front.close();
        await Promise.all([closed, right.close()]);
      };
      return { url: `https://localhost:${started.port}/hooks`, tls: right.tls, close };
    },
  },
];

/** Connections that a sender opens, or must not be able to open. */
const CONNECTIONS: readonly Row[] = [
  {
    row: 'only HTTP/2',
    server: 'Node http2',
    expected: { ...all('inconclusive', NEED_DELIVERY), ...all('warn', ALPN) },
    async open() {
      const { served } = await material();
      return open(http2.createSecureServer({ ...served, allowHTTP1: false }))();
    },
  },
  {
    row: 'HTTP/1.1 in ALPN is refused',
    server: 'Node https',
    // The sender offers this protocol.
    expected: { ...all('inconclusive', NEED_DELIVERY), ...all('warn', ALPN) },
    async open() {
      const { served, access } = await material();
      return openNode({ ...served, ALPNProtocols: ['h2'] }, access);
    },
  },
  {
    row: 'closes connections without ALPN',
    server: 'Node https',
    expected: { 'tls/no-protocol-offer': 'warn' },
    async open() {
      const { served, access } = await material();
      const server = https.createServer({ ...served, ALPNProtocols: ['http/1.1'] }, receiving());
      server.on('secureConnection', (socket) => {
        if (socket.alpnProtocol === false) socket.destroy();
      });
      return openServer(server, access);
    },
  },
  {
    row: 'plain HTTP on the same port',
    server: 'Node https',
    expected: { 'tls/plain-http-refused': 'fail' },
    async open() {
      const { served, access } = await material();
      const secure = https.createServer(served, receiving());
      const plain = (await import('node:http')).createServer((request, response) => {
        request.resume().on('end', () => response.end('{}'));
      });
      const [behindTls, behindPlain] = await Promise.all([openServer(secure, access), openServer(plain, access)]);
      const front = await open(
        createServer((socket) => {
          socket.once('data', (first) => {
            socket.pause();
            const { port } = new URL(first[0] === 22 ? behindTls.url : behindPlain.url);
            const peer = connect({ port: Number(port), host: '127.0.0.1' }, () => {
              peer.write(first);
              socket.pipe(peer).pipe(socket);
            });
            peer.on('error', () => socket.destroy());
            socket.on('close', () => peer.destroy());
          });
        }),
      )();
      const close = async () => void (await Promise.all([front, behindTls, behindPlain].map((each) => each.close())));
      return { ...front, close };
    },
  },
  {
    row: 'requires a client certificate that the partner does not have',
    server: 'Node https',
    expected: all('inconclusive', NEED_DELIVERY),
    async open() {
      const { served, access } = await material();
      return openNode({ ...served, ca: access.tls.ca, requestCert: true, rejectUnauthorized: true }, access);
    },
  },
];

export function protocolCells(nginx: Nginx, upstreams: Upstreams): Cell[] {
  const rows = [...NODE, ...S_SERVER, ...onNginx(nginx, upstreams), ...SCRIPTED, ...NO_ANSWER, ...CONNECTIONS];
  return rows.map((row) => ({ ...row, tlsVersions: 'both', suites: ['tls'] }));
}
