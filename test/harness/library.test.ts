/** A run against an app in the same process, and the matcher for Vitest. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, type RunOptions, renderHtml, renderHuman, renderJunit, run } from '../../harness/index.ts';
import '../../harness/vitest/index.ts';
import { createReceiver } from '../../receiver/index.ts';
import { SECRET } from '../receiver/deliveries.ts';

const { app } = createReceiver({ signing: { secrets: [SECRET] }, handlers: {} });
/** An app that accepts everything. */
const careless = express().use((_req, res) => void res.json({ status: 'accepted' }));
const partner = { signing: { secret: SECRET } };
const selection = { scenarios: ['valid/plain', 'signature/missing', 'signature/other-secret'] };

describe('run({ app })', () => {
  it('listens while the run lasts, for a listener and for a server', async () => {
    const server = createServer(app);
    const documents = [await run({ app, partner, selection }), await run({ app: server, partner, selection })];
    expect(documents.map((document) => [exitCodeOf(document), document.counts.pass])).toEqual([
      [0, 3],
      [0, 3],
    ]);
    expect(server.listening).toBe(false);
  });

  it('leaves a server that listens already as it is', async () => {
    const server = createServer(app);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const document = await run({ app: server, path: '/any?x=1', partner, selection });
    const { port } = server.address() as AddressInfo;
    expect([exitCodeOf(document), server.listening]).toEqual([0, true]);
    expect(document.target.url).toContain(`:${port}/any`);
    await new Promise((closed) => server.close(closed));
  });

  it('prints no command with the port, which is gone', async () => {
    const document = await run({ app: careless, partner, selection, seed: 's' });
    expect(exitCodeOf(document)).toBe(1);
    const { port } = new URL(document.target.url);
    const report = renderHuman(document, { columns: 100, color: false, unicode: true, verbose: true });
    expect(report).toContain("check  scenarios: ['signature/missing', 'signature/other-secret']");
    for (const text of [report, renderJunit(document), await renderHtml(document)]) {
      expect(text).not.toMatch(new RegExp(`(?:hookproof (?:run|doctor)|curl)[^\\n]*${port}`));
    }
  });

  it('plays the whole catalogue without credentials against a receiver that needs none', {
    timeout: 60_000,
  }, async () => {
    const { counts, verdict } = await run({ open: true, app: createReceiver({ open: true, handlers: {} }).app });
    expect({ verdict, errors: counts.harnessError, failures: counts.fail }).toEqual({
      ...{ verdict: 'conformant', errors: 0, failures: 0 },
    });
  });

  it.each<[object, string, string]>([
    [{ app, suites: [] }, 'there is no option suites', 'The options are app, path'],
    [{ app, selection: { scenario: [] } }, 'no option selection.scenario', 'Did you mean selection.scenarios?'],
    [{ app, partner: { signin: {} } }, 'no option partner.signin', 'Did you mean partner.signing?'],
    [{ partner: { url: 'http://127.0.0.1:1/' }, timeout: 5 }, 'no option timeout', 'The options are partner'],
    [{ partner: { url: 'http://127.0.0.1:1/' }, limits: { timeoutms: 5 } }, 'limits.timeoutms', 'limits.timeoutMs?'],
    [{}, 'neither `partner.url` nor `app` is given', 'run({ app })'],
    [{ partner }, 'neither `partner.url` nor `app` is given', 'run({ app })'],
    [{ app, partner: { signing: { secert: 'x' } } }, 'no option partner.signing.secert', 'partner.signing.secret?'],
    [{ app, selection: { suite: [] } }, 'no option selection.suite', 'Did you mean selection.suites?'],
    [{ app, partner: { signing: { secret: 5 } } }, '`partner.signing.secret` must be a string', 'Nothing was sent'],
    [{ app, partner: { url: 'http://127.0.0.1:1/' } }, '`partner.url` cannot be combined with `app`', 'Nothing was'],
    [{ app: 'http://127.0.0.1:1/' }, '`app` must be a request listener or an http.Server; for a URL, call `run(', ''],
    [{ app: undefined }, '`app` must be a request listener', ''],
    [{ app, stack: 'expres' }, '`stack` is not a stack; did you mean express?', ''],
    [{ partner: { url: 'localhost:3000' } }, '`partner.url` must be a URL with http://', ''],
    [{ app: careless }, 'nothing was sent: neither a secret nor an API key is configured', 'give `open: true`'],
    [{ partner: { url: 'http://127.0.0.1:1/' } }, 'nothing was sent: neither a secret', 'give `open: true`'],
    [{ app, partner: { signing: { secret: '' } }, open: true }, '`partner.signing.secret` is empty', ''],
    [{ app, limits: { timeoutMs: -1 } }, '`limits.timeoutMs` must not be negative', ''],
    [{ app, evidenceSources: { log: [] } }, 'no option evidenceSources.log', 'evidenceSources.logs?'],
  ])('refuses %j', async (options, message, hint) => {
    await expect(run(options as RunOptions)).rejects.toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });
});

