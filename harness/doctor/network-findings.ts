/** Findings about DNS, connections and clocks. Pure. */

import type { DoctorFinding, FactsOf } from './doctor-document.ts';
import { advice, info, present, problem, seconds } from './sections.ts';

/** Codes of a resolver that could not be reached. */
const NO_RESOLVER: ReadonlySet<string> = new Set(['EAI_AGAIN', 'TIMEOUT', 'ETIMEOUT', 'ECONNREFUSED', 'EAI_FAIL']);
const SLOW_MS = 1_000;

export function dnsFindings({ host, literal, addresses, ms, error }: FactsOf<'dns'>, secure: boolean): DoctorFinding[] {
  if (error !== null) return [noAddress(host, error.code)];
  const named =
    'Use a name, or add the address to the certificate as an IP address: a handshake with an IP ' +
    'address contains no server name.';
  const slow = `Resolving the name took ${seconds(ms)}, which delays every new connection.`;
  return present([
    literal && secure && info('address-in-url', `The URL has the IP address ${host} instead of a name.`, named),
    ...scopes(addresses, literal),
    ms >= SLOW_MS &&
      advice('name-server-slow', slow, 'Check the name servers of this machine; the first of them may be down.'),
  ]);
}

function noAddress(host: string, code: string): DoctorFinding {
  if (NO_RESOLVER.has(code)) {
    return problem(
      'name-server-silent',
      `The host name ${host} could not be resolved (${code}): no name server answered.`,
      'Check that this machine is online, and its name servers (/etc/resolv.conf). The name itself may be correct.',
    );
  }
  return problem(
    'name-does-not-resolve',
    `The host name ${host} does not resolve (${code}).`,
    'Check the spelling of the URL, and resolve the name on this machine (`getent hosts NAME`): it may not be ' +
      'published yet, or may exist only inside another network.',
  );
}

type Address = FactsOf<'dns'>['addresses'][number];

function scopes(addresses: readonly Address[], literal: boolean): DoctorFinding[] {
  const of = (scope: Address['scope']) => addresses.filter((one) => one.scope === scope);
  const subject = literal ? 'The URL' : 'The name';
  const found = (scope: Address['scope'], make: typeof info, where: (list: string) => string, fix: string) => {
    const some = of(scope).slice(0, 4);
    const list = some.map(({ address }) => address).join(', ');
    return some.length > 0 && make(`${scope}-address`, `${subject} points to ${where(list)}.`, fix);
  };
  const isMixed = of('public').length > 0 && of('public').length < addresses.length;
  const fixes = {
    loopback: 'Fine for a local test; no other machine can reach the endpoint at this URL.',
    private: 'Fine inside that network. Register a URL that the service can reach.',
    linkLocal: 'Give the machine a routable address, and use that.',
    mixed: 'Remove the non-public addresses, unless the name is meant to differ by network.',
  };
  const oneLink = (list: string) => `a link-local address (${list}), which is valid on one network link only`;
  const reserved = (list: string) => `a reserved address, which no server can have (${list})`;
  return present([
    found('loopback', info, (list) => `this machine itself (${list})`, fixes.loopback),
    found('private', info, (list) => `a private network (${list})`, fixes.private),
    found('link-local', advice, oneLink, fixes.linkLocal),
    found('special', problem, reserved, 'Correct the URL or the DNS record.'),
    isMixed && advice('mixed-addresses', 'The name has both public addresses and others.', fixes.mixed),
  ]);
}

type Attempted = FactsOf<'connection'>['addresses'][number];

/** Returns the findings about connections. `proxied`: the environment names a proxy. */
export function connectionFindings({ addresses, port }: FactsOf<'connection'>, proxied: boolean): DoctorFinding[] {
  const connected = addresses.filter(({ outcome }) => outcome === 'connected');
  if (connected.length === 0) {
    const fix = 'Run it on a machine that reaches the endpoint without a proxy.';
    const title = 'The environment names a proxy; hookproof connects directly, as the service does.';
    return [noConnection(addresses, port), ...(proxied ? [info('proxy-not-used', title, fix)] : [])];
  }
  const fastest = Math.min(...connected.map(({ ms }) => ms));
  const slow = advice(
    'slow-connection',
    `Connecting took ${seconds(fastest)}.`,
    'Packets are lost, or the server is overloaded: check from the machine of the server.',
  );
  return [...someFail(addresses, connected), ...(fastest < SLOW_MS ? [] : [slow])];
}

function noConnection(addresses: readonly Attempted[], port: number): DoctorFinding {
  const is = (wanted: Attempted['outcome']) => addresses.some(({ outcome }) => outcome === wanted);
  if (is('refused')) {
    return problem(
      'nothing-listens',
      `Nothing is listening on port ${port}: the connection was refused.`,
      'Start the receiver, and check the host and port of the URL. In a container, listen on 0.0.0.0 and ' +
        'publish the port.',
    );
  }
  if (is('timeout')) {
    return problem(
      'connection-times-out',
      `No connection to port ${port} was established within the time limit.`,
      'A firewall drops the packets, or the machine is off: allow connections from this machine, and from the ' +
        'addresses of the service.',
    );
  }
  const code = addresses.find(({ code: found }) => found !== null)?.code ?? 'UNKNOWN';
  const fix = 'Check the network of this machine: the default route, a VPN that is off, or IPv6 that is not set up.';
  return problem('no-route', `There is no route to the endpoint from this machine (${code}).`, fix);
}

function someFail(addresses: readonly Attempted[], connected: readonly Attempted[]): DoctorFinding[] {
  const failed = addresses.filter(({ outcome }) => outcome !== 'connected');
  const [first] = failed;
  if (first === undefined) return [];
  const title = `Some addresses do not accept a connection: ${failed
    .map(({ address, outcome }) => `${address} (${outcome})`)
    .join(', ')}.`;
  if (failed.every(({ address }) => address === '::1' || address.startsWith('127.'))) {
    return [info('some-addresses-fail', title, null, 'The receiver listens on only one loopback address.')];
  }
  const families = new Set(connected.map(({ family }) => family));
  if (failed.every(({ outcome, family }) => outcome === 'unreachable' && !families.has(family))) {
    const why = `This machine has no IPv${first.family}, so these addresses could not be checked.`;
    return [info('some-addresses-fail', title, null, why)];
  }
  const fix =
    'Remove these addresses from the name, or make the receiver listen on them: a client that tries them first ' +
    'waits or fails.';
  return [advice('some-addresses-fail', title, fix)];
}

const MAX_SKEW_MS = 30_000;

export function clockFindings({ aheadMs, uncertaintyMs }: FactsOf<'clock'>): DoctorFinding[] {
  if (Math.abs(aheadMs) - uncertaintyMs <= MAX_SKEW_MS) return [];
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return [
    advice(
      'clock-skew',
      `The clock of this machine is ${durationInWords(Math.abs(aheadMs))} ${direction} the endpoint's.`,
      'Find out which of the two is wrong (`timedatectl`, `date -u`), and synchronise it with NTP.',
      'Each side judges by its own clock whether a certificate is valid, and writes its times to logs and ' +
        'notifications.',
    ),
  ];
}

/** Returns text such as "45 seconds", "12 minutes", "3 days". */
export function durationInWords(milliseconds: number): string {
  const units: readonly (readonly [ms: number, name: string])[] = [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
  ];
  const [ms, name] = units.find(([size]) => milliseconds >= 2 * size) ?? [1000, 'second'];
  const count = Math.round(milliseconds / ms);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
