/** `hookproof receiver`: serves the reference receiver until a signal comes. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { numberOfFlag, readCredential } from '../../config/index.ts';
import { inboxUrl } from '../inbox/open-inbox.ts';
import { type Inbox, loadReceiver, type ReceiverLogger, type ReceiverModule } from '../receiver-entry.ts';
import { firstStopSignal } from '../stop-signals.ts';
import { findFaultyReceiver } from './faulty-receiver.ts';
import { loadHandlers } from './handlers-file.ts';
import { keepCertificates } from './keep-certificates.ts';
import { BAD_NUMBER, type LimitFlags, limitSettings } from './receiver-limits.ts';
import { type TlsFlags, tlsSettings } from './receiver-tls.ts';

interface ReceiverFlags extends TlsFlags, LimitFlags, AdminFlags, InspectFlags {
  readonly host: string;
  readonly port: string;
  readonly path?: string;
  readonly secretFile?: string[];
  readonly signatureHeader?: string;
  readonly apiKeyFile?: string[];
  readonly apiKeyHeader?: string;
  readonly bodyLimit?: string;
  readonly inbox?: string;
  readonly handlers?: string;
  readonly open?: boolean;
  readonly fault?: string;
}

/** Every file that is named, or else the variable. */
async function credentials(
  files: readonly string[] | undefined,
  noun: string,
  flag: string,
  variable: string,
): Promise<string[]> {
  const read = async (file: string | undefined) => {
    const { value, advice } = await readCredential({
      noun,
      flag,
      file,
      variable,
      env: process.env,
      cwd: process.cwd(),
      stdin: process.stdin,
    });
    for (const sentence of advice) process.stderr.write(`advice: ${sentence}\n`);
    return value === undefined ? [] : [value];
  };
  return (await Promise.all((files ?? [undefined]).map(read))).flat();
}

/** A mutant with a wrong certificate serves that one; its authority goes into the file for that of the quick start. */
function withoutCertificate(flags: ReceiverFlags): ReceiverFlags {
  if (flags.tlsCert === undefined && flags.tlsKey === undefined) {
    const { tlsQuickStart: _, tlsQuickStartCa: __, ...others } = flags;
    return others;
  }
  throw new HookproofError('RECEIVER_FAULT_CERTIFICATE', `the fault ${flags.fault} serves a certificate of its own`, {
    hint: 'Leave --tls-cert and --tls-key out.',
  });
}

