/** `hookproof receiver --scheme`: the deliveries of another service. */
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { FOREIGN_SCHEMES, type Scheme } from '../../contract/signing/index.ts';
import { secretOf, sign } from '../mutants/scheme-requests.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const scheme = FOREIGN_SCHEMES.find(({ name }) => name === 'stripe') as Scheme;
const secret = secretOf(scheme);
const surroundings = { env: { HOOKPROOF_SECRET: secret }, cwd: tmpdir() };
afterAll(endReceivers);

async function statuses(url: string): Promise<number[]> {
  const body = '{"id":"evt_1"}';
  const post = async (timestamp: number) => {
    const headers = Object.fromEntries(sign(scheme, [secret], { body: Buffer.from(body), timestamp }));
    const sent = { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
    return (await fetch(url, sent)).status;
  };
  return [await post(Math.floor(Date.now() / 1000)), await post(1)];
}

describe('hookproof receiver --scheme', () => {
  it('accepts a current delivery and rejects an old one', async () => {
    const { url, stop } = await startedReceiver(['--scheme', 'stripe'], surroundings);
    expect(await statuses(url)).toEqual([200, 401]);
    await stop();
  });

  it('shows its deliveries on the page of the inspector', async () => {
    const { url, says, stop } = await startedReceiver(['--scheme', 'stripe', '--inspect', '0'], surroundings);
    const page = await says(/inspector at (\S+)/);
    expect(await statuses(url)).toEqual([200, 401]);
    const { instance } = JSON.parse(
      /data: (.*)/.exec(
        (await (
          await fetch(`${page}events`)
        ).body
          ?.getReader()
          .read()
          .then(({ value }) => Buffer.from(value ?? '').toString())) ?? '',
      )?.[1] ?? '{}',
    );
    const [first, second] = await Promise.all(
      [1, 2].map(async (number) => (await fetch(`${page}deliveries/${instance}-${number}`)).json()),
    );
    expect(first).toMatchObject({ explanation: { title: 'Accepted: every check passed.' } });
    const points = [expect.stringContaining('the tolerance is 300 s')];
    expect(second).toMatchObject({ explanation: { points } });
    await stop();
  });

  it('serves a fault of the scheme', async () => {
    const flags = ['--scheme', 'stripe', '--fault', 'message-age-not-checked'];
    const { url, stop, output } = await startedReceiver(flags, surroundings);
    expect(output().stderr).toContain('Does not check the time of a delivery');
    expect(await statuses(url)).toEqual([200, 200]);
    await stop();
  });

  it.each([
    [['--scheme', 'stripe'], { HOOKPROOF_API_KEY: secret }, '`--scheme` needs a secret'],
    [['--scheme', 'stripe', '--effects', 'x'], surroundings.env, '`--effects` cannot be combined with `--scheme`'],
    [['--scheme', 'stripe'], { ...surroundings.env, HOOKPROOF_INBOX: 'file:x.db' }, '`--inbox` cannot be combined'],
    [['--public-url', 'https://a.test/'], surroundings.env, '`--public-url` needs `--scheme`'],
    [['--scheme', 'stripe', '--fault', 'ambiguous-message-id-accepted'], surroundings.env, 'in the scheme of Stripe'],
    [['--scheme', 'stripe', '--fault', 'message-age-not-checkd'], surroundings.env, 'message-age-not-checked'],
  ])('refuses %j', async (flags, env, message) => {
    const { code, stderr } = await hookproof(['receiver', ...flags], { env, cwd: tmpdir() });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
