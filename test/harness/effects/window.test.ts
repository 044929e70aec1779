/** Queries of an effects window, with a real HTTP server and real commands. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type EffectsQuery, readEffectsQuery } from '../../../contract/effects.ts';
import { type EffectsSource, openWindow, WindowProblem } from '../../../harness/effects/index.ts';
import { serve } from '../../endpoints/listen.ts';

const TOKEN = randomBytes(24).toString('base64url');
const NOTHING = { total: 0, handled: [] };
const query = { notifications: ['a'] };
/** A time limit that no answer in these tests reaches. */
const LONG_MS = 60_000;

async function ask(source: EffectsSource, asked: EffectsQuery = query, more: { timeoutMs?: number } = {}) {
  const window = await openWindow(source, { timeoutMs: LONG_MS, ...more });
  try {
    return await window.ask(asked);
  } finally {
    window.close();
  }
}

/** Returns the problem with the window. Expects that it does not contain the token. */
async function problemOf(source: EffectsSource, timeoutMs = LONG_MS): Promise<WindowProblem> {
  const problem = await ask(source, query, { timeoutMs }).catch((error: unknown) => error);
  if (!(problem instanceof WindowProblem)) throw new Error('expected a WindowProblem', { cause: problem });
  expect(`${problem.message}${problem.hint}${problem.stack}`).not.toContain(TOKEN);
  return problem;
}

async function windowAt(listener: RequestListener): Promise<string> {
  const { url, close } = await serve(listener);
  onTestFinished(close);
  return url;
}

const answering = (status: number, body: string) =>
  windowAt((_, response) => void response.writeHead(status).end(body));

describe('over HTTP', () => {
  it('asks with the token and the ids, each percent-encoded, and reads the answer', async () => {
    const seen: unknown[] = [];
    const answer = { total: 1, handled: [{ notification: 'a', amount: '1', more: 1 }], other: true };
    const url = await windowAt(({ method, url: target, headers }, response) => {
      seen.push([method, target, headers.authorization, headers.host]);
      response.end(JSON.stringify(answer));
    });
    const ids = ['a', 'b,c', "d'&=;?#", 'ü'];
    expect(await ask({ url: `${url}?tenant=1#x`, token: TOKEN }, { notifications: ids })).toEqual({
      total: 1,
      handled: [{ notification: 'a', amount: '1' }],
    });
    const text = 'notification=a,b%2Cc,d%27%26%3D%3B%3F%23,%C3%BC';
    expect(seen).toEqual([['GET', `/hooks?tenant=1&${text}`, `Bearer ${TOKEN}`, new URL(url).host]]);
    expect(readEffectsQuery(text)).toEqual({ notifications: ids });
  });

  it('sends no Authorization without a token, and asks in a way that msw can mock', async () => {
    const url = 'http://127.0.0.1:9/effects';
    const seen = ({ request }: { readonly request: Request }) =>
      HttpResponse.json({ total: request.headers.has('authorization') ? 1 : 0, handled: [] });
    const mocked = setupServer(http.get(url, seen));
    mocked.listen({ onUnhandledRequest: 'error' });
    onTestFinished(() => mocked.close());
    expect(await ask({ url }, { transaction: 't' })).toEqual(NOTHING);
  });

  it.each<[number, string | undefined, string]>([
    [401, undefined, 'Set HOOKPROOF_EFFECTS_TOKEN to the token of the receiver.'],
    [401, TOKEN, 'Check the token: HOOKPROOF_EFFECTS_TOKEN or `effects.token`.'],
    [403, TOKEN, 'Check the token: HOOKPROOF_EFFECTS_TOKEN or `effects.token`.'],
    [404, TOKEN, 'Check its URL, and the log of the receiver.'],
    [500, undefined, 'Check its URL, and the log of the receiver.'],
  ])('%i with the token %s is a problem, even with a valid body', async (status, token, hint) => {
    const url = await answering(status, JSON.stringify(NOTHING));
    const { message, hint: given } = await problemOf({ url, token });
    expect([message, given]).toEqual([`the effects window answered ${status}, expected 200`, hint]);
  });

  it.each([
    ['not JSON', '<html>', 'the effects window answered with a body that is not JSON'],
    ['nothing', '', 'the effects window answered with a body that is not JSON'],
    ['a list', '[]', 'the effects window answered with JSON of an unexpected shape: the answer: '],
    ['without a total', '{"handled":[]}', 'the effects window answered with JSON of an unexpected shape: `total`: '],
    ['a number for an amount', '{"total":1,"handled":[{"notification":"a","amount":1}]}', '`handled.0.amount`: '],
    ['a fraction', '{"total":1.5,"handled":[]}', '`total`: '],
  ])('%s is a problem', async (_, body, message) => {
    const problem = await problemOf({ url: await answering(200, body), token: TOKEN });
    expect(problem.message).toContain(message);
    expect(problem.hint).toContain('`hookproof list --schemas`');
  });

  it('reads an answer of up to 1 MiB', async () => {
    const padded = (bytes: number) => {
      const text = JSON.stringify(NOTHING);
      return text + ' '.repeat(bytes - text.length);
    };
    const limit = 1024 * 1024;
    expect(await ask({ url: await answering(200, padded(limit)) })).toEqual(NOTHING);
    const problem = await problemOf({ url: await answering(200, padded(limit + 1)) });
    expect(problem.message).toBe('the effects window answered more than 1 MiB');
  });

  it('does not follow a redirect, which would send the token elsewhere', async () => {
    let followed = 0;
    const other = await windowAt((_, response) => {
      followed += 1;
      response.end(JSON.stringify(NOTHING));
    });
    const url = await windowAt((_, response) => void response.writeHead(307, { Location: other }).end());
    expect((await problemOf({ url, token: TOKEN })).message).toContain('answered 307, expected 200');
    expect(followed).toBe(0);
  });

  it('does not wait for an answer longer than the time limit', async () => {
    const url = await windowAt(() => {});
    expect((await problemOf({ url, token: TOKEN }, 100)).message).toBe(
      'the effects window did not answer within 0.1 s',
    );
  });

  it('is a problem when nothing is listening', async () => {
    const { url, close } = await serve(() => {});
    await close();
    expect((await problemOf({ url, token: TOKEN })).message).toMatch(
      /^the effects window did not answer: the connection was refused: .*\d$/,
    );
  });

  it('is not opened at an address that the endpoint may not have either', async () => {
    const refused = { code: 'ENDPOINT_ADDRESS_REFUSED' };
    await expect(ask({ url: 'http://169.254.169.254/effects' })).rejects.toMatchObject(refused);
    const url = await answering(200, JSON.stringify(NOTHING));
    await expect(openWindow({ url }, { timeoutMs: LONG_MS, policy: { reach: 'public-only' } })).rejects.toMatchObject(
      refused,
    );
  });
});

