/** The bytes on the wire, as recorded by a server that answers 200 to each request. */
import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { createSender, deliver } from '../../../harness/sender/index.ts';
import { createConnections, exchange, type Prepared } from '../../../harness/transport/index.ts';
import { rawServer, request, secret } from './servers.ts';

async function recorder() {
  let received = Buffer.alloc(0);
  const url = await rawServer((socket) => {
    let seen = 0;
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      const text = received.toString('latin1').slice(seen);
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head === -1 || text.length < head + 4 + length) return;
      seen = received.length;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  return { url, received: () => received };
}

describe('on the wire', () => {
  it('sends the header lines and the body, byte for byte and in order, with Connection last', async () => {
    const { url, received } = await recorder();
    const prepared = request(url, {
      signing: { secret },
      apiKey: { value: 'k\xe9y' },
      headers: [
        ['X-Zeta', '1'],
        ['x-alpha', 'two words'],
      ],
    });
    const sender = createSender();
    const attempt = await sender.deliver(prepared);
    sender.close();

    expect(attempt.answer?.status).toBe(200);
    const signature = createHmac('sha256', secret).update(prepared.body).digest('base64');
    const lines = [
      'POST /hooks HTTP/1.1',
      `Host: ${new URL(url).host}`,
      'Content-Type: application/json',
      `Content-Length: ${prepared.body.length}`,
      `X-Service-Signature: ${signature}`,
      'X-API-Key: k\xe9y',
      'X-Zeta: 1',
      'x-alpha: two words',
      'Connection: keep-alive',
    ];
    const expected = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), prepared.body]);
    expect(received().toString('latin1')).toBe(expected.toString('latin1'));
  });

  it('announces that it closes when it keeps no connection', async () => {
    const { url, received } = await recorder();
    await deliver(request(url));
    expect(received().toString('latin1').split('\r\n\r\n')[0]?.split('\r\n').at(-1)).toBe('Connection: close');
  });

  // A sender writes PUT itself, and leaves OPTIONS to Node's client.
  it.each(['PUT', 'OPTIONS'])(
    'sends what a probe asks for with %s: repeated lines and another target',
    async (method) => {
      const byAgent = (prepared: Prepared) =>
        exchange(prepared, { agent: createConnections({ keepAlive: false }).agentFor(prepared.url) });
      for (const send of [byAgent, deliver]) {
        const { url, received } = await recorder();
        const { headers, ...rest } = request(url);
        const twice = ['1', '2'].map((value) => ['X-Two', value] as const);
        const { answer } = await send({ ...rest, method, target: '/a%2fb/../c?x', headers: [...headers, ...twice] });
        expect(answer?.status).toBe(200);
        const [head = '', body] = received().toString('latin1').split('\r\n\r\n');
        const [line, ...sent] = head.split('\r\n');
        expect(line).toBe(`${method} /a%2fb/../c?x HTTP/1.1`);
        expect(sent.slice(3)).toEqual(['X-Two: 1', 'X-Two: 2', 'Connection: close']);
        expect(body).toBe(Buffer.from(rest.body).toString('latin1'));
      }
    },
  );

  it('sends no body, and none in chunks, where a request has neither a body nor a length', async () => {
    const { url, received } = await recorder();
    const prepared = request(url);
    const headers = prepared.headers.filter(([name]) => name === 'Host');
    await deliver({ ...prepared, headers, body: new Uint8Array() });
    const { host } = new URL(url);
    expect(received().toString('latin1')).toBe(`POST /hooks HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });

  it('ignores a proxy in the environment', async () => {
    const { url } = await recorder();
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:1');
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    try {
      expect((await deliver(request(url))).answer?.status).toBe(200);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
