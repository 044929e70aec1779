/** What the addresses of the name tell. Pure. */
import type { FactsOf } from '../doctor-document.ts';
import { advice, type DoctorFinding, info, problem } from './finding.ts';

/** The resolver itself could not be asked. */
const NO_RESOLVER: ReadonlySet<string> = new Set(['EAI_AGAIN', 'TIMEOUT', 'ETIMEOUT', 'ECONNREFUSED', 'EAI_FAIL']);
const SLOW_MS = 1_000;

export function dnsFindings({ host, literal, addresses, ms, error }: FactsOf<'dns'>, secure: boolean): DoctorFinding[] {
  if (error !== null) return [noAddress(host, error.code)];
  return [...(literal && secure ? [addressInUrl(host)] : []), ...scopes(addresses, literal), ...slow(ms)];
}

function noAddress(host: string, code: string): DoctorFinding {
  if (NO_RESOLVER.has(code)) {
    return problem(
      'name-server-silent',
      `The host name ${host} could not be looked up (${code}): no name server answered.`,
      'Check that this machine is online, and its name servers (/etc/resolv.conf). The name itself may be right.',
    );
  }
  return problem(
    'name-does-not-resolve',
    `The host name ${host} does not resolve (${code}).`,
    'Check the spelling of the URL, and look the name up from here (`getent hosts NAME`): it may not be published yet, or be known only inside another network.',
  );
}

function addressInUrl(host: string): DoctorFinding {
  return info(
    'address-in-url',
    `The URL has the address ${host} in place of a name.`,
    'Use a name, or have the address in the certificate as an IP address; no server name is sent in the handshake.',
  );
}

function scopes(addresses: FactsOf<'dns'>['addresses'], literal: boolean): DoctorFinding[] {
  const of = (scope: (typeof addresses)[number]['scope']) => addresses.filter((one) => one.scope === scope);
  const list = (some: typeof addresses) =>
    some
      .slice(0, 4)
      .map(({ address }) => address)
      .join(', ');
  const subject = literal ? 'The URL' : 'The name';
  const findings: DoctorFinding[] = [];
  if (of('loopback').length > 0) {
    const title = `${subject} leads to this machine itself (${list(of('loopback'))}).`;
    findings.push(info('loopback-address', title, 'Fine for a test from here; nobody else reaches it by this URL.'));
  }
  if (of('private').length > 0) {
    const title = `${subject} leads into a private network (${list(of('private'))}).`;
    findings.push(info('private-address', title, 'Fine from inside. Register a URL that the service can reach.'));
  }
  if (of('link-local').length > 0) {
    const title = `${subject} leads to a link-local address (${list(of('link-local'))}), which counts on one cable only.`;
    findings.push(advice('link-local-address', title, 'Give the machine an address of its own, and use that.'));
  }
  if (of('special').length > 0) {
    const title = `${subject} leads to an address that no server has (${list(of('special'))}).`;
    findings.push(problem('special-address', title, 'Correct the URL or the entry of the name server.'));
  }
  if (of('public').length > 0 && of('public').length < addresses.length) {
    const fix = 'Remove the others from the name, unless it is meant to differ by network.';
    findings.push(advice('mixed-addresses', 'The name has public addresses and others.', fix));
  }
  return findings;
}

function slow(ms: number): DoctorFinding[] {
  if (ms < SLOW_MS) return [];
  const title = `Looking up the name took ${(ms / 1000).toFixed(1)} s, which every new connection waits for.`;
  return [advice('name-server-slow', title, 'Check the name servers of this machine; the first of them may be down.')];
}
