/**
 * Serves an app on a free loopback port while a run lasts, and takes the errors that the app does not catch. In
 * production they would end its process, so the delivery ends without an answer, and the run goes on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { visible } from '../contract/visible.ts';

/** Maximum number of characters of an error that a report quotes. */
const MAX_QUOTED = 300;

export class HostedApp {
  /** The number of errors that the app did not catch. */
  errors = 0;
  /** The first of them: its message, and the first line of its stack. */
  firstError = '';
  readonly #server: Server;
  readonly #wasListening: boolean;
  readonly #open = new Set<ServerResponse>();

  constructor(app: RequestListener | Server) {
    this.#server = app instanceof Server ? app : createServer(app);
    this.#wasListening = this.#server.listening;
  }

  /** Listens, unless the server does so already, and returns the port. */
  async open(): Promise<number> {
    const server = this.#server;
    if (!this.#wasListening) {
      await new Promise<void>((done, failed) => {
        server.once('error', failed);
        server.listen(0, '127.0.0.1', () => {
          server.off('error', failed);
          done();
        });
      });
    }
    server.prependListener('request', this.#onRequest);
    watch.add(this);
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    // A rejection is reported after the microtasks of the turn that caused it.
    await turn();
    watch.remove(this);
    this.#server.off('request', this.#onRequest);
    if (this.#wasListening) return;
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  get isAnswering(): boolean {
    return [...this.#open].some((response) => !response.writableEnded);
  }

  /** Notes an error, and ends every delivery in flight, as the end of the process would. */
  end(error: unknown): void {
    this.errors += 1;
    if (this.errors === 1) this.firstError = describeError(error);
    for (const response of this.#open) if (!response.writableEnded) response.req.socket.destroy();
  }

  readonly #onRequest = (_request: IncomingMessage, response: ServerResponse): void => {
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    // The listeners of the app are called after this one, in the same context.
    servedBy.enterWith(this);
  };
}

function describeError(error: unknown): string {
  const { name, message, stack } = Object(error) as Partial<Error>;
  const text = typeof message === 'string' ? `${name ?? 'Error'}: ${message}` : String(error);
  const lines = String(stack).split('\n');
  const at = lines.map((line) => line.trim()).find((line) => line.startsWith('at '));
  return visible(text.slice(0, MAX_QUOTED)) + (at === undefined ? '' : ` (${visible(at.slice(0, MAX_QUOTED))})`);
}

/** The app that serves the request in whose asynchronous context the code runs. */
const servedBy = new AsyncLocalStorage<HostedApp>();

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;
type ErrorEvent = (typeof EVENTS)[number];
type Listener = (error: unknown, detail: unknown) => void;

/**
 * Replaces the process's listeners for uncaught errors while an app is served. An error of a request belongs to its
 * app. One without a request belongs to the apps with a delivery in flight. Any other is passed on to the replaced
 * listeners or, without one, ends the process, as without a run.
 */
class ErrorWatch {
  readonly #apps = new Set<HostedApp>();
  readonly #replaced = new Map<ErrorEvent, readonly Listener[]>();
  readonly #own: Readonly<Record<ErrorEvent, Listener>> = {
    uncaughtException: (error, detail) => this.#take('uncaughtException', error, detail),
    unhandledRejection: (error, detail) => this.#take('unhandledRejection', error, detail),
  };

  add(app: HostedApp): void {
    this.#apps.add(app);
    if (this.#apps.size > 1) return;
    for (const event of EVENTS) {
      this.#replaced.set(event, process.rawListeners(event) as Listener[]);
      process.removeAllListeners(event);
      process.on(event, this.#own[event]);
    }
  }

  remove(app: HostedApp): void {
    if (this.#apps.delete(app) && this.#apps.size === 0) this.#restore();
  }

  #restore(): void {
    for (const event of EVENTS) {
      process.off(event, this.#own[event]);
      for (const listener of this.#replaced.get(event) ?? []) process.on(event, listener);
    }
    this.#replaced.clear();
  }

  #take(event: ErrorEvent, error: unknown, detail: unknown): void {
    const serving = servedBy.getStore();
    const isServing = serving !== undefined && this.#apps.has(serving);
    const apps = isServing ? [serving] : [...this.#apps].filter(({ isAnswering }) => isAnswering);
    const isSeen = apps.some(({ isAnswering }) => isAnswering);
    for (const app of apps) app.end(error);
    // Without a listener, Node raises a rejection as an exception.
    const own = this.#replaced.get(event) ?? [];
    const listeners = own.length > 0 ? own : (this.#replaced.get('uncaughtException') ?? []);
    if (isSeen || (apps.length > 0 && listeners.length === 0)) return;
    for (const listener of listeners) listener.call(process, error, detail);
    if (listeners.length > 0) return;
    this.#restore();
    setImmediate(() => {
      throw error;
    });
  }
}

const watch = new ErrorWatch();
