import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { namedSecrets } from '../../harness/cli/conduct.ts';
import {
  createProgress,
  createRedactor,
  openEventStream,
  type Reporter,
  redactEvent,
  writeReports,
} from '../../harness/report/index.ts';
import { REPORTER_NAMES } from '../../harness/report/reporters.ts';
import { run } from '../../harness/run/index.ts';
import { type Endpoint, listen, serve } from '../endpoints/listen.ts';
import { bodyOf } from '../endpoints/verifying.ts';
import { inTurn, isItsTurn } from '../setup/turn.ts';
import { hookproof } from './hookproof.ts';

interface Credentials {
  readonly secret: string;
  readonly apiKey: string;
}

const random = (bytes: number) => randomBytes(bytes).toString('base64url');

/** Credentials of unusual shapes, with new values in every test run. */
const SHAPES: Readonly<Record<string, () => Credentials>> = {
  base64: () => ({ secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64') }),
  hex: () => ({ secret: randomBytes(32).toString('hex'), apiKey: randomBytes(16).toString('hex') }),
  'dollar, quotes, backslash': () => ({ secret: `$${random(9)}'"\\$(${random(9)})\``, apiKey: `"${random(9)}'$x\\` }),
  spaces: () => ({ secret: `${random(6)} ${random(6)}  ${random(6)}`, apiKey: `${random(8)} ${random(8)}` }),
  unicode: () => ({ secret: `schlüssel-${random(12)}-鍵`, apiKey: `key-${random(12)}` }),
  markup: () => ({ secret: `<${random(9)}>&amp;${random(9)}`, apiKey: `<b>${random(9)}</b>&` }),
  'short (8)': () => ({ secret: random(6), apiKey: random(6) }),
  'long (200)': () => ({ secret: random(150), apiKey: random(150) }),
  prefixed: () => ({ secret: `whsec_${randomBytes(24).toString('base64')}`, apiKey: `sk-live/${random(18)}+=` }),
};

const digestOf = (secret: string, body: Uint8Array) => createHmac('sha256', secret).update(body).digest();

/** The encodings of a valid signature. */
const spellings = (digest: Buffer) => [digest.toString('base64'), digest.toString('base64url'), digest.toString('hex')];

/** Returns what a text reveals, directly and inside any base64 in it, even when it is wrapped. */
function revealed(text: string, { secret, apiKey }: Credentials, bodies: readonly Buffer[]): string[] {
  // Most of these words occur in the output of several reporters.
  const encoded = new Set(text.match(/[A-Za-z0-9+/]{24,}={0,2}/g));
  const behind = [...encoded].map((word) => Buffer.from(word, 'base64').toString()).join('\n');
  const looked = [text, text.replace(/\s+/g, ''), behind];
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries({ secret, apiKey })) {
    const bytes = Buffer.from(value);
    const json = JSON.stringify(value).slice(1, -1);
    const forms = [value, value.replace(/\s+/g, ''), json, encodeURIComponent(value), bytes.toString('hex')];
    for (const form of [...forms, bytes.toString('base64'), bytes.toString('base64url')]) values.set(form, name);
  }
  const found = [...values].filter(([form]) => looked.some((one) => one.includes(form))).map(([, name]) => name);
  const words = new Set(text.match(/[A-Za-z0-9+/_-]{43,64}=?/g));
  const decoded = new Set(behind.match(/[A-Za-z0-9+/_-]{43,64}=?/g));
  for (const body of bodies)
    for (const right of spellings(digestOf(secret, body)))
      if (words.has(right) || decoded.has(right)) found.push('signature');
  return [...new Set(found)];
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

type Manner = 'verifies' | 'refuses' | 'accepts' | 'redirects' | 'long';

/** An endpoint that reveals everything it knows, in headers, body and reason phrase. */
async function revealing(manner: Manner, { secret, apiKey }: Credentials) {
  const bodies: Buffer[] = [];
  const endpoint = await serve((request, response) => {
    bodyOf(request).then(
      (body) => {
        bodies.push(body);
        const digest = digestOf(secret, body);
        const right = digest.toString('base64');
        const ok = request.headers['x-service-signature'] === right && request.headers['x-api-key'] === apiKey;
        const status = { verifies: ok ? 200 : 401, refuses: 401, accepts: 200, redirects: 302, long: ok ? 200 : 401 };
        response.writeHead(status[manner], `${latin1(secret)} ${apiKey} ${right}`, {
          'X-Secret': latin1(secret),
          'X-Key': apiKey,
          'X-Expected': spellings(digest).join(' '),
          'X-Echo': JSON.stringify(request.headers).replace(/[^ -~]/g, '?'),
          ...(manner === 'redirects' ? { Location: `/?s=${encodeURIComponent(secret)}&k=${apiKey}&x=${right}` } : {}),
        });
        const said = { secret, apiKey, wanted: spellings(digest), headers: request.rawHeaders, body: body.toString() };
        if (manner !== 'long') {
          response.end(`${secret} ${apiKey} ${right}\n${JSON.stringify(said)}\n${body}`);
          return;
        }
        // Recorded bodies are truncated, here in the middle of a value.
        const value = bodies.length % 2 === 0 ? secret : apiKey;
        response.end(`${'x'.repeat(4096 - Buffer.byteLength(value) + 1)}${value}`);
      },
      () => request.destroy(),
    );
  });
  return { endpoint, bodies };
}

const REPORTERS: readonly Reporter[] = REPORTER_NAMES.map((name) => ({
  name,
  file: null,
}));

/** Performs a run in this process, and returns the progress and the output of every reporter. */
async function allOutput(url: string, { secret, apiKey }: Credentials, suites: readonly string[]): Promise<string> {
  const redactor = createRedactor({ values: namedSecrets([secret, apiKey]) });
  let said = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      said += chunk;
      done();
    },
  });
  const progress = createProgress({ stream, isTTY: true, columns: 100, color: true });
  const events = openEventStream(REPORTERS, { stdout: stream, cwd: tmpdir() });
  const document = await run({
    partner: { url, signing: { secret }, apiKey: { value: apiKey } },
    selection: { suites: [...suites] },
    limits: { timeoutMs: 1000, recoveryMs: 100 },
    evidence: true,
    onSignature: (signature) => redactor.addSignature(signature),
    listener: (event) => {
      const clean = redactEvent(event, redactor);
      events?.write(clean);
      progress(clean);
    },
  });
  await writeReports(document, REPORTERS, { stdout: stream, cwd: tmpdir(), redactor });
  return said;
}

