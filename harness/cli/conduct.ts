/** Conducts a run on the command line: progress, signals, reports, exit code. */
import { relative } from 'node:path';
import { readBaseline } from '../baseline/index.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { createProgress, createRedactor, redactDocument, redactEvent, writeReports } from '../report/index.ts';
import type { ResultDocument } from '../result/result-document.ts';
import type { RunEvent } from '../result/run-event.ts';
import { exitCodeOf } from '../result/tally.ts';
import { run } from '../run/run.ts';
import { interruptible } from './interruptible.ts';
import { namedSecrets } from './named-secrets.ts';
import { displayOf } from './terminal.ts';

type Interruption = ReturnType<typeof interruptible>;

/** A run with its progress on standard error. The document is not redacted yet. */
async function perform(config: ResolvedConfig, interruption: Interruption) {
  const { run: options } = config;
  // Whatever is wrong with it is known before the first request.
  const baseline = options.baseline === null ? null : await readBaseline(options.baseline, shownPath(options.baseline));
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const progress = createProgress({ stream: process.stderr, ...displayOf(process.stderr) });
  const wantsEvents = config.reporters.some(({ name }) => name === 'ndjson');
  const events: RunEvent[] = [];
  const document = await run({
    partner: config.partner,
    clientFixtures: config.clientFixtures,
    selection: { suites: options.suites, scenarios: options.scenarios, greps: options.greps, shard: options.shard },
    limits: {
      concurrency: options.concurrency,
      timeoutMs: options.timeoutMs,
      recoveryMs: options.recoveryMs,
      maxMs: options.maxMs,
    },
    profile: options.profile,
    ...(options.seed === null ? {} : { seed: options.seed }),
    strict: options.strict,
    bail: options.bail,
    baseline,
    stack: options.stack,
    evidence: options.evidence,
    advice: config.advice,
    signal: interruption.signal,
    onSignature: (signature) => redactor.addSignature(signature),
    listener: (event) => {
      // Of passes, and of the document, only numbers are shown before the report, so those need not be searched.
      const onlyNumbers =
        event.type === 'run-finished' || (event.type === 'scenario-finished' && event.result.verdict === 'pass');
      progress(onlyNumbers ? event : redactEvent(event, redactor));
      if (wantsEvents) events.push(event);
    },
  });
  return { document, redactor, ...(wantsEvents ? { events } : {}) };
}

/** Runs what the configuration says and gives the exit code. */
export async function conduct(config: ResolvedConfig): Promise<number> {
  const interruption = interruptible();
  try {
    const { document, ...rest } = await perform(config, interruption);
    const written = await writeReports(document, config.reporters, {
      stdout: process.stdout,
      cwd: process.cwd(),
      terminal: displayOf(process.stdout),
      ...rest,
    });
    for (const { name, path } of written) process.stderr.write(`${name} report: ${path}\n`);
    return interruption.exitCode() ?? exitCodeOf(document);
  } finally {
    interruption.dispose();
  }
}

/** Runs what the configuration says, writes no report, and gives the document without secrets. */
export async function runAlone(config: ResolvedConfig): Promise<ResultDocument> {
  const interruption = interruptible();
  try {
    const { document, redactor } = await perform(config, interruption);
    return redactDocument(document, redactor);
  } finally {
    interruption.dispose();
  }
}

/** As the user would name it from here. */
function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
