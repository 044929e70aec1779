/** HTTP by hand, on a plain socket: requests that no HTTP client would send, and answers byte by byte. */
import { connect, type Socket } from 'node:net';

interface RawAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

export interface RawConnection {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): Promise<void>;
  /** The next whole answer. Rejects when the connection ends first. 100 Continue counts as an answer. */
  answer(): Promise<RawAnswer>;
  /** Resolves with how the connection ended. */
  readonly ended: Promise<'closed' | 'reset'>;
}

export async function openRaw(port: number, host = '127.0.0.1'): Promise<RawConnection> {
  const socket = connect(port, host);
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
  await new Promise<void>((resolve) => socket.once('connect', resolve));

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

/** The bytes of a POST with a Content-Length. */
export function rawPost(body: string | Uint8Array, headers: Record<string, string>, version = '1.1'): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST / HTTP/${version}\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}
