/** What a run does with errors that the app does not catch. */
import { spawnSync } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { renderHuman, run } from '../../harness/index.ts';
import { SECRET } from '../receiver/deliveries.ts';

const partner = { signing: { secret: SECRET } };
const selection = { scenarios: ['valid/plain', 'signature/missing'] };
const listenersOf = () => [process.listeners('uncaughtException'), process.listeners('unhandledRejection')];

const fail = () => {
  throw new TypeError(`cannot read ${SECRET}`);
};
const later: RequestListener = () => void setTimeout(fail, 1);
const FAULTY: Readonly<Record<string, RequestListener>> = {
  'throws at once': fail,
  'rejects its promise': async () => fail(),
  'throws later': later,
};

describe('an app that throws', () => {
  it.each(Object.keys(FAULTY))('%s: the delivery ends at once, and the report names the error', async (name) => {
    const before = listenersOf();
    const listener = FAULTY[name] ?? later;
    for (const app of [listener, createServer(listener)]) {
      const startedMs = performance.now();
      const document = await run({ app, partner, selection });
      expect(performance.now() - startedMs).toBeLessThan(8000);
      const report = renderHuman(document).replace(/\s+/g, ' ');
      expect(report).toContain('Handle the error: the app threw TypeError: cannot read [redacted:secret]');
      expect(report).toMatch(/\(at .*hosted-app\.test\.ts:/);
      expect(JSON.stringify(document)).not.toContain(SECRET);
      expect(document.results.find(({ id }) => id === 'valid/plain')?.reason).toContain('the app threw TypeError');
    }
    expect(listenersOf()).toEqual(before);
  });

  it('names the error if the first delivery already ends this way', async () => {
    const document = await run({ app: later, partner, selection: { scenarios: ['signature/missing'] } });
    const report = renderHuman(document);
    expect(report).toContain('Handle the error: the app threw TypeError: cannot read [redacted:secret]');
    expect(report).toContain("check  scenarios: ['signature/missing']");
  });

  it('passes on an error that is not of a delivery, and one after the answer', async () => {
    const seen: string[] = [];
    const listener = (error: unknown) => void seen.push(String(error));
    const others = process.rawListeners('uncaughtException') as NodeJS.UncaughtExceptionListener[];
    process.removeAllListeners('uncaughtException').on('uncaughtException', listener);
    try {
      const app: RequestListener = (request, response) => {
        request.resume().on('end', () => {
          response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"accepted"}');
          throw new Error('after the answer');
        });
      };
      const { advice } = await run({ app, partner, selection: { scenarios: ['valid/plain'] } });
      expect(seen).toContain('Error: after the answer');
      expect(advice.join()).toContain('The app threw Error: after the answer');
      expect(process.rawListeners('uncaughtException')).toEqual([listener]);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const other of others) process.on('uncaughtException', other);
    }
  });

  it('outside Vitest, ends no process, except for an error of another origin', () => {
    const play = (app: string, other = '') => {
      const index = new URL('../../harness/index.ts', import.meta.url).href;
      const code =
        `import { renderHuman, run } from '${index}';${other};` +
        `const d = await run({ app: ${app}, partner: { signing: { secret: '${SECRET}' } }, ` +
        "selection: { scenarios: ['valid/plain'] } });console.log(renderHuman(d));";
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', code],
        {
          encoding: 'utf8',
        },
      );
      return { status, stdout, stderr };
    };
    expect(play("async () => { throw new Error('of the app'); }")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('the app threw Error: of the app'),
    });
    const other = "setTimeout(() => { throw new Error('of another'); }, 0)";
    expect(play('(q, r) => r.end()', other)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Error: of another'),
    });
  });
});
