/** A request to a receiver and its answer, as something between sender and receiver saw them. */
import type { HeaderLine } from './delivery.ts';

export interface ForwardedExchange {
  readonly receivedAt: Date;
  /** From the first byte of the request to the end of the answer, in milliseconds. */
  readonly durationMs: number;
  /** Of the sender. */
  readonly remoteAddress: string;
  readonly request: {
    /** Empty, like `target` and `httpVersion`, when the first line is not that of an HTTP request. */
    readonly method: string;
    /** Path and query, as received. */
    readonly target: string;
    readonly httpVersion: string;
    /** In their order and letter case. */
    readonly headers: readonly HeaderLine[];
    /** Every byte of the request; undefined when they were not all kept. */
    readonly raw: Buffer | undefined;
    /** Without the framing of chunks; undefined when not all of it was kept or arrived. */
    readonly body: Buffer | undefined;
    /** How much of the body arrived, in bytes. */
    readonly bodyLength: number;
    readonly complete: boolean;
  };
  /** Undefined when there was none. */
  readonly answer: ForwardedAnswer | undefined;
  /** The delivery that was sent again. */
  readonly replayOf?: string;
}

export interface ForwardedAnswer {
  /** 0 when the first line is not that of an HTTP answer. */
  readonly status: number;
  readonly reasonPhrase: string;
  readonly headers: readonly HeaderLine[];
  /** The beginning of the body, without the framing of chunks. */
  readonly body: Buffer;
  /** Of the whole body, in bytes. */
  readonly bodyLength: number;
}
