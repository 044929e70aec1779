/** A run against an app in the same process, and the matcher for Vitest. */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, type RunOptions, renderHtml, renderHuman, renderJunit, run } from '../../harness/index.ts';
import type { ConformantOptions } from '../../harness/vitest/index.ts';
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

  it('takes what the hints name for apps of Fastify, Koa and Hono', async () => {
    const ofFastify = fastify();
    ofFastify.post('/', async () => ({ status: 'accepted' }));
    await ofFastify.ready();
    const ofKoa = new Koa().use((context) => {
      context.body = { status: 'accepted' };
    });
    const ofHono = new Hono().post('/', (context) => context.json({ status: 'accepted' }));
    for (const one of [ofFastify.server, ofKoa.callback(), getRequestListener(ofHono.fetch)]) {
      const document = await run({ app: one, open: true, selection: { scenarios: ['valid/plain'] } });
      expect(document.counts.pass).toBe(1);
    }
  });

  it('certifies nothing that the profile needs over plain HTTP without saying so', async () => {
    const document = await run({ app, partner, selection, profile: 'staging' });
    expect(document.advice.join()).toContain('The profile staging needs HTTPS; plain HTTP is allowed for an endpoint');
  });

  it('advises options, not flags', async () => {
    const only = { selection: { scenarios: ['valid/plain'] } } as const;
    const other = { signing: { secret: 'another secret of the test' } };
    const routed = express().use('/hooks', app);
    const fixes = await Promise.all(
      [
        run({ app, open: true, ...only }),
        run({ app, partner: other, ...only }),
        run({ app: routed, path: '/nope', partner, ...only }),
      ].map(async (one) => (await one).diagnosis.map(({ fix }) => fix).join(' ')),
    );
    expect(fixes[0]).toContain('Pass the `secret` and `apiKey` with which the app is configured');
    expect(fixes[1]).toContain("`secret` differs from the app's");
    expect(fixes[2]).toContain('Pass the `path` at which the app serves POST');
    expect(fixes[2]).toContain('`partner.samples` of run');
    expect(fixes.join()).not.toMatch(/HOOKPROOF_|--[a-z]+-file|configuration file/);
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
    [{ app, suites: ['valid'] }, 'there is no option suites', 'Did you mean selection.suites?'],
    [{ app, secret: 'x' }, 'there is no option secret', 'Did you mean partner.signing.secret?'],
    [{ app, nothingLikeIt: 1 }, 'there is no option nothingLikeIt', 'The options are app, path'],
    [{ app, selection: { suites: [] } }, '`selection.suites` is empty, and would select everything', ''],
    [{ app, selection: { scenarios: [] } }, '`selection.scenarios` is empty, and would select everything', ''],
    [{ partner: { url: 'http://127.0.0.1:1/' }, path: '/x' }, '`path` needs `app`; put the path in `partner.url`', ''],
    [{ app, partner, profile: 'prod' }, '`profile` is not a profile; did you mean production?', 'Nothing was sent'],
    [{ app, partner, profile: 'basic' }, 'the profile basic needs an API key, but none is configured', 'apiKey.value'],
    [
      { partner: { ...partner, url: 'http://192.0.2.1/' }, profile: 'production' },
      'the profile production needs HTTPS, but the URL is plain HTTP',
      'Give an https:// URL',
    ],
    [{ app, partner, limits: { timeoutMs: 0 } }, '`limits.timeoutMs` must be at least 1', 'Nothing was sent'],
    [{ app, partner: { signing: { secret: 'x', header: 'X Bad' } } }, '`partner.signing.header` is not a header', ''],
    [{ app, partner: { signing: { secret: 'x', header: 'Host' } } }, '`partner.signing.header` is a header that', ''],
    [
      { app, partner: { ...partner, headers: [['X-A', 'b\r\nc: d']] } },
      '`partner.headers.0.1` contains a line break',
      '',
    ],
    [{ app, partner: { apiKey: { value: 'a\n' } } }, '`partner.apiKey.value` contains a line break', ''],
    [
      { app, partner: { ...partner, headers: [['X-Service-Signature', 'b']] } },
      'both have the name X-Service-Signature',
      'different name',
    ],
    [{ app: fastify() }, 'for Fastify, call `await app.ready()` and pass `app.server`', ''],
    [{ app: new Koa() }, 'for Koa, pass `app.callback()`', ''],
    [{ app: new Hono() }, 'for Hono, pass `getRequestListener(app.fetch)`', ''],
    [{ app: { getHttpServer: () => null } }, 'for Nest, call `await app.init()` and pass `app.getHttpServer()`', ''],
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
    [{ app: careless }, 'nothing was sent: neither a secret nor an API key is configured', 'pass `open: true`'],
    [{ partner: { url: 'http://127.0.0.1:1/' } }, 'nothing was sent: neither a secret', 'pass `open: true`'],
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

  it('fails without a conclusion, with `not` as well', async () => {
    const none = { secret: SECRET, scenarios: ['tls/chain-complete'] };
    await expect(expect(app).toBeConformant(none)).rejects.toThrow('no check was evaluated');
    await expect(expect(app).not.toBeConformant(none)).rejects.toThrow(
      /^expected the app not to be conformant, but the run has no conclusion\n\n/,
    );
    await expect(expect(app).not.toBeConformant({ secret: SECRET, scenarios })).rejects.toThrow(
      /^expected the app not to be conformant, but it is\n\n/,
    );
  });

  it('says how to select the same checks again, also if no check shows the cause', async () => {
    const silent = (_request: unknown, response: ServerResponse) => void response.socket?.destroy();
    const error = await expect(silent)
      .toBeConformant({ secret: SECRET, scenarios: ['signature/missing'] })
      .catch((reason: Error) => reason);
    expect(String(error)).toContain("check  scenarios: ['signature/missing']");
    expect(String(error)).not.toContain('Exit code');
  });

  it('prints every finding in full with `verbose`', async () => {
    const options = { secret: SECRET, scenarios };
    const messages = await Promise.all(
      [options, { ...options, verbose: true }].map((one) =>
        expect(careless)
          .toBeConformant(one)
          .catch((reason: Error) => String(reason)),
      ),
    );
    expect(messages[1]?.length).toBeGreaterThan(2 * (messages[0]?.length ?? 0));
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
    expect(report.replace(/\s+/g, ' ')).toContain('no next secret, see evidenceSources.rotation of run');
    expect(report).toContain('`verbose: true`');
    expect(report).not.toMatch(/[ `]--\w/);
  });

  it.each<[object, string, unknown?]>([
    [{ secret: SECRET, scenario: [] }, 'there is no option scenario. Did you mean scenarios?'],
    [{ secret: SECRET, pth: '/' }, 'there is no option pth. Did you mean path?'],
    [{ secret: 5 }, '`secret` must be a string. Nothing was sent.'],
    [{ secret: SECRET, stack: 'expres' }, '`stack` is not a stack; did you mean express?'],
    [{ secret: SECRET, headers: { 'X-One': 1 } }, '`headers.X-One` must be a string'],
    [{ secret: SECRET, headers: { 'X-One': 'a\r\nb' } }, '`headers.X-One` contains a line break'],
    [{ secret: SECRET, headers: { 'X One': 'a' } }, '`headers.X One`'],
    [{ secret: SECRET, signatureHeader: 'X Bad' }, '`signatureHeader` is not a header name'],
    [{ secret: SECRET, timeoutMs: 0 }, '`timeoutMs` must be at least 1'],
    [{ secret: SECRET, suites: [] }, '`suites` is empty, and would select everything'],
    [{ suites: ['valid'] }, 'neither a secret nor an API key is configured', careless],
    [{ secret: '', suites: ['valid'] }, '`secret` is empty: give it a value', careless],
    [{ secret: SECRET }, 'for a URL, call `run({ partner: { url } })`', 'http://127.0.0.1:1/'],
  ])('refuses %j, and says what to do', async (options, message, received = app) => {
    await expect(expect(received).toBeConformant(options as ConformantOptions)).rejects.toThrow(message);
  });
});

it('does not compile without credentials, with options of the other kind, or with an unknown name', () => {
  const calls = () => [
    // @ts-expect-error Neither a secret nor an API key, and not `open`.
    expect(app).toBeConformant({ suites: ['valid'] }),
    // @ts-expect-error An unknown suite.
    expect(app).toBeConformant({ secret: SECRET, suites: ['vlid'] }),
    // @ts-expect-error The URL of an app.
    run({ app, partner: { url: 'http://127.0.0.1:1/' } }),
    // @ts-expect-error The path of a URL.
    run({ partner: { url: 'http://127.0.0.1:1/' }, path: '/' }),
    // @ts-expect-error An unknown profile.
    run({ app, profile: 'prod' }),
    expect(app).toBeConformant({ open: true, suites: ['valid'] }),
  ];
  expect(calls).toBeTypeOf('function');
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
    () => expect(app).toBeConformant(wrong as object as ConformantOptions),
  ];
  const texts = await Promise.all(
    calls.map((call) => Promise.resolve(call()).then(String, ({ message, hint }) => `${message} ${hint}`)),
  );
  const options = texts.flatMap((text) => /The options are ([^.]+)\./.exec(text)?.[1]?.split(', ') ?? [`? ${text}`]);
  expect(options.length).toBeGreaterThan(50);
  expect(options.filter((name) => !new RegExp(`[\`\\s{]${name}[\`,\\s}]`).test(page))).toEqual([]);
});
