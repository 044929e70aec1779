import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createDeliveryLog, deliveryLine } from '../../harness/cli/proxy/delivery-log.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';
import { recording } from './recording.ts';

const secret = randomBytes(32).toString('base64');
const apiKey = randomBytes(24).toString('base64url');
const env = { HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: apiKey };
/** The secret of the sender differs from that of the proxy and the receiver. */
const wrongEnv = { ...env, HOOKPROOF_SECRET: randomBytes(32).toString('base64') };

afterAll(endReceivers);

async function home(): Promise<NodeJS.ProcessEnv> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-proxy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { ...env, HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
}

async function proxyTo(url: string, own: NodeJS.ProcessEnv, ...args: string[]) {
  const all = ['--to', url, '--inspect', '0', ...args];
  const proxy = await startedReceiver(all, { env: own, cwd: tmpdir() }, 'proxy');
  return { ...proxy, page: await proxy.says(/inspector at (\S+): .* why .*\nALARM marks the deliveries/) };
}

it('shows why a delivery is refused, keeps it, and replays it as it was and newly signed', async () => {
  const own = await home();
  const receiver = await startedReceiver([], { env, cwd: tmpdir() });
  const proxy = await proxyTo(receiver.url, own);
  expect((await hookproof(['trigger', 'buy', proxy.url], { env: wrongEnv })).code).toBe(1);

  const folder = join(own.XDG_STATE_HOME ?? '', 'hookproof', 'deliveries');
  // A file that is being written has another ending.
  const names = async () => (await readdir(folder)).filter((name) => name.endsWith('.request'));
  await expect.poll(names).toHaveLength(1);
  const [file = ''] = await names();
  const id = file.replace('.request', '');
  const view = await (await fetch(`${proxy.page}deliveries/${id}`)).json();
  expect(view).toMatchObject({
    status: 401,
    reason: 'signature-mismatch',
    explanation: { title: expect.stringContaining('The receiver answered 401. The signature does not match') },
    answer: { status: 401 },
  });
  expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
  expect(String(await readFile(join(folder, file)))).not.toContain(secret);

  const replay = (...args: string[]) => hookproof(['replay', ...args, '--to', receiver.url], { env: own });
  const same = await replay(id);
  expect(same).toMatchObject({ code: 1, stdout: expect.stringContaining('✗ 401') });
  const signed = await replay(id, '--sign');
  expect(signed).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ 200') });
  const digest = (text: string) => /SHA-256 ([0-9a-f]{64}), unchanged/.exec(text)?.[1];
  expect(digest(same.stdout)).toBe(digest(signed.stdout));
  expect(digest(same.stdout)).toBeDefined();
  const edited = await replay(id, '--set', 'data.providerId=other', '--sign');
  expect(edited).toMatchObject({ code: 0, stdout: expect.stringContaining('changed, was') });
  const unsigned = await replay(id, '--set', 'data.providerId=other');
  expect(unsigned).toMatchObject({ code: 1, stderr: expect.stringContaining('`--sign` creates a new one') });
  const script = await replay(id, '--curl');
  expect(script).toMatchObject({ code: 0, stdout: expect.stringContaining('curl -i') });
  const list = (await hookproof(['replay', '--list'], { env: own })).stdout;
  expect(list).toMatch(new RegExp(`^${id}  .*  401 correct +POST /`));
  const line = await proxy.says(/\n(\d\d:\d\d:\d\d {2}.*)\n/);
  expect(line.slice(10)).toBe(`${id}  -  401  correct: signature-mismatch`);

  // Nothing is listening on its port any more.
  await receiver.stop();
  expect((await replay('--all')).code).toBe(1);
  await proxy.stop();
  const said = [same, signed, script, proxy.output()].map(({ stdout, stderr }) => stdout + stderr).join('');
  for (const hidden of [secret, apiKey]) expect(said).not.toContain(hidden);
});