describe('by a command', () => {
  let folder = '';
  const inFolder = (name: string) => join(folder, name);
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookproof-window-'));
    await writeFile(inFolder('answer.json'), JSON.stringify(NOTHING));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const problemWith = async (command: string, timeoutMs?: number) => (await problemOf({ command }, timeoutMs)).message;

  it('reads the standard output, and passes the query as the last argument', async () => {
    const command = `sh -c 'printf %s "$1" > "${inFolder('asked')}"; cat "${inFolder('answer.json')}"' name`;
    expect(await ask({ command }, { transaction: 'T 1' })).toEqual(NOTHING);
    expect(await readFile(inFolder('asked'), 'utf8')).toBe('transaction=T%201');
  });

  it('gives the shell nothing of an id to interpret', async () => {
    const witness = inFolder('witness');
    const ids = [
      `$(touch ${witness})`,
      `\`touch ${witness}\``,
      `'; touch ${witness} #`,
      `"; touch ${witness}; "`,
      `a b\n* ~ ! ( ) \\ | & > ${witness}`,
    ];
    const command = `sh -c 'printf "%s " "$#" "$1" > "${inFolder('ids')}"; cat "${inFolder('answer.json')}"' name`;
    expect(await ask({ command }, { notifications: ids })).toEqual(NOTHING);
    const [count, text = ''] = (await readFile(inFolder('ids'), 'utf8')).trim().split(' ');
    expect(count).toBe('1');
    expect(readEffectsQuery(text)).toEqual({ notifications: ids });
    expect(existsSync(witness)).toBe(false);
    // The file `witness` would show an execution.
    await ask({ command: `touch ${witness}; ${command}` });
    expect(existsSync(witness)).toBe(true);
  });

  it.each([
    ['exit 3;', '`--effects-command` ended with exit code 3'],
    ['/nonexistent/command', '`--effects-command` ended with exit code 127'],
    ['kill -KILL $$;', '`--effects-command` was killed by SIGKILL'],
    ['echo', '`--effects-command` answered with a body that is not JSON'],
    ['echo []; true', '`--effects-command` answered with JSON of an unexpected shape: the answer: '],
    ['yes x; true', '`--effects-command` answered more than 1 MiB'],
  ])('%s is a problem', async (command, message) => {
    expect(await problemWith(command)).toContain(message);
  });

  it('is a problem, even with a valid answer, when the command fails', async () => {
    expect(await problemWith(`cat "${inFolder('answer.json')}"; exit 1;`)).toContain('exit code 1');
  });

  it('is ended at the time limit, with everything that it started', async () => {
    const pid = inFolder('pid');
    expect(await problemWith(`sh -c 'echo $$ > "${pid}"; while :; do sleep 60; done' & wait;`, 2000)).toBe(
      '`--effects-command` took longer than 2 s',
    );
    const started = Number(await readFile(pid, 'utf8'));
    await ended(started);
  });

  it('is ended when the run is interrupted', async () => {
    const interruption = new AbortController();
    const window = await openWindow(
      { command: 'sleep 600; true' },
      { timeoutMs: LONG_MS, signal: interruption.signal },
    );
    const asked = window.ask(query);
    interruption.abort();
    await expect(asked).rejects.toThrow('`--effects-command` was interrupted');
    await expect(window.ask(query)).rejects.toThrow('`--effects-command` was interrupted');
  });
});

/** Resolves once no process has this id. */
async function ended(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
