/** While secrets and API keys are rotated: which was used, and a warning about the old ones now and then. */
import { randomBytes } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { warnAboutOldCredentials } from '../../receiver/delivery-report.ts';
import { createReceiver, type DeliveryReport } from '../../receiver/index.ts';
import { API_KEY, buy, post, SECRET, sign } from './deliveries.ts';

const NEW_SECRET = randomBytes(32).toString('hex');
const NEW_KEY = randomBytes(24).toString('hex');

function warnings() {
  const lines: { fields: Record<string, unknown>; message: string }[] = [];
  const logger = {
    info() {},
    error() {},
    warn: (fields: object, message: string) => void lines.push({ fields: { ...fields }, message }),
  };
  return { lines, logger };
}

it('old and new are accepted, and what is old is warned of, by its position and without its value', async () => {
  const { lines, logger } = warnings();
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
  await vi.waitFor(() => expect(reports).toHaveLength(1));
  expect(lines).toEqual([]);

  expect(await deliver(SECRET, NEW_KEY)).toBe(200);
  expect(await deliver(NEW_SECRET, API_KEY)).toBe(200);
  for (let count = 0; count < 20; count += 1) expect(await deliver(SECRET, API_KEY)).toBe(200);
  expect(await deliver('another secret', NEW_KEY)).toBe(401);
  await vi.waitFor(() => expect(reports).toHaveLength(24));
  expect(reports.slice(0, 4).map(({ secretIndex, keyIndex }) => [secretIndex, keyIndex])).toEqual([
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ]);
  expect(lines).toEqual([
    {
      fields: { event: 'old-credential', credential: 'signature secret', index: 1, deliveries: 1 },
      message: 'an older signature secret is still in use',
    },
    {
      fields: { event: 'old-credential', credential: 'API key', index: 1, deliveries: 1 },
      message: 'an older API key is still in use',
    },
  ]);
  for (const value of [SECRET, API_KEY, NEW_SECRET, NEW_KEY]) expect(JSON.stringify(lines)).not.toContain(value);
});

it('the warning comes once a minute for each credential, with the deliveries since the last one', () => {
  const { lines, logger } = warnings();
  let now = 0;
  const observe = warnAboutOldCredentials(logger, () => now);
  const used = (secretIndex: number) => observe({ secretIndex, keyIndex: undefined } as DeliveryReport);
  for (now = 0; now <= 120_000; now += 1000) {
    used(0);
    used(1);
    if (now === 90_000) used(2);
  }
  expect(lines.map(({ fields }) => [fields.index, fields.deliveries])).toEqual([
    [1, 1],
    [1, 60],
    [2, 1],
    [1, 60],
  ]);
});