it('forwards the bytes of the sender, and replays exactly these', async () => {
  const own = await home();
  const endpoint = await recording();
  onTestFinished(() => endpoint.close());
  const proxy = await proxyTo(endpoint.url, own);
  expect(proxy.url).toMatch(/\/hooks$/);
  expect((await hookproof(['trigger', 'buy', proxy.url], { env })).code).toBe(0);
  await expect.poll(async () => (await hookproof(['replay', '--list'], { env: own })).stdout).not.toBe('');
  expect((await hookproof(['replay', '--last', '1', '--to', endpoint.url], { env: own })).code).toBe(0);
  const [first, second] = endpoint.requests;
  expect(second).toEqual(first);
  await proxy.stop();
});

/** Returns the first event of the page, which describes the proxy. */
async function helloOf(page: string): Promise<string> {
  const reader = (await fetch(`${page}events`)).body?.getReader();
  let text = '';
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += Buffer.from(part.value).toString();
    if (text.includes('\n\n')) break;
  }
  await reader?.cancel();
  return text;
}

it('keeps no more than its limits, or nothing', async () => {
  const own = await home();
  const endpoint = await recording();
  onTestFinished(() => endpoint.close());
  const folder = join(own.HOME ?? '', 'kept');
  const requests = async () => (await readdir(folder)).filter((name) => name.endsWith('.request'));
  const few = await proxyTo(endpoint.url, own, '--store', folder, '--keep', '2');
  expect(await helloOf(few.page)).toContain('"storedIn":');
  for (let sent = 0; sent < 4; sent += 1) await hookproof(['trigger', 'buy', few.url], { env });
  await few.stop();
  expect((await requests()).map((name) => name.slice(-10)).sort()).toEqual(['-3.request', '-4.request']);
  const none = await proxyTo(endpoint.url, own, '--no-store');
  expect(await helloOf(none.page)).toMatch(/"upstream":(?!.*"storedIn")/);
  await hookproof(['trigger', 'buy', none.url], { env });
  await none.stop();
  const list = await hookproof(['replay', '--list'], { env: own });
  expect(list).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('The folder does not exist.') });
});

it.each([
  [['proxy', '--to', 'https://partner.test/'], 'the proxy forwards plain HTTP'],
  [['proxy', '--to', 'http://user:pass@partner.test/'], 'has credentials'],
  [['proxy', '--to', 'http://127.0.0.1:1/?a=1'], 'has a query'],
  [['proxy', '--to', 'nonsense'], 'is not an http:// URL'],
  [['proxy', '--to', 'http://127.0.0.1:4000/'], 'would forward to itself'],
  [['proxy', '--to', 'http://169.254.169.254/'], 'will not connect to 169.254.169.254'],
  [['proxy', '--to', 'http://127.0.0.1:1/', '--keep', 'x'], '--keep: "x" is not a whole number'],
  [['proxy'], '--to'],
  [['proxy', '--to', 'http://127.0.0.1:1/', '--scheme', 'square'], 'Square signs the URL of the endpoint'],
  [['proxy', '--to', 'http://127.0.0.1:1/', '--public-url', 'http://a.test/'], '`--public-url` needs a scheme'],
  [['replay', '--to', 'http://127.0.0.1:1/'], 'give the ids of the deliveries'],
  [['replay', 'abcdef-1', '--all', '--to', 'http://127.0.0.1:1/'], 'either `--all` or `--last`'],
  [['replay', 'abcdef-1'], '`--to` is missing'],
  [['replay', 'abcdef-1', '--to', 'http://127.0.0.1:1/'], 'there is no delivery "abcdef-1"'],
  [['replay', '--all', '--to', 'http://127.0.0.1:1/'], 'The folder does not exist.'],
])('%j is a usage error', async (args, message) => {
  const { code, stderr } = await hookproof(args, { env: await home() });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  expect(stderr).not.toContain('user:pass');
});

it('prints an alarm for a forged delivery that the receiver accepts', async () => {
  const endpoint = await recording();
  onTestFinished(() => endpoint.close());
  const proxy = await proxyTo(endpoint.url, await home(), '--no-store');
  await hookproof(['trigger', 'buy', proxy.url], { env: wrongEnv });
  const line = await proxy.says(/ {2}200 {2}(.*)\n/);
  expect(line).toBe('ALARM: accepted-although-invalid (signature-mismatch)');
  await proxy.stop();
});

