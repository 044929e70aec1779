/** Sends requests that no HTTP client would send, and reads responses byte by byte. */
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { buy, headersFor } from './deliveries.ts';

interface RawAnswer {
  readonly status: number;
  /** The header lines as received. */
  readonly headers: readonly string[];
  readonly body: string;
}

export interface RawConnection<S extends Socket = Socket> {
  readonly socket: S;
  write(bytes: string | Uint8Array): Promise<void>;
  /** Resolves with the next whole response. Rejects if the connection ends first. 100 Continue counts as a response. */
  answer(): Promise<RawAnswer>;
  /** Resolves with the way in which the connection ended. */
  readonly ended: Promise<'closed' | 'reset'>;
}

export type HeaderLines = Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[];

/** Starts a receiver that is closed when the test ends, after the connections that were opened to it. */
export async function receiverForTest(options: Parameters<typeof startReceiver>[0]): Promise<RunningReceiver> {
  const receiver = await startReceiver(options);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Opens a connection that is destroyed when the test ends. */
export async function openRaw(port: number, host = '127.0.0.1'): Promise<RawConnection> {
  const socket = connect(port, host);
  onTestFinished(() => void socket.destroy());
  const connection = overSocket(socket);
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return connection;
}

/** Speaks HTTP over a socket that is open or being opened, with or without TLS. */
export function overSocket<S extends Socket>(socket: S): RawConnection<S> {
  socket.setNoDelay(true);
  let buffered = Buffer.alloc(0);
  let over = false;
  let wake: (() => void) | undefined;
  let failed = false;
  socket.on('error', () => {
    failed = true;
  });
  const ended = new Promise<'closed' | 'reset'>((resolve) => {
    socket.on('close', () => {
      over = true;
      wake?.();
      resolve(failed ? 'reset' : 'closed');
    });
  });
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    wake?.();
  });

  function take(): RawAnswer | undefined {
    const headEnd = buffered.indexOf('\r\n\r\n');
    if (headEnd === -1) return undefined;
    const [statusLine = '', ...headers] = buffered.subarray(0, headEnd).toString('latin1').split('\r\n');
    const length = Number(/^content-length: *(\d+)/im.exec(headers.join('\n'))?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (buffered.length < end) return undefined;
    const body = buffered.subarray(headEnd + 4, end).toString();
    buffered = buffered.subarray(end);
    return { status: Number(statusLine.split(' ')[1]), headers, body };
  }

  return {
    socket,
    ended,
    write: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    async answer() {
      for (;;) {
        const answer = take();
        if (answer !== undefined) return answer;
        if (over) throw new Error(`connection ended after ${JSON.stringify(buffered.toString('latin1'))}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** Returns the bytes of a POST with a Content-Length and these header lines, in order. */
export function rawPost(body: string | Uint8Array, headers: HeaderLines, path = '/'): Buffer {
  const given = Array.isArray(headers) ? headers : Object.entries(headers);
  const lines = [['Host', 'localhost'], ['Content-Length', String(Buffer.byteLength(body))], ...given];
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), Buffer.from(body)]);
}

/** Returns the bytes of a valid delivery. */
export function validPost(id?: string): Buffer {
  const body = JSON.stringify(buy(id));
  return rawPost(body, headersFor(body));
}

/** Sends these bytes on a new connection and returns the response. */
export async function exchange(port: number, bytes: Uint8Array = validPost(), host?: string): Promise<RawAnswer> {
  const connection = await openRaw(port, host);
  await connection.write(bytes);
  const answer = await connection.answer();
  connection.socket.destroy();
  return answer;
}
