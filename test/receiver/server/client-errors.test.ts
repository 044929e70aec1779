/** HTTP framing, malformed requests and aborted connections, which are visible only on the wire. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type DeliveryReport,
  type Inbox,
  memoryInbox,
  type RunningReceiver,
  startReceiver,
} from '../../../receiver/index.ts';
import { API_KEY, buy, headersFor, SECRET, sign } from '../deliveries.ts';
import { collectLogs } from '../logs.ts';
import { exchange, openRaw, rawPost, receiverForTest, validPost } from '../raw-http.ts';

const POST = 'POST / HTTP/1.1\r\nHost: x\r\n';
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;

let receiver: RunningReceiver;
const { logger, events } = collectLogs();
const handled: string[] = [];
beforeAll(async () => {
  receiver = await startReceiver({
    signing: { secrets: [SECRET] },
    apiKey: { keys: [API_KEY] },
    handlers: { CAAS_BUY: ({ id }) => void handled.push(id) },
    logger,
  });
});
afterAll(() => receiver.close());

const open = () => openRaw(receiver.port);

async function expectAlive(): Promise<void> {
  expect((await exchange(receiver.port)).status).toBe(200);
}

describe('a valid delivery', () => {
  it('is accepted in single bytes', async () => {
    const connection = await open();
    for (const byte of validPost()) await connection.write(Buffer.of(byte));
    expect(await connection.answer()).toMatchObject({ status: 200, body: '{"status":"accepted"}' });
  });

  it('is accepted in chunks of one byte, and a trailer is ignored', async () => {
    const body = Buffer.from(JSON.stringify(buy('chunked', { providerId: '😀' })));
    const head = Object.entries(headersFor(body)).map(([name, value]) => `${name}: ${value}\r\n`);
    const connection = await open();
    await connection.write(`${POST}Transfer-Encoding: chunked\r\n${head.join('')}\r\n`);
    for (const byte of body) {
      await connection.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]));
    }
    await connection.write('0\r\nX-Service-Signature: ignored\r\n\r\n');
    expect((await connection.answer()).status).toBe(200);
  });

  it('gets its own response, in order, when requests are pipelined', async () => {
    const forged = JSON.stringify(buy('forged'));
    const connection = await open();
    const rejected = rawPost(forged, headersFor(forged, { 'X-API-Key': 'wrong' }));
    await connection.write(Buffer.concat([validPost('one'), rejected, validPost('three')]));
    const answers = [await connection.answer(), await connection.answer(), await connection.answer()];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200]);
    await receiver.settled();
    expect(handled.slice(-2)).toEqual(['one', 'three']);
  });

  it('is accepted on a connection that carried rejected large bodies and a GET with a body', async () => {
    const connection = await open();
    const large = 'x'.repeat(1_000_000);
    const huge = 'x'.repeat(2_000_000);
    for (const [bytes, status] of [
      [rawPost(large, headersFor(large, { 'X-Service-Signature': sign('other') })), 401],
      [rawPost(large, headersFor(large, { 'X-API-Key': 'wrong' })), 401],
      [rawPost(huge, headersFor(huge)), 413],
      [Buffer.from('GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello'), 405],
      [validPost(), 200],
    ] as const) {
      await connection.write(bytes);
      expect((await connection.answer()).status).toBe(status);
    }
  });
});

describe('malformed HTTP', () => {
  it.each([
    ['garbage', 'garbage\r\n\r\n', 400],
    ['binary data', Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0xff, 0x00, 0x0d, 0x0a]), 400],
    ['an unknown method', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['no host', 'POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 400],
    ['an invalid chunk size', `${CHUNKED}zz\r\n`, 400],
    ['a chunk extension of 20 kB', `${CHUNKED}1;${'x'.repeat(20_000)}\r\n`, 413],
    ['headers of 20 kB', `${POST}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a target of 20 kB', `POST /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['10 MB of headers', `${POST}${`X-Many: ${'x'.repeat(1000)}\r\n`.repeat(10_000)}\r\n`, 431],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['a version of HTTP that does not exist', POST.replace('1.1', '2.0').concat('Content-Length: 2\r\n\r\n{}'), 505],
    ['a body in two codings', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, 501],
    [
      'a body in two codings, in two lines',
      `${CHUNKED.replace('Transfer', 'Transfer-Encoding: gzip\r\nTransfer')}`,
      501,
    ],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ])('%s: is answered %3$i', async (_label, bytes, status) => {
    const connection = await open();
    void connection.write(bytes);
    const answer = await connection.answer();
    expect(answer.status).toBe(status);
    expect(answer.body).not.toMatch(/\bat \/|HPE_|Error:/);
    if (status !== 405) expect(answer.headers.map((line) => line.toLowerCase())).toContain('connection: close');
    // Closing the connection while the client is still sending would reset it, and could lose the response.
    if (status === 431) expect(await connection.ended).toBe('closed');
    await expectAlive();
  });

  it('gets no second response in the body of a request that is already answered', async () => {
    const connection = await open();
    await connection.write(CHUNKED.replace('POST', 'GET'));
    expect((await connection.answer()).status).toBe(405);
    await connection.write('zz\r\n');
    await expect(connection.answer()).rejects.toThrow('connection ended after ""');
  });

  it.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['an invalid chunk size', `${CHUNKED}zz\r\n`],
  ])('after a valid request does not affect its response: %s', async (name, bytes) => {
    const connection = await open();
    await connection.write(Buffer.concat([validPost(`before ${name}`), Buffer.from(bytes)]));
    expect(await connection.answer()).toMatchObject({ status: 200, body: '{"status":"accepted"}' });
    expect(await connection.answer()).toMatchObject({ status: 400, body: '{"error":"bad-request"}' });
    expect(await connection.ended).toBe('closed');
    await receiver.settled();
    expect(handled.at(-1)).toBe(`before ${name}`);
  });
});

describe('a body', () => {
  it('that breaks off is not stored, even when the part that arrived is valid JSON', async () => {
    const stored: string[] = [];
    const put: Inbox['put'] = async ({ notification }) => {
      stored.push(notification.id);
      return 'stored';
    };
    const logs = collectLogs();
    const trusting = await receiverForTest({ open: true, inbox: { ...memoryInbox(), put }, logger: logs.logger });
    const bytes = rawPost(`${JSON.stringify(buy('cut'))}     `, { 'Content-Type': 'application/json' });
    const connection = await openRaw(trusting.port);
    await connection.write(bytes.subarray(0, bytes.length - 1));
    connection.socket.destroy();
    expect(await logs.next('delivery')).toMatchObject({ outcome: 'aborted' });
    await trusting.close();
    expect(stored).toEqual([]);
  });

  it.each(['destroy', 'end', 'resetAndDestroy'] as const)(
    'that breaks off ends only its own connection: %s',
    async (end) => {
      const aborted = () => events('delivery').filter(({ outcome }) => outcome === 'aborted').length;
      const before = aborted();
      const connection = await open();
      await connection.write(validPost('cut').subarray(0, -20));
      connection.socket[end]();
      await connection.ended;
      await expectAlive();
      await vi.waitFor(() => expect(aborted()).toBe(before + 1), 120_000);
      expect(handled).not.toContain('cut');
    },
  );

  it('whose declared length exceeds the limit is rejected before it arrives', async () => {
    const connection = await open();
    await connection.write(`${POST}Content-Length: 99999999999\r\n\r\n`);
    expect((await connection.answer()).status).toBe(413);
    expect(await connection.ended).toBe('closed');
    await expectAlive();
  });

  it('that never ends is cut off', async () => {
    const connection = await open();
    await connection.write(CHUNKED);
    const chunk = Buffer.from(`${(1_000_000).toString(16)}\r\n${'x'.repeat(1_000_000)}\r\n`);
    let over = false;
    void connection.ended.then(() => {
      over = true;
    });
    for (let sent = 0; !over && sent < 200; sent += 1) {
      if (connection.socket.write(chunk)) continue;
      const drained = new Promise((resolve) => connection.socket.once('drain', resolve));
      await Promise.race([drained, connection.ended]);
    }
    expect(over).toBe(true);
    await expectAlive();
  });
});

describe('a body whose head shows that it is rejected', () => {
  const unsigned = headersFor('', { 'X-Service-Signature': undefined });
  it.each<[string, Record<string, string>, string]>([
    ['without a signature', unsigned, 'signature-missing'],
    ['with a malformed signature', { ...unsigned, 'X-Service-Signature': 'wrong' }, 'signature-malformed'],
    ['with another API key', headersFor('', { 'X-API-Key': 'x' }), 'api-key-mismatch'],
  ])('is read to its end and not kept: %s', async (_, lines, reason) => {
    for (const needsRejectedBodies of [false, true]) {
      const reports: DeliveryReport[] = [];
      const held: number[] = [];
      const record = (report: DeliveryReport) => void reports.push(report);
      const { port } = await receiverForTest({
        signing: { secrets: [SECRET] },
        apiKey: { keys: [API_KEY] },
        observers: [needsRejectedBodies ? Object.assign(record, { needsRejectedBodies }) : record],
        connectionObserver: {
          opened() {},
          closed() {},
          dropped() {},
          refused() {},
          uploading: (bytes) => void held.push(bytes),
        },
      });
      const connection = await openRaw(port);
      const bytes = rawPost('x'.repeat(500_000), lines);
      await connection.write(bytes.subarray(0, -1));
      // Only the last byte is missing, and there is no answer before it.
      await connection.write(bytes.subarray(-1));
      expect(await connection.answer()).toMatchObject({ status: 401, body: '{"error":"unauthorized"}' });
      await connection.write(validPost());
      expect((await connection.answer()).status).toBe(200);
      expect(reports[0]).toMatchObject({ reasonCode: reason });
      expect(reports[0]?.rawBody?.length).toBe(needsRejectedBodies ? 500_000 : undefined);
      expect(Math.max(0, ...held) > 0).toBe(needsRejectedBodies);
    }
  });

  it('is answered 413 as before when it is too large', async () => {
    expect((await exchange(receiver.port, rawPost('x'.repeat(1_100_000), unsigned))).status).toBe(413);
  });
});