const open: Endpoint[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

const MANNERS: readonly Manner[] = ['verifies', 'refuses', 'accepts', 'redirects', 'long'];
/** Receivers that reveal secrets in different ways. */
const REVEALING: readonly Manner[] = ['verifies', 'long'];
/** Suites whose probes contain something made from a credential. */
const FEW = ['combination', 'api-key'];
const SUITES = ['signature', 'api-key', 'combination', 'leaks'];

describe('a run against an endpoint that reveals everything', () => {
  const others = Object.keys(SHAPES).filter((shape) => shape !== 'base64');
  const cases = [
    ...inTurn(MANNERS, MANNERS.length).map((manner) => ({ shape: 'base64', manner, suites: SUITES })),
    ...others.flatMap((shape, subject) =>
      REVEALING.filter((_, at) => isItsTurn(subject, 2 * at, 4)).map((manner) => ({ shape, manner, suites: FEW })),
    ),
  ];

  it.each(cases)('prints no secret, key or valid signature: $shape, $manner', async (given) => {
    const credentials = SHAPES[given.shape]!();
    const { endpoint, bodies } = await revealing(given.manner, credentials);
    open.push(endpoint);
    const said = await allOutput(endpoint.url, credentials, given.suites);
    expect(bodies.length).toBeGreaterThan(0);
    expect(said.length).toBeGreaterThan(1000);
    expect(revealed(said, credentials, bodies)).toEqual([]);
    // Most of a credential must not appear either.
    const { secret, apiKey } = credentials;
    const most = [secret, apiKey].map((value) => value.slice(0, Math.max(6, value.length - 4)));
    expect(most.map((part) => said.includes(part))).toEqual([false, false]);
  });

  it('is a real test: the same document without redaction reveals all three', async () => {
    const credentials = SHAPES.base64!();
    const { endpoint, bodies } = await revealing('verifies', credentials);
    open.push(endpoint);
    const document = await run({
      partner: {
        url: endpoint.url,
        signing: { secret: credentials.secret },
        apiKey: { value: credentials.apiKey },
      },
      selection: { suites: ['combination'] },
      evidence: true,
    });
    expect(revealed(JSON.stringify(document), credentials, bodies).toSorted()).toEqual([
      'apiKey',
      'secret',
      'signature',
    ]);
  });

  it('reveals nothing of an answer that is not HTTP and echoes the request', async () => {
    const credentials = SHAPES.base64!();
    const { secret, apiKey } = credentials;
    const endpoint = await listen(
      createTcp((socket) => socket.once('data', (data) => socket.end(`${secret} ${apiKey} ${data}`))),
    );
    open.push(endpoint);
    expect(revealed(await allOutput(endpoint.url, credentials, SUITES), credentials, [])).toEqual([]);
  });
});

describe('the program as a process', () => {
  const credentials = SHAPES['dollar, quotes, backslash']!();
  const { secret, apiKey } = credentials;
  const env = { HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: apiKey };

  it('run: stdout, stderr and files', async () => {
    const { endpoint, bodies } = await revealing('verifies', credentials);
    open.push(endpoint);
    const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
    const args = ['run', endpoint.url, '--evidence', '-o', folder];
    const { stdout, stderr } = await hookproof(args, { env, cwd: folder });
    const files = await Promise.all(
      ['run.json', 'junit.xml', 'report.html'].map((name) => readFile(join(folder, name), 'utf8')),
    );
    await rm(folder, { recursive: true });
    expect(revealed([stdout, stderr, ...files].join('\n'), credentials, bodies)).toEqual([]);
  });

  it.each([[[]], [['--json']], [['--dry-run']]])('trigger %j', async (flags) => {
    const { endpoint, bodies } = await revealing('verifies', credentials);
    open.push(endpoint);
    const { stdout, stderr } = await hookproof(['trigger', 'onboarding', endpoint.url, ...flags], { env });
    // A dry run shows what it would send only in its output.
    const unsent = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => Buffer.from(line));
    expect(stdout.length).toBeGreaterThan(100);
    expect(revealed(stdout + stderr, credentials, [...bodies, ...unsent])).toEqual([]);
  });

  it('errors about configuration, files and names', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
    const yaml = join(folder, 'bad.yaml');
    await writeFile(
      yaml,
      `url: https://partner.example/\nhmac:\n  secret: ${JSON.stringify(secret)}\n  ${'secrte'}: x\n`,
    );
    const wrong = [
      ['run', 'no-url'],
      ['run', 'http://127.0.0.1:1/', '--header', `X-API-Key: ${apiKey}`],
      ['run', 'http://127.0.0.1:1/', '--header', `X-Bad\u0001: ${apiKey}`],
      ['run', 'http://127.0.0.1:1/', '--scenario', 'nothing/such'],
      ['run', '--config', yaml],
      ['config', 'show', '--config', yaml],
      ['config', 'show', 'https://partner.example/'],
      ['verify', yaml, '--signature', 'nonsense'],
    ];
    const said = await Promise.all(wrong.map((args) => hookproof(args, { env })));
    await rm(folder, { recursive: true });
    expect(said.map(({ stdout, stderr }) => revealed(stdout + stderr, credentials, []))).toEqual(wrong.map(() => []));
    expect(said.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2, 0, 1]);
  });

  it('verify explains credentials instead of a signature without printing them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
    const file = join(folder, 'body.json');
    const body = Buffer.from(JSON.stringify({ id: random(6) }));
    await writeFile(file, body);
    const said = await Promise.all(
      [secret, apiKey, digestOf(secret, body).toString('hex'), Buffer.from(secret).toString('base64')].flatMap(
        (value) =>
          [[], ['--json']].map((flags) => hookproof(['verify', file, `--signature=${value}`, ...flags], { env })),
      ),
    );
    await rm(folder, { recursive: true });
    expect(said.map(({ stdout, stderr }) => revealed(stdout + stderr, credentials, [body]))).toEqual(
      said.map(() => []),
    );
    expect(said.every(({ code }) => code === 1)).toBe(true);
  });
});
