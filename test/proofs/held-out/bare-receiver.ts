/**
 * A correct receiver in a style other than that of the reference receiver: bare node:http, one class with a method per
 * decision, no framework, no stages. Its faults override methods. The diagnosis is measured on these receivers, because
 * it was developed without them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ReceivedNotification, readNotification } from '../../../contract/index.ts';
import type { Style } from './subjects.ts';

export interface Credentials {
  readonly secret: string;
  readonly apiKey: string;
}

/** The error that a check throws. It is answered with this status. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`refused with ${status}`);
    this.status = status;
  }
}

export class BareReceiver {
  readonly server: Server = createServer((req, res) => void this.handle(req, res));
  protected readonly sockets = new Set<Socket>();
  protected readonly seen = new Set<string>();
  protected readonly credentials: Credentials;
  protected readonly style: Style;
  private port = 0;

  constructor(credentials: Credentials, style: Style) {
    this.credentials = credentials;
    this.style = style;
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.port}/`;
  }

  stop(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  /** Imitates an uncaught exception in a process under a supervisor. */
  protected die(): void {
    this.stop();
    setTimeout(() => void this.start().catch(() => undefined), 100);
  }

  protected async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      await this.receive(req, res);
    } catch (error) {
      if (res.headersSent || res.destroyed) return void res.destroy();
      this.send(res, error instanceof Refusal ? error.status : 500);
    }
  }

  protected async receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!this.takesMethod(req)) throw new Refusal(405);
    if (this.style.keyBeforeBody) this.requireKey(req, null);
    const raw = await this.bodyOf(req);
    await this.authenticate(req, raw);
    this.requireJson(req);
    const value = this.parse(raw, req);
    const notification = this.understand(value, res);
    await this.remember(notification, raw);
    this.send(res, 200);
  }

  protected takesMethod(req: IncomingMessage): boolean {
    return req.method === 'POST';
  }

  /** Checks both credentials, in the order of the style. The key may have been checked before the body. */
  protected async authenticate(req: IncomingMessage, raw: Buffer): Promise<void> {
    if (this.style.signatureFirst) await this.requireSignature(req, raw);
    if (!this.style.keyBeforeBody) this.requireKey(req, raw);
    if (!this.style.signatureFirst) await this.requireSignature(req, raw);
  }

  protected bodyOf(req: IncomingMessage): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      req.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= 2 * 1024 * 1024) chunks.push(chunk);
      });
      req.on('end', () => (size > 2 * 1024 * 1024 ? reject(new Refusal(413)) : resolve(Buffer.concat(chunks))));
      req.on('close', () => reject(new Refusal(400)));
    });
  }

  /** Returns the single value of a header. Null if the header is missing or repeated. */
  protected header(req: IncomingMessage, name: string): string | null {
    const [value, ...more] = req.headersDistinct[name] ?? [];
    return value === undefined || more.length > 0 ? null : value;
  }

  protected givenKey(req: IncomingMessage): string | null {
    return this.header(req, 'x-api-key');
  }

  protected keyFits(given: string, _req: IncomingMessage, _raw: Buffer | null): boolean {
    return same(given, this.credentials.apiKey);
  }

  protected requireKey(req: IncomingMessage, raw: Buffer | null): void {
    const given = this.givenKey(req);
    if (given === null || !this.keyFits(given, req, raw)) throw new Refusal(401);
  }

  protected givenSignature(req: IncomingMessage, _raw: Buffer): string | null {
    return this.header(req, 'x-service-signature');
  }

  /** Returns the signed bytes. */
  protected signedBytes(raw: Buffer, _req: IncomingMessage): Buffer {
    return raw;
  }

  protected signatureOf(bytes: Buffer): string {
    return createHmac('sha256', this.credentials.secret).update(bytes).digest('base64');
  }

  protected signatureFits(given: string, bytes: Buffer, _req: IncomingMessage): boolean {
    return same(given, this.signatureOf(bytes));
  }

  protected requireSignature(req: IncomingMessage, raw: Buffer): void | Promise<void> {
    const given = this.givenSignature(req, raw);
    if (given === null || !this.signatureFits(given, this.signedBytes(raw, req), req)) throw new Refusal(401);
  }

  protected requireJson(req: IncomingMessage): void {
    const [type = ''] = (req.headers['content-type'] ?? '').split(';');
    if (type.trim().toLowerCase() !== 'application/json') throw new Refusal(415);
    if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') throw new Refusal(415);
  }

  protected parse(raw: Buffer, _req: IncomingMessage): unknown {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
    } catch {
      throw new Refusal(this.style.malformed);
    }
  }

  protected understand(value: unknown, _res: ServerResponse): ReceivedNotification {
    const reading = readNotification(value);
    if (!reading.ok) throw new Refusal(this.style.malformed);
    this.use(reading.notification, value);
    return reading.notification;
  }

  /** Runs the partner's code for a valid notification. `value` is the received JSON. */
  protected use(_notification: ReceivedNotification, _value: unknown): void {}

  protected remember({ id }: ReceivedNotification, _raw: Buffer): void | Promise<void> {
    this.seen.add(id);
  }

  protected send(res: ServerResponse, status: number): void {
    const { body, type } = this.style.answer(status);
    const allow = status === 405 ? { Allow: 'POST' } : {};
    const close = this.style.closes ? { Connection: 'close' } : {};
    res.writeHead(status, { ...(body === '' ? {} : { 'Content-Type': type }), ...allow, ...close });
    res.end(body);
  }
}

/** Compares two texts in constant time. */
function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, 'latin1'), Buffer.from(other, 'latin1')];
  return a.length === b.length && timingSafeEqual(a, b);
}
