import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { effectsAnswer, effectsQueryText } from '../../../contract/effects.ts';
import {
  type EffectsWindow,
  type EffectsWindowOptions,
  effectHandlers,
  memoryEffects,
  startEffectsWindow,
} from '../../../receiver/index.ts';
import { type AttackedWindow, attackWindow } from '../../proofs/attacks/effects-window.ts';
import { buy, headersFor, SECRET } from '../deliveries.ts';
import { collectLogs } from '../logs.ts';
import { receiverForTest } from '../raw-http.ts';

const token = randomBytes(24).toString('base64url');

async function opened(options: Partial<EffectsWindowOptions> = {}): Promise<EffectsWindow> {
  const window = await startEffectsWindow({ record: memoryEffects(), token, ...options });
  onTestFinished(() => window.close());
  return window;
}

/** Starts a receiver with an effects window that has handled one notification. */
async function receiverWithWindow() {
  const { logger, lines } = collectLogs();
  const record = memoryEffects();
  const window = await opened({ record, logger });
  const receiver = await receiverForTest({
    signing: { secrets: [SECRET] },
    handlers: effectHandlers(record),
    path: '/webhooks',
    logger,
  });
  const [notification, canary] = [randomUUID(), `0x${randomBytes(16).toString('hex')}`];
  const metadata = { orderStatus: 'COMPLETED', blockchainData: { blockchainTransctionId: canary } };
  const body = JSON.stringify(buy(notification, { metadata }));
  for (let copy = 0; copy < 2; copy += 1) {
    const { status } = await fetch(receiver.url, { method: 'POST', body, headers: headersFor(body) });
    expect(status).toBe(200);
  }
  await receiver.settled();
  const attacked: AttackedWindow = { port: window.port, deliveryPort: receiver.port, token, notification, canary };
  return { window, attacked, lines };
}

const ask = (url: string, query: string, headers: Record<string, string> = { Authorization: `Bearer ${token}` }) =>
  fetch(`${url}?${query}`, { headers });

describe('the effects window', () => {
  it('answers what was done with a notification and with a transaction', async () => {
    const { window, attacked } = await receiverWithWindow();
    const { notification, canary } = attacked;
    const byId = await ask(window.url, effectsQueryText({ notifications: [notification, 'other'] }));
    expect([byId.status, byId.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const handled = {
      notification,
      kind: 'CAAS_BUY',
      status: 'COMPLETED',
      transaction: 'transaction-1',
      hash: canary,
      currency: null,
      errorCode: null,
    };
    expect(effectsAnswer.parse(await byId.json())).toEqual({ total: 1, handled: [handled] });
    const byTransaction = await ask(window.url, effectsQueryText({ transaction: 'transaction-1' }));
    const current = { status: 'COMPLETED', hash: canary };
    expect(await byTransaction.json()).toEqual({ total: 1, handled: [handled], current });
  });

  it('withstands every attempt of the attack program, and never logs its token', async () => {
    const { attacked, lines } = await receiverWithWindow();
    expect(await attackWindow(attacked)).toEqual([]);
    expect(JSON.stringify(lines)).not.toContain(token);
  });

  it('is not convincing when it is not protected: the attack program reports a window without a token', async () => {
    const { attacked } = await receiverWithWindow();
    const open = createServer(
      { connectionsCheckingInterval: 100, requestTimeout: 500, headersTimeout: 500 },
      (_req, res) => res.end(JSON.stringify({ total: 1, handled: [{ hash: attacked.canary }] })),
    );
    await new Promise<void>((resolve) => open.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void open.close());
    const problems = await attackWindow({ ...attacked, port: (open.address() as AddressInfo).port });
    expect(problems).toContain('without a token: the answer has data');
    expect(problems).toContain('/effects/ with the token: answered 200, expected 400 or 404');
  });

  it.each(['', 'tiny-token', 'x'.repeat(15), 'with a blank in it', 'ümlaut-ümlaut-ümlaut', `${'x'.repeat(20)}\n`])(
    'does not start with the token "%s"',
    async (bad) => {
      const starting = startEffectsWindow({ record: memoryEffects(), token: bad });
      await expect(starting).rejects.toMatchObject({ code: 'EFFECTS_TOKEN' });
      if (bad !== '') await expect(starting).rejects.not.toThrow(bad);
    },
  );

  it('listens on loopback only, and elsewhere when that is asked for', async () => {
    const { url, port } = await opened();
    expect(url).toBe(`http://127.0.0.1:${port}/effects`);
    const everywhere = await opened({ host: '0.0.0.0' });
    expect((await ask(`http://127.0.0.1:${everywhere.port}/effects`, 'transaction=x')).status).toBe(200);
    await expect(startEffectsWindow({ record: memoryEffects(), token, port })).rejects.toMatchObject({
      code: 'EFFECTS_LISTEN',
    });
  });

  it('closes connections beyond 100, and answers again when others have ended', async () => {
    const { url, port } = await opened();
    const sockets = Array.from({ length: 110 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    let closed = 0;
    await new Promise<void>((resolve) => {
      for (const socket of sockets) {
        socket.resume().once('close', () => {
          closed += 1;
          if (closed === 10) resolve();
        });
      }
    });
    const open = sockets.filter(({ closed }) => !closed);
    expect(open).toHaveLength(100);
    for (const socket of open) socket.destroy();
    await expect.poll(async () => (await ask(url, 'transaction=x').catch(() => null))?.status).toBe(200);
  });

  it('answers 500 without details when the record cannot be read, and logs why', async () => {
    const { logger, lines } = collectLogs();
    const record = { answer: () => Promise.reject(new Error('disk of host-17 is gone')) };
    const { url } = await opened({ record, logger });
    const answer = await ask(url, 'transaction=x');
    expect([answer.status, await answer.text()]).toEqual([500, '{"error":"internal"}']);
    expect(JSON.stringify(lines)).toContain('host-17');
  });
});
