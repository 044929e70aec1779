/** How the compiled receiver stops: it finishes requests in flight, accepts no new ones, and reports that it drains. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { buy, sign } from '../receiver/deliveries.ts';
import { openRaw, rawPost } from '../receiver/raw-http.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const SECRET = randomBytes(32).toString('hex');
const env = { HOOKPROOF_SECRET: SECRET };
afterAll(endReceivers);

async function started(...args: string[]) {
  const receiver = await startedReceiver(['--admin-port', '0', ...args], { env, cwd: tmpdir() });
  const admin = await receiver.says(/health and metrics at (\S+)/);
  const ask = async (path: string) => {
    const answer = await fetch(new URL(path, admin), { headers: { Connection: 'close' } });
    return [answer.status, await answer.text()] as const;
  };
  return { ...receiver, ask };
}

/** Creates a valid delivery, and returns the length of its head. */
function delivery(more: Record<string, string> = {}) {
  const body = JSON.stringify(buy());
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': sign(body, SECRET), ...more };
  const bytes = rawPost(body, headers);
  return { bytes, head: bytes.length - Buffer.byteLength(body) };
}

describe('SIGTERM', () => {
  it('finishes requests in flight, closes idle connections, accepts no new ones, and is not ready', async () => {
    const { child, port, ask, output } = await started();
    expect(await ask('/readyz')).toEqual([200, '{"status":"ready"}']);
    expect((await ask('/metrics'))[1]).toContain('hookproof_receiver_connections_open 0\n');

    const idle = await openRaw(port);
    await idle.write(delivery().bytes);
    expect((await idle.answer()).status).toBe(200);
    const busy = await openRaw(port);
    const late = delivery({ Expect: '100-continue' });
    await busy.write(late.bytes.subarray(0, late.head));
    expect((await busy.answer()).status).toBe(100);
    // When the signal arrives, this request is partly received, after another one that was answered.
    const half = await openRaw(port);
    const next = delivery().bytes;
    await half.write(Buffer.concat([delivery().bytes, next.subarray(0, 30)]));
    expect((await half.answer()).status).toBe(200);

    const exited = once(child, 'close');
    child.kill('SIGTERM');
    expect(await idle.ended).toBe('closed');
    await vi.waitFor(async () => expect(await ask('/readyz')).toEqual([503, '{"status":"draining"}']), 120_000);
    expect(await ask('/healthz')).toEqual([200, '{"status":"ok"}']);
    await expect(fetch(`http://127.0.0.1:${port}/`, { method: 'POST' })).rejects.toThrow();

    await busy.write(late.bytes.subarray(late.head));
    await half.write(next.subarray(30));
    for (const connection of [busy, half]) {
      const { status, headers } = await connection.answer();
      expect([status, headers.includes('Connection: close')]).toEqual([200, true]);
      expect(await connection.ended).toBe('closed');
    }
    expect(await exited).toEqual([0, null]);
    await expect(ask('/healthz')).rejects.toThrow();
    expect(output().stdout).toMatch(/"event":"draining","signal":"SIGTERM"/);
  });

  it.each([
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGTERM', 'SIGINT', 130],
    ['SIGINT', 'SIGTERM', 143],
  ] as const)('%s and then %s ends it at once', async (first, second, code) => {
    const { child, port, ask } = await started();
    const busy = await openRaw(port);
    const late = delivery({ Expect: '100-continue' });
    await busy.write(late.bytes.subarray(0, late.head));
    expect((await busy.answer()).status).toBe(100);
    const exited = once(child, 'close');
    child.kill(first);
    await vi.waitFor(async () => expect((await ask('/readyz'))[0]).toBe(503), 120_000);
    child.kill(second);
    expect(await exited).toEqual([code, null]);
    await busy.ended;
  });

  it('--drain-timeout closes connections that do not end', async () => {
    const { child, port } = await started('--drain-timeout', '100ms');
    const busy = await openRaw(port);
    const late = delivery({ Expect: '100-continue' });
    await busy.write(late.bytes.subarray(0, late.head));
    expect((await busy.answer()).status).toBe(100);
    const exited = once(child, 'close');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    await busy.ended;
  });
});

it('reports SIGHUP when its secrets cannot be reloaded, and goes on', async () => {
  const { child, says, stop } = await started();
  child.kill('SIGHUP');
  expect(await says(/secrets are not reloaded: .*/)).toContain('not all of them come from a `--secret-file` path');
  await stop();
});
