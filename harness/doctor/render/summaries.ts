/** What each section saw, in a line or a few. Pure. */
import { drawChain } from '../../../certs/index.ts';
import { tlsVersionName } from '../../../contract/index.ts';
import { counted, formatDuration } from '../../report/index.ts';
import type { DoctorSection, FactsOf, Reception } from '../doctor-document.ts';
import { inWords } from '../findings/clock-findings.ts';

const DAY_MS = 86_400_000;

/** One paragraph each. The tree of certificates is drawn elsewhere, because it is not wrapped like prose. */
export function summaryOf(section: DoctorSection, now: Date): string[] {
  if (section.facts === null) return section.reason === '' ? [] : [section.reason];
  switch (section.id) {
    case 'dns':
      return dns(section.facts);
    case 'connection':
      return connection(section.facts);
    case 'tls':
      return tls(section.facts);
    case 'client-certificate':
      return client(section.facts, now);
    case 'authorities':
      return [`${section.facts.from}: ${counted(section.facts.certificates.length, 'certificate')}`];
    case 'http':
      return http(section.facts);
    case 'clock':
      return clock(section.facts);
    case 'delivery':
      return delivery(section.facts);
    case 'secret':
    case 'api-key':
      return [credential(section.facts)];
  }
}

/** The certificates of the endpoint as a tree, when there are any. */
export function treeOf(section: DoctorSection, ascii: boolean): string[] {
  return section.id !== 'tls' || section.facts?.chain == null ? [] : drawChain(section.facts.chain, { ascii });
}

function dns({ host, literal, addresses, ms, error }: FactsOf<'dns'>): string[] {
  if (literal) return [`${host} is an address`];
  if (error !== null) return [`${host}: ${error.message} (${formatDuration(ms)})`];
  return [`${host}: ${addresses.map(({ address }) => address).join(', ')} (${formatDuration(ms)})`];
}

function connection({ port, addresses, notTried }: FactsOf<'connection'>): string[] {
  const each = addresses.map(({ address, family, outcome, ms }) => {
    const place = family === 6 ? `[${address}]:${port}` : `${address}:${port}`;
    const words = { connected: `in ${formatDuration(ms)}`, timeout: 'no answer', failed: 'failed' };
    return `${place} ${outcome in words ? words[outcome as keyof typeof words] : outcome}`;
  });
  return [`${each.join('; ')}${notTried === 0 ? '' : `; ${counted(notTried, 'more address', 'more addresses')}`}`];
}

function tls({ negotiated, hellos, trusted, trustCode, privateAuthority }: FactsOf<'tls'>): string[] {
  const spoken = hellos.filter(({ outcome }) => outcome === 'granted').map(({ version }) => tlsVersionName(version));
  const parts = spoken.length === 0 ? ['no handshake'] : [`speaks ${spoken.join(' and ')}`];
  if (negotiated !== null) {
    const { version, cipher, alpn } = negotiated;
    parts.push(`agreed on ${version.replace('v', ' ')}, ${cipher}${alpn === null ? '' : `, ALPN ${alpn}`}`);
  }
  if (trusted === null) return [parts.join('; ')];
  const by = privateAuthority ? 'trusted, by the authority that was given' : 'trusted';
  return [parts.join('; '), trusted ? by : `not trusted (${trustCode})`];
}

function client(facts: FactsOf<'client-certificate'>, now: Date): string[] {
  const [leaf] = facts.certificates;
  const own = leaf === undefined ? [] : [describe(leaf, now)];
  if (facts.certificateFrom === null && facts.keyFrom === null) own.push('none is configured');
  const seen = [
    ...(facts.requested === null ? [] : [facts.requested ? 'the endpoint asks for one' : 'the endpoint asks for none']),
    ...(facts.with === null ? [] : [`with it: ${received(facts.with)}`]),
    ...(facts.without === null ? [] : [`without one: ${received(facts.without)}`]),
  ];
  return seen.length === 0 ? own : [...own, seen.join('; ')];
}

function received({ outcome, evidence }: Reception): string {
  return outcome === 'answered' || outcome === 'refused' ? `${outcome} (${evidence})` : evidence.replace(/\.$/, '');
}

type Certificate = FactsOf<'authorities'>['certificates'][number];

function describe({ subject, key, notBefore, notAfter, issuer }: Certificate, now: Date): string {
  const until = Date.parse(notAfter);
  const left = Math.floor((until - now.getTime()) / DAY_MS);
  const early = Date.parse(notBefore) > now.getTime() ? `, valid from ${notBefore.slice(0, 10)}` : '';
  const size = key.curve ?? [key.kind.toUpperCase(), key.bits].filter((part) => part !== null).join(' ');
  const end = `until ${notAfter.slice(0, 10)} (${until < now.getTime() ? 'expired' : counted(left, 'day')})`;
  return `${subject || 'a certificate without a name'}, ${size}${early}, ${end}; issued by ${issuer || 'nobody named'}`;
}

function http({ method, answer, error, timings, verified }: FactsOf<'http'>): string[] {
  const took = formatDuration(timings.totalMs);
  if (answer === null) return [`${method}: no answer after ${took} (${error?.code ?? 'unknown'})`];
  const server = answer.server === null ? '' : `, by ${answer.server}`;
  const allow = answer.allow === null ? '' : `, allows ${answer.allow}`;
  const warned = verified ? '' : ' (from an endpoint that is not trusted)';
  return [`${method} without credentials: ${answer.status} in ${took}${server}${allow}${warned}`];
}

function clock({ aheadMs, uncertaintyMs }: FactsOf<'clock'>): string[] {
  const within = `to within ${formatDuration(uncertaintyMs)}`;
  if (Math.abs(aheadMs) <= uncertaintyMs) return [`agrees with the endpoint's, ${within}`];
  return [`${inWords(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the endpoint's, ${within}`];
}

function delivery({ type, id, status, body, error, timings }: FactsOf<'delivery'>): string[] {
  const took = formatDuration(timings.totalMs);
  const came = status === null ? `no answer after ${took} (${error?.code ?? 'unknown'})` : `${status} in ${took}`;
  return [`${type} ${id}: ${came}`, ...(status === 200 || body === '' ? [] : [`answer: ${body}`])];
}

function credential({ from, characters, bytes }: FactsOf<'secret'>): string {
  const size = bytes === characters ? '' : `, ${counted(bytes, 'byte')} in UTF-8`;
  return `${from}: ${counted(characters, 'character')}${size}`;
}
