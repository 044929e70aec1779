/**
 * Queries the effects window of a receiver, over HTTP or with a command of the operator. The answer is the receiver's
 * own statement; nothing verifies it. Over HTTP, it uses Node's client like the sender, with the pinned lookup and the
 * partner's CAs. `fetch` takes neither without an undici agent, which Node does not export, and would not say in the
 * sender's words why there is no answer.
 */
import {
  type EffectsAnswer,
  type EffectsQuery,
  effectsAnswer,
  effectsQueryText,
  MAX_EFFECT_IDS,
} from '../../contract/effects.ts';
import { HookproofError } from '../../contract/index.ts';
import type { RotationStep } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { killCommand, type OperatorCommand, startCommand } from '../start-command.ts';
import { type Attempt, createConnections, exchange, type PinOptions, pinEndpoint } from '../transport/index.ts';

export interface EffectsSource {
  /** Either `url` or `command` must be given. */
  readonly url?: string | null;
  readonly command?: string | null;
  /** Names of environment variables that the command receives in addition to the default ones. */
  readonly variables?: readonly string[] | undefined;
  readonly token?: string | undefined;
  /** CAs to trust for HTTPS, in addition to the system's. */
  readonly tls?: Pick<NonNullable<Partner['tls']>, 'ca'> | undefined;
}

/** The options for sources of evidence other than the answers. */
export interface SourceOptions {
  readonly effects?: EffectsSource & { readonly deadlineMs: number };
  /** A shell command that ends the receiver as a crash would, and starts it again. */
  readonly restartCommand?: string;
  /** Names of environment variables that commands receive in addition to the default ones. */
  readonly commandVariables?: readonly string[];
  /** A function that restarts the receiver, instead of the command. */
  readonly restart?: () => Promise<void>;
  /** Paths of the receiver's log files. */
  readonly logs?: readonly string[];
  readonly rotation?: RotationSource;
}

/** The secret after a rotation, and how to switch the receiver to the secrets of a step. */
export interface RotationSource {
  readonly nextSecret: string;
  /** A shell command that switches the receiver. It receives the step in HOOKPROOF_ROTATION_STEP. */
  readonly command?: string;
  /** A function that switches the receiver, instead of the command. */
  readonly switchTo?: (step: RotationStep) => Promise<void>;
  /**
   * If there is neither a command nor a function, asks a person to switch the receiver. Resolves with whether the
   * person confirmed it. If the signal is aborted, the run does not wait for the answer.
   */
  readonly ask?: ((request: string, signal: AbortSignal) => Promise<boolean>) | undefined;
}

export interface EffectsWindow {
  /**
   * Sends a query to the window.
   *
   * @throws WindowProblem for every kind of failure
   */
  ask(query: EffectsQuery): Promise<EffectsAnswer>;
  close(): void;
}

/** Why the window gave no answer, in a sentence that contains no secret. The hint says what to do. */
export class WindowProblem extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** Maximum size of an answer, in bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const TOO_LARGE = 'answered more than 1 MiB';

/**
 * Opens the window. Its host is resolved once, under the same address policy as the endpoint.
 *
 * @throws HookproofError ENDPOINT_ADDRESS_REFUSED if no address of the host is allowed
 */
export async function openWindow(source: EffectsSource, options: PinOptions): Promise<EffectsWindow> {
  const { url, command, token, variables } = source;
  if (typeof command === 'string') {
    return {
      ask: async (query) => readAnswer(await runCommand({ command, variables }, query, options), 'command'),
      close() {},
    };
  }
  const base = url ?? '';
  const { lookup } = await pinEndpoint(base, options).catch((cause: unknown) => {
    if (!(cause instanceof HookproofError)) throw cause;
    const { code, message, hint } = cause;
    throw new HookproofError(code, `the effects window: ${message}`, { hint, cause });
  });
  const connections = createConnections({ maxSockets: 4, tls: source.tls, lookup });
  return {
    async ask(query) {
      const { pathname, search, host } = new URL(base);
      const separator = search === '' ? '?' : '&';
      const target = `${pathname}${search}${separator}${effectsQueryText(query)}`;
      const authorization = token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const];
      const headers = [['Host', host], ['Accept', 'application/json'], ...authorization] as const;
      const { answer, error } = await exchange(
        { url: base, method: 'GET', target, headers: [...headers], body: Buffer.alloc(0) },
        {
          agent: connections.agentFor(base),
          timeoutMs: options.timeoutMs,
          bodyCapBytes: MAX_ANSWER_BYTES,
          signal: options.signal,
        },
      );
      if (answer === null) throw unansweredProblem(error, options.timeoutMs);
      if (answer.status !== 200) throw statusProblem(answer.status, token !== undefined);
      if (answer.truncated) throw new WindowProblem(`the effects window ${TOO_LARGE}`, SHAPE_HINT);
      return readAnswer(answer.body, 'window');
    },
    close: () => connections.close(),
  };
}

