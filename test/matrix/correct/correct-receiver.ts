/**
 * The face of a receiver that is right and different from the reference receiver: another style, framework, language or server. The matrix
 * plays the whole catalogue against each one, and none may raise an alarm: no failure, no warning, nothing without a verdict.
 */

/** What a receiver is told. It has to check both credentials, and the client certificate when `tls` is there. */
export interface CorrectOptions {
  /** The key of the HMAC is this text as UTF-8; it is not Base64 to be decoded. The signature is in `X-Service-Signature`. */
  readonly secret: string;
  /** Expected in `X-API-Key`. */
  readonly apiKey: string;
  /** Only for receivers that say `tls: true`: everything as PEM text. */
  readonly tls?: {
    /** The chain of the server for the host `localhost`, the leaf first. */
    readonly cert: string;
    readonly key: string;
    /** The authority of client certificates. */
    readonly clientCa: string;
    /** The common name of the one client that is let in. */
    readonly clientName: string;
  };
}

export interface StartedReceiver {
  /** Where deliveries go: `http://127.0.0.1:PORT/...`, or `https://localhost:PORT/...` when it has `tls`. The port comes from the system. */
  readonly url: string;
  /** Ends it, connections and child processes included. */
  close(): Promise<void>;
}

export interface CorrectReceiver {
  /** Kebab-case, unique. */
  readonly name: string;
  /** What is different, in one sentence with a full stop. */
  readonly title: string;
  /** Programs that have to be on the PATH (or in /usr/sbin). Where one is missing the receiver is left out, and the matrix says so. */
  readonly needs?: readonly string[];
  /** Served over HTTPS with mutual TLS. */
  readonly tls?: boolean;
  /**
   * Deliveries at the same time, in place of the 8 of a run. For receivers that are slow on purpose more (they wait and burn nothing),
   * for servers that take one connection at a time fewer.
   */
  readonly concurrency?: number;
  /** Resolves when it accepts connections. */
  start(options: CorrectOptions): Promise<StartedReceiver>;
}
