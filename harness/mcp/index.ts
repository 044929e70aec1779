/**
 * The Model Context Protocol server, for coding agents that fix a receiver. Standard output carries only the protocol.
 *
 * No tool argument is a secret, a file or a command. The configuration comes from the folder and the environment in
 * which the server was started. A client chooses the checks, and an endpoint among the allowed addresses.
 */
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { CallToolResult, ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { HookproofError, STACKS } from '../../contract/index.ts';
import { redactError } from '../report/index.ts';
import { version } from '../version.ts';
import { answerOf, type Contents, createMarker, errorAnswer, type Marker, pageInput, sizeInput } from './answer.ts';
import {
  bodyBytes,
  doctorContents,
  doctorSchema,
  explainSchema,
  explanationContents,
  listContents,
  listSchema,
  verification,
  verifySchema,
} from './look-ups.ts';
import { causeOf, checkOf, detailsSchema, summaryOf, summarySchema, withoutVerdict } from './run-answers.ts';
import { type CallOptions, Session, type SessionOptions, shownUrl } from './session.ts';

export type { McpCommands } from './session.ts';

interface McpOptions extends Omit<SessionOptions, 'stopping'> {
  readonly input: Readable;
  readonly output: Writable;
  /** Stops the server when aborted. The end of `input` also stops it. */
  readonly signal: AbortSignal;
}

const INSTRUCTIONS =
  'hookproof checks a webhook receiver against its specification. Loop: `run`, read the causes and their fixes, ' +
  '`details` for one check, change the receiver, `run_failed`, and at the end `run` without a selection: only that ' +
  'gives a verdict. `doctor` when the endpoint is not reached, `verify` for one delivery, `explain` for any name. ' +
  'Secrets come from the environment of this server; never ask for them.';

/** Serves until the input ends or the signal is aborted. Resolves only after a run in progress has ended. */
export async function serveMcp({ input, output, signal, ...options }: McpOptions): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const session = await Session.open({ ...options, stopping: stopping.signal });
  const server = new McpServer({ name: 'hookproof', version }, { instructions: INSTRUCTIONS });
  registerTools(server, session);
  for (const event of ['end', 'close', 'error']) input.once(event, stop);
  for (const event of ['close', 'error']) output.once(event, stop);
  server.server.onclose = stop;
  signal.addEventListener('abort', stop, { once: true });
  await server.connect(new StdioServerTransport(input, output));
  if (signal.aborted || input.readableEnded || input.destroyed) stop();
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
  await session.idle();
  await server.close();
  // An open pipe would keep the process alive.
  input.destroy();
}

const url = z
  .url({ protocol: /^https?$/, error: 'begin with http:// or https://, for example http://127.0.0.1:3000/hooks' })
  .max(2_000)
  .optional()
  .describe('the endpoint; default: the one to which a tool last sent, and before that the configured one');
const words = (description: string, max: number) =>
  z.array(z.string().min(1).max(200)).max(max).default([]).describe(description);

const AS_BEFORE =
  'default: the value of the last run against this endpoint; before the first run, the configured value';

const SENDING = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
const OFFLINE = { readOnlyHint: true, openWorldHint: false };

/** Registers the tools. Unknown arguments are rejected, so that none can carry a secret. */
function registerTools(server: McpServer, session: Session): void {
  registerRunTools(server, session);
  registerLookUpTools(server, session);
  registerDoctorTool(server, session);
}

