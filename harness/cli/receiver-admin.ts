/** Health, readiness and metrics of `hookproof receiver`, when they are asked for. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { createMetrics, type Inbox, type ReceiverLogger, startAdminServer } from './receiver-door.ts';
import { wholeNumber } from './whole-number.ts';

export interface AdminFlags {
  readonly adminPort?: string;
  readonly adminHost?: string;
}

type Metrics = Awaited<ReturnType<typeof createMetrics>>;

/** What the server is to measure. null without `--admin-port`. Throws a {@link HookproofError} that names the flag. */
export async function receiverMetrics(flags: AdminFlags): Promise<Metrics | null> {
  if (flags.adminPort !== undefined) return createMetrics();
  if (flags.adminHost === undefined) return null;
  throw new HookproofError('RECEIVER_ADMIN_HOST', '--admin-host stands without --admin-port', {
    hint: 'Say --admin-port too, for example --admin-port 9464.',
  });
}

/** Ready while the inbox can be reached. Throws a {@link HookproofError} that names the flag, or the address when it cannot be used. */
export async function openAdmin(
  flags: AdminFlags,
  { metrics, inbox, logger }: { metrics: Metrics; inbox: Inbox; logger: ReceiverLogger },
) {
  const port = wholeNumber(flags.adminPort ?? '', '--admin-port', 65_535);
  const host = flags.adminHost === undefined ? {} : { host: flags.adminHost };
  const checks = [{ name: 'inbox', check: () => inbox.ping() }];
  metrics.watchQueue(() => inbox.depths());
  try {
    return await startAdminServer({ ...host, port, checks, metrics, logger });
  } catch (error) {
    await inbox.close();
    throw error;
  }
}
