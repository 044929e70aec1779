/** The state that all tools share: the server's configuration, the allowed endpoints, and the runs so far. */
import { relative } from 'node:path';
import { HookproofError, type Notification } from '../../contract/index.ts';
import { maskUrl } from '../../contract/masked-url.ts';
import { visible } from '../../contract/visible.ts';
import { type ConfigFlags, collectConfig, type LoadOptions, loadConfig, type ResolvedConfig } from '../config/index.ts';
import { recordedFiles } from '../config/read-file.ts';
import { type DoctorDocument, examine } from '../doctor/index.ts';
import { requireCredentials } from '../partner.ts';
import type { Redactor } from '../report/index.ts';
import type { ResultDocument, RunListener } from '../report/result-document.ts';
import { isComparable } from '../report/verdict.ts';
import { type AddressPolicy, pinEndpoint } from '../transport/index.ts';
import type { Row } from './look-ups.ts';
import { failedAfter, type PastRun, warnedAfter } from './run-answers.ts';

const CREDENTIALS_HINT =
  'Ask the user to set HOOKPROOF_SECRET or HOOKPROOF_API_KEY in the environment of this server. Give `open`: true ' +
  'only if the endpoint is meant to accept unsigned deliveries.';

/** The functions of the command line that the tools use. */
export interface McpCommands {
  /** Runs the checks that the configuration selects, and returns the redacted document. */
  readonly run: (
    config: ResolvedConfig,
    options: { readonly signal: AbortSignal; readonly addresses: AddressPolicy; readonly listener: RunListener },
  ) => Promise<ResultDocument>;
  /** Reads the stored results of earlier runs: the failed checks, and the last full run without its exchanges. */
  readonly lastRun: (
    url: string,
  ) => Promise<{ readonly failed: readonly string[]; readonly full: ResultDocument | null }>;
  readonly createRedactor: (secrets: readonly string[]) => Redactor;
  readonly testNotification: () => Notification;
  readonly explain: (id: string, stack?: string) => Promise<string>;
  /** The names of the lists that `list` returns. */
  readonly lists: readonly [string, ...string[]];
  readonly list: (what: string, suites: readonly string[]) => Promise<readonly Row[]>;
}

export interface SessionOptions {
  readonly commands: McpCommands;
  readonly sources: Pick<LoadOptions, 'env' | 'cwd' | 'configFile'> & { readonly flags: ConfigFlags };
  /** Host names that are allowed in addition to this machine, with any public or private address. */
  readonly allowHosts: readonly string[];
  /** Aborted when the server ends. */
  readonly stopping: AbortSignal;
}

/**
 * The endpoint and the checks of a run. If all lists are empty, the configuration selects the checks. Undefined values
 * are taken from the last run against the endpoint or, before the first run, from the configuration.
 */
interface RunRequest {
  /** If undefined, the last endpoint is tested. */
  readonly url?: string | undefined;
  /** Whether to allow a run without any credentials. */
  readonly open?: boolean | undefined;
  /** Deliveries in flight. */
  readonly concurrency?: number | undefined;
  readonly suites: readonly string[];
  readonly scenarios: readonly string[];
  readonly greps: readonly string[];
}

interface ExamineRequest {
  readonly url: string | undefined;
  /** Whether to also send one valid delivery. */
  readonly deliver: boolean;
}

/** The signal that cancels a call, and a callback for its progress. */
export interface CallOptions {
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
}

/** Time limit of examinations, and default for runs. */
const DEFAULT_MAX_MS = 120_000;
const MAX_RUNS = 5;

/** The id of the last full run before the server started. */
const EARLIER = 'r0';

/** The settings that later runs against an endpoint take from the last one. */
type EndpointSettings = Pick<RunRequest, 'open' | 'concurrency'>;

/** What the session remembers about an endpoint, even after runs against other endpoints. */
interface TestedEndpoint {
  /** The last run; before the first in this session, the last full run that is stored, if any. */
  readonly last: PastRun | null;
  readonly settings: EndpointSettings;
  /** The last full run with enough verdicts; null if there is none. */
  readonly full: PastRun | null;
  /** The checks that failed when they last ran. */
  readonly failed: readonly string[];
  /** The checks that warned when they last ran. */
  readonly warned: readonly string[];
}

export class Session {
  readonly commands: McpCommands;
  /** Redacts every configured secret, whether or not a tool uses it. */
  readonly redactor: Redactor;
  readonly stopping: AbortSignal;
  readonly #sources: SessionOptions['sources'];
  readonly #addresses: AddressPolicy;
  /** The configuration files as they were at start-up. */
  readonly #files: ReturnType<typeof recordedFiles>;
  readonly #runs: PastRun[] = [];
  /** The tested endpoints, by their URL as configured or given. */
  readonly #endpoints = new Map<string, TestedEndpoint>();
  /** The endpoint to which the last tool sent; undefined before the first. */
  #url: string | undefined;
  #runCount = 0;
  #examined: DoctorDocument | null = null;
  /** The tool that is currently sending; null if none is. */
  #active: { readonly name: string; readonly signal: AbortSignal; readonly ended: Promise<unknown> } | null = null;

