/** The options of a run. */

import type { Stack } from '../../contract/index.ts';
import type { SourceOptions } from '../effects/index.ts';
import type { Baseline } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import type { ClientFixtures } from '../probe/index.ts';
import type { ResultDocument, RunListener } from '../report/result-document.ts';
import type { AddressPolicy, Resolve } from '../transport/index.ts';
import type { RunLimits } from './context.ts';
import type { Selection } from './plan.ts';

/** The part of a catalogue revision that a run needs. */
export interface ScoringRevision {
  readonly number: number;
  /** SHA-256 digest of the file of the revision, in hex. */
  readonly digest: string;
  readonly scored: ReadonlySet<string>;
}

export interface RunOptions {
  readonly partner: Partner;
  /** Whether the endpoint needs no credentials. The library refuses to run without credentials otherwise. */
  readonly open?: boolean;
  /** The addresses to which deliveries may go. Default: any, including this machine and private networks. */
  readonly addresses?: AddressPolicy;
  /** Resolves the host name. Default: the resolver of the system. */
  readonly resolve?: Resolve;
  /** Faulty client certificates, which only the CA of the partner's client certificate can issue. */
  readonly clientFixtures?: ClientFixtures;
  readonly selection?: Partial<Selection>;
  readonly limits?: Partial<RunLimits>;
  readonly profile?: ResultDocument['profile'];
  /** The revision of the catalogue that defines which scenarios are scored. Without it, all scenarios are scored. */
  readonly revision?: ScoringRevision | null;
  /** The seed of an earlier run, to send the same values again. Default: a random seed. */
  readonly seed?: string | null;
  /** Whether warnings fail the run. */
  readonly strict?: boolean;
  /** Whether to stop after the first failure. The remaining checks are then inconclusive. */
  readonly bail?: boolean;
  /** Known failures. They are reported, but do not stop the run. */
  readonly baseline?: Baseline | null;
  /** The stack for which fixes are shown. Default: guessed from the answers. */
  readonly stack?: Stack | null;
  /** Whether to keep the exchanges of passed checks, too. */
  readonly evidence?: boolean;
  /**
   * Command-line flags, quoted for a shell, to repeat in the commands that the report prints. They must not contain
   * credentials.
   */
  readonly flags?: string;
  /** Advice about the configuration, to include in the result document. */
  readonly advice?: readonly string[];
  readonly listener?: RunListener;
  /**
   * Interrupts the run. Finished results are kept, all other checks are inconclusive, and the document is marked as
   * interrupted.
   */
  readonly signal?: AbortSignal;
  readonly onSignature?: (signature: string) => void;
  /** Sources of evidence in addition to the answers. A shard has none. */
  readonly evidenceSources?: SourceOptions;
}