describe('toBeConformant', () => {
  const { scenarios } = selection;

  it('passes an app that is, and fails one that is not with the short report', async () => {
    await expect(app).toBeConformant({ secret: SECRET, scenarios });
    await expect(careless).not.toBeConformant({ secret: SECRET, scenarios });
    const error = await expect(careless)
      .toBeConformant({ secret: SECRET, scenarios })
      .catch((reason: Error) => reason);
    expect(String(error)).toContain('Does not verify the signature (2 failures)');
    expect(String(error)).toContain('To do\n  1. ');
    expect(String(error)).not.toContain(SECRET);
  });

  it('passes an app that is meant to need no credentials, if told so', async () => {
    await expect(careless).toBeConformant({ open: true, scenarios: ['valid/plain'] });
  });

  it('names options instead of flags in its report', async () => {
    const document = await run({
      app: careless,
      partner,
      selection: { suites: ['valid', 'effects', 'rotation'] },
    });
    const report = renderHuman({ ...document, partial: false }, { columns: 100, color: false, unicode: true });
    expect(report.replace(/\s+/g, ' ')).toContain('no effects window, see evidenceSources.effects of run');
    expect(report).toContain('renderHuman with verbose: true');
    expect(report).not.toMatch(/ --\w/);
  });

  it.each<[object, string, unknown?]>([
    [{ secret: SECRET, scenario: [] }, 'there is no option scenario. Did you mean scenarios?'],
    [{ secret: SECRET, pth: '/' }, 'there is no option pth. Did you mean path?'],
    [{ secret: 5 }, '`secret` must be a string. Nothing was sent.'],
    [{ secret: SECRET, stack: 'expres' }, '`stack` is not a stack; did you mean express?'],
    [{ secret: SECRET, headers: { 'X-One': 1 } }, '`headers.X-One` must be a string'],
    [{ suites: ['valid'] }, 'neither a secret nor an API key is configured', careless],
    [{ secret: '', suites: ['valid'] }, '`secret` is empty: give it a value', careless],
    [{ secret: SECRET }, 'for a URL, call `run({ partner: { url } })`', 'http://127.0.0.1:1/'],
  ])('refuses %j, and says what to do', async (options, message, received = app) => {
    await expect(expect(received).toBeConformant(options)).rejects.toThrow(message);
  });
});

it('docs/library.md lists every option', async () => {
  const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8');
  const wrong = { qqqqqqqq: 1 };
  const calls = [
    () => run({ app, ...wrong } as object as RunOptions),
    () => run(wrong as object as RunOptions),
    ...['partner', 'limits', 'selection', 'evidenceSources'].map(
      (name) => () => run({ [name]: wrong } as object as RunOptions),
    ),
    () => expect(app).toBeConformant(wrong as object),
  ];
  const texts = await Promise.all(
    calls.map((call) => Promise.resolve(call()).then(String, ({ message, hint }) => `${message} ${hint}`)),
  );
  const options = texts.flatMap((text) => /The options are ([^.]+)\./.exec(text)?.[1]?.split(', ') ?? [`? ${text}`]);
  expect(options.length).toBeGreaterThan(50);
  expect(options.filter((name) => !new RegExp(`[\`\\s{]${name}[\`,\\s}]`).test(page))).toEqual([]);
});
