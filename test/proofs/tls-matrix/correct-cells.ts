/** Correct servers of many kinds: a run must report nothing. */ import { constants } from 'node:crypto';
import http2 from 'node:http2';
import type { ServerOptions } from 'node:https';
import https from 'node:https';
import { createSecureContext } from 'node:tls';
import { type ServerFixtureName, serverFixture } from '../../../certs/index.ts';
import { type ClientMaterialName, clientMaterial } from '../../certs/client-material.ts';
import type { Cell, OpenServer } from './cell.ts';
import { correctServer, type Expected, serverAccepting } from './expected.ts';
import { CLIENT_NAME, nginxProtocolsOf, type TlsVersions } from './material.ts';
import type { Upstreams } from './matrix.ts';
import type { Nginx } from './nginx.ts';
import { openNode, openReceiver, openServer, receiving } from './servers.ts';

type Row = Omit<Cell, 'suites' | 'tlsVersions'> & Partial<Pick<Cell, 'suites' | 'tlsVersions'>>;

/** Creates a row for the reference receiver with a certificate. */
function certified(name: ServerFixtureName, tlsVersions: TlsVersions = 'both'): Row {
  const open = async () => {
    const { cert, key, ca } = await serverFixture(name);
    return openReceiver(tlsVersions, { cert, key }, { tls: { ca } });
  };
  return {
    row: name,
    tlsVersions,
    server: 'reference receiver',
    expected: correctServer(tlsVersions),
    // The table of server certificates also has these certificates, on Node's HTTPS server.
    open,
  };
}

const CERTIFIED: readonly Row[] = [
  certified('rsa2048'),
  certified('rsa4096'),
  certified('p256'),
  certified('p384'),
  certified('ed25519'),
  certified('direct'),
  certified('two-intermediates'),
  certified('p256', 'TLS 1.2 only'),
  certified('p256', 'TLS 1.3 only'),
];

async function material() {
  const { cert, key, ca } = await serverFixture('p256');
  return { served: { cert, key }, access: { tls: { ca } } };
}

function onNode(row: string, options: ServerOptions, expected: Expected = {}): Row {
  const open = async () => {
    const { served, access } = await material();
    return openNode({ ...served, ...options }, access);
  };
  return { row, server: 'Node https', expected, open };
}

/** Starts a server with two certificates. Each client gets the one that it can verify. */
async function openTwo(): Promise<OpenServer> {
  const [{ served, access }, rsa] = await Promise.all([material(), serverFixture('rsa2048')]);
  return openNode({ cert: [rsa.cert, served.cert], key: [rsa.key, served.key] }, access);
}

/** Starts a server with several names. Without SNI, it serves another certificate. */
async function openShared(): Promise<OpenServer> {
  const [{ served, access }, other] = await Promise.all([material(), serverFixture('wrong-host')]);
  const right = createSecureContext(served);
  const SNICallback: ServerOptions['SNICallback'] = (_name, done) => done(null, right);
  return openNode({ cert: other.cert, key: other.key, SNICallback }, access);
}

/** Starts a server that closes connections without SNI. */
async function openNamed(): Promise<OpenServer> {
  const { served, access } = await material();
  const server = https.createServer(served, receiving());
  server.on('secureConnection', (socket) => {
    if (socket.servername === false) socket.destroy();
  });
  return openServer(server, access);
}

async function openHttp2(): Promise<OpenServer> {
  const { served, access } = await material();
  const server = http2.createSecureServer({ ...served, allowHTTP1: true });
  server.on('request', receiving() as unknown as Parameters<typeof server.on>[1]);
  return openServer(server, access);
}

