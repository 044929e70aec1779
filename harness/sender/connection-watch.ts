/** Who reads on a kept connection: one look at each piece that comes, whatever number of deliveries the connection lives for. */
import type { Socket } from 'node:net';

/** An exchange, as far as the connection knows it. */
export interface Reader {
  /** A piece of this many bytes has come for it, and nobody has parsed it yet. */
  came(bytes: number): void;
}

/**
 * The watch over one connection. Listeners that come and go with each delivery are a tenth of what a delivery costs; this one stays.
 * What comes while nobody reads is no answer to the next request, which Node would take it for: the connection is closed.
 */
export class ConnectionWatch {
  #reader: Reader | undefined;

  private constructor(socket: Socket) {
    // Before Node's parser, which may have ended the answer when the next listener is called.
    socket.prependListener('data', (piece: Uint8Array) => {
      if (this.#reader === undefined) socket.destroy();
      else this.#reader.came(piece.length);
    });
  }

  static readonly #watches = new WeakMap<Socket, ConnectionWatch>();

  /** The watch over a connection, the same one for as long as it lives. */
  static over(socket: Socket): ConnectionWatch {
    let watch = ConnectionWatch.#watches.get(socket);
    if (watch === undefined) {
      watch = new ConnectionWatch(socket);
      ConnectionWatch.#watches.set(socket, watch);
    }
    return watch;
  }

  /** From now on what comes is for this one. */
  begin(reader: Reader): void {
    this.#reader = reader;
  }

  /** Nothing more is for this one; another one that has begun since is not disturbed. */
  end(reader: Reader): void {
    if (this.#reader === reader) this.#reader = undefined;
  }
}
