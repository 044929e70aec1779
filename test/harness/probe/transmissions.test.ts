import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Hold } from '../../../harness/probe/index.ts';
import { createLane } from '../../../harness/run/lane.ts';
import type { Change, Transmission } from '../../../scenarios/index.ts';
import { type Endpoint, listen } from '../../endpoints/listen.ts';
import { assembled, partnerAt } from '../run/parts.ts';

const open: Endpoint[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

/** Sends the plain delivery in this way, and returns the bytes on the wire, packet by packet. */
async function onTheWire(
  transmit: Transmission | undefined,
  react: (socket: Socket, text: string) => void = () => {},
  hold?: Hold,
) {
  const packets: Buffer[] = [];
  let over: Promise<unknown> = Promise.resolve();
  const server = createServer((socket) => {
    over = new Promise((resolve) => socket.on('close', resolve));
    socket.setNoDelay(true);
    socket.on('data', (data) => {
      packets.push(data);
      react(socket, Buffer.concat(packets).toString('latin1'));
    });
    socket.on('end', () => socket.end());
  });
  const endpoint = await listen(server);
  open.push(endpoint);
  const partner = partnerAt(endpoint.url);
  const change: Change = transmit === undefined ? {} : { transmit };
  const request = assembled(change, partner);
  const lane = createLane(partner, { timeoutMs: 2500 });
  const attempt = await lane.send(request, hold && { hold });
  lane.close();
  await over;
  const wire = Buffer.concat(packets).toString('latin1');
  const [head = '', ...rest] = wire.split('\r\n\r\n');
  return {
    head,
    tail: rest.join('\r\n\r\n'),
    packets,
    attempt,
    body: Buffer.from(request.prepared.body).toString('latin1'),
  };
}

const ok = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
const endsWith = (ending: string) => (socket: Socket, text: string) => {
  if (text.endsWith(ending)) ok(socket);
};

describe('transmissions', () => {
  it('chunked: sends the body in this many chunks, without a length', async () => {
    const { head, tail, body, attempt } = await onTheWire({ kind: 'chunked', pieces: 3 }, endsWith('0\r\n\r\n'));
    const sizes = [...tail.matchAll(/(?:^|\r\n)([0-9a-f]+)\r\n/g)].map(([, size = '']) => Number.parseInt(size, 16));
    expect(attempt.answer?.status).toBe(200);
    expect(head).toContain('Transfer-Encoding: chunked');
    expect(head).not.toMatch(/content-length/i);
    expect({ count: sizes.length, last: sizes.at(-1), sum: sizes.reduce((a, b) => a + b) }).toEqual({
      count: 4,
      last: 0,
      sum: body.length,
    });
  });

  it('pieces: sends each piece in its own packet, with a length', async () => {
    const { head, tail, packets, body } = await onTheWire({ kind: 'pieces', sizes: [1, 100, 150] }, (socket, text) => {
      const [, length = ''] = /Content-Length: (\d+)/.exec(text) ?? [];
      if ((text.split('\r\n\r\n')[1] ?? '').length === Number(length)) ok(socket);
    });
    expect(head).toContain(`Content-Length: ${body.length}`);
    expect(tail).toBe(body);
    expect(packets.length).toBeGreaterThan(3);
  });

  it('held: sends half of the body, and the rest when it is released', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const bodyIn = (text: string) => text.split('\r\n\r\n')[1] ?? '';
    let half = '';
    const react = (socket: Socket, text: string) => {
      const [, length = ''] = /Content-Length: (\d+)/.exec(text) ?? [];
      if (bodyIn(text).length === Number(length)) ok(socket);
      else half = bodyIn(text);
    };
    const hold = { begun: () => void setTimeout(release, 50), released };
    const { tail, body, attempt } = await onTheWire({ kind: 'held' }, react, hold);
    expect(attempt.answer?.status).toBe(200);
    expect(tail).toBe(body);
    expect(half).toBe(body.slice(0, Math.ceil(body.length / 2)));
  });

  it('expect-continue: sends the body after the 100', async () => {
    const seen: string[] = [];
    const { tail, body, attempt } = await onTheWire({ kind: 'expect-continue' }, (socket, text) => {
      seen.push(text);
      if (seen.length === 1) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      else ok(socket);
    });
    expect(seen[0]).toMatch(/Expect: 100-continue\r\n[\s\S]*\r\n\r\n$/);
    expect({ tail, status: attempt.answer?.status }).toEqual({ tail: body, status: 200 });
  });

  it('expect-continue: sends the body after a timeout without the 100', async () => {
    const { tail, body, attempt } = await onTheWire({ kind: 'expect-continue' }, (socket, text) => {
      if (!text.endsWith('\r\n\r\n')) ok(socket);
    });
    expect({ tail, status: attempt.answer?.status }).toEqual({ tail: body, status: 200 });
  });

  it('cut-off: sends part of the body and closes the connection', async () => {
    const { head, tail, body, attempt } = await onTheWire({ kind: 'cut-off', fraction: 0.5 });
    expect(head).toContain(`Content-Length: ${body.length}`);
    expect(attempt.answer).toBeNull();
    expect(body.startsWith(tail)).toBe(true);
    expect(tail.length).toBeLessThanOrEqual(Math.floor(body.length / 2));
  });

  it('raw: sends exactly the bytes built from the request', async () => {
    const make = (request: Buffer) => Buffer.concat([request, Buffer.from('END')]);
    const { head, tail, body, attempt } = await onTheWire({ kind: 'raw', label: 'made up', make }, endsWith('END'));
    expect(head).toMatch(/^POST \/hooks HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/);
    expect({ tail, status: attempt.answer?.status }).toEqual({ tail: `${body}END`, status: 200 });
  });

  it('default: keeps the connection', async () => {
    const { head, tail, body } = await onTheWire(undefined, endsWith('}'));
    expect(head).toMatch(/Connection: keep-alive/i);
    expect(tail).toBe(body);
  });
});