function registerRunTools(server: McpServer, session: Session): void {
  server.registerTool(
    'run',
    {
      description:
        'Sends test deliveries to the endpoint. Returns verdict, counts, and the causes of failures with fixes. ' +
        'Without a selection the whole catalogue is run; only that gives a verdict.',
      inputSchema: z.strictObject({
        url,
        suites: words('run only these suites', 50),
        scenarios: words('run only the checks with these ids', 1_000),
        grep: words('run only checks whose id or title contains one of these texts', 20),
        concurrency: z
          .int()
          .min(1)
          .max(64)
          .optional()
          .describe(`deliveries in flight; 1 finds the one that stops the receiver before its answer; ${AS_BEFORE}`),
        open: z
          .boolean()
          .optional()
          .describe(`the endpoint is meant to take deliveries without credentials; ${AS_BEFORE}`),
        ...sizeInput,
      }),
      outputSchema: summarySchema,
      annotations: SENDING,
    },
    ({ grep: greps, maxBytes, ...request }, extra) =>
      answer(session, { maxBytes }, extra, async (call) =>
        summaryOf(await session.run({ ...request, greps }, call), call.marker),
      ),
  );

  server.registerTool(
    'run_failed',
    {
      description:
        'Repeats the checks that failed when they last ran against an endpoint, even if that was before this server ' +
        'started; those with warnings if none failed. A partial run: it gives no verdict. Takes `open` and ' +
        '`concurrency` from the last run at the endpoint.',
      inputSchema: z.strictObject({ url, ...sizeInput }),
      outputSchema: summarySchema,
      annotations: SENDING,
    },
    ({ url: given, maxBytes }, extra) =>
      answer(session, { maxBytes }, extra, async (call) => {
        const { failed, last, url, warned } = await session.lastResults(given);
        const scenarios = failed.length > 0 ? failed : warned;
        const unjudged = failed.length > 0 || last === null ? null : await withoutVerdict(last, call.marker);
        if (unjudged !== null) throw unjudged;
        if (scenarios.length === 0) {
          throw new HookproofError('MCP_NOTHING_FAILED', `no check failed or warned against ${shownUrl(url)}`, {
            hint: 'Call `run` without a selection for a verdict.',
          });
        }
        const past = await session.run({ url, suites: [], greps: [], scenarios }, call);
        const note = failed.length > 0 ? [] : ['No check had failed: these are the checks with warnings.'];
        return summaryOf(past, call.marker, note);
      }),
  );

  server.registerTool(
    'details',
    {
      description:
        'More about a run of this server; sends nothing. With `check`: what was sent and answered, a curl script. ' +
        'With `cause`: its fix and all its checks. With neither: the causes again.',
      inputSchema: z.strictObject({
        run: z.string().max(20).optional().describe('id of the run; default: the last one'),
        check: z.string().max(200).optional().describe('id of a check'),
        cause: z.int().min(1).optional().describe('number of a cause'),
        ...pageInput,
      }),
      outputSchema: detailsSchema,
      annotations: OFFLINE,
    },
    ({ run, check, cause, ...size }, extra) =>
      answer(session, size, extra, async ({ marker }) => {
        const past = session.pastRun(run);
        // Limits bodies so that an exchange fits on a page; bodies of the usual size are not cut.
        if (check !== undefined) return checkOf(past, check, marker, Math.floor(size.maxBytes / 4));
        return cause === undefined ? summaryOf(past, marker) : causeOf(past, cause, marker);
      }),
  );
}

function registerLookUpTools(server: McpServer, session: Session): void {
  const { commands } = session;

  server.registerTool(
    'explain',
    {
      description:
        'Explains a check, suite, requirement, fault, signing mistake, error code or status: what it means, why it ' +
        'matters, how to fix it.',
      inputSchema: z.strictObject({
        id: z.string().min(1).max(200),
        stack: z.enum(STACKS).optional().describe('only the fix for this stack'),
        ...pageInput,
      }),
      outputSchema: explainSchema,
      annotations: OFFLINE,
    },
    ({ id, stack, ...size }, extra) =>
      answer(session, size, extra, async () => explanationContents(id, await commands.explain(id, stack))),
  );

  server.registerTool(
    'verify',
    {
      description: 'Explains, offline, why a signature header does not match a body. It uses the configured secret.',
      inputSchema: z.strictObject({
        body: z.string().max(1_400_000).describe('the body, exactly as received'),
        encoding: z.enum(['text', 'base64']).default('text').describe('how `body` is given'),
        signature: z.string().max(10_000).describe('value of the signature header'),
        url,
        ...pageInput,
      }),
      outputSchema: verifySchema,
      annotations: OFFLINE,
    },
    ({ body, encoding, signature: header, url: given, ...size }, extra) =>
      answer(session, size, extra, async () =>
        verification({ ...(await session.signingInput(given)), body: bodyBytes(body, encoding), header }),
      ),
  );

  server.registerTool(
    'list',
    {
      description: `Lists what \`run\` and \`explain\` take: ${commands.lists.join(', ')}.`,
      inputSchema: z.strictObject({
        what: z.enum(commands.lists).default('suites'),
        suites: words('only scenarios of these suites', 50),
        filter: z.string().max(200).default('').describe('only entries that contain this text'),
        ...pageInput,
      }),
      outputSchema: listSchema,
      annotations: OFFLINE,
    },
    ({ what, suites, filter, ...size }, extra) =>
      answer(session, size, extra, async () => listContents(what, await commands.list(what, suites), filter)),
  );
}

