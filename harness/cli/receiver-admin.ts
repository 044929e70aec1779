/** Health, readiness and metrics of `hookproof receiver`, when they are asked for. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { createMetrics, type ReadinessCheck, type ReceiverLogger, startAdminServer } from './receiver-door.ts';
import { wholeNumber } from './whole-number.ts';

export interface AdminFlags {
  readonly adminPort?: string;
  readonly adminHost?: string;
}

/** null without `--admin-port`. Throws a {@link HookproofError} that names the flag, or the address when it cannot be used. */
export async function openAdmin(flags: AdminFlags, checks: readonly ReadinessCheck[], logger: ReceiverLogger) {
  if (flags.adminPort === undefined) {
    if (flags.adminHost === undefined) return null;
    throw new HookproofError('RECEIVER_ADMIN_HOST', '--admin-host stands without --admin-port', {
      hint: 'Say --admin-port too, for example --admin-port 9464.',
    });
  }
  const port = wholeNumber(flags.adminPort, '--admin-port', 65_535);
  const metrics = await createMetrics();
  const host = flags.adminHost === undefined ? {} : { host: flags.adminHost };
  const server = await startAdminServer({ ...host, port, checks, metrics, logger });
  return { ...server, metrics };
}
