/**
 * Checks that no output shows a secret in any spelling. Run by `npm run proofs -- secrets`. Each spelling of three
 * secrets is put wherever an endpoint or a sender can put text, and every output is searched for it. A second pass with
 * a program that does not know the secrets, and therefore does not redact them, shows that each output would contain
 * the spelling, and that the search would find it.
 *
 * The finder shares no code with redaction: it undoes the format of an output and compares letters and digits.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { namedSecrets } from '../../../harness/cli/conduct.ts';
import {
  createProgress,
  createRedactor,
  openEventStream,
  redactEvent,
  writeReports,
} from '../../../harness/report/index.ts';
import { REPORTER_NAMES } from '../../../harness/report/reporters.ts';
import type { ResultDocument, RunEvent } from '../../../harness/report/result-document.ts';
import { run } from '../../../harness/run/index.ts';
import { createLogger, startInspector, startReceiver } from '../../../receiver/index.ts';
import { hookproof } from '../../cli/hookproof.ts';
import { type Endpoint, serve } from '../../endpoints/listen.ts';
import { bodyOf } from '../../endpoints/verifying.ts';
import { documentOf } from '../../harness/report/documents.ts';
import { SPELLINGS } from './spellings.ts';

interface Credentials {
  readonly secret: string;
  readonly apiKey: string;
  /** The secret in the query of the URL. */
  readonly token: string;
}

const credentials = (): Credentials => ({
  secret: randomBytes(32).toString('base64'),
  apiKey: `sk_live-${randomBytes(18).toString('base64url')}`,
  token: `horse'${randomBytes(12).toString('hex')}/staple+`,
});

/** A spelling of one of the secrets. */
interface Planted {
  readonly what: string;
  readonly text: string;
}

const own = credentials();
/** The credentials that the program knows in checks where it should redact nothing. */
const others = credentials();
const PLANTED: readonly Planted[] = Object.entries(own).flatMap(([name, value]: [string, string]) =>
  Object.entries(SPELLINGS).map(([spelling, spell]) => ({ what: `${name}, ${spelling}`, text: spell(value) })),
);

