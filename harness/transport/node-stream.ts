/** Lets Node's HTTP client use a connection of the pool, even if the request has already been written. */
import http from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A connection as Node's HTTP client sees it. Destroying it destroys the connection, unless it was detached. */
export class NodeStream extends Duplex {
  readonly #socket: Socket;
  readonly #isWritten: boolean;
  readonly #listeners: readonly (readonly [string, (...args: never[]) => void])[];
  #isDetached = false;
  #hasEnded = false;

  /**
   * @param isWritten whether the request has been written. If so, everything that Node writes is dropped.
   * @param received the bytes of the answer received so far
   */
  constructor(socket: Socket, isWritten: boolean, received: Buffer | undefined) {
    super();
    this.#socket = socket;
    this.#isWritten = isWritten;
    this.#listeners = [
      ['data', (piece: Buffer) => void (this.push(piece) || socket.pause())],
      ['end', () => this.#end()],
      ['error', (error: Error) => this.destroy(error)],
      // Data received before the end is read first.
      [
        'close',
        () => (this.#hasEnded && !this.readableEnded ? this.once('end', () => this.destroy()) : this.destroy()),
      ],
    ];
    for (const [event, listener] of this.#listeners) socket.on(event, listener as () => void);
    if (received !== undefined) this.push(received);
  }

  /** Detaches the connection from Node, so that it can be used again. */
  detach(): void {
    this.#isDetached = true;
    for (const [event, listener] of this.#listeners) this.#socket.off(event, listener as () => void);
    this.#socket.resume();
    this.destroy();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(piece: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    if (!this.#isWritten) this.#socket.write(piece, done);
    else if (this.#socket.writableLength === 0) done();
    // An empty write after the request. Until it completes, the request counts as not sent, and its connection is not
    // kept.
    else this.#socket.write('', done);
  }

  /** Called when Node ends a connection that it does not keep. */
  override _final(done: () => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isDetached) this.#socket.destroy();
    done(error);
  }

  #end(): void {
    this.#hasEnded = true;
    this.push(null);
  }
}

/** An agent whose only connection is this stream. */
export class NodeStreamAgent extends http.Agent {
  readonly #stream: NodeStream;
  readonly #onKept: () => void;

  /** @param onKept called when Node keeps the connection, after the end of the answer */
  constructor(stream: NodeStream, keepAlive: boolean, onKept: () => void) {
    super({ keepAlive });
    this.#stream = stream;
    this.#onKept = onKept;
  }

  override createConnection(): Duplex {
    return this.#stream;
  }

  /** The pool keeps the connection, so Node must release it. */
  override keepSocketAlive(): void {
    this.#onKept();
  }
}
