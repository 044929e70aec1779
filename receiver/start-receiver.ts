import { createReceiver, type Receiver } from './create-receiver.ts';
import type { ReceiverOptions } from './options.ts';
import { type RunningServer, type ServerOptions, serve } from './serve.ts';

/** A receiver that is listening. */
export interface RunningReceiver extends RunningServer {
  /** Resolves when the handlers of everything that was accepted have ended. */
  settled(): Promise<void>;
}

/**
 * Makes a receiver and serves it over HTTP, or HTTPS when `tls` is given. Throws `HookproofError` (`RECEIVER_*`) when the
 * configuration is incomplete or the address cannot be used. Closing it waits for requests and handlers under way.
 */
export async function startReceiver(options: ReceiverOptions & ServerOptions): Promise<RunningReceiver> {
  const receiver: Receiver = createReceiver(options);
  const server = await serve(receiver, options);
  return { ...server, settled: () => receiver.settled() };
}
