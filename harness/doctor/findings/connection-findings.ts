/** What came of connecting to each address. Pure. */
import type { FactsOf } from '../doctor-document.ts';
import { advice, type DoctorFinding, info, problem } from './finding.ts';

type Tried = FactsOf<'connection'>['addresses'][number];

const SLOW_MS = 1_000;

/** `proxied`: the environment names a proxy. */
export function connectionFindings({ addresses, port }: FactsOf<'connection'>, proxied: boolean): DoctorFinding[] {
  const connected = addresses.filter(({ outcome }) => outcome === 'connected');
  if (connected.length === 0) return [noneConnects(addresses, port), ...(proxied ? [proxyNotUsed()] : [])];
  return [...someFail(addresses, connected), ...slow(connected)];
}

function noneConnects(addresses: readonly Tried[], port: number): DoctorFinding {
  const is = (wanted: Tried['outcome']) => addresses.some(({ outcome }) => outcome === wanted);
  if (is('refused')) {
    return problem(
      'nothing-listens',
      `Nothing listens on port ${port}: the connection was refused.`,
      'Start the receiver, and check host and port of the URL. In a container, listen on 0.0.0.0 and publish the port.',
    );
  }
  if (is('timeout')) {
    return problem(
      'connection-times-out',
      `No connection to port ${port} came about within the time limit.`,
      'A firewall drops the packets, or the machine is off: allow connections from this machine, and from the addresses of the service.',
    );
  }
  const code = addresses.find(({ code: found }) => found !== null)?.code ?? 'UNKNOWN';
  return problem(
    'no-route',
    `There is no way to the endpoint from here (${code}).`,
    'Check the network of this machine: the default route, a VPN that is off, or IPv6 that is not set up.',
  );
}

function proxyNotUsed(): DoctorFinding {
  return info(
    'proxy-not-used',
    'The environment names a proxy, and hookproof connects directly, as the service does.',
    'Run it from a machine that can reach the endpoint without a proxy.',
  );
}

function someFail(addresses: readonly Tried[], connected: readonly Tried[]): DoctorFinding[] {
  const failed = addresses.filter(({ outcome }) => outcome !== 'connected');
  const [first] = failed;
  if (first === undefined) return [];
  const list = failed.map(({ address, outcome }) => `${address} (${outcome})`).join(', ');
  const families = new Set(connected.map(({ family }) => family));
  const isLoopback = failed.every(({ address }) => address === '::1' || address.startsWith('127.'));
  const noRoute = failed.every(({ outcome, family }) => outcome === 'unreachable' && !families.has(family));
  if (isLoopback || noRoute) {
    const why = isLoopback
      ? 'The receiver listens on one of the two loopback addresses.'
      : `This machine has no IPv${first.family}, so nothing can be said about these addresses.`;
    return [info('some-addresses-fail', `Not every address takes a connection: ${list}.`, null, why)];
  }
  return [
    advice(
      'some-addresses-fail',
      `Not every address takes a connection: ${list}.`,
      'Remove these addresses from the name, or have the receiver listen there: a client that tries them first waits or fails.',
    ),
  ];
}

function slow(connected: readonly Tried[]): DoctorFinding[] {
  const fastest = Math.min(...connected.map(({ ms }) => ms));
  if (fastest < SLOW_MS) return [];
  const title = `A connection takes ${(fastest / 1000).toFixed(1)} s.`;
  return [
    advice('slow-connection', title, 'Packets get lost on the way, or the server is overloaded: look from there.'),
  ];
}
