/** Every correct and faulty server certificate on three servers, over each choice of versions. */
import { SERVER_FIXTURE_NAMES, type ServerFixtureName, serverFixture } from '../../../certs/index.ts';
import { LOADS_SHA1, REFUSES_WEAK_KEYS } from '../../setup/node-openssl.ts';
import type { Cell, OpenServer } from './cell.ts';
import { all, correctServer, type Expected, NEED_DELIVERY } from './expected.ts';
import { nginxProtocolsOf, protocolsOf, TLS_VERSIONS, type TlsVersions } from './material.ts';
import type { Upstreams } from './matrix.ts';
import type { Nginx } from './nginx.ts';
import { openNode, openReceiver } from './servers.ts';

const SERVERS = ['Node https', 'reference receiver', 'nginx'] as const;
type ServerName = (typeof SERVERS)[number];

interface Fault {
  /** The scenario that finds the fault, and its outcome. */
  readonly seen: Expected;
  /** Set if a correct sender does not connect, so that scenarios about deliveries have no verdict. */
  readonly untrusted?: true;
}

const untrusted = (id: string, more: Expected = {}): Fault => ({ seen: { [id]: 'fail', ...more }, untrusted: true });
const seen = (id: string, word: 'fail' | 'warn' | 'recorded'): Fault => ({ seen: { [id]: word } });

const weakKey = (id: string): Fault => (REFUSES_WEAK_KEYS ? untrusted(id) : seen(id, 'fail'));

const FAULTS: Readonly<Record<ServerFixtureName, Fault | null>> = {
  p256: null,
  direct: null,
  rsa2048: null,
  rsa4096: null,
  p384: null,
  ed25519: null,
  'two-intermediates': null,
  'no-usages': null,
  expired: untrusted('tls/not-expired'),
  'not-yet-valid': untrusted('tls/already-valid'),
  'expires-soon': seen('tls/renewed-in-time', 'warn'),
  'wrong-host': untrusted('tls/host-name'),
  'ip-missing': untrusted('tls/host-name'),
  'cn-only': seen('tls/alternative-name', 'fail'),
  'unknown-authority': untrusted('tls/trusted-authority'),
  'same-names-root': untrusted('tls/genuine-issuer'),
  'issuer-not-authority': untrusted('tls/issuers-may-issue'),
  sha1: untrusted('tls/signature-hash'),
  'client-purpose': untrusted('tls/server-purpose'),
  'expired-intermediate': untrusted('tls/issuers-not-expired'),
  'weak-intermediate': weakKey('tls/issuers-key-size'),
  rsa1024: weakKey('tls/key-size'),
  'path-too-long': untrusted('tls/path-length'),
  'self-signed': untrusted('tls/not-self-signed'),
  // Without the intermediate, it is unknown whether the CA is trusted.
  'missing-intermediate': untrusted('tls/chain-complete', { 'tls/trusted-authority': 'inconclusive' }),
  misordered: seen('tls/chain-order', 'warn'),
  duplicate: seen('tls/chain-once', 'warn'),
  'unrelated-extra': seen('tls/chain-tidy', 'warn'),
  'root-sent': seen('tls/root-left-out', 'recorded'),
};

const RSA: ReadonlySet<ServerFixtureName> = new Set(['rsa2048', 'rsa4096', 'rsa1024']);
/** Certificates that no server loads at its default security level. */
const NEEDS_LEVEL_0: ReadonlySet<ServerFixtureName> = new Set(['sha1', 'rsa1024', 'weak-intermediate']);
const LEVEL_0 = 'DEFAULT@SECLEVEL=0';

function expectedOf(name: ServerFixtureName, server: ServerName, tlsVersions: TlsVersions): Expected {
  // The reference receiver has no suites with static RSA.
  const correct = correctServer(tlsVersions, server !== 'reference receiver' && RSA.has(name) ? 'rsa' : 'ec');
  const fault = FAULTS[name];
  if (fault === null) return correct;
  return { ...correct, ...fault.seen, ...(fault.untrusted === true ? all('inconclusive', NEED_DELIVERY) : {}) };
}

/**
 * Returns the error of OpenSSL, because the receiver has no option for the security level. Null if it loads the
 * certificate.
 */
function rejectionOf(name: ServerFixtureName): string | null {
  if (name === 'sha1') return LOADS_SHA1 ? null : 'ca md too weak';
  return REFUSES_WEAK_KEYS && NEEDS_LEVEL_0.has(name) ? 'key too small' : null;
}

async function openCell(
  name: ServerFixtureName,
  server: ServerName,
  tlsVersions: TlsVersions,
  port: () => Promise<number>,
) {
  const { cert, key, ca, host } = await serverFixture(name);
  const access = { host, tls: { ca } };
  switch (server) {
    case 'Node https': {
      const level = NEEDS_LEVEL_0.has(name) ? { ciphers: LEVEL_0 } : {};
      return openNode({ cert, key, ...protocolsOf(tlsVersions), ...level }, access);
    }
    case 'reference receiver':
      return openReceiver(tlsVersions, { cert, key }, access);
    case 'nginx': {
      const open: OpenServer = { url: `https://${host}:${await port()}/hooks`, tls: { ca }, close: async () => {} };
      return open;
    }
  }
}

export function serverCells(nginx: Nginx, { plain }: Upstreams): Cell[] {
  return SERVER_FIXTURE_NAMES.flatMap((name) =>
    SERVERS.flatMap((server) =>
      TLS_VERSIONS.map((tlsVersions): Cell => {
        const level = NEEDS_LEVEL_0.has(name) ? `ssl_ciphers ${LEVEL_0};` : '';
        const site = async () => {
          const [{ cert, key }, { port }] = await Promise.all([serverFixture(name), plain()]);
          const lines = `${nginxProtocolsOf(tlsVersions)} ${level} location / { proxy_pass http://127.0.0.1:${port}; }`;
          return { cert, key, lines };
        };
        const rejection = server === 'reference receiver' ? rejectionOf(name) : null;
        const port = server === 'nginx' ? nginx.add(site) : async () => 0;
        return {
          row: name,
          server,
          tlsVersions,
          ...(server === 'nginx' && { program: 'nginx' as const }),
          suites: ['tls'],
          expected: rejection === null ? expectedOf(name, server, tlsVersions) : { cannotServe: rejection },
          open: () => openCell(name, server, tlsVersions, port),
        };
      }),
    ),
  );
}
