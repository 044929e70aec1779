/** Reads what a connection has received before a failed write closes it. */
import type { Socket } from 'node:net';

/** Error codes of a write to a connection that the other side has closed. */
const CLOSED_CODES: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET', 'ECONNABORTED']);

/**
 * Makes a socket report that a write failed only after everything received was read. Otherwise Node destroys the socket
 * at once, with an early answer unread: a receiver may answer 413 to the head of a request, and close.
 *
 * @param socket must be read to its end; until then, the failed write is pending
 * @param onFailed called at once when a write has failed
 * @returns the same socket
 */
export function reportWriteErrorsLate<S extends Socket>(socket: S, onFailed?: () => void): S {
  const { _write: write, _writev: writev } = socket;
  type Done = Parameters<typeof write>[2];
  const late = (done: Done): Done => {
    return (error) => {
      const { code } = (error ?? {}) as NodeJS.ErrnoException;
      if (!CLOSED_CODES.has(code) || socket.readableEnded || socket.destroyed) {
        done(error);
        return;
      }
      // Added last, so that the reader of the socket still sees a pending write when the socket ends.
      socket.once('end', () => done(error));
      onFailed?.();
    };
  };
  socket._write = (piece, encoding, done) => write.call(socket, piece, encoding, late(done));
  socket._writev = (pieces, done) => writev?.call(socket, pieces, late(done));
  return socket;
}
