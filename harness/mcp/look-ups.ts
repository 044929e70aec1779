/** Renders the answers of tools that do not run the catalogue: explain, list, verify, doctor. */
import * as z from 'zod';
import { HookproofError, type JsonObject } from '../../contract/index.ts';
import { explainSignature, type MistakeExplanation } from '../../contract/signing/index.ts';
import { visible } from '../../contract/visible.ts';
import { preflightFindings } from '../diagnose/index.ts';
import type { DoctorDocument, DoctorSection, SectionId } from '../doctor/index.ts';
import { counted } from '../report/index.ts';
import { answerFields, type Contents, type Entry, MAX_ADVICE, type Marker, maybeUntrusted } from './answer.ts';
import { asCalls } from './as-calls.ts';

export const explainSchema = z.strictObject({ id: z.string(), lines: z.array(z.string()), ...answerFields });

/** Renders an explanation line by line. It contains nothing that the endpoint sent. */
export function explanationContents(id: string, text: string): Contents {
  const lines = text.split('\n').filter((line) => line !== '');
  return {
    head: [],
    data: { id },
    list: 'lines',
    entries: lines.map((line, at) => ({ name: `line ${at + 1}`, text: line, data: line })),
  };
}

export const listSchema = z.strictObject({
  what: z.string(),
  matching: z.number(),
  total: z.number(),
  items: z.array(z.strictObject({ id: z.string(), text: z.string() })),
  ...answerFields,
});

export interface Row {
  readonly id: string;
  readonly text: string;
}

/** Lists the rows that contain the filter text, ignoring case. */
export function listContents(what: string, rows: readonly Row[], filter: string): Contents {
  const wanted = filter.toLowerCase();
  const found = rows.filter(({ id, text }) => `${id} ${text}`.toLowerCase().includes(wanted));
  return {
    head: [`${found.length} of ${counted(rows.length, 'entry', 'entries')} (${what})`],
    data: { what, matching: found.length, total: rows.length },
    list: 'items',
    entries: found.map(({ id, text }) => {
      const title = text.trim().replace(/ {2,}/g, ', ');
      return { name: id, text: `${id}: ${title}`, data: { id, text: title } };
    }),
    tail: found.length === 0 ? ['Nothing matches the filter.'] : [],
  };
}

export const verifySchema = z.strictObject({
  matches: z.boolean(),
  bytes: z.number(),
  tried: z.number(),
  findings: z.array(
    z.strictObject({ mistake: z.string().nullable(), title: z.string(), why: z.string(), fix: z.string() }),
  ),
  ...answerFields,
});

