/**
 * The stages that ask for credentials, on the wire: which header counts, what the log says, and that nothing else is
 * asked.
 */
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type ReceiverLogger, type RunningReceiver, startReceiver } from '../../../receiver/index.ts';
import { API_KEY, buy, SECRET, sign } from '../deliveries.ts';
import { openRaw } from '../raw-http.ts';

const BODY = JSON.stringify(buy());
const RIGHT = sign(BODY);

type Line = readonly [name: string, value: string];
let logged: Record<string, unknown>[] = [];
const note = (fields: { event?: string }) => void (fields.event === 'delivery' && logged.push({ ...fields }));
const logger: ReceiverLogger = { info: note, warn: note, error: note };
let running: Promise<RunningReceiver> | undefined;
afterAll(async () => (await running)?.close());

/** One for all tests. It is started inside of the first one, so that a receiver that cannot start fails a test. */
function receiver(): Promise<RunningReceiver> {
  running ??= startReceiver({
    signing: { secrets: ['another secret', SECRET] },
    apiKey: { keys: [API_KEY] },
    logger,
  });
  return running;
}

/** Posts with these credential lines, in this order, in front of the other headers or behind them. */
async function post(lines: readonly Line[], place: 'first' | 'last' = 'last') {
  const common: Line[] = [
    ['Host', 'localhost'],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(Buffer.byteLength(BODY))],
  ];
  const all = place === 'first' ? [...lines, ...common] : [...common, ...lines];
  const connection = await openRaw((await receiver()).port);
  logged = [];
  await connection.write(
    `POST / HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${BODY}`,
  );
  const { status, body } = await connection.answer();
  connection.socket.destroy();
  await vi.waitFor(() => expect(logged).toHaveLength(1));
  const { reason, secretIndex } = logged[0]!;
  return { status, body, reason, secretIndex };
}

const key: Line = ['X-API-Key', API_KEY];
const signature: Line = ['X-Service-Signature', RIGHT];
const refused = (reason: string) => ({ status: 401, body: '{"error":"unauthorized"}', reason, secretIndex: undefined });
const accepted = { status: 200, body: expect.stringContaining('"status"'), reason: undefined, secretIndex: 1 };

describe('a right delivery', () => {
  it.each<[string, readonly Line[]]>([
    ['as it is', [key, signature]],
    ['in the other order', [signature, key]],
    [
      'with names in another letter case',
      [
        ['x-api-KEY', API_KEY],
        ['X-SERVICE-signature', RIGHT],
      ],
    ],
    [
      'beside a header whose value is the name of one',
      [['X-Other', 'X-API-Key'], ['X-Another', 'x-service-signature'], key, signature],
    ],
  ])('is accepted: %s', async (_what, lines) => {
    expect(await post(lines, 'last')).toEqual(accepted);
    expect(await post(lines, 'first')).toEqual(accepted);
  });
});

describe('the API key', () => {
  it.each<[string, readonly Line[], string]>([
    ['is missing', [], 'api-key-missing'],
    ['is empty', [['X-API-Key', '']], 'api-key-missing'],
    ['is wrong', [['X-API-Key', 'wrong']], 'api-key-mismatch'],
    ['is given twice', [key, key], 'api-key-malformed'],
    ['is given and then left empty', [key, ['x-api-key', '']], 'api-key-malformed'],
    ['stands in another header', [['X-API-Key-2', API_KEY]], 'api-key-missing'],
    ['stands in front of another header', [[API_KEY, 'X-API-Key']], 'api-key-missing'],
  ])('%s', async (_what, lines, reason) => {
    expect(await post([...lines, signature])).toEqual(refused(reason));
    expect(await post([signature, ...lines], 'first')).toEqual(refused(reason));
  });
});

describe('the signature', () => {
  it.each<[string, readonly Line[], string]>([
    ['is missing', [], 'signature-missing'],
    ['is empty', [['X-Service-Signature', '']], 'signature-missing'],
    ['is wrong', [['X-Service-Signature', sign('another body')]], 'signature-mismatch'],
    ['is no signature', [['X-Service-Signature', 'wrong']], 'signature-malformed'],
    ['is given twice', [signature, signature], 'signature-malformed'],
    ['is given three times', [signature, ['X-Service-Signature', ''], signature], 'signature-malformed'],
    ['stands in another header', [['X-Signature', RIGHT]], 'signature-missing'],
  ])('%s', async (_what, lines, reason) => {
    expect(await post([...lines, key])).toEqual(refused(reason));
    expect(await post([key, ...lines], 'first')).toEqual(refused(reason));
  });
});
