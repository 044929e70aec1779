/**
 * Reads fields of a message one after another. Reading past the end never throws: it gives zeros and sets `broken`, which is
 * looked at once, when everything has been read.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;
  #broken = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether more has been asked for than there was. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Bytes that have not been read; none once it is broken, so that a loop over what is left always ends. */
  get left(): number {
    return this.#broken ? 0 : this.#bytes.length - this.#position;
  }

  /** A number in so many bytes, the highest first. */
  number(size: 1 | 2 | 3): number {
    let value = 0;
    for (const byte of this.bytes(size)) value = value * 256 + byte;
    return value;
  }

  /** A view of the next bytes; empty when there are not so many. */
  bytes(count: number): Uint8Array {
    if (count > this.left) {
      this.#broken = true;
      return new Uint8Array(0);
    }
    const view = this.#bytes.subarray(this.#position, this.#position + count);
    this.#position += count;
    return view;
  }

  /** A view of bytes that stand behind their length, which is of so many bytes. */
  vector(size: 1 | 2 | 3): Uint8Array {
    return this.bytes(this.number(size));
  }

  /** A reader of such bytes. */
  within(size: 1 | 2 | 3): ByteReader {
    const inner = new ByteReader(this.vector(size));
    if (this.#broken) inner.#broken = true;
    return inner;
  }
}
