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

/** The part of a revision of the catalogue that a run needs. */
export interface ScoringRevision {
  readonly number: number;
  /** SHA-256 of its file, in hex. */
  readonly digest: string;
  readonly scored: ReadonlySet<string>;
}

export interface RunOptions {
  readonly partner: Partner;
  /** Which addresses the endpoint may have. Default: any, including this machine and private networks. */
  readonly addresses?: AddressPolicy;
  /** Resolves the host name instead of the system's resolver. */
  readonly resolve?: Resolve;
  /** Faulty client certificates that only the partner's CA can issue. */
  readonly clientFixtures?: ClientFixtures;
  readonly selection?: Partial<Selection>;
  readonly limits?: Partial<RunLimits>;
  readonly profile?: ResultDocument['profile'];
  /** The revision of the catalogue that defines which scenarios are scored. Absent or null: all. */
  readonly revision?: ScoringRevision | null;
  /** Repeats the values of an earlier run. Random when absent. */
  readonly seed?: string | null;
  /** Whether warnings fail the run. */
  readonly strict?: boolean;
  /** Stops after the first failure; the remaining checks are inconclusive. */
  readonly bail?: boolean;
  /** Known failures: they are reported and do not stop the run. */
  readonly baseline?: Baseline | null;
  /** The stack that fixes are written for; guessed from the answers when absent. */
  readonly stack?: Stack | null;
  /** Keeps the exchanges of passed checks too. */
  readonly evidence?: boolean;
  /**
   * Command-line flags, quoted for a shell, to repeat in the commands that the report prints. They contain no
   * credential.
   */
  readonly flags?: string;
  /** Advice about the configuration, for the document. */
  readonly advice?: readonly string[];
  readonly listener?: RunListener;
  /** Interrupts the run: finished results stay, the rest is inconclusive, and the document is marked. */
  readonly signal?: AbortSignal;
  readonly onSignature?: (signature: string) => void;
  /** What shows more than the answers. A shard has none of it. */
  readonly evidenceSources?: SourceOptions;
}
