/** Takes changed certificates into use while the receiver runs: when their files change, and at SIGHUP. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import type { ReceiverLogger, ServerTls } from './receiver-door.ts';
import type { TlsReading } from './receiver-tls.ts';
import { watchFiles } from './watch-files.ts';

export interface KeptCertificates {
  /** What the receiver was started with. */
  readonly current: ServerTls;
  readonly read: () => Promise<TlsReading>;
  readonly files: readonly string[];
  readonly reload: (tls: ServerTls) => void;
  readonly logger: ReceiverLogger;
}

/** Starts it, and returns the function that ends it. What cannot be used is reported, and the old certificates stay in use. */
export function keepCertificates(kept: KeptCertificates): () => void {
  const { read, files, reload, logger } = kept;
  let inUse = JSON.stringify(kept.current);
  let last = Promise.resolve();

  const take = async (evenIfSame: boolean) => {
    try {
      const { tls, advice } = await read();
      const text = JSON.stringify(tls);
      if (text === inUse && !evenIfSame) return;
      reload(tls);
      inUse = text;
      for (const sentence of advice) process.stderr.write(`advice: ${sentence}\n`);
      process.stderr.write('certificates reloaded\n');
    } catch (error) {
      const reason =
        error instanceof HookproofError ? `${error.message.replace(/\.$/, '')}. ${error.hint}` : String(error);
      process.stderr.write(`certificates not reloaded, the old ones stay in use: ${reason}\n`);
      logger.error({ event: 'tls-reload-failed', reason }, 'certificates not reloaded');
    }
  };
  // One after the other: a slow reading of old files must not end after a quick reading of new ones.
  const takeNext = (evenIfSame: boolean) => {
    last = last.then(() => take(evenIfSame));
  };

  const onSignal = () => takeNext(true);
  process.on('SIGHUP', onSignal);
  const unwatch = watchFiles(
    files,
    () => takeNext(false),
    (error) => {
      process.stderr.write(
        `the files of the certificates are not watched (${String(error)}): send SIGHUP when they change\n`,
      );
    },
  );
  // They may have changed between the first reading and the watching.
  takeNext(false);
  return () => {
    process.off('SIGHUP', onSignal);
    unwatch();
  };
}
