import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, expect, it } from 'vitest';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const env = {
  HOOKPROOF_SECRET: randomBytes(32).toString('base64'),
  HOOKPROOF_API_KEY: randomBytes(24).toString('base64url'),
};

afterAll(endReceivers);

it('--inspect serves the page from the compiled program, and shows a delivery', async () => {
  const receiver = await startedReceiver(['--inspect', '0'], { env, cwd: tmpdir() });
  const inspector = await receiver.says(/inspector at (http:\/\/127\.0\.0\.1:\d+\/)\n/);
  for (const [path, type] of [
    ['', 'text/html'],
    ['main.js', 'text/javascript'],
    ['style.css', 'text/css'],
  ] as const) {
    const answer = await fetch(inspector + path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    expect(await answer.text()).not.toBe('');
  }
  expect((await hookproof(['trigger', 'buy', receiver.url], { env })).code).toBe(0);
  const events = (await fetch(`${inspector}events`)).body?.getReader();
  let text = '';
  while (!text.includes('event: delivery')) text += Buffer.from((await events?.read())?.value ?? '').toString();
  const id = /^id: (\S+)$/m.exec(text)?.[1];
  const view = await (await fetch(`${inspector}deliveries/${id}`)).text();
  expect(text).toContain(`"receiver":"${receiver.url}"`);
  expect(JSON.parse(view)).toMatchObject({ outcome: 'accepted', kind: 'CAAS_BUY' });
  // An open event stream does not keep the process running.
  await receiver.stop();
  const { stdout, stderr } = receiver.output();
  for (const secret of Object.values(env))
    for (const said of [stdout, stderr, text, view]) expect(said).not.toContain(secret);
});

it('inspects a mutant too; on a public address its URL has a token', async () => {
  const args = ['--inspect', '0', '--inspect-host', '0.0.0.0', '--fault', 'compares-first-8'];
  const receiver = await startedReceiver(args, { env, cwd: tmpdir() });
  const url = new URL(await receiver.says(/inspector at (http:\/\/0\.0\.0\.0:\d+\/[0-9a-f]{32}\/)\n/));
  const [withToken, without] = await Promise.all(
    [url.pathname, '/'].map(async (path) => (await fetch(`http://127.0.0.1:${url.port}${path}`)).status),
  );
  expect([withToken, without]).toEqual([200, 404]);
  expect(receiver.output().stdout).not.toContain(url.pathname.slice(1, -1));
  await receiver.stop();
});

it('rejects invalid flags, and exits when one of the two ports is in use', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const wrong: [string[], string][] = [
    [['--inspect', 'x'], '--inspect: "x" is not a whole number from 0 to 65535'],
    [['--inspect-host', '::1'], '`--inspect-host` needs `--inspect`'],
    [['--inspect', String(port)], `The inspector cannot listen on 127.0.0.1 port ${port} (EADDRINUSE)`],
    [['--inspect', '0', '--port', String(port)], `Cannot listen on 127.0.0.1 port ${port} (EADDRINUSE)`],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await hookproof(['receiver', '--port', '0', ...args], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  }
  taken.close();
});

it('is part of the compiled library', async () => {
  const library: typeof import('../../receiver/index.ts') = await import(
    new URL('../../dist/receiver/index.js', import.meta.url).href
  );
  const inspector = await library.startInspector();
  expect(await (await fetch(inspector.url)).text()).toContain('<title>hookproof inspector</title>');
  await inspector.close();
});
