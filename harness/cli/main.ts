#!/usr/bin/env node
/**
 * The entry point of the command line. Prints help and version before importing any large module. Only this module sets
 * `process.exitCode`.
 */
import { HELP_TEXT } from './help-text.ts';

async function main(argv: readonly string[]): Promise<number> {
  const [first, second] = argv;
  if (first === undefined || ((first === '--help' || first === '-h' || first === 'help') && second === undefined)) {
    process.stdout.write(HELP_TEXT);
    return first === undefined ? 2 : 0;
  }
  if (first === '--version' || first === '-V') {
    const { version } = await import('../version.ts');
    process.stdout.write(`${version}\n`);
    return 0;
  }
  // `certify --partners` starts this program again, once for each worker.
  if (first === '--fleet-worker' && process.send !== undefined) {
    return (await import('./certify/worker.ts')).serveAsWorker();
  }
  // Answers the scripts of `hookproof completion`. The words belong to an incomplete command.
  if (first === '__complete') {
    const { complete, completionText } = await import('./complete.ts');
    process.stdout.write(completionText(await complete(argv.slice(1))));
    return 0;
  }
  const { runProgram } = await import('./program.ts');
  return runProgram(argv);
}

/** Ignores closed pipes: a reader may stop early (`hookproof list | head`), but a run must still write its files. */
function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

ignoreClosedPipes();
process.exitCode = await main(process.argv.slice(2));
