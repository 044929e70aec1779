/**
 * One connection of the load: a request, its answer, the next request. It does as little as can be, for the load must
 * not be the limit.
 */
import { connect, type Socket } from 'node:net';

/** Called with the status of each complete answer. Gives the next request, or undefined to end the connection. */
export type OnAnswer = (status: number) => Uint8Array | undefined;

const HEAD_END = Buffer.from('\r\n\r\n');
/** Answers to these requests are a few hundred bytes long. */
const MOST_BYTES = 16 * 1024;

/**
 * Opens a connection and sends `first`. The promise resolves when the connection has ended because there was nothing
 * more to send.
 */
export function openConnection(port: number, first: Uint8Array, onAnswer: OnAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    const answer = Buffer.allocUnsafe(MOST_BYTES);
    let filled = 0;
    let done = false;
    const fail = (why: string) => {
      done = true;
      socket.destroy();
      reject(new Error(`load: ${why}`));
    };

    function read(length: number, chunk: Uint8Array): boolean {
      if (filled + length > MOST_BYTES) {
        fail('the answer is too long');
        return false;
      }
      // Into a buffer of our own, and not a new one for each read.
      answer.set(length === chunk.length ? chunk : chunk.subarray(0, length), filled);
      filled += length;
      const size = answerLength(answer, filled);
      if (size === undefined || filled < size) return true;
      if (filled > size) {
        fail('more than one answer to one request');
        return false;
      }
      filled = 0;
      const next = onAnswer(statusOf(answer));
      if (next !== undefined) socket.write(next);
      else {
        done = true;
        socket.end();
      }
      return true;
    }

    const socket: Socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(MOST_BYTES), callback: read },
    });
    socket.once('connect', () => socket.write(first));
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => {
      if (done) resolve();
      else fail('the server closed the connection');
    });
  });
}

/** The length of the whole answer in bytes, undefined while its head is not complete. */
function answerLength(answer: Buffer, filled: number): number | undefined {
  const end = answer.indexOf(HEAD_END);
  if (end === -1 || end + HEAD_END.length > filled) return undefined;
  const declared = /\r\ncontent-length: *(\d+)/i.exec(answer.toString('latin1', 0, end))?.[1];
  if (declared === undefined) throw new Error('load: an answer without Content-Length');
  return end + HEAD_END.length + Number(declared);
}

/** The three digits behind `HTTP/1.1 `. */
function statusOf(answer: Buffer): number {
  const digit = (at: number) => (answer[at] ?? 0) - 48;
  return digit(9) * 100 + digit(10) * 10 + digit(11);
}
