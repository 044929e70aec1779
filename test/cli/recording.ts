import { createServer, type Socket } from 'node:net';
import { type Endpoint, listen } from '../endpoints/listen.ts';

/** A request as received. */
export interface Recorded {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** Returns the content of a chunked body. Null until the last chunk has arrived. */
function unchunk(bytes: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (size === 0) return Buffer.concat(parts);
    if (bytes.length < line + 2 + size + 2) return null;
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** Returns the request in these bytes. Null until it is complete. */
function readRequest(bytes: Buffer): Recorded | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, method = '', target = ''] = /^(\S+) (.*) HTTP\/1\.1$/.exec(first) ?? [];
  const headers = lines.map((line) => {
    const [, name = '', value = ''] = /^([^:]*):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    return [name, value] as const;
  });
  const rest = bytes.subarray(end + 4);
  const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  if (headerOf('transfer-encoding')?.toLowerCase() === 'chunked') {
    const body = unchunk(rest);
    return body === null ? null : { method, target, headers, body };
  }
  const length = Number(headerOf('content-length') ?? 0);
  return rest.length < length ? null : { method, target, headers, body: rest.subarray(0, length) };
}

/**
 * Starts an endpoint that records requests and answers 200. It uses no HTTP parser, because a parser would normalise
 * them.
 */
export async function recording(): Promise<Endpoint & { readonly requests: Recorded[] }> {
  const requests: Recorded[] = [];
  const server = createServer((socket: Socket) => {
    let received = Buffer.alloc(0);
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      const request = readRequest(received);
      if (request === null) return;
      requests.push(request);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
  });
  return { ...(await listen(server)), requests };
}
