/** Every setup of mutual TLS with every invalid client, over each choice of versions. */
import type { Cell, OpenServer } from './cell.ts';
import { MUTUAL_TLS_SETUPS, type MutualTlsSetup } from './client-setups.ts';
import { type Expected, serverAccepting } from './expected.ts';
import {
  certificateSet,
  FIXTURES_IN,
  nginxProtocolsOf,
  protocolsOf,
  TLS_VERSIONS,
  type TlsVersions,
} from './material.ts';
import type { Upstreams } from './matrix.ts';
import type { Nginx } from './nginx.ts';
import { openNode, openReceiver, receiving, withDelay } from './servers.ts';

const SERVER_OF: Readonly<Record<MutualTlsSetup['on'], string>> = {
  node: 'Node https',
  receiver: 'reference receiver',
  nginx: 'nginx',
};

const setNameOf = ({ certificates = 'usual' }: MutualTlsSetup) => certificates;

async function openSetup(
  setup: MutualTlsSetup,
  tlsVersions: TlsVersions,
  port: () => Promise<number>,
): Promise<OpenServer> {
  const certificates = await certificateSet(setNameOf(setup));
  const { server, client, fixtures } = certificates;
  const { cert, key } = server;
  const access = { tls: { ca: server.ca, clientCert: client.cert, clientKey: client.key } };
  switch (setup.on) {
    case 'node': {
      const options = { cert, key, ...protocolsOf(tlsVersions), ...setup.options(certificates) };
      const direct = await openNode(options, access, receiving(setup.checks(certificates)));
      const open = setup.oneWayMs === undefined ? direct : await withDelay(direct, setup.oneWayMs);
      return { ...open, clientFixtures: fixtures };
    }
    case 'receiver': {
      const { mode, allowed } = setup;
      const tls = { cert, key, ca: client.ca, clientCertificate: mode };
      const check = allowed === undefined ? {} : { clientCertificate: { from: 'connection', allowed } as const };
      return { ...(await openReceiver(tlsVersions, tls, access, check)), clientFixtures: fixtures };
    }
    case 'nginx': {
      const url = `https://localhost:${await port()}/hooks`;
      return { url, tls: access.tls, clientFixtures: fixtures, close: async () => {} };
    }
  }
}

const tlsVersionsOf = (setup: MutualTlsSetup) =>
  setup.on === 'node' ? (setup.tlsVersions ?? TLS_VERSIONS) : TLS_VERSIONS;

function whatIsRun(setup: MutualTlsSetup): Pick<Cell, 'suites' | 'scenarios' | 'limits'> {
  if (setup.on !== 'node' || setup.scenarios === undefined) return { suites: ['tls', 'mtls'] };
  return {
    suites: ['mtls'],
    scenarios: setup.scenarios,
    limits: { timeoutMs: setup.oneWayMs === undefined ? 2000 : 10_000 },
  };
}

function expectedOf(setup: MutualTlsSetup, tlsVersions: TlsVersions): Expected {
  if (setup.on === 'node' && setup.scenarios !== undefined) return setup.also ?? {};
  const certificates = setNameOf(setup);
  return serverAccepting(setup.accepts, {
    tlsVersions,
    key: certificates === 'rsa' ? 'rsa' : 'ec',
    fixtures: FIXTURES_IN[certificates],
    ...(setup.also && { also: setup.also }),
  });
}

export function clientCells(nginx: Nginx, upstreams: Upstreams): Cell[] {
  return MUTUAL_TLS_SETUPS.flatMap((setup) =>
    tlsVersionsOf(setup).map((tlsVersions): Cell => {
      const site = async () => {
        if (setup.on !== 'nginx') throw new TypeError('not behind nginx');
        const upstream = setup.trustsProxy === true ? upstreams.behindProxy() : upstreams.plain();
        const [certificates, { port }] = await Promise.all([certificateSet(setNameOf(setup)), upstream]);
        const { server, client, revocations } = certificates;
        const { cert, key } = server;
        const proxy = `location / { proxy_pass http://127.0.0.1:${port}; }`;
        const lines = `${nginxProtocolsOf(tlsVersions)} ${setup.lines} ${proxy}`;
        const list = setup.withRevocationList === true && revocations !== undefined ? { revocations } : {};
        return { cert, key, lines, clientCa: client.ca, ...list };
      };
      const port = setup.on === 'nginx' ? nginx.add(site) : async () => 0;
      return {
        row: setup.name,
        server: SERVER_OF[setup.on],
        tlsVersions,
        ...(setup.on === 'nginx' && { program: 'nginx' as const }),
        ...whatIsRun(setup),
        expected: expectedOf(setup, tlsVersions),
        open: () => openSetup(setup, tlsVersions, port),
      };
    }),
  );
}