const letters = (text: string): string => text.replace(/[^A-Za-z0-9]/g, '');
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'" };
const withoutEntities = (text: string): string =>
  text.replace(
    /&(amp|lt|gt|quot|apos|#39|#x27);/g,
    (all, name: string) => ENTITIES[name] ?? (name === '#x27' ? "'" : all),
  );
const withoutJson = (text: string): string =>
  text.replace(/\\(["\\/])|\\u([0-9a-f]{4})/gi, (_, plain: string | undefined, code: string) =>
    plain === undefined ? String.fromCharCode(Number.parseInt(code, 16)) : plain,
  );
/** Escapes invisible characters as terminals, XML and logs do. */
const escaped = (text: string): string =>
  text.replace(/[\n\r\x80-\x9f\u00ad\u200b]/g, (one) => {
    if (one === '\n' || one === '\r') return one === '\n' ? '\\n' : '\\r';
    return one === '\u200b' ? '\\u200b' : `\\x${one.charCodeAt(0).toString(16)}`;
  });

/** Decodes text as header values are decoded. */
const misread = (text: string): string => Buffer.from(text).toString('latin1');

/** Returns a text in the formats of the outputs. */
const shownAs = (text: string): string[] => [
  ...[text, misread(text), escaped(text), escaped(misread(text))],
  // GitHub and XML use other escapes.
  ...[text.replaceAll('%', '%25'), text.replaceAll('\r', '&#13;').replaceAll('\n', '&#10;')],
];

/** Returns the spellings that an output contains. */
function found(output: string, planted: readonly Planted[]): Planted[] {
  // Bodies that are not UTF-8 are in base64.
  const base64 = [...output.matchAll(/[A-Za-z0-9+/]{40,}={0,2}/g)].map(([run]) =>
    Buffer.from(run, 'base64').toString(),
  );
  const readings = [output, withoutEntities(output), withoutJson(output), withoutJson(withoutJson(output)), ...base64];
  const looked = readings.map(letters).join('\n');
  return planted.filter(({ text }) => shownAs(text).some((one) => looked.includes(letters(one))));
}

const rows = new Map<string, { tried: Planted[]; redacted: Planted[]; raw: Planted[] }>();

function note(output: string, kind: 'redacted' | 'raw', text: string, planted: readonly Planted[]): void {
  const row = rows.get(output) ?? { tried: [], redacted: [], raw: [] };
  rows.set(output, row);
  if (kind === 'redacted') row.tried.push(...planted);
  row[kind].push(...found(text, planted));
}

const KINDS = ['redacted', 'raw'] as const;
const redactorFor = (kind: (typeof KINDS)[number]) =>
  createRedactor({ values: namedSecrets(kind === 'redacted' ? Object.values(own) : Object.values(others)) });

function textStream() {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  return { stream, text: () => written };
}

/** Renders a document with every reporter, as a job summary, and as events and progress of a run. */
async function reportsOf(document: ResultDocument, kind: (typeof KINDS)[number]): Promise<Map<string, string>> {
  const redactor = redactorFor(kind);
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-secrets-'));
  const outputs = new Map<string, string>();
  const summaryFile = join(folder, 'summary.md');
  for (const name of REPORTER_NAMES) {
    const { stream, text } = textStream();
    const summary = name === 'github' ? { summaryFile } : {};
    await writeReports(document, [{ name, file: null }], { stdout: stream, cwd: folder, redactor, ...summary });
    outputs.set(name, text());
  }
  outputs.set('job summary', await readFile(summaryFile, 'utf8'));
  const progress = textStream();
  const show = createProgress({ stream: progress.stream, isTTY: true, columns: 200, color: false });
  const events = textStream();
  const stream = await openEventStream([{ name: 'ndjson', file: null }], { stdout: events.stream, cwd: folder });
  const told: RunEvent[] = [
    { type: 'run-started', url: document.target.url, seed: document.seed, planned: 9, startedAt: document.startedAt },
    ...document.results.map((result): RunEvent => ({ type: 'scenario-finished', finished: 1, planned: 9, result })),
    { type: 'notice', message: document.seed },
    { type: 'run-finished', document },
  ];
  for (const event of told.map((one) => redactEvent(one, redactor))) {
    show(event);
    stream?.write(event);
  }
  outputs.set('event stream', events.text());
  outputs.set('progress', progress.text());
  await rm(folder, { recursive: true });
  return outputs;
}

/** Puts each spelling into every field of a document. */
async function documents(): Promise<void> {
  for (const planted of PLANTED) {
    for (const kind of KINDS) {
      const outputs = await reportsOf(documentOf(planted.text), kind);
      for (const [name, text] of outputs) note(`report: ${name}`, kind, text, [planted]);
    }
  }
}

/** Returns groups of spellings that fit into one answer. Spellings with line breaks are only in the body. */
function groups(): Planted[][] {
  const all: Planted[][] = [[]];
  let length = 0;
  for (const planted of PLANTED) {
    length += planted.text.length + 2;
    if (length > 3_500) {
      all.push([]);
      length = planted.text.length;
    }
    all.at(-1)?.push(planted);
  }
  return all;
}

const inHeader = ({ text }: Planted) => !/[\r\n]/.test(text) && text.length < 900;

/**
 * Starts an endpoint that verifies with these credentials, and puts a group into the reason phrase, the headers and the
 * body.
 */
function revealing({ secret, apiKey }: Credentials, choose: (nth: number) => readonly Planted[]): Promise<Endpoint> {
  let nth = 0;
  return serve((request, response) => {
    bodyOf(request).then(
      (body) => {
        const group = choose(nth);
        nth += 1;
        const right = createHmac('sha256', secret).update(body).digest('base64');
        const ok = request.headers['x-service-signature'] === right && request.headers['x-api-key'] === apiKey;
        const words = group.filter(inHeader).map(({ text }) => misread(text));
        const lines = words.map((text, at): [string, string] => [`X-${at}`, text]);
        const kept = lines.filter(
          (_, at) =>
            lines
              .slice(0, at + 1)
              .flat()
              .join('').length < 7_000,
        );
        const headers = Object.fromEntries([...kept, ['Location', `/${words[0]}`], ['Server', words[0] ?? '']]);
        response.writeHead(ok ? 200 : 401, words[0] ?? '', headers);
        response.end(group.map(({ text }) => `<${text}>`).join('\n'));
      },
      () => request.destroy(),
    );
  });
}

const knownTo = (kind: (typeof KINDS)[number]): Credentials => (kind === 'redacted' ? own : others);

async function runs(): Promise<void> {
  const all = groups();
  for (const kind of KINDS) {
    const known = knownTo(kind);
    const endpoint = await revealing(known, (nth) => all[nth % all.length] ?? []);
    const document = await run({
      partner: { url: endpoint.url, signing: { secret: known.secret }, apiKey: { value: known.apiKey } },
      selection: { suites: ['signature', 'api-key'] },
      limits: { timeoutMs: 2000, recoveryMs: 100, concurrency: 1 },
      evidence: true,
    });
    await endpoint.close();
    const outputs = await reportsOf(document, kind);
    for (const name of ['json', 'ndjson', 'event stream']) {
      note(`run: ${name}`, kind, outputs.get(name) ?? '', PLANTED);
    }
  }
}

/**
 * Runs the compiled program, with one group in each answer. Spellings that do not fit into a line of text are searched
 * for in the JSON.
 */
async function commands(): Promise<void> {
  for (const group of groups()) {
    for (const kind of KINDS) {
      const known = knownTo(kind);
      const env = { HOOKPROOF_SECRET: known.secret, HOOKPROOF_API_KEY: known.apiKey };
      const endpoint = await revealing(known, () => group);
      const url = `${endpoint.url}?token=${encodeURIComponent(known.token)}`;
      const said = async (...args: string[]) => {
        const { stdout, stderr } = await hookproof([...args, url], { env });
        return stdout + stderr;
      };
      note('trigger --json', kind, await said('trigger', 'onboarding', '--json'), group);
      await endpoint.close();
    }
  }
  for (const planted of PLANTED.filter(inHeader)) {
    for (const kind of KINDS) {
      const known = knownTo(kind);
      const env = { HOOKPROOF_SECRET: known.secret, HOOKPROOF_API_KEY: known.apiKey };
      const endpoint = await revealing(known, () => [planted]);
      const url = `${endpoint.url}?token=${encodeURIComponent(known.token)}`;
      const said = async (...args: string[]) => {
        const { stdout, stderr } = await hookproof([...args, url], { env });
        return stdout + stderr;
      };
      // The text shows the first 300 characters of a body, and fewer of a header.
      if (planted.text.length < 280) note('trigger', kind, await said('trigger', 'onboarding'), [planted]);
      if (Buffer.byteLength(planted.text) < 100) {
        note('doctor', kind, await said('doctor', '--timeout', '2s'), [planted]);
        note('doctor --json', kind, await said('doctor', '--json', '--timeout', '2s'), [planted]);
      }
      await endpoint.close();
    }
  }
}

/** Checks the URL itself, in texts about it and in references to it. */
async function urls(): Promise<void> {
  const planted = PLANTED.filter(({ what }) => what === 'token, percent-encoding');
  for (const kind of KINDS) {
    const endpoint = await revealing(own, () => []);
    const env = { HOOKPROOF_SECRET: own.secret, HOOKPROOF_API_KEY: own.apiKey };
    // Without redaction, the token is in the path, which is shown.
    const token = encodeURIComponent(own.token);
    const url = kind === 'redacted' ? `${endpoint.url}?token=${token}` : `${endpoint.url}/${token}`;
    const lists: Readonly<Record<string, readonly string[]>> = {
      run: ['run', '--suite', 'valid', '--timeout', '2s', '--reporter', 'json', '--reporter', 'human=/dev/stderr'],
      'run --dry-run': ['run', '--dry-run'],
      'run --dry-run --json': ['run', '--dry-run', '--json'],
      'config show': ['config', 'show'],
      'trigger --dry-run': ['trigger', 'onboarding', '--dry-run'],
      doctor: ['doctor', '--timeout', '2s'],
    };
    for (const [name, args] of Object.entries(lists)) {
      const { stdout, stderr } = await hookproof([...args, url], { env });
      note(`URL: ${name}`, kind, stdout + stderr, planted);
    }
    await endpoint.close();
  }
}

/**
 * Checks a receiver with an inspector. The sender puts each spelling into the headers, the URL and the body of a
 * delivery.
 */
async function inspector(): Promise<void> {
  for (const kind of KINDS) {
    const known = knownTo(kind);
    const settings = { signing: { secrets: [known.secret] }, apiKey: { keys: [known.apiKey, known.token] } };
    const logged = textStream();
    const inspected = await startInspector(settings);
    const logger = createLogger({ destination: { write: (line: string) => void logged.stream.write(line) } });
    const receiver = await startReceiver({ ...settings, observers: [inspected.observe], logger });
    const read = async (path: string) => (await fetch(new URL(path, inspected.url))).text();
    let last = '';
    for (const [at, planted] of PLANTED.entries()) {
      const line = Buffer.from(planted.text.replace(/[\r\n]/g, ' ')).toString('latin1');
      const body = JSON.stringify({ id: planted.text, type: planted.text, data: { transactionId: planted.text } });
      await fetch(`${receiver.url}?a=${encodeURIComponent(planted.text)}`, {
        method: 'POST',
        headers: { 'Content-Type': `application/json; a=${line}`, 'X-Note': line, 'X-API-Key': known.apiKey },
        body,
      }).then((answer) => answer.text());
      const events = await fetch(new URL(`events?after=${last}`, inspected.url));
      const reader = events.body?.getReader();
      let seen = '';
      while (!seen.includes(`"number":${at + 1},`)) seen += Buffer.from((await reader?.read())?.value ?? []).toString();
      await reader?.cancel();
      const id = new RegExp(`"id":"([^"]+)","number":${at + 1},`).exec(seen)?.[1] ?? '';
      last = id;
      const view = await read(`deliveries/${id}`);
      const [event = ''] = seen.split('\n\n').filter((one) => one.includes(`"id":"${id}"`));
      note('inspector: view', kind, view, [planted]);
      note('inspector: download', kind, await read(`deliveries/${id}/body`), [planted]);
      // 200 is the number of characters of an id that are shown.
      if (planted.text.length < 200) note('inspector: event stream', kind, event, [planted]);
    }
    note('receiver: log', kind, logged.text(), PLANTED);
    await receiver.close();
    await inspected.close();
  }
}

/** Outputs that never show foreign text. */
const SHOWS_NOTHING = new Set(['report: badge', 'receiver: log']);

const steps = { documents, runs, commands, urls, inspector };
const wanted = process.argv.slice(2);
let failed = false;
for (const [name, step] of Object.entries(steps)) if (wanted.length === 0 || wanted.includes(name)) await step();
for (const [output, { tried, redacted, raw }] of rows) {
  const missing = SHOWS_NOTHING.has(output) ? [] : tried.filter((planted) => !raw.includes(planted));
  const ok = redacted.length === 0 && missing.length === 0;
  failed ||= !ok;
  const figures = `${redacted.length} of ${tried.length} found; without redaction ${raw.length}`;
  process.stdout.write(`${ok ? '✓' : '✗'} ${output.padEnd(26)} ${figures}\n`);
  for (const { what } of redacted) process.stdout.write(`    shown: ${what}\n`);
  for (const { what } of missing) process.stdout.write(`    not shown without redaction: ${what}\n`);
}
process.stdout.write(
  `${Object.keys(SPELLINGS).length} spellings, ${Object.keys(own).length} secrets, ${rows.size} outputs\n`,
);
process.exit(failed ? 1 : 0);
