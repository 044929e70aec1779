/** A request to a receiver and its answer, as recorded by a proxy or inspector between sender and receiver. */
import type { HeaderLine } from './delivery.ts';

export interface ForwardedExchange {
  readonly receivedAt: Date;
  /** Milliseconds from the first byte of the request to the end of the answer. */
  readonly durationMs: number;
  /** IP address of the sender. */
  readonly remoteAddress: string;
  readonly request: {
    /** Empty, like `target` and `httpVersion`, when the first line is not an HTTP request line. */
    readonly method: string;
    /** Path and query, as received. */
    readonly target: string;
    readonly httpVersion: string;
    /** Header lines in their original order and letter case. */
    readonly headers: readonly HeaderLine[];
    /** Every byte of the request; undefined when not all of them were kept. */
    readonly raw: Buffer | undefined;
    /** The body without chunked framing; undefined when it did not arrive completely or was not kept completely. */
    readonly body: Buffer | undefined;
    /** Number of body bytes that arrived. */
    readonly bodyLength: number;
    readonly complete: boolean;
  };
  /** Undefined when the receiver did not respond. */
  readonly answer: ForwardedAnswer | undefined;
  /** Id of the exchange that this one replays. */
  readonly replayOf?: string;
}

export interface ForwardedAnswer {
  /** 0 when the first line is not an HTTP status line. */
  readonly status: number;
  readonly reasonPhrase: string;
  readonly headers: readonly HeaderLine[];
  /** The beginning of the body, without chunked framing. */
  readonly body: Buffer;
  /** Length of the whole body, in bytes. */
  readonly bodyLength: number;
}
