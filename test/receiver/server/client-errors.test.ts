/** What only shows on the wire: framing, pieces, cut connections, and bytes that are no HTTP. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Inbox, memoryInbox, type RunningReceiver, startReceiver } from '../../../receiver/index.ts';
import { API_KEY, buy, headersFor, SECRET, sign } from '../deliveries.ts';
import { openRaw, type RawConnection, rawPost } from '../raw-http.ts';

let receiver: RunningReceiver;
let lines: Record<string, unknown>[];
let handled: string[];
const connections: RawConnection[] = [];

async function open(port = receiver.port): Promise<RawConnection> {
  const connection = await openRaw(port);
  connections.push(connection);
  return connection;
}

beforeEach(async () => {
  // Kept by this receiver: a late line of the one before must not end up among them.
  const own: typeof lines = [];
  lines = own;
  handled = [];
  const add = (fields: object) => void own.push({ ...fields });
  receiver = await startReceiver({
    signing: { secrets: [SECRET] },
    apiKey: { keys: [API_KEY] },
    handlers: { CAAS_BUY: ({ id }) => void handled.push(id) },
    logger: { info: add, warn: add, error: add },
  });
});

afterEach(async () => {
  for (const { socket } of connections.splice(0)) socket.destroy();
  await receiver.close();
});

/** A right delivery on a new connection: the receiver is alive and well. */
async function canary(): Promise<void> {
  const connection = await open();
  const body = JSON.stringify(buy());
  await connection.write(rawPost(body, headersFor(body)));
  expect((await connection.answer()).status).toBe(200);
  connection.socket.destroy();
}

