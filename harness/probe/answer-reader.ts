/** Reads one HTTP answer from arbitrary bytes of a connection. It keeps a bounded amount and always ends. */

import type { HeaderLine } from '../../contract/index.ts';
import type { Answer } from '../transport/index.ts';

/** Limit for the head of an answer, as in the sender, and for all interim answers together. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Limit for the number of interim answers (1xx). Real servers send one or two. */
const MAX_INTERIM_ANSWERS = 16;

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = '0\r\n\r\n';
const HTTP_VERSION = Buffer.from('HTTP/1.');

/** `invalid`: not HTTP. `too-large`: the head exceeds a limit. Null: not complete yet. */
export type Reading = Answer | 'invalid' | 'too-large' | null;

export class AnswerReader {
  readonly #cap: number;
  #head = Buffer.alloc(0);
  #interim = 0;
  #interimBytes = 0;
  #parsedHead: Omit<Answer, 'body' | 'truncated'> | undefined;
  #length: number | undefined;
  #chunked = false;
  #body: Uint8Array[] = [];
  #bodyLength = 0;

  /** @param bodyCapBytes how much of the body is kept */
  constructor(bodyCapBytes: number) {
    this.#cap = bodyCapBytes;
  }

  read(piece: Uint8Array): Reading {
    if (this.#parsedHead !== undefined) return this.#readBody(piece);
    const from = Math.max(0, this.#head.length - HEAD_END.length);
    this.#head = Buffer.concat([this.#head, piece]);
    return this.#readHead(from);
  }

  /** Ends the answer with the connection. Null if nothing was received. */
  end(): Reading {
    if (this.#parsedHead !== undefined) return this.#answer();
    return this.#head.length > 0 ? 'invalid' : null;
  }

  #readHead(from: number): Reading {
    const start = this.#head.subarray(0, HTTP_VERSION.length);
    if (!start.equals(HTTP_VERSION.subarray(0, start.length))) return 'invalid';
    const end = this.#head.indexOf(HEAD_END, from);
    if ((end === -1 ? this.#head.length : end) + this.#interimBytes > MAX_HEAD_BYTES) return 'too-large';
    if (end === -1) return null;
    const [statusLine = '', ...lines] = this.#head.subarray(0, end).toString('latin1').split('\r\n');
    const rest = this.#head.subarray(end + HEAD_END.length);
    const [, status, reasonPhrase = ''] = /^HTTP\/1\.[01] (\d{3})(?: ([\s\S]*)|$)/.exec(statusLine) ?? [];
    if (status === undefined) return 'invalid';
    if (status.startsWith('1') && status !== '101') {
      this.#interim += 1;
      this.#interimBytes += end;
      this.#head = rest;
      return this.#interim > MAX_INTERIM_ANSWERS ? 'too-large' : rest.length === 0 ? null : this.#readHead(0);
    }
    const headers = lines.map((line): HeaderLine => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
    this.#parsedHead = { status: Number(status), reasonPhrase, headers };
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
    const complete = this.#bodyLength >= this.#cap || (this.#length !== undefined && this.#bodyLength >= this.#length);
    return complete || this.#sawLastChunk() ? this.#answer() : null;
  }

  /** The body keeps its chunk framing: searching it for a text works anyway. */
  #sawLastChunk(): boolean {
    if (!this.#chunked) return false;
    const last = Buffer.concat(this.#body.slice(-8)).subarray(-7).toString('latin1');
    return last === LAST_CHUNK || last.endsWith(`\r\n${LAST_CHUNK}`);
  }

  #answer(): Answer | null {
    if (this.#parsedHead === undefined) return null;
    const body = Buffer.concat(this.#body, this.#bodyLength);
    return { ...this.#parsedHead, body: body.subarray(0, this.#cap), truncated: body.length > this.#cap };
  }
}
