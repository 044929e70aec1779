/** Commands that restart the receiver, and commands that only claim to. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunOptions, run } from '../../../harness/run/index.ts';
import { startFaultyReceiver } from '../../../mutants/index.ts';
import { memoryEffects, startEffectsWindow } from '../../../receiver/index.ts';
import { SECRET } from './parts.ts';

const TOKEN = 'a-token-of-these-tests';
const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Starts the reference receiver with its effects window. */
async function started() {
  const record = memoryEffects();
  const receiver = await startFaultyReceiver(null, { signing: { secrets: [SECRET] }, effects: record });
  const window = await startEffectsWindow({ record, token: TOKEN });
  ends.push(window.close, receiver.close);
  return { receiver, effects: { url: window.url, token: TOKEN, deadlineMs: 1000 } };
}

/**
 * Starts a proxy that reads a whole request before it connects, and answers 502 or 503 if the receiver is unreachable.
 */
async function proxyTo(target: string, status = 502) {
  let failures = 0;
  const server: Server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const { method, headers, url = '' } = req;
    request(new URL(url, target), { method, headers, agent: false })
      .on('response', (answer) => answer.pipe(res.writeHead(answer.statusCode ?? 500, answer.headers)))
      .on('error', () => {
        failures += 1;
        res.writeHead(status).end();
      })
      .end(Buffer.concat(chunks));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${new URL(target).pathname}`, failures: () => failures };
}

async function verdictAfter(
  restart: () => Promise<void>,
  url: string,
  effects: object,
  limits: RunOptions['limits'] = {},
) {
  const { results } = await run({
    partner: { url, signing: { secret: SECRET } },
    evidenceSources: { effects: effects as Awaited<ReturnType<typeof started>>['effects'], restart },
    selection: { scenarios: ['effects/copies-after-restart'] },
    limits,
  });
  const [{ verdict, reason } = { verdict: 'none', reason: '' }] = results;
  return { verdict, reason };
}

describe('a restart', () => {
  it('is evidence when it ends the receiver', async () => {
    const { receiver, effects } = await started();
    expect((await verdictAfter(receiver.restart, receiver.url, effects)).verdict).toBe('pass');
  });

  it('is none when the receiver goes on', async () => {
    const { receiver, effects } = await started();
    const { verdict, reason } = await verdictAfter(async () => {}, receiver.url, effects);
    expect(verdict).toBe('inconclusive');
    expect(reason).toContain('nothing shows that `--restart-command` ended the receiver');
  });

  it.each([502, 503])(
    'is evidence behind a proxy that answers %i when it reaches nothing meanwhile',
    async (status) => {
      const { receiver, effects } = await started();
      const front = await proxyTo(receiver.url, status);
      let restarts = 0;
      const restart = async () => {
        restarts += 1;
        const port = Number(new URL(receiver.url).port);
        await receiver.close();
        await expect.poll(front.failures, { timeout: 120_000 }).toBeGreaterThan(0);
        const options = { signing: { secrets: [SECRET] }, effects: memoryEffects(), port };
        ends.push((await startFaultyReceiver(null, options)).close);
      };
      expect((await verdictAfter(restart, front.url, effects)).reason).not.toContain('nothing shows');
      // A doubtful result would cause a second restart.
      expect(restarts).toBe(1);
    },
  );

  it('is none behind it when nothing fails', async () => {
    const { receiver, effects } = await started();
    const { url } = await proxyTo(receiver.url);
    expect((await verdictAfter(async () => {}, url, effects)).verdict).toBe('inconclusive');
  });

  it('is none when the half delivery waits for the maximum rate', async () => {
    const { receiver, effects } = await started();
    const limits = { intervalMs: 700, timeoutMs: 600 };
    expect((await verdictAfter(async () => {}, receiver.url, effects, limits)).verdict).toBe('inconclusive');
  });

  it('ends when the command waits for the receiver, and the receiver for the half delivery', async () => {
    const { receiver, effects } = await started();
    let inFlight = 0;
    let isStopping = false;
    let reportEnd = () => {};
    const front = createServer((req, res) => {
      inFlight += 1;
      const done = () => {
        inFlight -= 1;
        if (isStopping && inFlight === 0) reportEnd();
      };
      res.once('close', done);
      const { method, headers, url = '' } = req;
      req.pipe(
        request(new URL(url, receiver.url), { method, headers, agent: false }).on('response', (answer) =>
          answer.pipe(res.writeHead(answer.statusCode ?? 500, answer.headers)),
        ),
      );
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    ends.push(
      () => front.closeAllConnections(),
      () => front.close(),
    );
    const restart = async () => {
      await expect.poll(() => inFlight).toBeGreaterThan(0);
      isStopping = true;
      await new Promise<void>((resolve) => {
        reportEnd = resolve;
      });
      isStopping = false;
    };
    const { port } = front.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}${new URL(receiver.url).pathname}`;
    const { reason } = await verdictAfter(restart, url, effects, { timeoutMs: 1000 });
    expect(reason).toContain('nothing shows');
  });
});
