import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HookproofError } from '../../../contract/index.ts';
import {
  createProgress,
  createRedactor,
  redactDocument,
  redactError,
  redactEvent,
  renderEvent,
  renderHuman,
  renderJson,
  renderJunit,
  writeReports,
} from '../../../harness/report/index.ts';
import { type ResultDocument, type RunEvent, resultDocument } from '../../../harness/report/result-document.ts';
import {
  BASELINE,
  diagnosisWith,
  documentOf,
  documentWith,
  exchangeWith,
  resultWith,
  textStream,
} from './documents.ts';

/** The fields with a closed list of values. */
const CLOSED = new Set('schemaVersion features profile verdict level problem relation role base64'.split(' '));

/** Creates a document with every part of the schema. */
function fullDocument(): ResultDocument {
  const document = documentOf('x');
  const binary = { length: 4, text: null, base64: 'AAECAw==', truncated: true };
  const exchanges = [
    exchangeWith({ response: { status: 401, headers: [['Server', 'x']], body: binary } }),
    exchangeWith({ response: null, error: { kind: 'reset', phase: 'answer', code: 'ECONNRESET', message: 'x' } }),
  ];
  return {
    ...document,
    diagnosis: [diagnosisWith({ stack: { name: 'express', source: 'Server: x' } })],
    baseline: { ...BASELINE, unfilled: ['a'], notJudged: ['a'] },
    results: [...document.results, resultWith({ verdict: 'fail', exchanges })],
  };
}

/** Applies `plant` to every string except those from a closed list. */
function planted(value: unknown, key: string, plant: (text: string) => string): unknown {
  if (typeof value === 'string') {
    if (key !== 'base64') return plant(value);
    return Buffer.concat([Buffer.from([0xff]), Buffer.from(plant('x')), Buffer.from([0xfe])]).toString('base64');
  }
  if (Array.isArray(value)) return value.map((item) => planted(item, key, plant));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const kept = (CLOSED.has(name) && name !== 'base64') || (key === 'tool' && name === 'name');
      return [name, kept ? item : planted(item, name, plant)];
    }),
  );
}

function encodings(value: string): string[] {
  const bytes = Buffer.from(value);
  const base64 = bytes.toString('base64');
  const hex = bytes.toString('hex');
  return [
    value,
    base64,
    base64.replace(/=+$/, ''),
    bytes.toString('base64url'),
    hex,
    hex.toUpperCase(),
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  ];
}

function signatureEncodings(base64: string): string[] {
  const digest = Buffer.from(base64, 'base64');
  const hex = digest.toString('hex');
  return [
    base64,
    base64.slice(0, -1),
    digest.toString('base64url'),
    hex,
    hex.toUpperCase(),
    encodeURIComponent(base64),
  ];
}

/** Returns the `forms` that the output contains, even across line breaks. */
function leaked(output: string, forms: readonly string[]): string[] {
  const packed = output.replace(/\s+/g, '');
  return forms.filter((form) => output.includes(form) || packed.includes(form.replace(/\s+/g, '')));
}

