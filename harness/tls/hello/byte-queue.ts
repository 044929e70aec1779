/** Bytes that come in pieces of any size and are taken in others. The cost of a byte does not depend on the sizes. */
export class ByteQueue {
  #bytes = new Uint8Array(1024);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  push(piece: Uint8Array): void {
    if (this.#end + piece.length > this.#bytes.length) this.#makeRoom(piece.length);
    this.#bytes.set(piece, this.#end);
    this.#end += piece.length;
  }

  /** The byte at a place from the front; 0 where there is none. */
  at(index: number): number {
    return index < this.length ? (this.#bytes[this.#start + index] ?? 0) : 0;
  }

  /** Takes bytes from the front: a copy, of as many as there are at most. */
  take(count: number): Uint8Array {
    const taken = this.#bytes.slice(this.#start, Math.min(this.#start + count, this.#end));
    this.#start += taken.length;
    return taken;
  }

  /** Doubles, so that many small pieces are not copied over and over. */
  #makeRoom(more: number): void {
    const needed = this.length + more;
    let size = this.#bytes.length;
    while (size < needed * 2) size *= 2;
    const bytes = new Uint8Array(size);
    bytes.set(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = bytes;
    this.#end = this.length;
    this.#start = 0;
  }
}
