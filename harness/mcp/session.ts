/** What the tools share: the configuration of the server, the allowed endpoints, and the runs so far. */
import { relative } from 'node:path';
import { HookproofError, type Notification } from '../../contract/index.ts';
import { visible } from '../../contract/visible.ts';
import { type ConfigFlags, collectConfig, type LoadOptions, loadConfig, type ResolvedConfig } from '../config/index.ts';
import { recordedFiles } from '../config/read-file.ts';
import { type DoctorDocument, examine } from '../doctor/index.ts';
import type { Redactor } from '../report/index.ts';
import type { ResultDocument, RunListener } from '../report/result-document.ts';
import { type AddressPolicy, pinEndpoint } from '../transport/index.ts';
import type { Row } from './look-ups.ts';
import type { PastRun } from './run-answers.ts';

/** What the commands of the program do, for the tools of the same name. */
export interface McpCommands {
  /** Runs the checks that the configuration selects, and redacts the document. */
  readonly run: (
    config: ResolvedConfig,
    options: { readonly signal: AbortSignal; readonly addresses: AddressPolicy; readonly listener: RunListener },
  ) => Promise<ResultDocument>;
  readonly createRedactor: (secrets: readonly string[]) => Redactor;
  readonly testNotification: () => Notification;
  readonly explain: (id: string, stack?: string) => Promise<string>;
  /** What can be listed, and the rows of one list. */
  readonly lists: readonly [string, ...string[]];
  readonly list: (what: string, suites: readonly string[]) => Promise<readonly Row[]>;
}

export interface SessionOptions {
  readonly commands: McpCommands;
  readonly sources: Pick<LoadOptions, 'env' | 'cwd' | 'configFile'> & { readonly flags: ConfigFlags };
  /** Hosts that may have another address than one of this machine. */
  readonly allowHosts: readonly string[];
  /** Aborted when the server ends. */
  readonly stopping: AbortSignal;
}

/** What a run tests. Empty lists select what the configuration selects. */
interface RunRequest {
  /** Absent: the configured endpoint. */
  readonly url: string | undefined;
  /** Runs without any credentials too. */
  readonly open: boolean;
  readonly suites: readonly string[];
  readonly scenarios: readonly string[];
  readonly greps: readonly string[];
}

/** How a call ends early, and how it reports its progress. */
export interface CallOptions {
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
}

export interface Session {
  readonly commands: McpCommands;
  /** Knows every secret that is configured, whether a tool uses it or not. */
  readonly redactor: Redactor;
  readonly stopping: AbortSignal;
  /** Runs, and remembers the run. One tool at a time sends. */
  run(request: RunRequest, options: CallOptions): Promise<PastRun>;
  /** The run with this id, the last one by default. */
  pastRun(id?: string): PastRun & { readonly request: RunRequest };
  /** Examines the endpoint. One tool at a time sends. */
  examine(
    request: { readonly url: string | undefined; readonly deliver: boolean },
    options: CallOptions,
  ): Promise<DoctorDocument>;
  /** The document of the last examination; null before the first. */
  lastExamination(): DoctorDocument | null;
  /** What `verify` compares with: the secret, and what may have been used or signed instead. */
  signingInput(url: string | undefined): Promise<{ secret: string; apiKey?: string; url?: string }>;
  /** Resolves when nothing is sent any more. */
  idle(): Promise<void>;
}

/** Of a run without a time limit in the configuration, and of an examination. */
const DEFAULT_MAX_MS = 120_000;
/** Runs that are remembered. */
const MAX_RUNS = 5;