const secretText = fc.oneof(
  fc.uint8Array({ minLength: 16, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.uint8Array({ minLength: 16, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  fc
    .string({ unit: fc.constantFrom(...'ABcd12 "\'\\/+<>&=%äß漢'), minLength: 20, maxLength: 40 })
    .map((text) => `q${text}Z`),
);

const plan = fc.record({
  secrets: fc.uniqueArray(secretText, { minLength: 1, maxLength: 3 }),
  salt: fc.nat(10_000),
  around: fc.constantFrom(['', ''], [' ', ' '], ['sha256=', ';'], ['"', '"'], ['Bearer ', '\n']),
});

describe('no output contains a secret, a key or a valid signature,', () => {
  it('wherever they are, in any encoding', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ secrets, salt, around: [before, after] }) => {
        const signatures = Array.from({ length: 3 }, () => randomBytes(32).toString('base64'));
        const forms = [...secrets.flatMap(encodings), ...signatures.flatMap(signatureEncodings)];
        let next = salt;
        const plant = (text: string): string => {
          next += 1;
          return `${text}${before}${forms[next % forms.length]}${after}`;
        };
        const redactor = createRedactor({
          values: secrets.map((value, index) => ({ name: `secret ${index}`, value })),
        });
        for (const signature of signatures) redactor.addSignature(signature);

        const dirty = planted(fullDocument(), '', plant) as ResultDocument;
        expect(leaked(renderJson(dirty), forms)).not.toEqual([]);
        const clean = redactDocument(dirty, redactor);

        // The result is still a valid document in which only strings have changed, and a second pass changes nothing.
        expect(resultDocument.parse(clean)).toEqual(clean);
        expect(planted(clean, '', () => '')).toEqual(planted(dirty, '', () => ''));
        expect(redactDocument(clean, redactor)).toEqual(clean);

        const { stdout, text } = textStream();
        const to = { stdout, cwd: '.', redactor };
        for (const name of ['human', 'json', 'junit', 'ndjson', 'html', 'badge'] as const) {
          await writeReports(dirty, [{ name, file: null }], to);
        }
        await writeReports(dirty, [{ name: 'human', file: null }], {
          ...to,
          terminal: { columns: 40, color: true, unicode: false },
        });
        for (const result of clean.results) {
          for (const exchange of result.exchanges) {
            stdout.write(Buffer.from(exchange.response?.body.base64 ?? '', 'base64').toString('latin1'));
          }
        }

        const events: RunEvent[] = [
          { type: 'run-started', url: plant('u'), seed: plant('s'), planned: 9, startedAt: plant('now') },
          ...dirty.results.map((result): RunEvent => ({ type: 'scenario-finished', finished: 1, planned: 9, result })),
          { type: 'notice', message: plant('waiting') },
          { type: 'run-finished', document: dirty },
        ];
        const progress = createProgress({ stream: stdout, isTTY: false, color: false });
        for (const event of events) {
          const redacted = redactEvent(event, redactor);
          progress(redacted);
          stdout.write(renderEvent(redacted));
        }

        const cause = new AggregateError([new Error(plant('inner')), plant('text')], plant('outer'));
        const error = new HookproofError('CONFIG_BAD', plant('message'), { hint: plant('hint'), cause });
        stdout.write(inspect(redactError(error, redactor), { depth: 9 }));

        expect(leaked(text(), forms)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it('also when the secrets are short, in everything that a run has observed', () => {
    const short = fc
      .uint8Array({ minLength: 6, maxLength: 9 })
      .map((bytes) => `K${Buffer.from(bytes).toString('base64url')}`);
    fc.assert(
      fc.property(short, fc.nat(20), (value, salt) => {
        const forms = encodings(value);
        const form = forms[salt % forms.length] ?? value;
        const redactor = createRedactor({ values: [{ name: 'API key', value }] });
        const body = { length: 1, text: `{"key":"${form}"}`, base64: null, truncated: false };
        const result = resultWith({
          verdict: 'fail',
          observed: `saw ${form}`,
          reason: `${form} came back`,
          reproduce: { curl: `curl -H 'X-API-Key: ${form}'`, command: `hookproof run 'http://h/?k=${form}'` },
          exchanges: [exchangeWith({ response: { status: 200, headers: [['X-Echo', form]], body } })],
        });
        const target = { url: `http://127.0.0.1/?key=${form}`, features: [], tls: null };
        const diagnosis = [diagnosisWith({ why: `Its answer contains "${form}".` })];
        const document = documentWith({ results: [result], target, advice: [form], diagnosis });
        const clean = redactDocument(document, redactor);
        const terminal = { columns: 80, color: false, unicode: true };
        expect(leaked(renderHuman(clean, terminal) + renderJson(clean) + renderJunit(clean), forms)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('and in a field that the schema does not know, whatever its name', () => {
    const value = 'short';
    const redactor = createRedactor({ values: [{ name: 'API key', value }] });
    const names = ['type', 'level', 'title', 'role', 'problem', 'constructor'];
    const added = Object.fromEntries(names.map((name) => [name, { kind: [`key=${value}`] }]));
    const document = { ...documentWith(), added, results: [{ ...resultWith(), added }] };
    expect(JSON.stringify(redactDocument(document, redactor))).not.toContain(value);
    expect(JSON.stringify(redactEvent({ type: 'notice', message: 'x', added } as RunEvent, redactor))).not.toContain(
      value,
    );
  });

  it('and the document stays valid when the secrets are words of the schema and of the catalogue', () => {
    const words = 'pass fail must hmac probe conformant hookproof staging signature 2026 type'.split(' ');
    const redactor = createRedactor({ values: words.map((value) => ({ name: 'API key', value })) });
    const document = documentWith({
      profile: 'staging',
      results: [resultWith({ verdict: 'fail', exchanges: [exchangeWith()] })],
    });
    const clean = redactDocument(document, redactor);
    expect(resultDocument.parse(clean)).toEqual(clean);
    expect(clean.results[0]).toMatchObject({
      id: 'signature/missing',
      title: 'Rejects a delivery without a signature',
    });
    expect(clean.startedAt).toBe(document.startedAt);
  });
});

describe('a redacted error', () => {
  const value = randomBytes(24).toString('base64');
  const redactor = createRedactor({ values: [{ name: 'API key', value }] });

  it('keeps its type and every cause', () => {
    const cause = Object.assign(new TypeError(`bad ${value}`), { code: 'ERR_INVALID_CHAR', header: value });
    const error = new HookproofError('CONFIG_HEADER', `no ${value}`, { hint: `not ${value}`, kind: 'internal', cause });
    const redacted = redactError(error, redactor);
    expect(redacted).toBeInstanceOf(HookproofError);
    expect(redacted).toMatchObject({
      code: 'CONFIG_HEADER',
      message: 'no [redacted:API key]',
      hint: 'not [redacted:API key]',
      kind: 'internal',
      cause: { name: 'TypeError', message: 'bad [redacted:API key]', code: 'ERR_INVALID_CHAR' },
    });
    expect(redacted.stack).toContain('leaks.slow.test.ts');
    expect(inspect(redacted, { depth: 9 })).not.toContain(value);
  });

  it('is made from any thrown value, including circular causes', () => {
    expect(redactError(`thrown ${value}`, redactor).message).toBe('thrown [redacted:API key]');
    const circle = new Error('circle');
    circle.cause = circle;
    expect(redactError(circle, redactor).message).toBe('circle');
  });
});