/** Explains whether the signature header matches the body, and if not, why. */
export function verification(input: Parameters<typeof explainSignature>[0]): Contents {
  const { explanation, header, matches, printed, tried } = explainSignature(input);
  const bytes = input.body.length;
  const finding = (mistake: string | null, title: string, why: string, fix: string): Entry => ({
    name: mistake ?? 'finding',
    text: [
      mistake === null ? title : `${title} (${mistake})`,
      ...(why === '' ? [] : [`   why: ${why}`]),
      ...(fix === '' ? [] : [`   fix: ${fix}`]),
    ].join('\n'),
    data: { mistake, title, why, fix },
  });
  const unknown = finding(
    null,
    `None of ${tried} known mistakes explains it.`,
    'It was made with another secret, or from another body.',
    'Compare the secrets on both sides, and check that the body holds exactly the received bytes.',
  );
  const explained = ({ fault, title, why, fix }: MistakeExplanation): Entry => finding(fault, title, why, fix);
  const causes = matches ? [] : [explanation === null ? unknown : explained(explanation)];
  return {
    head: [`The signature ${matches ? 'matches' : 'does not match'} (body of ${counted(bytes, 'byte')}).`],
    data: { matches, bytes, tried },
    list: 'findings',
    entries: [
      ...causes,
      ...(printed === null ? [] : [explained(printed)]),
      ...header.map(({ title }) => finding(null, `Header: ${title}`, '', '')),
    ],
  };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Decodes a body that was given as text or in base64.
 *
 * @throws HookproofError MCP_BAD_BASE64
 */
export function bodyBytes(body: string, encoding: 'text' | 'base64'): Buffer {
  if (encoding === 'text') return Buffer.from(body);
  const joined = body.replace(/\s/g, '');
  if (BASE64.test(joined)) return Buffer.from(joined, 'base64');
  throw new HookproofError('MCP_BAD_BASE64', '`body` is not base64', {
    hint: 'Give the received bytes in base64 with its padding, or use `encoding` "text".',
  });
}

export const doctorSchema = z.strictObject({
  url: z.string().nullable(),
  reached: z.boolean().nullable(),
  counts: z.strictObject({ problem: z.number(), advice: z.number(), info: z.number() }),
  skipped: z.array(z.string()),
  findings: z.array(
    z.strictObject({
      section: z.string(),
      severity: z.enum(['problem', 'advice', 'info']),
      code: z.string(),
      title: maybeUntrusted,
      detail: maybeUntrusted.optional(),
      fix: maybeUntrusted.optional(),
    }),
  ),
  ...answerFields,
});

const SEVERITIES = ['problem', 'advice', 'info'] as const;

/** Lists the findings of the doctor, problems first. */
export function doctorContents(document: DoctorDocument, marker: Marker): Contents {
  const { counts, interrupted, reached, sections } = document;
  const url = document.url === null ? null : visible(document.url).slice(0, 200);
  const findings = sections.flatMap((section) => section.findings.map((finding) => ({ section, finding })));
  const sorted = SEVERITIES.flatMap((wanted) => findings.filter(({ finding }) => finding.severity === wanted));
  const skipped = sections.filter(({ state }) => state === 'skipped').map(({ id }) => id);
  const problems = counts.problem === 0 ? 'no problems' : counted(counts.problem, 'problem');
  const others = [counts.advice > 0 && `${counts.advice} advice`, counts.info > 0 && counted(counts.info, 'note')];
  const found = [problems, ...others.filter((part) => part !== false)].join(', ');
  const connection = { true: 'reached', false: 'not reached', null: 'no connection was tried' }[`${reached}`];
  return {
    head: [
      `Doctor: ${url ?? 'local configuration'}, ${connection}: ${found}${interrupted ? ' (interrupted)' : ''}`,
      ...(skipped.length === 0 ? [] : [`Not examined: ${skipped.join(', ')}`]),
      'This is not a verdict: `run` gives one.',
    ],
    data: { url, reached, counts: { ...counts }, skipped },
    list: 'findings',
    entries: sorted.map(({ section, finding }) => findingEntry(section, finding, marker)),
  };
}

/** Matches the findings about certificates, which quote their names. */
const CERTIFICATE = /^certificate-/;

/** The sections whose findings may quote the endpoint, with the fields that do. */
const QUOTING: Readonly<Partial<Record<SectionId, readonly ('title' | 'detail' | 'fix')[]>>> = {
  tls: ['title', 'detail'],
  'client-certificate': ['title', 'detail', 'fix'],
  'extra-cas': ['title', 'detail'],
  delivery: ['title', 'detail'],
  http: ['title', 'detail'],
};

/** Findings of these sections that quote nothing but statuses and protocol versions. */
const IN_OWN_WORDS: Readonly<Partial<Record<SectionId, readonly string[]>>> = {
  tls: ['plain-http-on-port', 'not-tls', 'tls-too-old', 'tls-silent', 'untrusted', 'no-tls12', 'no-tls13'],
  'client-certificate': ['client-certificate-not-requested'],
  delivery: ['slow-answer', ...preflightFindings().flatMap(({ fault }) => (CERTIFICATE.test(fault) ? [] : [fault]))],
  http: [
    ...['slow-answer', 'http-silent', 'closes-without-answer', 'nothing-behind-proxy', 'path-unknown', 'rate-limited'],
    'http-fails',
  ],
};

function findingEntry(
  { facts, id }: DoctorSection,
  { code, detail, fix, severity, title }: DoctorSection['findings'][number],
  marker: Marker,
): Entry {
  // Without facts, nothing came from the endpoint.
  const isOwn = facts === null || IN_OWN_WORDS[id]?.includes(code) === true;
  const quotes = isOwn ? [] : (QUOTING[id] ?? []);
  const text = (field: 'title' | 'detail' | 'fix', value: string) =>
    quotes.includes(field) ? marker.text(asCalls(value), MAX_ADVICE) : value;
  const data = (field: 'title' | 'detail' | 'fix', value: string): string | JsonObject =>
    quotes.includes(field) ? marker.data(asCalls(value), MAX_ADVICE) : value;
  return {
    name: code,
    text: [
      `${severity} ${code} (${id}): ${text('title', title)}`,
      ...(detail === '' ? [] : [`   ${text('detail', detail)}`]),
      ...(fix === null ? [] : [`   fix: ${text('fix', fix)}`]),
    ].join('\n'),
    data: {
      section: id,
      severity,
      code,
      title: data('title', title),
      ...(detail !== '' && { detail: data('detail', detail) }),
      ...(fix !== null && { fix: data('fix', fix) }),
    },
  };
}
