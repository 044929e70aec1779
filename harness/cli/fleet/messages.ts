/** What the processes of a certification of many partners say to each other, over the channel that Node makes between them. */
import type { EndpointLook, Refusal } from '../../certify/index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import type { RunFacts } from '../../fleet/index.ts';

/** To the worker: certify this partner, or stop what is under way and say what is known. */
export type Order =
  | { readonly kind: 'run'; readonly config: ResolvedConfig; readonly folder: string }
  | { readonly kind: 'stop' };

/** From the worker. Everything in it is redacted. */
export type Reply =
  | {
      readonly kind: 'done';
      readonly facts: RunFacts;
      readonly refusals: readonly Refusal[];
      readonly look: EndpointLook | null;
      readonly files: readonly string[];
    }
  /** Nothing was sent: what the partner gave cannot be delivered to. */
  | { readonly kind: 'refused'; readonly message: string; readonly fix: string }
  | { readonly kind: 'broken'; readonly message: string };

/** The first word of the command line that makes the program a worker. It is not for people. */
export const WORKER = '--fleet-worker';
