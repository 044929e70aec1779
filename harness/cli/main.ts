#!/usr/bin/env node
/**
 * The entry of the command line. Help and version are answered before anything heavy is imported, and `process.exitCode` is set here and
 * nowhere else.
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
  // A process that certifies one partner of many, started by this program itself.
  if (first === '--fleet-worker' && process.send !== undefined) {
    return (await import('./certify/worker.ts')).serveAsWorker();
  }
  const { runProgram } = await import('./program.ts');
  return runProgram(argv);
}

/** Whoever reads may have seen enough (`hookproof list | head`). What is under way goes on: a run still writes its files. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

outliveReaders();
process.exitCode = await main(process.argv.slice(2));
