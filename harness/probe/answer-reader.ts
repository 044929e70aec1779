/** Reads one HTTP answer from arbitrary bytes of a connection. It keeps a bounded amount and always ends. */
import { type Answer, declaredFraming, type Framing, type Head, MessageReader } from '../transport/index.ts';

/** Limit for the head of an answer, as in the sender, and for all interim answers together. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Limit for the number of interim answers (1xx). Real servers send one or two. */
const MAX_INTERIM_ANSWERS = 16;

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: ([\s\S]*)|$)/;
const HTTP_VERSION = 'HTTP/1.';
/** An unlimited budget, because the limits of this module already bound what the reader keeps. */
const UNLIMITED = { take: () => true, release: () => {} };

/** `invalid`: the bytes are not HTTP. `too-large`: the head exceeds a limit. Null: the answer is not complete yet. */
export type AnswerReading = Answer | 'invalid' | 'too-large' | null;

export class AnswerReader {
  readonly #cap: number;
  readonly #messages: MessageReader;
  #beginning = '';
  #interim = 0;
  #headBytes = 0;
  #head: Omit<Answer, 'body' | 'truncated'> | undefined;
  #reading: AnswerReading = null;

  /** @param bodyCapBytes maximum number of bytes of the body to keep */
  constructor(bodyCapBytes: number) {
    this.#cap = bodyCapBytes;
    this.#messages = new MessageReader({
      budget: UNLIMITED,
      maxKept: bodyCapBytes,
      maxHead: MAX_HEAD_BYTES,
      keepsBeginning: true,
      onHead: (head) => this.#startAnswer(head),
      onMessage: ({ body = Buffer.alloc(0), bodyLength }) => {
        if (this.#head !== undefined) this.#reading ??= { ...this.#head, body, truncated: bodyLength > this.#cap };
      },
    });
  }

  read(piece: Uint8Array): AnswerReading {
    if (this.#beginning.length < HTTP_VERSION.length) {
      this.#beginning += Buffer.from(piece.subarray(0, HTTP_VERSION.length)).toString('latin1');
      if (!HTTP_VERSION.startsWith(this.#beginning.slice(0, HTTP_VERSION.length))) return 'invalid';
    }
    this.#messages.read(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    if (this.#head !== undefined && this.#messages.bodyLength >= this.#cap) this.#messages.end();
    return this.#reading;
  }

  /** Ends the answer, because the connection has ended. Returns null if nothing was received. */
  end(): AnswerReading {
    if (this.#head !== undefined) this.#messages.end();
    else if (this.#beginning !== '') this.#reading ??= 'invalid';
    return this.#reading;
  }

  #startAnswer({ startLine, headers, length, isComplete, isStrict }: Head): Framing {
    this.#headBytes += length;
    const [, code, reasonPhrase = ''] = STATUS_LINE.exec(startLine) ?? [];
    const status = Number(code);
    const isInterim = status < 200 && status !== 101;
    if (isInterim) this.#interim += 1;
    if (!isComplete || this.#headBytes > MAX_HEAD_BYTES || this.#interim > MAX_INTERIM_ANSWERS) {
      this.#reading ??= 'too-large';
    } else if (code === undefined || !isStrict) this.#reading ??= 'invalid';
    if (this.#reading !== null) return 'to-the-end';
    if (isInterim) return 0;
    this.#head = { status, reasonPhrase, headers };
    return [101, 204, 304].includes(status) ? 0 : (declaredFraming(headers) ?? 'to-the-end');
  }
}
