/** The shapes that go into the configuration of a run and come out of it. */
import type { ClientFixture } from '../../scenarios/index.ts';
import { PROFILES, type Profile } from '../../scenarios/profiles.ts';
import type { Stack } from '../diagnose/stack.ts';
import type { Partner } from '../partner.ts';

export { PROFILES, type Profile };

/** The reporters that exist. */
export const REPORTERS = ['human', 'json', 'junit', 'ndjson', 'html', 'badge', 'ctrf', 'github'] as const;
export type ReporterName = (typeof REPORTERS)[number];

/** One reporter and where it writes: an absolute path, or null for standard output. */
export interface ReporterChoice {
  readonly name: ReporterName;
  readonly file: string | null;
}

/** What the flags of the command line hold, as text. A flag that was not given is absent or undefined. */
export interface ConfigFlags {
  readonly url?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly signatureHeader?: string | undefined;
  readonly apiKeyFile?: string | undefined;
  readonly apiKeyHeader?: string | undefined;
  /** Each `Name: value`. */
  readonly header?: readonly string[] | undefined;
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  readonly ca?: string | undefined;
  readonly profile?: string | undefined;
  readonly revision?: string | undefined;
  readonly suite?: readonly string[] | undefined;
  readonly scenario?: readonly string[] | undefined;
  readonly grep?: readonly string[] | undefined;
  readonly concurrency?: string | number | undefined;
  /** With a unit: `10s`, `500ms`, `2m`. */
  readonly timeout?: string | undefined;
  readonly recovery?: string | undefined;
  readonly maxTime?: string | undefined;
  /** Hosts, each as it stands in a URL. */
  readonly allowPrivate?: readonly string[] | undefined;
  readonly seed?: string | undefined;
  readonly strict?: boolean | undefined;
  readonly baseline?: string | undefined;
  readonly stack?: string | undefined;
  readonly bail?: boolean | undefined;
  readonly evidence?: boolean | undefined;
  /** `i/n`. */
  readonly shard?: string | undefined;
  /** Each `name`, `name=file` or `name=-`. */
  readonly reporter?: readonly string[] | undefined;
  readonly outputDir?: string | undefined;
}

/** How the run goes. */
export interface RunOptions {
  /** null: what is configured is what is checked. */
  readonly profile: Profile | null;
  /** The revision of the catalogue that says which scenarios are scored for the profile; null: the newest. */
  readonly revision: number | null;
  /** Names of suites and ids of scenarios as the user wrote them; the plan knows which exist. Empty: all. */
  readonly suites: readonly string[];
  readonly scenarios: readonly string[];
  /** Regular expressions that compile, matched without regard to letter case. Empty: all. */
  readonly greps: readonly string[];
  /** 1 to 64. */
  readonly concurrency: number;
  /** Milliseconds for one delivery, 100 to 600,000. */
  readonly timeoutMs: number;
  /** Milliseconds to wait for an endpoint that went down, 0 to 600,000. */
  readonly recoveryMs: number;
  /** Milliseconds after which the run ends, 1,000 to 86,400,000; null: what follows from the other limits and the number of checks. */
  readonly maxMs: number | null;
  /** Hosts that may have private addresses where only public ones are allowed otherwise. */
  readonly allowPrivate: readonly string[];
  /** null: the run chooses one and reports it. */
  readonly seed: string | null;
  readonly strict: boolean;
  readonly bail: boolean;
  /** The file with the known failures, an absolute path; null when there is none. */
  readonly baseline: string | null;
  /** The stack that fixes are told for; null: it is guessed from the answers. */
  readonly stack: Stack | null;
  /** Whether the exchanges of passed scenarios are kept too. */
  readonly evidence: boolean;
  /** `index` counts from 1. */
  readonly shard: { readonly index: number; readonly of: number } | null;
  /** An absolute path. `reporters` already holds the files that are written into it. */
  readonly outputDir: string | null;
}

/** One line of `config show`: the value in words, redacted, and where it came from. */
export interface ShownSetting {
  /** The key as the configuration file has it, for example `hmac.secret`. */
  readonly path: string;
  readonly value: string;
  readonly source: string;
}

/** Everything that `hookproof run` needs, checked. */
export interface ResolvedConfig {
  readonly partner: Partner;
  /** The client certificates of `mtls.fixtures` with their keys, PEM: each in order, the key opened. */
  readonly clientFixtures: Partial<Record<ClientFixture, { readonly cert: string; readonly key: string }>>;
  readonly run: RunOptions;
  /** Never empty; at most one writes to standard output. */
  readonly reporters: readonly ReporterChoice[];
  /** What the user should know, one sentence each. */
  readonly advice: readonly string[];
  /** Setting to source: `flag --timeout`, `environment HOOKPROOF_URL`, `hookproof.yaml:3:11`, `default`. */
  readonly sources: Readonly<Record<string, string>>;
  /** For `describeConfig`. */
  readonly settings: readonly ShownSetting[];
  /** The secret values in use, for redaction by value. Never write these anywhere. */
  readonly secrets: readonly string[];
  /** The configuration file as the user would name it; null when there is none. */
  readonly configFile: string | null;
}
