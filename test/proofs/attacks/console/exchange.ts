/** Sends one request as raw bytes, because an HTTP client would normalise paths and reject unusual headers. */
import { connect } from 'node:net';

export interface Request {
  readonly method?: string;
  /** The target of the request line, as it is sent. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
  /** The bytes of the request. They replace all other fields. */
  readonly bytes?: string;
}

export interface Answer {
  /** The status, or 0 if the connection was closed without an answer. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const TIMEOUT_MS = 20_000;

/** Sends a request with the host `localhost`, unless it has another. */
export function exchange(port: number, request: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer within 20 s')));
    socket.on('data', (data) => (text += data));
    // The server may close the connection before it has read everything.
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === undefined ? reject(error) : undefined));
    socket.on('close', () => resolve(read(text)));
    // The connection is not ended, because the server would otherwise see a disconnected client.
    socket.write(request.bytes ?? bytesOf(request, port));
  });
}

function bytesOf({ body = '', headers = [], method = 'GET', target }: Request, port: number): string {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const all = [
    ...(given.has('host') ? [] : [['Host', `localhost:${port}`]]),
    ...headers,
    ...(body === '' || given.has('content-length') ? [] : [['Content-Length', String(Buffer.byteLength(body))]]),
    ['Connection', 'close'],
  ];
  return `${method} ${target} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

function read(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...fields] = text.slice(0, Math.max(0, end)).split('\r\n');
  const headers = fields.map((field) => {
    const [name = '', ...value] = field.split(':');
    return [name.toLowerCase(), value.join(':').trim()] as const;
  });
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0);
  return { status, headers: new Map(headers), body: end < 0 ? '' : text.slice(end + 4) };
}