function registerDoctorTool(server: McpServer, session: Session): void {
  server.registerTool(
    'doctor',
    {
      description:
        'Examines DNS, connection, TLS, client certificate, secrets and clock. Returns findings with fixes; later ' +
        'pages are those of the last examination.',
      inputSchema: z.strictObject({
        url,
        deliver: z.boolean().default(false).describe('also send one valid delivery'),
        ...pageInput,
      }),
      outputSchema: doctorSchema,
      annotations: SENDING,
    },
    ({ url: given, deliver, ...size }, extra) =>
      answer(session, size, extra, async (call) => {
        const known = size.page === 1 ? null : session.lastExamination();
        return doctorContents(known ?? (await session.examine({ url: given, deliver }, call)), call.marker);
      }),
  );
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Answers a call with its contents, or with the error. Never rejects. */
async function answer(
  { redactor, stopping }: Session,
  { maxBytes, page = 1 }: { readonly maxBytes: number; readonly page?: number },
  extra: Extra,
  contents: (call: CallOptions & { readonly marker: Marker }) => Promise<Contents>,
): Promise<CallToolResult> {
  const marker = createMarker();
  const { progress, stop } = startProgress(extra);
  const call = { marker, signal: AbortSignal.any([extra.signal, stopping]), progress };
  try {
    return answerOf(await contents(call), { maxBytes, page, marker, redact: redactor.wording });
  } catch (error) {
    const shown = redactError(error, redactor);
    if (shown instanceof HookproofError) return errorAnswer(shown, marker);
    process.stderr.write(`hookproof: internal error, please report it\n${shown.stack ?? shown.message}\n`);
    const hint = 'See the standard error of the server.';
    const internal = new HookproofError('MCP_INTERNAL', 'internal error in hookproof', { hint, kind: 'internal' });
    return errorAnswer(internal, marker);
  } finally {
    stop();
  }
}

/** Interval of progress notifications. Shorter than the time limit of clients that restart it at each notification. */
const PROGRESS_EVERY_MS = 4_000;

/**
 * Reports progress if the client asked for it: at each percent, and regularly while no check finishes, for example
 * while a receiver restarts.
 */
function startProgress({ _meta, sendNotification }: Extra): {
  readonly progress: CallOptions['progress'];
  readonly stop: () => void;
} {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { progress: () => {}, stop: () => {} };
  let [sent, finished, percent] = [0, 0, 0];
  let known: { readonly total?: number } = {};
  const send = (progress: number) => {
    sent = progress;
    timer.refresh();
    const params = { progressToken, progress, ...known };
    // A disconnected client needs no progress.
    sendNotification({ method: 'notifications/progress', params }).catch(() => {});
  };
  // Each value must be larger than the one before, so waiting approaches the next finished check.
  const wait = () => send(finished > sent ? finished : sent + (finished + 1 - sent) / 2);
  const timer = setInterval(wait, PROGRESS_EVERY_MS);
  const progress = (done: number, total: number) => {
    finished = done;
    known = { total };
    const now = Math.floor((done / total) * 100);
    if (now <= percent || done <= sent) return;
    percent = now;
    send(done);
  };
  return { progress, stop: () => clearInterval(timer) };
}
