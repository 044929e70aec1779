/** A request to a receiver and the answer to it, as recorded by a proxy or inspector between sender and receiver. */
import type { HeaderLine } from './delivery.ts';

export interface ForwardedExchange {
  readonly receivedAt: Date;
  /** Milliseconds from the first byte of the request to the end of the answer. */
  readonly durationMs: number;
  /** IP address of the sender. */
  readonly remoteAddress: string;
  readonly request: {
    /** `method`, `target` and `httpVersion` are empty when the first line is not an HTTP request line. */
    readonly method: string;
    /** Path and query, as received. */
    readonly target: string;
    readonly httpVersion: string;
    /** Header lines in their original order and letter case. */
    readonly headers: readonly HeaderLine[];
    /** Every byte of the request. Undefined when some bytes were not kept. */
    readonly raw: Buffer | undefined;
    /** The body without chunked framing. Undefined when it did not arrive or was not kept completely. */
    readonly body: Buffer | undefined;
    /** Number of body bytes that arrived. */
    readonly bodyLength: number;
    readonly complete: boolean;
  };
  /** Undefined when the receiver sent no answer. */
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
