/** Conducts a run on the command line: progress, signals, reports, exit code. */
import { relative } from 'node:path';
import { readBaseline } from '../baseline/index.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { createProgress, createRedactor, redactEvent, writeReports } from '../report/index.ts';
import type { RunEvent } from '../result/run-event.ts';
import { exitCodeOf } from '../result/tally.ts';
import { run } from '../run/run.ts';
import { interruptible } from './interruptible.ts';
import { namedSecrets } from './named-secrets.ts';
import { displayOf } from './terminal.ts';

/** Runs what the configuration says and gives the exit code. */
export async function conduct(config: ResolvedConfig): Promise<number> {
  const { baseline: file } = config.run;
  // Whatever is wrong with it is known before the first request.
  const baseline = file === null ? null : await readBaseline(file, shownPath(file));
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const progress = createProgress({ stream: process.stderr, ...displayOf(process.stderr) });
  const interruption = interruptible();
  const wantsEvents = config.reporters.some(({ name }) => name === 'ndjson');
  const events: RunEvent[] = [];
  try {
    const { run: options } = config;
    const document = await run({
      partner: config.partner,
      clientFixtures: config.clientFixtures,
      selection: { suites: options.suites, scenarios: options.scenarios, greps: options.greps, shard: options.shard },
      limits: { concurrency: options.concurrency, timeoutMs: options.timeoutMs, recoveryMs: options.recoveryMs },
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
    const written = await writeReports(document, config.reporters, {
      stdout: process.stdout,
      cwd: process.cwd(),
      redactor,
      terminal: displayOf(process.stdout),
      ...(wantsEvents ? { events } : {}),
    });
    for (const { name, path } of written) process.stderr.write(`${name} report: ${path}\n`);
    return interruption.exitCode() ?? exitCodeOf(document);
  } finally {
    interruption.dispose();
  }
}

/** As the user would name it from here. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
