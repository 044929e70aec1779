import type { Express } from 'express';
import { createHandling } from './handling/handling.ts';
import { type ReceiverOptions, resolveOptions } from './options.ts';
import { createApp, createPipeline } from './pipeline.ts';

/** A receiver that is not listening yet. */
export interface Receiver {
  /** The Express app. Mount it in your own app, before any body parser, or serve it. */
  readonly app: Express;
  /** Resolves when no handler runs and none is due. */
  settled(): Promise<void>;
  /** Starts no more handlers, and waits for those that run, for so many milliseconds at most. */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * Makes the receiver. Throws `HookproofError` (`RECEIVER_*`) when the configuration is incomplete: a secret that is missing or empty
 * does not turn its check off. Specification: Delivery endpoint; Authentication.
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const config = resolveOptions(options);
  for (const warning of config.warnings) config.logger.warn({ event: 'configuration' }, warning);
  const handling = createHandling(config);
  return {
    app: createApp(createPipeline(config, handling), config),
    settled: () => handling.settled(),
    stop: (timeoutMs) => handling.stop(timeoutMs),
  };
}
