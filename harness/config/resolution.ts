/** What the steps of resolving share: where values come from, and where they put what they find. */
import type { ShownSetting } from './config.ts';
import type { Environment } from './gather-settings.ts';
import type { Given, Settings } from './given.ts';
import type { Problem } from './problems.ts';

/** Standard input, as `process.stdin` is. */
export type Input = AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };

export interface Resolution {
  readonly settings: Settings;
  /** The settings that were given at all, those that turned out to be wrong included. */
  readonly attempted: ReadonlySet<string>;
  readonly env: Environment;
  readonly stdin: Input | undefined;
  /** These lists are filled while resolving. */
  readonly problems: Problem[];
  readonly advice: string[];
  readonly shown: ShownSetting[];
  readonly secrets: string[];
  /** Which flag has read standard input: there is only one of it. */
  stdinReader: string | null;
}

/** A resolution in which nothing has been given yet. */
export function startResolution({ env, stdin }: { env: Environment; stdin?: Input | undefined }): Resolution {
  return {
    settings: new Map(),
    attempted: new Set(),
    env,
    stdin,
    problems: [],
    advice: [],
    shown: [],
    secrets: [],
    stdinReader: null,
  };
}

/** Notes a line for `config show`. */
export function show(resolution: Resolution, path: string, value: string, given: Given | undefined): void {
  resolution.shown.push({ path, value, source: given?.source ?? 'default' });
}

/** How a secret is shown: that it is there, and its length. */
export function redacted(secret: string): string {
  const length = [...secret].length;
  return `[set, ${length} ${length === 1 ? 'character' : 'characters'}]`;
}