export async function receiverCommand(flags: ReceiverFlags): Promise<number> {
  const { createLogger, memoryInbox, openInbox, startReceiver } = await loadReceiver();
  const fault = flags.fault === undefined ? null : await findFaultyReceiver(flags.fault);
  const secrets = await credentials(flags.secretFile, 'signature secret', '--secret-file', 'HOOKPROOF_SECRET');
  const keys = await credentials(flags.apiKeyFile, 'API key', '--api-key-file', 'HOOKPROOF_API_KEY');
  const { read, files, clientCertificate } = await tlsSettings(
    fault?.hasCertificate === true ? withoutCertificate(flags) : flags,
  );
  const first = read === null ? null : await read();
  const tls = first?.tls;
  for (const sentence of first?.advice ?? []) process.stderr.write(`advice: ${sentence}\n`);
  const asksClients = tls?.clientCertificate !== undefined || clientCertificate !== undefined;
  if (secrets.length + keys.length === 0 && !asksClients && flags.open !== true) {
    throw new HookproofError('RECEIVER_UNPROTECTED', 'neither a signature secret nor an API key is given', {
      hint: 'Set HOOKPROOF_SECRET or HOOKPROOF_API_KEY, name a file with --secret-file or --api-key-file, or say --open to take deliveries from anyone.',
    });
  }
  const limits = limitSettings(flags);
  const port = portOf('--port', flags.port);
  const bodyLimit =
    flags.bodyLimit === undefined
      ? {}
      : { bodyLimit: numberOfFlag('--body-limit', flags.bodyLimit, [0, 2 ** 31], BAD_NUMBER) };
  const logger = createLogger();
  const handlers = flags.handlers === undefined ? {} : await loadHandlers(flags.handlers);
  const metrics = await receiverMetrics(flags);
  const meter = metrics === null ? {} : { meter: metrics.inbox };
  const source = inboxUrl(flags.inbox);
  const inbox = source === undefined ? memoryInbox() : await openInbox(source, { logger, ...meter });
  const admin = metrics === null ? null : await openAdmin(flags, { metrics, inbox, logger });
  const options = {
    host: flags.host,
    port,
    ...limits,
    ...(flags.path === undefined ? {} : { path: flags.path }),
    ...(secrets.length === 0
      ? {}
      : { signing: { secrets, ...(flags.signatureHeader === undefined ? {} : { header: flags.signatureHeader }) } }),
    ...(keys.length === 0
      ? {}
      : { apiKey: { keys, ...(flags.apiKeyHeader === undefined ? {} : { header: flags.apiKeyHeader }) } }),
    ...(flags.open === true ? { open: true as const } : {}),
    ...bodyLimit,
    ...(tls === undefined ? {} : { tls }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    inbox,
    ...(metrics === null ? {} : { connectionObserver: metrics.connections }),
    ...meter,
    handlers,
    logger,
  };
  const receiver = await openInspected(flags, options, (observers) => {
    const observed = { ...options, observers: metrics === null ? observers : [metrics.deliveries, ...observers] };
    return fault === null ? startReceiver(observed) : fault.open(observed, flags.tlsQuickStartCa);
  }).catch(async (error: unknown) => {
    await Promise.all([admin?.close(), inbox.close()]);
    throw error;
  });
  const stopKeeping =
    read === null || tls === undefined
      ? () => {}
      : keepCertificates({ current: tls, read, files, reload: receiver.reloadTls, logger });
  // Before it says that it listens: whoever waits for that may send the signal at once.
  const stopped = firstStopSignal();
  admin?.setState('serving');
  if (fault !== null) process.stderr.write(fault.warning);
  process.stderr.write(`listening at ${receiver.url}\n`);
  if (receiver.inspectorUrl !== null) process.stderr.write(`inspector at ${receiver.inspectorUrl}\n`);
  if (admin !== null) process.stderr.write(`health and metrics at ${admin.url}\n`);
  const signal = await stopped;
  logger.info({ event: 'draining', signal }, 'draining');
  admin?.setState('draining');
  stopKeeping();
  await receiver.close();
  await inbox.close();
  await admin?.close();
  return 0;
}

interface AdminFlags {
  readonly adminPort?: string;
  readonly adminHost?: string;
}

type Metrics = Awaited<ReturnType<ReceiverModule['createMetrics']>>;

/** What the server is to measure. null without `--admin-port`. Throws a {@link HookproofError} that names the flag. */
async function receiverMetrics(flags: AdminFlags): Promise<Metrics | null> {
  if (flags.adminPort !== undefined) return (await loadReceiver()).createMetrics();
  if (flags.adminHost === undefined) return null;
  throw new HookproofError('RECEIVER_ADMIN_HOST', '--admin-host stands without --admin-port', {
    hint: 'Say --admin-port too, for example --admin-port 9464.',
  });
}

/** Ready while the inbox can be reached. Throws a {@link HookproofError} that names the flag, or the address when it cannot be used. */
async function openAdmin(
  flags: AdminFlags,
  { metrics, inbox, logger }: { metrics: Metrics; inbox: Inbox; logger: ReceiverLogger },
) {
  const port = portOf('--admin-port', flags.adminPort ?? '');
  const host = flags.adminHost === undefined ? {} : { host: flags.adminHost };
  const checks = [{ name: 'inbox', check: () => inbox.ping() }];
  metrics.watchQueue(() => inbox.depths());
  try {
    const { startAdminServer } = await loadReceiver();
    return await startAdminServer({ ...host, port, checks, metrics, logger });
  } catch (error) {
    await inbox.close();
    throw error;
  }
}

interface InspectFlags {
  readonly inspect?: string | true;
  readonly inspectHost?: string;
}

const DEFAULT_PORT = '3001';

const portOf = (flag: string, text: string) => numberOfFlag(flag, text, [0, 65_535], BAD_NUMBER);

type InspectorOptions = NonNullable<Parameters<ReceiverModule['startInspector']>[0]>;
type Inspector = Awaited<ReturnType<ReceiverModule['startInspector']>>;

/**
 * Opens the receiver, and before it the inspector where one is asked for: `open` gets the observers. Both end together, and neither stays
 * when the other cannot be opened.
 */
async function openInspected<Receiver extends { readonly url: string; close(): Promise<void> }>(
  { inspect, inspectHost: host }: InspectFlags,
  { signing, apiKey }: Pick<InspectorOptions, 'signing' | 'apiKey'>,
  open: (observers: Inspector['observe'][]) => Promise<Receiver>,
): Promise<Receiver & { readonly inspectorUrl: string | null }> {
  if (inspect === undefined) {
    if (host === undefined) return { ...(await open([])), inspectorUrl: null };
    throw new HookproofError('RECEIVER_INSPECT_HOST', '--inspect-host stands without --inspect', {
      hint: 'Add --inspect, or leave --inspect-host out.',
    });
  }
  let receiverUrl: string | undefined;
  const { startInspector } = await loadReceiver();
  const inspector = await startInspector({
    ...(signing === undefined ? {} : { signing }),
    ...(apiKey === undefined ? {} : { apiKey }),
    port: portOf('--inspect', inspect === true ? DEFAULT_PORT : inspect),
    ...(host === undefined ? {} : { host }),
    receiverUrl: () => receiverUrl,
  });
  try {
    const receiver = await open([inspector.observe]);
    receiverUrl = receiver.url;
    const close = async () => {
      await receiver.close();
      await inspector.close();
    };
    return { ...receiver, close, inspectorUrl: inspector.url };
  } catch (error) {
    await inspector.close();
    throw error;
  }
}
