/** What a run tells while it goes on. Progress, the live line and the ndjson reporter listen to this. */
import type { ResultDocument, ScenarioResult } from './result-document.ts';

export type RunEvent =
  | {
      readonly type: 'run-started';
      readonly url: string;
      readonly seed: string;
      readonly planned: number;
      readonly startedAt: string;
    }
  | {
      readonly type: 'scenario-finished';
      readonly judged: number;
      readonly planned: number;
      readonly result: ScenarioResult;
    }
  | { readonly type: 'notice'; readonly message: string }
  | { readonly type: 'run-finished'; readonly document: ResultDocument };

export type RunListener = (event: RunEvent) => void;
