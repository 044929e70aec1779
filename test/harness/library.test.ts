/** A run against an app of the same process, and the matcher for Vitest. */
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
/** Accepts everything. */
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
    const { counts, verdict } = await run({ app: createReceiver({ open: true, handlers: {} }).app });
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
    [{}, 'neither `partner` nor `app` is given', 'run({ app })'],
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

  it('refuses options that do not exist', async () => {
    const wrong = { secret: SECRET, scenario: scenarios } as object;
    await expect(expect(app).toBeConformant(wrong)).rejects.toThrow('there is no option scenario');
  });
});

it('docs/library.md lists every option', () => {
  const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8');
  const source = readFileSync(new URL('../../harness/library.ts', import.meta.url), 'utf8');
  const matcher = readFileSync(new URL('../../harness/vitest/index.ts', import.meta.url), 'utf8');
  const names = [source, matcher].flatMap((text) =>
    Array.from(text.matchAll(/\b(\w+): true[, ]/g), ([, name]) => name),
  );
  // These belong to the document and to its rendering.
  const options = names.filter((name) => name !== 'inProcess' && name !== 'unicode');
  expect(options.length).toBeGreaterThan(50);
  expect(options.filter((name) => !new RegExp(`[\`\\s{]${name}[\`,\\s}]`).test(page))).toEqual([]);
});
