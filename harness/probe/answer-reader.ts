/** Reads one answer from the bytes of a connection, whatever they are: it keeps a bounded amount and always comes to an end. */
import type { HeaderLine } from '../../contract/index.ts';
import type { Answer } from '../transport/index.ts';

/** Bytes of the head of an answer, as the sender reads them, and as many of all interim answers together. */
const MOST_HEAD_BYTES = 16 * 1024;
/** Interim answers (1xx) before the real one. Honest servers send one or two. */
const MOST_INTERIM = 16;

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = '0\r\n\r\n';
const BEGINNING = Buffer.from('HTTP/1.');

/** `invalid`: no HTTP. `too-large`: more than is read before a body. Null: go on. */
export type Reading = Answer | 'invalid' | 'too-large' | null;

export class AnswerReader {
  readonly #cap: number;
  #head = Buffer.alloc(0);
  #interim = 0;
  #interimBytes = 0;
  #found: Omit<Answer, 'body' | 'truncated'> | undefined;
  #length: number | undefined;
  #chunked = false;
  #body: Uint8Array[] = [];
  #bodyLength = 0;

  /** @param bodyCapBytes what is kept of the body */
  constructor(bodyCapBytes: number) {
    this.#cap = bodyCapBytes;
  }

  read(piece: Uint8Array): Reading {
    if (this.#found !== undefined) return this.#readBody(piece);
    const from = Math.max(0, this.#head.length - HEAD_END.length);
    this.#head = Buffer.concat([this.#head, piece]);
    return this.#readHead(from);
  }

  /** The connection has ended: so has the answer, if it had begun. Null when nothing had come. */
  end(): Reading {
    if (this.#found !== undefined) return this.#answer();
    return this.#head.length > 0 ? 'invalid' : null;
  }

  #readHead(from: number): Reading {
    const beginning = this.#head.subarray(0, BEGINNING.length);
    if (!beginning.equals(BEGINNING.subarray(0, beginning.length))) return 'invalid';
    const end = this.#head.indexOf(HEAD_END, from);
    if ((end === -1 ? this.#head.length : end) + this.#interimBytes > MOST_HEAD_BYTES) return 'too-large';
    if (end === -1) return null;
    const [statusLine = '', ...lines] = this.#head.subarray(0, end).toString('latin1').split('\r\n');
    const rest = this.#head.subarray(end + HEAD_END.length);
    const [, status, reasonPhrase = ''] = /^HTTP\/1\.[01] (\d{3})(?: ([\s\S]*)|$)/.exec(statusLine) ?? [];
    if (status === undefined) return 'invalid';
    if (status.startsWith('1') && status !== '101') {
      this.#interim += 1;
      this.#interimBytes += end;
      this.#head = rest;
      return this.#interim > MOST_INTERIM ? 'too-large' : rest.length === 0 ? null : this.#readHead(0);
    }
    const headers = lines.map((line): HeaderLine => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    this.#found = { status: Number(status), reasonPhrase, headers };
    const header = (name: string) => headers.find(([other]) => other.toLowerCase() === name)?.[1];
    const length = header('content-length');
    this.#length = ['101', '204', '304'].includes(status) ? 0 : length === undefined ? undefined : Number(length);
    this.#chunked = /\bchunked$/i.test(header('transfer-encoding') ?? '');
    this.#head = Buffer.alloc(0);
    return this.#readBody(rest);
  }

  #readBody(piece: Uint8Array): Reading {
    this.#body.push(piece);
    this.#bodyLength += piece.length;
    const whole = this.#bodyLength >= this.#cap || (this.#length !== undefined && this.#bodyLength >= this.#length);
    return whole || this.#sawLastChunk() ? this.#answer() : null;
  }

  /** The chunks stay in the body as they came: what is looked for in it shows all the same. */
  #sawLastChunk(): boolean {
    if (!this.#chunked) return false;
    const last = Buffer.concat(this.#body.slice(-8)).subarray(-7).toString('latin1');
    return last === LAST_CHUNK || last.endsWith(`\r\n${LAST_CHUNK}`);
  }

  #answer(): Answer | null {
    if (this.#found === undefined) return null;
    const body = Buffer.concat(this.#body, this.#bodyLength);
    return { ...this.#found, body: body.subarray(0, this.#cap), truncated: body.length > this.#cap };
  }
}