it.each(['stripe', 'square'])('verifies, explains and signs in the scheme %s', async (name) => {
  const own = await home();
  const wrong = { ...own, HOOKPROOF_SECRET: wrongEnv.HOOKPROOF_SECRET };
  const scheme = ['--scheme', name];
  const registered = ['--public-url', 'https://partner.test/hooks'];
  const receiver = await startedReceiver(
    [...scheme, ...registered],
    { env: { HOOKPROOF_SECRET: secret }, cwd: tmpdir() },
    'receiver',
  );
  const proxy = await proxyTo(receiver.url, own, ...scheme, ...registered);
  // In the scheme of Square, the trigger signs the URL of the proxy, which is not the registered one.
  const sample = name === 'stripe' ? 'customer.created' : 'payment.updated';
  expect(await hookproof(['trigger', sample, proxy.url, ...scheme], { env: wrong })).toMatchObject({ code: 1 });
  const line = await proxy.says(/\n(\d\d:\d\d:\d\d {2}.*)\n/);
  expect(line.slice(10)).toMatch(/^\S+ {2}- {2}401 {2}correct: signature-mismatch$/);
  const id = line.slice(10).split(' ')[0] ?? '';
  const view = await (await fetch(`${proxy.page}deliveries/${id}`)).json();
  const points = [expect.stringContaining('another secret, or from another body')];
  expect(view).toMatchObject({ explanation: { points } });
  const replay = (...args: string[]) =>
    hookproof(['replay', id, '--to', receiver.url, ...scheme, ...registered, ...args], { env: own });
  // The delivery is written after the answer.
  await expect.poll(() => replay()).toMatchObject({ code: 1, stdout: expect.stringContaining('0 of 1 answered 2xx') });
  const signed = await replay('--sign', '--set', 'type=other');
  expect(signed).toMatchObject({ code: 0, stdout: expect.stringContaining('1 of 1 answered 2xx') });
  const { stdout } = await replay('--curl');
  expect(stdout).toMatch(/RECEIVED_(?:STRIPE|X_SQUARE)/);
  await proxy.stop();
  await receiver.stop();
});

describe('the log of the proxy', () => {
  const delivery = { id: 'abcdef-1', number: 1, at: '2026-01-01T00:00:00.000Z', claimed: false, durationMs: 1 };
  const valid = { ...delivery, outcome: 'accepted', status: 200, kind: 'buy', answered: 'correct' } as const;

  it('prints a line for each delivery, and says when there was no answer', () => {
    expect(deliveryLine(valid).slice(10)).toBe('abcdef-1  buy  200  correct');
    const silent = { ...delivery, outcome: 'aborted', reason: 'no-answer', alarm: 'no answer' } as const;
    expect(deliveryLine(silent).slice(10)).toBe('abcdef-1  -  no answer  ALARM: no-answer');
  });

  it('counts what is more than twenty in a second, alarms by name', () => {
    const lines: string[] = [];
    const log = createDeliveryLog((text) => lines.push(text));
    for (let sent = 0; sent < 30; sent += 1) log.add(valid);
    const reason = 'accepted-although-invalid (signature-mismatch)';
    log.add({ ...valid, answered: 'unsafe', alarm: 'accepted although invalid', reason });
    expect(lines).toHaveLength(20);
    log.close();
    expect(lines.slice(20)).toEqual(['11 more deliveries, 1 ALARM: see the inspector\n']);
    log.add(valid);
    log.close();
    expect(lines).toHaveLength(22);
  });
});

it('asks before it sends to a public host', async () => {
  const own = await home();
  const endpoint = await recording();
  onTestFinished(() => endpoint.close());
  const proxy = await proxyTo(endpoint.url, own);
  await hookproof(['trigger', 'buy', proxy.url], { env });
  await proxy.stop();
  const { code, stderr } = await hookproof(['replay', '--all', '--to', 'http://8.8.8.8/'], { env: own });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('nothing was sent') });
  expect(stderr).toContain('sends 1 captured request to 8.8.8.8');
});
