/** Every way to set up mutual TLS against every wrong client certificate, over each choice of versions. */
import type { Cell, Open } from './cell.ts';
import { CLIENT_SHAPES, type ClientShape } from './client-shapes.ts';
import type { Expected } from './expected.ts';
import { serverThatLetsIn } from './expected-of-clients.ts';
import { GIVEN_WORDS, givenOf } from './given.ts';
import { nginxProtocolsOf, protocolsOf, SPOKEN, type Spoken } from './material.ts';
import type { Upstreams } from './matrix.ts';
import { farAway } from './servers/far-away.ts';
import type { Nginx } from './servers/nginx.ts';
import { openNode, receiving } from './servers/node-server.ts';
import { openReceiver } from './servers/reference-receiver.ts';

/** Over one version alone nothing happens that does not happen over both: a few in the tests show it. */
function isTested(shape: ClientShape, spoken: Spoken): boolean {
  if (shape.documentOnly === true) return false;
  if (spoken === 'both') return true;
  return shape.on === 'nginx' ? shape.name.startsWith('optional_no_ca, and nothing') : TESTED_ALONE.has(shape.name);
}
const TESTED_ALONE: ReadonlySet<string> = new Set(['required', 'any certificate will do']);

const SERVER_OF: Readonly<Record<ClientShape['on'], string>> = {
  node: 'Node https',
  receiver: 'reference receiver',
  nginx: 'nginx',
};

const givenTo = ({ given = 'usual' }: ClientShape) => given;

async function openShape(shape: ClientShape, spoken: Spoken, port: () => Promise<number>): Promise<Open> {
  const given = await givenOf(givenTo(shape));
  const { server, right, fixtures } = given;
  const { cert, key } = server;
  const reached = { tls: { ca: server.ca, clientCert: right.cert, clientKey: right.key } };
  switch (shape.on) {
    case 'node': {
      const options = { cert, key, ...protocolsOf(spoken), ...shape.options(given) };
      const near = await openNode(options, reached, receiving(shape.checks(given)));
      const open = shape.oneWayMs === undefined ? near : await farAway(near, shape.oneWayMs);
      return { ...open, clientFixtures: fixtures };
    }
    case 'receiver': {
      const { mode, allowed } = shape;
      const tls = { cert, key, ca: right.authority, clientCertificate: mode };
      const check = allowed === undefined ? {} : { clientCertificate: { from: 'connection', allowed } as const };
      return { ...(await openReceiver(spoken, tls, reached, check)), clientFixtures: fixtures };
    }
    case 'nginx': {
      const url = `https://localhost:${await port()}/hooks`;
      return { url, tls: reached.tls, clientFixtures: fixtures, close: async () => {} };
    }
  }
}

const spokenBy = (shape: ClientShape) => (shape.on === 'node' ? (shape.spoken ?? SPOKEN) : SPOKEN);

function whatIsRun(shape: ClientShape): Pick<Cell, 'suites' | 'scenarios' | 'limits'> {
  if (shape.on !== 'node' || shape.scenarios === undefined) return { suites: ['tls', 'mtls'] };
  return {
    suites: ['mtls'],
    scenarios: shape.scenarios,
    limits: { timeoutMs: shape.oneWayMs === undefined ? 2000 : 10_000 },
  };
}

function expectedOf(shape: ClientShape, spoken: Spoken): Expected {
  if (shape.on === 'node' && shape.scenarios !== undefined) return shape.also ?? {};
  const given = givenTo(shape);
  return serverThatLetsIn(shape.letsIn, {
    spoken,
    key: given === 'rsa' ? 'rsa' : 'ec',
    given: GIVEN_WORDS[given],
    ...(shape.also && { also: shape.also }),
  });
}

export function clientCells(nginx: Nginx, upstreams: Upstreams): Cell[] {
  return CLIENT_SHAPES.flatMap((shape) =>
    spokenBy(shape).map((spoken): Cell => {
      const site = async () => {
        if (shape.on !== 'nginx') throw new TypeError('not behind nginx');
        const upstream = shape.declared === true ? upstreams.behindProxy() : upstreams.plain();
        const [given, { port }] = await Promise.all([givenOf(givenTo(shape)), upstream]);
        const { server, right, revocations } = given;
        const { cert, key } = server;
        const lines = `${nginxProtocolsOf(spoken)} ${shape.lines} location / { proxy_pass http://127.0.0.1:${port}; }`;
        const list = shape.withList === true && revocations !== undefined ? { revocations } : {};
        return { cert, key, lines, clientAuthority: right.authority, ...list };
      };
      const port = shape.on === 'nginx' ? nginx.add(site) : async () => 0;
      return {
        row: shape.name,
        server: SERVER_OF[shape.on],
        spoken,
        ...(shape.on === 'nginx' && { program: 'nginx' as const }),
        ...(!isTested(shape, spoken) && { documentOnly: true }),
        ...whatIsRun(shape),
        expected: expectedOf(shape, spoken),
        open: () => openShape(shape, spoken, port),
      };
    }),
  );
}
