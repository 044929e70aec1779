/** The secrets of a receiver are replaced while it runs. */
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { API_KEY, buy, SECRET, sign } from './deliveries.ts';
import { collectLogs } from './logs.ts';

const NEXT = `${SECRET}-next`;
const BODY = JSON.stringify(buy());

let receiver: RunningReceiver;
afterEach(() => receiver.close());

async function statusWith(secret: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': sign(BODY, secret) };
  return (await fetch(receiver.url, { method: 'POST', headers, body: BODY })).status;
}

describe('reloadSecrets', () => {
  it('accepts the new secrets, and no others, from the next delivery on', async () => {
    const { logger, next } = collectLogs();
    receiver = await startReceiver({ signing: { secrets: [SECRET] }, logger });
    expect([await statusWith(SECRET), await statusWith(NEXT)]).toEqual([200, 401]);
    receiver.reloadSecrets([NEXT, SECRET]);
    expect(await next('secrets-reloaded')).toMatchObject({ count: 2 });
    expect([await statusWith(SECRET), await statusWith(NEXT)]).toEqual([200, 200]);
    receiver.reloadSecrets([NEXT]);
    expect([await statusWith(SECRET), await statusWith(NEXT)]).toEqual([401, 200]);
  });

  it.each([
    ['none', []],
    ['an empty one', [NEXT, '']],
    ['a blank one', [' ']],
    ['a placeholder', ['undefined']],
  ])('keeps the old secrets when there is %s', async (_, secrets) => {
    receiver = await startReceiver({ signing: { secrets: [SECRET] } });
    expect(() => receiver.reloadSecrets(secrets)).toThrow('`secrets` is empty, or one of its values is.');
    expect([await statusWith(SECRET), await statusWith('')]).toEqual([200, 401]);
  });

  it('does not begin to require a signature', async () => {
    receiver = await startReceiver({ apiKey: { keys: [API_KEY] } });
    expect(() => receiver.reloadSecrets([NEXT])).toThrow('was started without an HMAC secret');
  });
});
