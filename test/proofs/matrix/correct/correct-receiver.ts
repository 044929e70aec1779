/**
 * A correct receiver in another style, framework, language or server than the reference receiver. The matrix plays the
 * whole catalogue against each one, and none may raise an alarm: no failure, no warning, nothing without a verdict.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { KnownSamples } from '../../../../scenarios/index.ts';
import { listen } from '../../../endpoints/listen.ts';

/** It has to check both credentials, and the client certificate if `tls` is set. */
export interface CorrectOptions {
  /** The HMAC key is this text as UTF-8, not decoded from Base64. The signature is in `X-Service-Signature`. */
  readonly secret: string;
  /** Expected in `X-API-Key`. */
  readonly apiKey: string;
  /** The token of its effects window, if it has one. */
  readonly token?: string;
  /** Writes to its log, if it has one. */
  readonly log?: ((text: string) => void) | undefined;
  /** Only for receivers with `tls: true`, as PEM text. */
  readonly tls?: {
    /** The server chain for the host `localhost`, leaf first. */
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
  /** Its effects window, if it has one. */
  readonly effectsUrl?: string;
  /** Ends it as a crash would, and starts it again on the same port. */
  restart?(): Promise<void>;
  /** Replaces the list of its secrets, the newest first. */
  reloadSecrets?(secrets: readonly string[]): void;
  /** Ends it, including connections and child processes. */
  close(): Promise<void>;
}

export interface CorrectReceiver {
  /** Kebab-case, unique. */
  readonly name: string;
  /** The difference, in one sentence with a full stop. */
  readonly title: string;
  /** Programs that must be on the PATH (or in /usr/sbin). Without one, the receiver is left out and reported. */
  readonly needs?: readonly string[];
  /** Served over HTTPS with mutual TLS. */
  readonly tls?: boolean;
  /** It has an effects window. */
  readonly hasEffects?: boolean;
  /** It writes a log, which the matrix reads. */
  readonly hasLog?: boolean;
  /**
   * Simultaneous deliveries, instead of the 8 of a run: more for receivers that are slow on purpose, fewer for servers
   * that accept one connection at a time.
   */
  readonly concurrency?: number;
  /** Ids that it knows, and fields that it needs. */
  readonly samples?: KnownSamples;
  /** Scenarios for which a warning is justified. */
  readonly trueWarnings?: readonly string[];
  /** Resolves when it accepts connections. */
  start(options: CorrectOptions): Promise<StartedReceiver>;
}

/** Shared by receivers on Node: the decision on a delivery, and a server on a free port. */

/** Compares in constant time, whatever the lengths. */
export function sameText(given: string, due: string): boolean {
  return timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(due).digest());
}

export function signatureOf(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}

/** The value of a header that occurs exactly once, otherwise the empty string. `name` is in lower case. */
export function onlyHeader(req: IncomingMessage, name: string): string {
  const values = req.headersDistinct[name] ?? [];
  return values.length === 1 ? (values[0] ?? '') : '';
}

export async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The id of a notification; undefined for everything else. */
export function idOf(body: Uint8Array): string | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    const whole = value !== null && typeof value.type === 'string' && typeof value.data === 'object';
    return whole && value.data !== null && typeof value.id === 'string' ? value.id : undefined;
  } catch {
    return undefined;
  }
}

/** Whether both credentials are valid for these bytes. */
export function isAuthentic(req: IncomingMessage, body: Uint8Array, { secret, apiKey }: CorrectOptions): boolean {
  const keyed = sameText(onlyHeader(req, 'x-api-key'), apiKey);
  const signed = sameText(onlyHeader(req, 'x-service-signature'), signatureOf(body, secret));
  return keyed && signed;
}

/** The status for a delivery, in the usual order: method, body, credentials, content. */
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
