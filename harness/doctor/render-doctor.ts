/** Renders the document for a terminal: for each section what was observed, and its findings with their fixes. */
import { type ChainLine, chainLines } from '../../certs/index.ts';
import { tlsVersionName } from '../../contract/index.ts';
import { counted, createLayout, formatDuration, type Layout, type TerminalOptions } from '../report/index.ts';
import type { DoctorDocument, DoctorFinding, DoctorSection, FactsOf, Reception, Severity } from './doctor-document.ts';
import { durationInWords } from './network-findings.ts';

/** The verdict whose sign and style are used for each severity. A severity is not a verdict. */
const SIGN = { problem: 'fail', advice: 'warn', info: 'not-applicable' } as const;
const TITLE_COLUMNS = 20;
/** Below this width, in columns, the facts of a section are below its title. */
const WIDE = 70;

/** Returns text that ends with a newline. The document is already safe to print. */
export function renderDoctor(document: DoctorDocument, options: TerminalOptions): string {
  const layout = createLayout(options);
  const now = new Date(document.startedAt);
  const blocks = [
    headline(document.url ?? 'local configuration', layout),
    ...document.sections.map((section) => renderSection(section, now, layout, !options.unicode)),
    closing(document, layout),
  ];
  const lines: string[] = [];
  for (const [index, block] of blocks.entries()) {
    // There is no empty line between one-line sections.
    const apart = index === 0 || block.length > 1 || (blocks[index - 1]?.length ?? 0) > 1 || index >= blocks.length - 1;
    if (lines.length > 0 && apart) lines.push('');
    lines.push(...block);
    if (index === 0) lines.push('');
  }
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`;
}

/** Renders the title and the URL, on separate lines if they do not fit on one. */
function headline(subject: string, layout: Layout): string[] {
  const name = 'hookproof doctor';
  const lead = `${layout.paint(name, 'bold')}  `;
  if (layout.safe(subject).length <= layout.width - name.length - 2) return [`${lead}${layout.safe(subject)}`];
  return [lead.trimEnd(), ...layout.paragraph('  ', subject)];
}

function renderSection(section: DoctorSection, now: Date, layout: Layout, ascii: boolean): string[] {
  const summary = summaryOf(section, now);
  const lead = `${signOf(section, layout)} ${layout.paint(section.title.padEnd(TITLE_COLUMNS), 'bold')}`;
  const wide = layout.width >= WIDE;
  const [first = '', ...more] = summary;
  const style = section.state === 'skipped' ? (['dim'] as const) : ([] as const);
  const head =
    wide && first !== ''
      ? layout.paragraph(lead, first, ...style)
      : [lead.trimEnd(), ...(first === '' ? [] : layout.paragraph('  ', first, ...style))];
  const indent = wide ? ' '.repeat(TITLE_COLUMNS + 2) : '  ';
  return [
    ...head,
    ...more.flatMap((text) => layout.paragraph(indent, text)),
    ...treeOf(section, ascii).flatMap((line) => branch(line, layout)),
    ...section.findings.flatMap((finding) => renderFinding(finding, layout)),
  ];
}

function signOf(section: DoctorSection, layout: Layout): string {
  const { findings, state } = section;
  const worst = (['problem', 'advice'] as const).find((wanted) => findings.some((f) => f.severity === wanted));
  if (worst !== undefined) return layout.sign(SIGN[worst]);
  // Another section explains why there is no answer.
  if (section.id === 'http' && section.facts?.answer === null) return layout.sign('inconclusive');
  return layout.sign(state === 'skipped' ? 'not-applicable' : 'pass');
}

/** Renders a line of the tree; continuation lines are indented like the text, not like the branch. */
function branch({ lead, text, hasFaults }: ChainLine, layout: Layout): string[] {
  return layout.paragraph(`    ${lead}`, text, ...(hasFaults ? (['yellow'] as const) : []));
}

function renderFinding({ severity, code, title, detail, fix }: DoctorFinding, layout: Layout): string[] {
  const sign = layout.sign(SIGN[severity]);
  const label = severity === 'info' ? 'hint' : 'fix';
  const style = severity === 'info' ? ([] as const) : ([layout.style(SIGN[severity])] as const);
  return [
    ...layout.paragraph(`  ${sign} `, `${title} [${code}]`, ...style),
    ...(detail === '' ? [] : layout.paragraph('    ', detail)),
    ...(fix === null ? [] : layout.paragraph(`    ${layout.paint(label, 'dim')}  `, fix, 'cyan')),
  ];
}

const NOUNS: Readonly<Record<Severity, readonly [string, string]>> = {
  problem: ['problem', 'problems'],
  advice: ['piece of advice', 'pieces of advice'],
  info: ['note', 'notes'],
};

function closing({ counts, interrupted, url }: DoctorDocument, layout: Layout): string[] {
  const severities = ['problem', 'advice', 'info'] as const;
  const named = severities.filter((severity) => counts[severity] > 0);
  const found = named.map((severity) => counted(counts[severity], ...NOUNS[severity])).join(', ');
  const verdict = url === null ? '' : ' This is not a verdict: `hookproof run` gives one.';
  const broken = interrupted ? 'Interrupted: these are the findings so far. ' : '';
  return layout.paragraph('', `${broken}${found === '' ? 'Nothing found.' : `${found}.`}${verdict}`, 'bold');
}

const DAY_MS = 86_400_000;

/**
 * Returns what the section observed, as paragraphs. The tree of certificates is separate, because it is not wrapped
 * like prose.
 */
function summaryOf(section: DoctorSection, now: Date): string[] {
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
    case 'extra-cas':
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

/** Returns the endpoint's certificates as a tree. */
function treeOf(section: DoctorSection, ascii: boolean): ChainLine[] {
  return section.id !== 'tls' || section.facts?.chain == null ? [] : chainLines(section.facts.chain, { ascii });
}

function dns({ host, literal, addresses, ms, error }: FactsOf<'dns'>): string[] {
  if (literal) return [`no lookup needed: ${host} is an IP address`];
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

function tls({ negotiated, hellos, trusted, trustCode, privateCa }: FactsOf<'tls'>): string[] {
  const spoken = hellos.filter(({ outcome }) => outcome === 'granted').map(({ version }) => tlsVersionName(version));
  const parts = spoken.length === 0 ? ['no handshake'] : [`supports ${spoken.join(' and ')}`];
  if (negotiated !== null) {
    const { version, cipher, alpn } = negotiated;
    parts.push(`negotiated ${version.replace('v', ' ')}, ${cipher}${alpn === null ? '' : `, ALPN ${alpn}`}`);
  }
  if (trusted === null) return [parts.join('; ')];
  const by = privateCa ? 'trusted by the given CA' : 'trusted';
  return [parts.join('; '), trusted ? by : `not trusted (${trustCode})`];
}

function client(facts: FactsOf<'client-certificate'>, now: Date): string[] {
  const [leaf] = facts.certificates;
  const own = leaf === undefined ? [] : [describe(leaf, now)];
  if (facts.certificateFrom === null && facts.keyFrom === null) own.push('none is configured');
  const seen = [
    ...(facts.requested === null
      ? []
      : [facts.requested ? 'the endpoint requests one' : 'the endpoint does not request one']),
    ...(facts.with === null ? [] : [`with it: ${received(facts.with)}`]),
    ...(facts.without === null ? [] : [`without one: ${received(facts.without)}`]),
  ];
  return seen.length === 0 ? own : [...own, seen.join('; ')];
}

function received({ outcome, evidence }: Reception): string {
  return outcome === 'answered' || outcome === 'refused' ? `${outcome} (${evidence})` : evidence.replace(/\.$/, '');
}

type Certificate = FactsOf<'extra-cas'>['certificates'][number];

function describe({ subject, key, notBefore, notAfter, issuer }: Certificate, now: Date): string {
  const until = Date.parse(notAfter);
  const left = Math.floor((until - now.getTime()) / DAY_MS);
  const early = Date.parse(notBefore) > now.getTime() ? `, valid from ${notBefore.slice(0, 10)}` : '';
  const size = key.curve ?? [key.kind.toUpperCase(), key.bits].filter((part) => part !== null).join(' ');
  const end = `until ${notAfter.slice(0, 10)} (${until < now.getTime() ? 'expired' : counted(left, 'day')})`;
  const issued = `issued by ${issuer || 'an unnamed issuer'}`;
  return `${subject || 'a certificate without a name'}, ${size}${early}, ${end}; ${issued}`;
}

function http({ method, answer, error, timings, verified }: FactsOf<'http'>): string[] {
  const took = formatDuration(timings.totalMs);
  if (answer === null) return [`${method}: no answer after ${took} (${error?.code ?? 'unknown'})`];
  const server = answer.server === null ? '' : `, by ${answer.server}`;
  const allow = answer.allow === null ? '' : `, allows ${answer.allow}`;
  const warned = verified ? '' : ' (the endpoint is not trusted)';
  return [`${method} without credentials: ${answer.status} in ${took}${server}${allow}${warned}`];
}

function clock({ aheadMs, uncertaintyMs }: FactsOf<'clock'>): string[] {
  const within = `to within ${formatDuration(uncertaintyMs)}`;
  if (Math.abs(aheadMs) <= uncertaintyMs) return [`agrees with the endpoint's, ${within}`];
  return [`${durationInWords(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the endpoint's, ${within}`];
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