describe('however a right delivery arrives', () => {
  it('byte by byte and in the middle of a character, it is the same delivery', async () => {
    const body = JSON.stringify(buy('pieces', { providerId: 'é😀' }));
    const bytes = rawPost(body, headersFor(body));
    const connection = await open();
    for (const byte of bytes) await connection.write(Buffer.of(byte));
    expect(await connection.answer()).toMatchObject({ status: 200, body: '{"status":"accepted"}' });
  });

  it('chunked, also with a trailer and one byte a chunk', async () => {
    const body = Buffer.from(JSON.stringify(buy('chunked', { providerId: '😀' })));
    const { 'Content-Type': type, ...rest } = headersFor(body);
    const head = Object.entries({ 'content-type': type, 'transfer-encoding': 'chunked', ...rest });
    const connection = await open();
    await connection.write(
      `POST / HTTP/1.1\r\nHost: x\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    for (const byte of body) {
      await connection.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]));
    }
    await connection.write('0\r\nX-Service-Signature: trailers-do-not-count\r\n\r\n');
    expect((await connection.answer()).status).toBe(200);
  });

  it('after 100 Continue', async () => {
    const body = JSON.stringify(buy());
    const bytes = rawPost(body, { ...headersFor(body), Expect: '100-continue' });
    const connection = await open();
    await connection.write(bytes.subarray(0, bytes.length - Buffer.byteLength(body)));
    expect((await connection.answer()).status).toBe(100);
    await connection.write(body);
    expect((await connection.answer()).status).toBe(200);
  });

  it('with HTTP/1.0, after which the connection is closed', async () => {
    const body = JSON.stringify(buy());
    const connection = await open();
    await connection.write(rawPost(body, headersFor(body), '1.0'));
    expect((await connection.answer()).status).toBe(200);
    expect(await connection.ended).toBe('closed');
  });

  it('with header names in any letter case, many unknown headers and a long one', async () => {
    const body = JSON.stringify(buy());
    const connection = await open();
    const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`X-Custom-${index}`, 'x']));
    for (const change of [(name: string) => name.toLowerCase(), (name: string) => name.toUpperCase()]) {
      const headers = Object.fromEntries(
        Object.entries(headersFor(body)).map(([name, value]) => [change(name), value]),
      );
      await connection.write(rawPost(body, { ...unknown, 'X-Long': 'x'.repeat(4096), ...headers }));
      expect((await connection.answer()).status).toBe(200);
    }
  });

  it('pipelined: each gets its own answer, in order', async () => {
    const right = JSON.stringify(buy('one'));
    const forged = JSON.stringify(buy('two'));
    const last = JSON.stringify(buy('three'));
    const connection = await open();
    await connection.write(
      Buffer.concat([
        rawPost(right, headersFor(right)),
        rawPost(forged, headersFor(forged, { 'X-API-Key': 'wrong' })),
        rawPost(last, headersFor(last)),
      ]),
    );
    const statuses = [await connection.answer(), await connection.answer(), await connection.answer()];
    expect(statuses.map(({ status }) => status)).toEqual([200, 401, 200]);
    await receiver.settled();
    expect(handled).toEqual(['one', 'three']);
  });

  it('on a connection that brought 1 MB with a wrong signature, or a wrong key, or too much', async () => {
    const connection = await open();
    const large = 'x'.repeat(1_000_000);
    await connection.write(rawPost(large, headersFor(large, { 'X-Service-Signature': sign('other') })));
    expect((await connection.answer()).status).toBe(401);
    await connection.write(rawPost(large, headersFor(large, { 'X-API-Key': 'wrong' })));
    expect((await connection.answer()).status).toBe(401);
    const huge = 'x'.repeat(2_000_000);
    await connection.write(rawPost(huge, headersFor(huge)));
    expect(await connection.answer()).toMatchObject({ status: 413, body: '{"error":"body-too-large"}' });
    const body = JSON.stringify(buy());
    await connection.write(rawPost(body, headersFor(body)));
    expect((await connection.answer()).status).toBe(200);
  });

  it('after a GET with a body on the same connection', async () => {
    const connection = await open();
    await connection.write('GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello');
    expect((await connection.answer()).status).toBe(405);
    const body = JSON.stringify(buy());
    await connection.write(rawPost(body, headersFor(body)));
    expect((await connection.answer()).status).toBe(200);
  });
});

it('refusals are the same bytes, whatever is wrong', async () => {
  const connection = await open();
  const seen = new Set<string>();
  for (const body of [JSON.stringify(buy()), '', '{', '\xff', 'x'.repeat(100_000)]) {
    for (const change of [
      { 'X-Service-Signature': undefined },
      { 'X-Service-Signature': sign('other') },
      { 'X-Service-Signature': 'x', 'Content-Type': 'text/plain' },
      { 'X-Service-Signature': '', 'Content-Encoding': 'gzip' },
      { 'X-API-Key': undefined },
      { 'X-API-Key': 'x', 'Content-Type': undefined },
      { 'X-API-Key': undefined, 'X-Service-Signature': undefined },
    ]) {
      await connection.write(rawPost(body, headersFor(body, change)));
      const { status, headers, body: text } = await connection.answer();
      seen.add(JSON.stringify([status, headers.map((line) => line.replace(/^Date: .*/, 'Date')), text]));
    }
  }
  expect([...seen].map((answer) => JSON.parse(answer))).toEqual([
    [
      401,
      [
        'Content-Type: application/json',
        'Content-Length: 24',
        'Date',
        'Connection: keep-alive',
        'Keep-Alive: timeout=65',
      ],
      '{"error":"unauthorized"}',
    ],
  ]);
});

describe('a repeated header is refused, whichever is right', () => {
  it.each([
    ['X-Service-Signature', 'right', 'right'],
    ['X-Service-Signature', 'right', 'wrong'],
    ['X-Service-Signature', 'wrong', 'right'],
    ['x-api-key', 'right', 'right'],
    ['X-API-Key', 'right', 'wrong'],
    ['X-API-Key', 'wrong', 'right'],
  ] as const)('%s: %s, %s', async (name, first, second) => {
    const body = JSON.stringify(buy());
    const right = name === 'X-Service-Signature' ? sign(body) : API_KEY;
    const value = { right, wrong: 'wrong' };
    const own = Object.keys(headersFor(body)).find((other) => other.toLowerCase() === name.toLowerCase());
    const rest = headersFor(body, { [own ?? '']: undefined });
    const connection = await open();
    const bytes = rawPost(body, rest).toString('latin1');
    const repeated = `${name}: ${value[first]}\r\n${name.toUpperCase()}: ${value[second]}\r\n\r\n`;
    await connection.write(bytes.replace('\r\n\r\n', `\r\n${repeated}`));
    expect(await connection.answer()).toMatchObject({ status: 401, body: '{"error":"unauthorized"}' });
  });

  it('also for headers of which Node drops all but the first', async () => {
    const keyed = await startReceiver({ apiKey: { keys: [API_KEY], header: 'Authorization' } });
    const connection = await open(keyed.port);
    const body = JSON.stringify(buy());
    const once = rawPost(body, { 'Content-Type': 'application/json', Authorization: API_KEY });
    await connection.write(once);
    expect((await connection.answer()).status).toBe(200);
    await connection.write(once.toString('latin1').replace('\r\n\r\n', '\r\nAuthorization: other\r\n\r\n'));
    expect((await connection.answer()).status).toBe(401);
    await keyed.close();
  });

  it.each([
    ['44 bytes from 0x80 on', Buffer.alloc(44, 0xe9)],
    ['C3 A9 and 42 characters', Buffer.concat([Buffer.from([0xc3, 0xa9]), Buffer.alloc(42, 'A')])],
  ])('and a signature of %s is refused like any other', async (_label, value) => {
    const body = JSON.stringify(buy());
    const rest = rawPost(body, headersFor(body, { 'X-Service-Signature': undefined })).toString('latin1');
    const connection = await open();
    const line = `\r\nX-Service-Signature: ${value.toString('latin1')}\r\n\r\n`;
    await connection.write(Buffer.from(rest.replace('\r\n\r\n', line), 'latin1'));
    expect((await connection.answer()).status).toBe(401);
    await canary();
  });
});

describe('what is not well-formed HTTP gets an answer, and does no harm', () => {
  it.each([
    ['garbage', 'garbage\r\n\r\n', 400],
    ['binary', Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0xff, 0x00, 0x0d, 0x0a]), 400],
    ['an unknown method', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['an unknown version', 'POST / HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['no host', 'POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 400],
    ['a header without a colon', 'POST / HTTP/1.1\r\nHost x\r\n\r\n', 400],
    ['a space before the colon', 'POST / HTTP/1.1\r\nHost : x\r\n\r\n', 400],
    ['a NUL in a header', 'POST / HTTP/1.1\r\nHost: x\r\nX-Y: a\0b\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    ['a length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
    [
      'length and chunks at once',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a bad chunk size', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
    [
      'a chunk extension of 20 kB',
      `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
      413,
    ],
    ['headers of 20 kB', `POST / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a target of 20 kB', `POST /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['10 MB of headers', `POST / HTTP/1.1\r\nHost: x\r\n${`X-Many: ${'x'.repeat(1000)}\r\n`.repeat(10_000)}\r\n`, 431],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['PRI, as HTTP/2 begins', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ])('%s: %s', async (_label, bytes, status) => {
    const connection = await open();
    void connection.write(bytes);
    const answer = await connection.answer();
    expect(answer.status).toBe(status);
    expect(answer.body).not.toMatch(/\bat \/|HPE_|Error:/);
    if (status !== 405) expect(answer.headers.map((line) => line.toLowerCase())).toContain('connection: close');
    // Cutting it while they still send would reset the connection, and the answer could be lost on the way.
    if (status === 431) expect(await connection.ended).toBe('closed');
    await canary();
  });

  it('a request that is answered before its body breaks gets no second answer', async () => {
    const connection = await open();
    await connection.write('GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    expect((await connection.answer()).status).toBe(405);
    await connection.write('zz\r\n');
    await expect(connection.answer()).rejects.toThrow('connection ended after ""');
  });

  it('a body that is cut off is not taken for a whole one, even when it reads as one', async () => {
    const stored: string[] = [];
    const inbox: Inbox = {
      ...memoryInbox(),
      put: async ({ notification }) => {
        stored.push(notification.id);
        return 'stored';
      },
    };
    const logged: object[] = [];
    const logger = { info: (fields: object) => void logged.push(fields), warn() {}, error() {} };
    const trusting = await startReceiver({ open: true, inbox, logger });
    const before = logged.length;
    const body = JSON.stringify(buy('looks-whole'));
    const bytes = rawPost(`${body}     `, { 'Content-Type': 'application/json' });
    const connection = await open(trusting.port);
    await connection.write(bytes.subarray(0, bytes.length - 1));
    connection.socket.destroy();
    await connection.ended;
    await vi.waitFor(() => expect(logged).toHaveLength(before + 1));
    await trusting.close();
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(stored).toEqual([]);
  });

  it('an upgrade that is asked for is not made', async () => {
    const body = JSON.stringify(buy());
    const connection = await open();
    await connection.write(rawPost(body, { ...headersFor(body), Connection: 'Upgrade', Upgrade: 'websocket' }));
    expect((await connection.answer()).status).toBe(200);
  });

  it('a bad request behind a right one does not take its answer away', async () => {
    const body = JSON.stringify(buy('first'));
    const connection = await open();
    await connection.write(Buffer.concat([rawPost(body, headersFor(body)), Buffer.from('garbage\r\n\r\n')]));
    expect(await connection.answer()).toMatchObject({ status: 200, body: '{"status":"accepted"}' });
    expect(await connection.answer()).toMatchObject({ status: 400, body: '{"error":"bad-request"}' });
    expect(await connection.ended).toBe('closed');
    await receiver.settled();
    expect(handled).toEqual(['first']);
  });

  it('a bad chunk behind a right request breaks only the second one', async () => {
    const body = JSON.stringify(buy('first'));
    const connection = await open();
    const bad = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';
    await connection.write(Buffer.concat([rawPost(body, headersFor(body)), Buffer.from(bad)]));
    expect((await connection.answer()).status).toBe(200);
    expect((await connection.answer()).status).toBe(400);
    expect(await connection.ended).toBe('closed');
  });

  it('a body that is cut off ends nothing but its own connection', async () => {
    const body = JSON.stringify(buy('cut'));
    const bytes = rawPost(body, headersFor(body));
    for (const end of ['destroy', 'end', 'reset'] as const) {
      const connection = await open();
      await connection.write(bytes.subarray(0, bytes.length - 20));
      if (end === 'destroy') connection.socket.destroy();
      else if (end === 'end') connection.socket.end();
      else connection.socket.resetAndDestroy();
      await connection.ended;
      await canary();
    }
    await vi.waitFor(() => {
      expect(lines.filter(({ outcome }) => outcome === 'aborted')).toHaveLength(3);
    });
    expect(handled).not.toContain('cut');
  });

  it('a body that is said to be endless is refused before it comes', async () => {
    const connection = await open();
    await connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n');
    expect((await connection.answer()).status).toBe(413);
    expect(await connection.ended).toBe('closed');
    await canary();
  });

  it('a body that is endless is cut off', async () => {
    const connection = await open();
    await connection.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = Buffer.from(`${(1_000_000).toString(16)}\r\n${'x'.repeat(1_000_000)}\r\n`);
    let over = false;
    void connection.ended.then(() => {
      over = true;
    });
    let sent = 0;
    while (!over && sent < 200) {
      sent += 1;
      if (connection.socket.write(chunk)) continue;
      const drained = new Promise((resolve) => connection.socket.once('drain', resolve));
      await Promise.race([drained, connection.ended]);
    }
    expect(over).toBe(true);
    await canary();
  });
});

describe('time limits', () => {
  it('headers and bodies that do not come are answered 408', async () => {
    const hasty = await startReceiver({ open: true, timeouts: { headersMs: 100, requestMs: 200 } });
    const headless = await open(hasty.port);
    await headless.write('POST / HTTP/1.1\r\nHost: x\r\n');
    const bodiless = await open(hasty.port);
    await bodiless.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345');
    for (const connection of [headless, bodiless]) {
      expect(await connection.answer()).toMatchObject({ status: 408, body: '{"error":"timeout"}' });
      expect(await connection.ended).toBe('closed');
    }
    await hasty.close();
  });
});