const ON_NODE: readonly Row[] = [
  { row: 'HTTP/2 too', server: 'Node http2', expected: {}, open: openHttp2 },
  onNode('without session tickets', { secureOptions: constants.SSL_OP_NO_TICKET }),
  onNode('one suite for each version', { ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305:TLS_CHACHA20_POLY1305_SHA256' }),
  onNode(
    'only CBC suites, over TLS 1.2',
    { ciphers: 'ECDHE-ECDSA-AES128-SHA256', maxVersion: 'TLSv1.2' },
    {
      'tls/tls-1-2-spoken': 'recorded',
      'tls/tls-1-3-spoken': 'recorded',
      'tls/tls-1-3-http-1-1': 'not-applicable',
    },
  ),
  {
    row: 'an RSA and an EC certificate',
    server: 'Node https',
    expected: correctServer('both', 'rsa'),
    open: openTwo,
  },
  onNode('only the curve P-384', { ecdhCurve: 'P-384' }),
  {
    row: 'another certificate without SNI',
    server: 'Node https',
    expected: { 'tls/no-server-name': 'recorded' },
    open: openShared,
  },
  {
    row: 'closes connections without SNI',
    server: 'Node https',
    expected: { 'tls/no-server-name': 'recorded' },
    open: openNamed,
  },
];

/** Valid client certificates of each kind. */
const CLIENTS = {
  right: 'a P-256 certificate',
  rsa: 'an RSA certificate',
  intermediate: 'a certificate from an intermediate CA',
  'no-usages': 'a certificate without usages',
} as const satisfies Partial<Record<ClientMaterialName, string>>;
const CLIENT_NAMES = Object.keys(CLIENTS) as (keyof typeof CLIENTS)[];

/** Creates a row for mutual TLS with Node's HTTPS server. */
function mutual(name: ClientMaterialName, what: string, options: ServerOptions = {}): Row {
  const open = async () => {
    const [{ served, access }, right] = await Promise.all([material(), clientMaterial(name)]);
    const tls = { ...access.tls, clientCert: right.cert, clientKey: right.key };
    const client = { ca: right.authority, requestCert: true, rejectUnauthorized: true };
    return openNode({ ...served, ...client, ...options }, { tls }, receiving());
  };
  return {
    row: `mutual TLS, ${what}`,
    server: 'Node https',
    suites: ['tls', 'mtls'],
    expected: withoutFixtures(),
    open,
  };
}

function mutualReceiver(name: ClientMaterialName, what: string): Row {
  const open = async () => {
    const [{ served, access }, { cert, key, authority }] = await Promise.all([material(), clientMaterial(name)]);
    const tls = { ...access.tls, clientCert: cert, clientKey: key };
    return openReceiver('both', { ...served, ca: authority, clientCertificate: 'required' }, { tls });
  };
  return {
    row: `mutual TLS, ${what}`,
    server: 'reference receiver',
    suites: ['tls', 'mtls'],
    expected: withoutFixtures(),
    open,
  };
}

/** Returns the expected outcomes if the partner has supplied none of the certificates that only its CA can issue. */
const withoutFixtures = (tlsVersions: TlsVersions = 'both') => serverAccepting([], { tlsVersions, fixtures: [] });

const MUTUAL: readonly Row[] = [
  ...CLIENT_NAMES.map((name) => mutual(name, CLIENTS[name])),
  mutual('right', 'without session tickets', { secureOptions: constants.SSL_OP_NO_TICKET }),
  ...CLIENT_NAMES.map((name) => mutualReceiver(name, CLIENTS[name])),
];

const SITES: readonly (readonly [
  row: string,
  lines: string,
  more: { readonly http2?: true; readonly mutual?: ClientMaterialName },
  TlsVersions?,
])[] = [
  ['behind nginx', '', {}],
  ['behind nginx', '', {}, 'TLS 1.2 only'],
  ['behind nginx', '', {}, 'TLS 1.3 only'],
  ['behind nginx, HTTP/2 too', '', { http2: true }],
  ['behind nginx, without session tickets', 'ssl_session_tickets off;', {}],
  ['behind nginx, with a session cache', 'ssl_session_cache shared:one:1m;', { mutual: 'right' }],
  ...CLIENT_NAMES.map(
    (name) => [`behind nginx, mutual TLS, ${CLIENTS[name]}`, 'ssl_verify_depth 2;', { mutual: name }] as const,
  ),
  ['behind nginx, mutual TLS and HTTP/2', '', { mutual: 'right', http2: true }],
];

function behindNginx(nginx: Nginx, { plain }: Upstreams): Row[] {
  return SITES.map(([row, lines, { http2: h2, mutual: client }, tlsVersions = 'both']) => {
    const port = nginx.add(async () => {
      const [{ served }, { authority }, behind] = await Promise.all([material(), clientMaterial('right'), plain()]);
      const verify =
        client !== undefined
          ? `ssl_verify_client on; if ($ssl_client_s_dn !~ "CN=${CLIENT_NAME}") { return 403; }`
          : '';
      const proxy = `location / { proxy_pass http://127.0.0.1:${behind.port}; }`;
      return {
        ...served,
        lines: `${nginxProtocolsOf(tlsVersions)} ${lines} ${verify} ${proxy}`,
        ...(client !== undefined && { clientCa: authority }),
        ...(h2 === true && { http2: true as const }),
      };
    });
    const open = async () => {
      const [{ access }, { cert, key }] = await Promise.all([material(), clientMaterial(client ?? 'right')]);
      const credentials = client !== undefined ? { clientCert: cert, clientKey: key } : {};
      return {
        url: `https://localhost:${await port()}/hooks`,
        tls: { ...access.tls, ...credentials },
        close: async () => {},
      };
    };
    return {
      row,
      tlsVersions,
      server: 'nginx',
      program: 'nginx',
      suites: client !== undefined ? ['tls', 'mtls'] : ['tls'],
      expected: client !== undefined ? withoutFixtures(tlsVersions) : correctServer(tlsVersions),
      open,
    };
  });
}

export function correctCells(nginx: Nginx, upstreams: Upstreams): Cell[] {
  return [...CERTIFIED, ...ON_NODE, ...MUTUAL, ...behindNginx(nginx, upstreams)].map((row) => ({
    suites: ['tls'],
    tlsVersions: 'both',
    ...row,
  }));
}
