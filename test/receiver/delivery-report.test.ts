/** The log line of a delivery, the data that it never contains, and the warnings about old credentials. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { warnAboutOldCredentials } from '../../receiver/delivery-report.ts';
import { createLogger, createReceiver, type DeliveryReport } from '../../receiver/index.ts';
import { API_KEY, buy, headersFor, post, SECRET, sign } from './deliveries.ts';
import { collectLogs } from './logs.ts';

const NEW_SECRET = randomBytes(32).toString('hex');
const NEW_KEY = randomBytes(24).toString('hex');

it('accepts old and new credentials, and warns about old ones by position without showing their value', async () => {
  const { lines, logger, events } = collectLogs();
  const reports: DeliveryReport[] = [];
  const receiver = createReceiver({
    signing: { secrets: [NEW_SECRET, SECRET] },
    apiKey: { keys: [NEW_KEY, API_KEY] },
    logger,
    observers: [(report) => void reports.push(report)],
  });
  const deliver = async (secret: string, key: string) => {
    const body = JSON.stringify(buy());
    return (await post(receiver, body, { 'X-Service-Signature': sign(body, secret), 'X-API-Key': key })).status;
  };
  expect(await deliver(NEW_SECRET, NEW_KEY)).toBe(200);
  await vi.waitFor(() => expect(reports).toHaveLength(1), 120_000);
  expect(events('old-credential')).toEqual([]);

  expect(await deliver(SECRET, NEW_KEY)).toBe(200);
  expect(await deliver(NEW_SECRET, API_KEY)).toBe(200);
  for (let count = 0; count < 20; count += 1) expect(await deliver(SECRET, API_KEY)).toBe(200);
  expect(await deliver('another secret', NEW_KEY)).toBe(401);
  await vi.waitFor(() => expect(reports).toHaveLength(24), 120_000);
  expect(reports.slice(0, 4).map(({ secretIndex, keyIndex }) => [secretIndex, keyIndex])).toEqual([
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ]);
  expect(events('old-credential')).toEqual(
    ['signature secret', 'API key'].map((credential) => ({
      level: 'warn',
      message: `an older ${credential} is still in use`,
      event: 'old-credential',
      credential,
      index: 1,
      deliveries: 1,
    })),
  );
  for (const value of [SECRET, API_KEY, NEW_SECRET, NEW_KEY]) expect(JSON.stringify(lines)).not.toContain(value);
});

it('warns once a minute for each credential, with the number of deliveries since the last warning', () => {
  const { lines, logger } = collectLogs();
  let now = 0;
  const observe = warnAboutOldCredentials(logger, () => now);
  const used = (secretIndex: number) => observe({ secretIndex, keyIndex: undefined } as DeliveryReport);
  for (now = 0; now <= 120_000; now += 1000) {
    used(0);
    used(1);
    if (now === 90_000) used(2);
  }
  expect(lines.map(({ index, deliveries }) => [index, deliveries])).toEqual([
    [1, 1],
    [1, 60],
    [2, 1],
    [1, 60],
  ]);
});

function capture(): { text: () => string; lines: () => Record<string, unknown>[]; stream: Writable } {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  const lines = () =>
    written
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { text: () => written, lines, stream };
}

it('logs one line for each delivery with its outcome, reason and duration', async () => {
  const { lines, stream } = capture();
  const next = randomBytes(32).toString('hex');
  const receiver = createReceiver({
    signing: { secrets: [next, SECRET] },
    apiKey: { keys: [API_KEY] },
    logger: createLogger({ destination: stream }),
  });
  const body = JSON.stringify(buy('id-1'));
  await post(receiver, body);
  await post(receiver, body, { 'X-Service-Signature': sign(body, next) });
  await post(receiver, body, { 'X-Service-Signature': sign('other') });
  await post(receiver, body, { 'X-Service-Signature': undefined });
  await post(receiver, body, { 'X-Service-Signature': 'x' });
  await post(receiver, body, { 'X-API-Key': undefined });
  await post(receiver, body, { 'X-API-Key': 'x' });
  await post(receiver, 'nul');
  await post(receiver, '[]');
  await post(receiver, body, { 'Content-Type': 'text/plain' });

  const refused = (status: number, reason: string) => ({ outcome: 'refused', status, reason });
  const matched = { secretIndex: 1 };
  const expected = [
    { outcome: 'accepted', status: 200, id: 'id-1', kind: 'CAAS_BUY', ...matched },
    { outcome: 'accepted', status: 200, id: 'id-1', kind: 'CAAS_BUY', duplicate: true },
    refused(401, 'signature-mismatch'),
    refused(401, 'signature-missing'),
    refused(401, 'signature-malformed'),
    refused(401, 'api-key-missing'),
    refused(401, 'api-key-mismatch'),
    { ...refused(400, 'body-not-json'), ...matched },
    { ...refused(400, 'not-a-notification'), ...matched },
    { ...refused(415, 'content-type-not-json'), ...matched },
  ];
  const deliveries = () => lines().filter(({ event }) => event === 'delivery');
  await vi.waitFor(() => expect(deliveries()).toHaveLength(expected.length), 120_000);
  expect(deliveries().map(({ level: _level, time: _time, pid: _pid, hostname: _hostname, ...line }) => line)).toEqual(
    expected.map((line) => ({
      name: 'receiver',
      event: 'delivery',
      msg: `delivery ${line.outcome}`,
      durationMs: expect.any(Number),
      ...line,
    })),
  );
});

it('logs no credential and no body, even when handlers fail', async () => {
  const { text, lines, stream } = capture();
  const canary = `canary-${randomUUID()}`;
  const logger = createLogger({ destination: stream, level: 'trace' });
  const receiver = createReceiver({
    signing: { secrets: [SECRET, 'short-secret-of-the-test'] },
    apiKey: { keys: [API_KEY] },
    logger,
    handlers: {
      CAAS_BUY: (notification, context) => {
        context.logger.info(
          { raw: notification.raw, headers: { 'X-API-Key': API_KEY }, request: { headers: SECRET } },
          'mine',
        );
        throw Object.assign(new Error('upstream said no'), { config: { headers: { 'x-api-key': API_KEY } } });
      },
    },
  });
  const body = JSON.stringify(buy('id-2', { providerId: canary }));
  const wrong = randomBytes(32).toString('base64');
  await post(receiver, body);
  await post(receiver, body, { 'X-Service-Signature': wrong });
  await post(receiver, body, { 'X-API-Key': `${API_KEY}x`, Authorization: `Bearer ${API_KEY}` }, `/?key=${API_KEY}`);
  await post(receiver, `{"id":"${canary}"`);
  await post(receiver, JSON.stringify({ id: canary, type: canary, at: canary, data: canary }));
  await receiver.settled();
  await vi.waitFor(() => expect(lines().filter(({ event }) => event === 'delivery')).toHaveLength(5), 120_000);

  expect(lines().map(({ event, msg }) => event ?? msg)).toEqual(
    expect.arrayContaining(['configuration', 'delivery', 'mine', 'handler-failed']),
  );
  for (const secret of [
    SECRET,
    'short-secret-of-the-test',
    API_KEY,
    wrong,
    canary,
    ...Object.values(headersFor(body)).slice(1),
  ]) {
    expect(text()).not.toContain(secret);
  }
});