export async function createSession({ allowHosts, commands, sources, stopping }: SessionOptions): Promise<Session> {
  const addresses: AddressPolicy = { reach: 'loopback-only', allowHosts };
  const files = recordedFiles();
  const redactor = commands.createRedactor((await collectConfig({ ...sources, readFile: files.read })).secrets);
  const runs: ReturnType<Session['pastRun']>[] = [];
  /** By URL. */
  const fullRuns = new Map<string, PastRun>();
  let made = 0;
  let examined: DoctorDocument | null = null;
  let active: { readonly name: string; readonly ended: Promise<unknown> } | null = null;

  /**
   * The configuration as it was at the start. A file that has changed could name other variables and files of this
   * machine as secrets to send; its new content is not used in any case.
   */
  const sourcesFor = async (url: string | undefined): Promise<LoadOptions> => {
    const changed = await files.changed();
    if (changed === null) {
      return { ...sources, readFile: files.read, flags: { ...sources.flags, ...(url !== undefined && { url }) } };
    }
    const name = visible(relative(sources.cwd, changed));
    throw new HookproofError('MCP_CONFIG_CHANGED', `the file ${name} has changed since the server started`, {
      hint: 'Have the server restarted, so that its user decides about the new configuration.',
    });
  };

  const exclusively = async <Result>(name: string, act: () => Promise<Result>): Promise<Result> => {
    if (active !== null) {
      throw new HookproofError('MCP_BUSY', `\`${active.name}\` is still under way`, {
        hint: 'Wait for its answer, or cancel it: one tool at a time sends to an endpoint.',
      });
    }
    const acting = act();
    active = { name, ended: acting.catch(() => undefined) };
    try {
      return await acting;
    } finally {
      active = null;
    }
  };

  const runNow = async (request: RunRequest, { progress, signal }: CallOptions): Promise<PastRun> => {
    const { open, suites, scenarios, greps, url } = request;
    const loaded = await loadConfig(await sourcesFor(url));
    if (!open) requireCredentials(loaded);
    const isSelection = suites.length + scenarios.length + greps.length > 0;
    const maxMs = loaded.run.maxMs ?? DEFAULT_MAX_MS;
    const run = { ...loaded.run, maxMs, ...(isSelection && { suites, scenarios, greps }) };
    const listener: RunListener = (event) => {
      if (event.type === 'scenario-finished') progress(event.finished, event.planned);
    };
    const document = await commands.run({ ...loaded, run }, { signal, addresses, listener });
    made++;
    const full = fullRuns.get(document.target.url);
    const past = { id: `r${made}`, document, request, ...(document.partial && full !== undefined && { full }) };
    if (!document.partial) fullRuns.set(document.target.url, past);
    runs.push(past);
    if (runs.length > MAX_RUNS) runs.shift();
    return past;
  };

  const examineNow: Session['examine'] = async ({ deliver, url }, { signal }) => {
    const from = await sourcesFor(url);
    const { run, values } = await collectConfig(from);
    const ended = AbortSignal.any([signal, AbortSignal.timeout(run.maxMs ?? DEFAULT_MAX_MS)]);
    if (values.url !== undefined) {
      // Throws for an address that is not allowed; the doctor itself would only list it.
      const pinning = { policy: addresses, timeoutMs: run.timeoutMs, signal: ended, chooses: false };
      await pinEndpoint(values.url, pinning);
    }
    examined = await examine({
      sources: from,
      makeNotification: deliver ? commands.testNotification : null,
      createRedactor: commands.createRedactor,
      onStage: () => {},
      signal: ended,
      addresses,
    });
    return examined;
  };

  return {
    commands,
    redactor,
    stopping,
    run: (request, options) => exclusively('run', () => runNow(request, options)),
    examine: (request, options) => exclusively('doctor', () => examineNow(request, options)),
    lastExamination: () => examined,
    pastRun(id) {
      const found = id === undefined ? runs.at(-1) : runs.find((one) => one.id === id);
      if (found !== undefined) return found;
      const message = id === undefined ? 'nothing was run yet' : `there is no run "${id}"`;
      const known = runs.map((one) => one.id).join(', ');
      throw new HookproofError('MCP_UNKNOWN_RUN', message, {
        hint: known === '' ? 'Call `run` first.' : `This server remembers ${known}.`,
      });
    },
    async signingInput(url) {
      const { values } = await collectConfig(await sourcesFor(url));
      const { apiKey, secret, url: configured } = values;
      if (secret === undefined) {
        throw new HookproofError('SECRET_MISSING', 'no HMAC secret is configured', {
          hint: 'Have HOOKPROOF_SECRET set in the environment of this server: a tool takes no secrets.',
        });
      }
      return { secret, ...(apiKey !== undefined && { apiKey }), ...(configured !== undefined && { url: configured }) };
    },
    idle: async () => void (await active?.ended),
  };
}

function requireCredentials({ partner }: ResolvedConfig): void {
  if (partner.signing !== undefined || partner.apiKey !== undefined || partner.tls?.clientCert !== undefined) return;
  throw new HookproofError('MCP_NO_CREDENTIALS', 'no credentials are configured: a run would check no authentication', {
    hint:
      'Have HOOKPROOF_SECRET or HOOKPROOF_API_KEY set in the environment of this server. Give `open`: true only if ' +
      'the endpoint is meant to take unsigned deliveries.',
  });
}