function unansweredProblem(error: Attempt['error'], timeoutMs: number): WindowProblem {
  const why =
    error?.kind === 'timeout'
      ? ` within ${timeoutMs / 1000} s`
      : `: ${(error?.message ?? 'no reason is known').replace(/^The /, 'the ').replace(/\.$/, '')}`;
  const hint = 'Check its URL (`--effects` or `effects.url`), and that it is running.';
  return new WindowProblem(`the effects window did not answer${why}`, hint);
}

function statusProblem(status: number, hasToken: boolean): WindowProblem {
  const what = `the effects window answered ${status}, expected 200`;
  if (status !== 401 && status !== 403) return new WindowProblem(what, 'Check its URL, and the log of the receiver.');
  return new WindowProblem(
    what,
    hasToken
      ? 'Check the token: HOOKPROOF_EFFECTS_TOKEN or `effects.token`.'
      : 'Set HOOKPROOF_EFFECTS_TOKEN to the token of the receiver.',
  );
}

const SHAPE_HINT =
  'Expected: `{"total": 412, "handled": [{"notification": "ID", ...}]}`. The guide describes the answer (section 8), ' +
  'and `hookproof list --schemas` prints its JSON Schema.';

function readAnswer(bytes: Uint8Array, source: 'window' | 'command'): EffectsAnswer {
  const what = source === 'window' ? 'the effects window' : '`--effects-command`';
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new WindowProblem(`${what} answered with a body that is not JSON`, SHAPE_HINT);
  }
  const read = effectsAnswer.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? 'the answer' : `\`${issue.path.join('.')}\``;
  const wrong = issue?.message.replace(/^Invalid input: /, '');
  throw new WindowProblem(`${what} answered with JSON of an unexpected shape: ${at}: ${wrong}`, SHAPE_HINT);
}

/** Runs the command with the query as its last argument. Returns its standard output. */
function runCommand(command: OperatorCommand, query: EffectsQuery, { timeoutMs, signal }: PinOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = startCommand(command, ['ignore', 'pipe', 'ignore'], effectsQueryText(query));
    const parts: Buffer[] = [];
    let size = 0;
    let problem: string | null = null;
    const end = (why: string) => {
      problem ??= why;
      child.stdout?.destroy();
      killCommand(child);
    };
    const interrupt = () => end('was interrupted');
    const timer = setTimeout(() => end(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
    const done = (error: string | null) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      if (error === null) resolve(Buffer.concat(parts));
      else reject(new WindowProblem(`\`--effects-command\` ${error}`, 'Run it yourself with `notification=x`.'));
    };
    child.stdout?.on('data', (part: Buffer) => {
      size += part.length;
      if (size > MAX_ANSWER_BYTES) end(TOO_LARGE);
      else parts.push(part);
    });
    child.once('error', ({ message }) => done(`could not be started: ${message}`));
    child.once('close', (code, killedBy) => {
      const failure = killedBy === null ? `ended with exit code ${code}` : `was killed by ${killedBy}`;
      done(problem ?? (code === 0 ? null : failure));
    });
    if (signal?.aborted === true) interrupt();
    else signal?.addEventListener('abort', interrupt, { once: true });
  });
}

/** Maximum number of concurrent queries. */
const MAX_QUERIES = 4;

/**
 * Queries all handlings of these notifications, in as many queries as necessary. The total is the largest one that was
 * answered.
 */
export async function askForAll(window: EffectsWindow, ids: readonly string[]): Promise<EffectsAnswer> {
  const batches: string[][] = [];
  for (let at = 0; at < ids.length; at += MAX_EFFECT_IDS) batches.push(ids.slice(at, at + MAX_EFFECT_IDS));
  const answers: EffectsAnswer[] = [];
  const askInTurn = async () => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      answers.push(await window.ask({ notifications: batch }));
    }
  };
  await Promise.all(Array.from({ length: MAX_QUERIES }, askInTurn));
  return {
    total: Math.max(0, ...answers.map(({ total }) => total)),
    handled: answers.flatMap(({ handled }) => handled),
  };
}
