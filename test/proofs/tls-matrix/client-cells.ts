/** Every way to set up mutual TLS against every wrong client certificate, over each choice of versions. */
import type { Cell, Open } from './cell.ts';
import { CLIENT_SHAPES, type ClientShape } from './client-setups.ts';
import { type Expected, serverThatLetsIn } from './expected.ts';
import { GIVEN_WORDS, givenOf, nginxProtocolsOf, protocolsOf, SPOKEN, type Spoken } from './material.ts';
import type { Upstreams } from './matrix.ts';
import type { Nginx } from './nginx.ts';
import { farAway, openNode, openReceiver, receiving } from './servers.ts';

/**
 * What the tests hold, over both versions: one of each kind. `npm run proofs -- tls-matrix` plays everything. The tests
 * say whether anything that a run has to say anywhere is said in none of these.
 */
const TESTED: ReadonlySet<string> = new Set([
  'Node https: required',
  'Node https: asked, and nothing looks at it',
  'Node https: no mutual TLS',
  'Node https: any RSA certificate will do, and no other can be presented',
  'Node https: required, with the list of what is revoked',
  'Node https: an unknown authority is let in one time in five',
  'Node https: X-SSL-Client-Verify is believed',
  'Node https: a resumed session is let in',
  'Node https: the id is noted before the certificate is looked at',
  'Node https: a wrong certificate gets 404',
  'Node https: a wrong certificate gets 503',
  'Node https: with a certificate, the signature is not checked',
  'Node https: with a certificate, the API key is not checked',
  'reference receiver: required, one name allowed',
  'nginx: on, without the list',
  'nginx: optional_no_ca, and nothing looks at it',
  'nginx: the receiver trusts it as its proxy, and it passes the header on from anybody',
]);
/** Over one version alone nothing happens that does not happen over both: a few show it. */
const TESTED_ALONE: ReadonlySet<string> = new Set(['Node https: any certificate will do']);

function isTested(shape: ClientShape, spoken: Spoken): boolean {
  return (spoken === 'both' ? TESTED : TESTED_ALONE).has(`${SERVER_OF[shape.on]}: ${shape.name}`);
}

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