  private constructor(options: SessionOptions, files: ReturnType<typeof recordedFiles>, secrets: readonly string[]) {
    const { allowHosts, commands, sources, stopping } = options;
    this.commands = commands;
    this.redactor = commands.createRedactor(secrets);
    this.stopping = stopping;
    this.#sources = sources;
    this.#addresses = { reach: 'loopback-only', allowHosts };
    this.#files = files;
  }

  /** Reads the configuration, which does not change during the session. */
  static async open(options: SessionOptions): Promise<Session> {
    const files = recordedFiles();
    const { secrets } = await collectConfig({ ...options.sources, readFile: files.read });
    return new Session(options, files, secrets);
  }

  /** Runs the checks, and remembers the run. Only one tool sends at a time. */
  run(request: RunRequest, options: CallOptions): Promise<PastRun> {
    return this.#sendExclusively('run', options.signal, () => this.#runChecks(request, options));
  }

  /** Examines the endpoint. Only one tool sends at a time. */
  examine(request: ExamineRequest, options: CallOptions): Promise<DoctorDocument> {
    return this.#sendExclusively('doctor', options.signal, () => this.#examineEndpoint(request, options));
  }

  /** Returns the run with this id; by default, the last one. @throws HookproofError MCP_UNKNOWN_RUN or MCP_BUSY */
  pastRun(id?: string): PastRun {
    // The client that gave up on a run asks for that one, not for the one before.
    const isAwaited = id === undefined && (this.#runs.length === 0 || this.#active?.signal.aborted === true);
    if (isAwaited && this.#active?.name === 'run') throw this.#busy(this.#active);
    const full = [...this.#endpoints.values()].flatMap((one) => one.full ?? []);
    const kept = [...new Set([...full, ...this.#runs])];
    const found = id === undefined ? (this.#runs.at(-1) ?? full.at(-1)) : kept.find((one) => one.id === id);
    if (found !== undefined) return found;
    const message = id === undefined ? 'nothing has been run yet' : `there is no run "${id}"`;
    const known = kept.map((one) => one.id).join(', ');
    throw new HookproofError('MCP_UNKNOWN_RUN', message, {
      hint: known === '' ? 'Call `run` first.' : `This server remembers ${known}.`,
    });
  }

  /**
   * Returns what is known about an endpoint, from this session or from before it. The default is the last endpoint.
   *
   * @throws HookproofError MCP_UNKNOWN_RUN
   */
  async lastResults(given: string | undefined): Promise<TestedEndpoint & { readonly url: string }> {
    const { url } = (await collectConfig(await this.#sourcesFor(given))).values;
    const tested = url === undefined ? null : await this.#testedEndpoint(url);
    if (url !== undefined && tested !== null) return { ...tested, url };
    const message = `nothing has been run yet${url === undefined ? '' : ` against ${shownUrl(url)}`}`;
    const hint = url === undefined ? 'Give the `url` of an earlier run, or call `run` first.' : 'Call `run` first.';
    throw new HookproofError('MCP_UNKNOWN_RUN', message, { hint });
  }

  /** Returns what is known about the endpoint, including from before this session; null if nothing is known. */
  async #testedEndpoint(url: string): Promise<TestedEndpoint | null> {
    const known = this.#endpoints.get(url);
    if (known !== undefined) return known;
    const { failed, full: document } = await this.commands.lastRun(url);
    if (document === null && failed.length === 0) return null;
    const count = [...this.#endpoints.values()].filter(({ full }) => full?.id.startsWith(EARLIER)).length;
    const id = count === 0 ? EARLIER : `${EARLIER}-${count + 1}`;
    const warned = document === null ? [] : warnedAfter([], document);
    const full = document && { id, document, failed, warned };
    const tested = { last: full, settings: {}, full, failed, warned };
    this.#endpoints.set(url, tested);
    return tested;
  }

  /** Returns the document of the last examination; null before the first. */
  lastExamination(): DoctorDocument | null {
    return this.#examined;
  }

  /** Reads the secret for `verify`, and the values that may have been used or signed by mistake. */
  async signingInput(url: string | undefined): Promise<{ secret: string; apiKey?: string; url?: string }> {
    const { values } = await collectConfig(await this.#sourcesFor(url));
    const { apiKey, secret, url: configured } = values;
    if (secret === undefined) {
      throw new HookproofError('SECRET_MISSING', 'no HMAC secret is configured', {
        hint: 'Ask the user to set HOOKPROOF_SECRET in the environment of this server: tools take no secrets.',
      });
    }
    return { secret, ...(apiKey !== undefined && { apiKey }), ...(configured !== undefined && { url: configured }) };
  }

  /** Resolves when no tool is sending. */
  async idle(): Promise<void> {
    await this.#active?.ended;
  }

  /**
   * Returns the sources of the configuration as it was at start-up, for the given endpoint or the last one. Throws if a
   * file has changed since: it could name other variables and files on this machine as secrets to send.
   */
  async #sourcesFor(given: string | undefined): Promise<LoadOptions> {
    const url = given ?? this.#url;
    const sources = this.#sources;
    const changed = await this.#files.changed();
    if (changed === null) {
      return { ...sources, readFile: this.#files.read, flags: { ...sources.flags, ...(url !== undefined && { url }) } };
    }
    const name = visible(relative(sources.cwd, changed));
    throw new HookproofError('MCP_CONFIG_CHANGED', `the file ${name} has changed since the server started`, {
      hint: 'Ask the user to restart the server, which approves the new configuration.',
    });
  }

  #busy({ name, signal }: { readonly name: string; readonly signal: AbortSignal }): HookproofError {
    if (signal.aborted) {
      const hint = 'The client stopped waiting for it. Try again in a few seconds.';
      return new HookproofError('MCP_BUSY', `\`${name}\` is being cancelled`, { hint });
    }
    return new HookproofError('MCP_BUSY', `\`${name}\` is still in progress`, {
      hint: 'Wait for its answer, or cancel it: one tool at a time sends to an endpoint.',
    });
  }

  async #sendExclusively<Result>(name: string, signal: AbortSignal, send: () => Promise<Result>): Promise<Result> {
    if (this.#active !== null) throw this.#busy(this.#active);
    const sending = send();
    this.#active = { name, signal, ended: sending.catch(() => undefined) };
    try {
      return await sending;
    } finally {
      this.#active = null;
    }
  }

  async #runChecks(request: RunRequest, { progress, signal }: CallOptions): Promise<PastRun> {
    const { suites, scenarios, greps } = request;
    const loaded = await loadConfig(await this.#sourcesFor(request.url));
    const { url } = loaded.partner;
    const before = await this.#testedEndpoint(url);
    const { open = before?.settings.open, concurrency = before?.settings.concurrency } = request;
    if (open !== true && !loaded.run.open) requireCredentials(loaded.partner, CREDENTIALS_HINT);
    const isSelection = suites.length + scenarios.length + greps.length > 0;
    const maxMs = loaded.run.maxMs ?? DEFAULT_MAX_MS;
    const run = {
      ...loaded.run,
      maxMs,
      ...(concurrency !== undefined && { concurrency }),
      ...(isSelection && { suites, scenarios, greps }),
    };
    const listener: RunListener = (event) => {
      if (event.type === 'scenario-finished') progress(event.finished, event.planned);
    };
    const options = { signal, addresses: this.#addresses, listener };
    const document = await this.commands.run({ ...loaded, run }, options);
    return this.#rememberRun(url, { open, concurrency }, document, before);
  }

  #rememberRun(
    url: string,
    settings: EndpointSettings,
    document: ResultDocument,
    before: TestedEndpoint | null,
  ): PastRun {
    this.#runCount++;
    const full = before?.full ?? null;
    const failed = failedAfter(before?.failed ?? [], document);
    const warned = warnedAfter(before?.warned ?? [], document);
    const known = document.partial && full !== null ? { full } : {};
    const last = { id: `r${this.#runCount}`, document, failed, warned, ...known };
    this.#endpoints.set(url, { last, settings, full: isComparable(document) ? last : full, failed, warned });
    this.#url = url;
    this.#runs.push(last);
    if (this.#runs.length > MAX_RUNS) this.#runs.shift();
    return last;
  }

  async #examineEndpoint({ deliver, url }: ExamineRequest, { signal }: CallOptions): Promise<DoctorDocument> {
    const addresses = this.#addresses;
    const sources = await this.#sourcesFor(url);
    const { run, values } = await collectConfig(sources);
    const ended = AbortSignal.any([signal, AbortSignal.timeout(run.maxMs ?? DEFAULT_MAX_MS)]);
    if (values.url !== undefined) {
      // Throws if the address is not allowed; the doctor itself would only report it.
      const pinning = { policy: addresses, timeoutMs: run.timeoutMs, signal: ended, chooses: false };
      await pinEndpoint(values.url, pinning);
    }
    this.#examined = await examine({
      sources,
      makeNotification: deliver ? this.commands.testNotification : null,
      createRedactor: this.commands.createRedactor,
      onStage: () => {},
      signal: ended,
      addresses,
    });
    this.#url = values.url ?? this.#url;
    return this.#examined;
  }
}

/** Returns the URL as an answer shows it. */
export function shownUrl(url: string): string {
  return visible(maskUrl(url)).slice(0, 200);
}
