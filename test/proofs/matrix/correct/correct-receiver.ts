/**
 * A correct receiver in another style, framework, language or server than the reference receiver. The matrix plays the
 * whole catalogue against each of them. None may raise an alarm, which is a failure, a warning or a missing verdict.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { KnownSamples } from '../../../../scenarios/index.ts';
import { listen } from '../../../endpoints/listen.ts';

/** What a correct receiver must check: both credentials and, if `tls` is set, the client certificate. */
export interface CorrectOptions {
  /** The HMAC key is this text as UTF-8, not decoded from Base64. The signature is in `X-Service-Signature`. */
  readonly secret: string;
  /** The value that is expected in `X-API-Key`. */
  readonly apiKey: string;
  /** The token of the effects window, if the receiver has one. */
  readonly token?: string;
  /** Writes to the log, if the receiver has one. */
  readonly log?: ((text: string) => void) | undefined;
  /** TLS material in PEM, only for receivers with `tls: true`. */
  readonly tls?: {
    /** The server's chain for the host `localhost`, starting with the leaf. */
    readonly cert: string;
    readonly key: string;
    /** The CA of client certificates. */
    readonly clientCa: string;
    /** The common name of the one accepted client. */
    readonly clientName: string;
  };
}

export interface StartedReceiver {
  /**
   * The URL for deliveries: `http://127.0.0.1:PORT/...`, or `https://localhost:PORT/...` with `tls`, on a free port.
   */
  readonly url: string;
  /** The URL of the effects window, if the receiver has one. */
  readonly effectsUrl?: string;
  /** Ends the receiver as a crash would, and starts it again on the same port. */
  restart?(): Promise<void>;
  /** Replaces the list of secrets, with the newest first. */
  reloadSecrets?(secrets: readonly string[]): void;
  /** Stops the receiver, including its connections and child processes. */
  close(): Promise<void>;
}

export interface CorrectReceiver {
  /** A unique name in kebab-case. */
  readonly name: string;
  /** The difference from the reference receiver, in one sentence with a full stop. */
  readonly title: string;
  /** Programs that must be on the PATH (or in /usr/sbin). Without one, the receiver is left out and reported. */
  readonly needs?: readonly string[];
  /** True if the receiver is served over HTTPS with mutual TLS. */
  readonly tls?: boolean;
  /** True if the receiver has an effects window. */
  readonly hasEffects?: boolean;
  /** True if the receiver writes a log, which the matrix reads. */
  readonly hasLog?: boolean;
  /**
   * Number of simultaneous deliveries, instead of the 8 of a run: more for receivers that are slow on purpose, fewer
   * for servers that accept one connection at a time.
   */
  readonly concurrency?: number;
  /** The ids that the receiver knows, and the fields that it needs. */
  readonly samples?: KnownSamples;
  /** Scenarios for which a warning is justified. */
  readonly trueWarnings?: readonly string[];
  /** Starts the receiver. Resolves when it accepts connections. */
  start(options: CorrectOptions): Promise<StartedReceiver>;
}

/** Code that receivers on Node share: the decision on a delivery, and a server on a free port. */

/** Compares texts of any length in constant time. */
export function sameText(given: string, due: string): boolean {
  return timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(due).digest());
}

export function signatureOf(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}

/** Returns the value of a header that occurs exactly once, otherwise the empty string. `name` is in lower case. */
export function onlyHeader(req: IncomingMessage, name: string): string {
  const values = req.headersDistinct[name] ?? [];
  return values.length === 1 ? (values[0] ?? '') : '';
}

export async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Returns the id of a notification. Undefined for everything else. */
export function idOf(body: Uint8Array): string | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    const whole = value !== null && typeof value.type === 'string' && typeof value.data === 'object';
    return whole && value.data !== null && typeof value.id === 'string' ? value.id : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether both credentials are valid for these bytes. */
export function isAuthentic(req: IncomingMessage, body: Uint8Array, { secret, apiKey }: CorrectOptions): boolean {
  const keyed = sameText(onlyHeader(req, 'x-api-key'), apiKey);
  const signed = sameText(onlyHeader(req, 'x-service-signature'), signatureOf(body, secret));
  return keyed && signed;
}

/** Returns the status for a delivery, with the checks in the usual order: method, body, credentials, content. */
export async function statusOf(req: IncomingMessage, options: CorrectOptions, malformed = 400): Promise<number> {
  const body = await bodyOf(req);
  if (req.method !== 'POST') return 405;
  if (!isAuthentic(req, body, options)) return 401;
  return idOf(body) === undefined ? malformed : 200;
}

/** Listens on a free port of the loopback interface. */
export async function listenOn(server: Server, scheme: 'http' | 'https' = 'http'): Promise<StartedReceiver> {
  const { port, close } = await listen(server);
  return { url: `${scheme}://${scheme === 'https' ? 'localhost' : '127.0.0.1'}:${port}/hooks`, close };
}
