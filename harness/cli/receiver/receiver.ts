/** `hookproof receiver`: serves the reference receiver, or a faulty one, until a signal arrives. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { Scheme } from '../../../contract/signing/schemes/scheme.ts';
import { credential } from '../command-input.ts';
import { inboxUrl } from '../inbox/open-inbox.ts';
import { type Inbox, loadReceiver, type ReceiverLogger, type ReceiverModule } from '../receiver-entry.ts';
import { firstStopSignal } from '../stop-signals.ts';
import { printAdvice } from '../terminal.ts';
import { type EffectsFlags, openEffects } from './effects-window.ts';
import { findFaultyReceiver } from './faulty-receiver.ts';
import { loadHandlers } from './handlers-file.ts';
import { count, given, type LimitFlags, limitSettings, portOf } from './receiver-limits.ts';
import { type SchemeFlags, schemeOfReceiver } from './receiver-scheme.ts';
import { type TlsFlags, tlsSettings } from './receiver-tls.ts';
import { refuseToReload, reloadFiles } from './reload-files.ts';

interface ReceiverFlags extends TlsFlags, LimitFlags, AdminFlags, InspectFlags, EffectsFlags, SchemeFlags {
  readonly host: string;
  readonly port: string;
  readonly path?: string;
  readonly secretFile?: string[];
  readonly apiKeyFile?: string[];
  readonly apiKeyHeader?: string;
  readonly bodyLimit?: string;
  readonly open?: boolean;
  readonly fault?: string;
}

interface AdminFlags {
  readonly adminPort?: string;
  readonly adminHost?: string;
}

interface InspectFlags {
  readonly inspect?: string | true;
  readonly inspectHost?: string;
}

const INSPECTOR_PORT = '3001';

export async function receiverCommand(flags: ReceiverFlags): Promise<number> {
  const { createLogger, memoryInbox, openInbox, startReceiver } = await loadReceiver();
  const scheme = schemeOfReceiver(flags);
  const fault = flags.fault === undefined ? null : await findFaultyReceiver(flags.fault, scheme);
  const protection = await readProtection(flags, fault?.hasCertificate === true);
  const limits = limitSettings(flags);
  const port = portOf('--port', flags.port);
  const bodyLimit = count(flags.bodyLimit, '--body-limit', [0, 2 ** 31]);
  const logger = createLogger();
  const own = flags.handlers === undefined ? {} : await loadHandlers(flags.handlers);
  const metrics = await createReceiverMetrics(flags);
  const meter = metrics === null ? {} : { meter: metrics.inbox };
  const source = inboxUrl(flags.inbox);
  const { handlers, handling, ...effects } = await openEffects(flags, own, logger);
  const opening = source === undefined ? Promise.resolve(memoryInbox()) : openInbox(source, { logger, ...meter });
  const inbox = await opening.catch(closing(effects));
  const admin = metrics === null ? null : await openAdmin(flags, { metrics, inbox, logger }).catch(closing(effects));
  const options = {
    host: flags.host,
    port,
    ...limits,
    ...protectionOptions(flags, protection, scheme),
    ...given({ path: flags.path, bodyLimit, connectionObserver: metrics?.connections, handling }),
    ...(scheme === undefined && { inbox }),
    ...meter,
    handlers,
    logger,
  };
  const receiver = await openInspected(flags, options, (observers) => {
    const observed = { ...options, observers: metrics === null ? observers : [metrics.deliveries, ...observers] };
    return fault === null
      ? startReceiver(observed)
      : fault.open({ ...observed, effects: effects.record }, flags.tlsQuickStartCa);
  }).catch(async (error: unknown) => {
    await Promise.all([admin?.close(), inbox.close(), effects.close()]);
    throw error;
  });
  const stopReloading = startReloading(flags, protection, { receiver, logger });
  // The signal handler is installed before `listening` is printed: a program that waits for this line may send a signal
  // at once.
  const stopped = firstStopSignal();
  admin?.setState('serving');
  if (fault !== null) process.stderr.write(fault.warning);
  process.stderr.write(`listening at ${receiver.url}\n`);
  if (receiver.inspectorUrl !== null) process.stderr.write(`inspector at ${receiver.inspectorUrl}\n`);
  if (admin !== null) process.stderr.write(`health and metrics at ${admin.url}\n`);
  if (effects.url !== null) process.stderr.write(`effects window at ${effects.url} (test environments only)\n`);
  const signal = await stopped;
  logger.info({ event: 'draining', signal }, 'draining');
  admin?.setState('draining');
  stopReloading();
  for (const opened of [receiver, inbox, effects, admin]) await opened?.close();
  return 0;
}

type Protection = Awaited<ReturnType<typeof readProtection>>;

/** Reads the credentials and certificates that authenticate deliveries. Requires at least one of them, or `--open`. */
async function readProtection(flags: ReceiverFlags, isCertificateFaulty: boolean) {
  const readSecrets = () => readCredentials(flags.secretFile, 'HMAC secret', '--secret-file', 'HOOKPROOF_SECRET');
  const secrets = await readSecrets();
  const keys = await readCredentials(flags.apiKeyFile, 'API key', '--api-key-file', 'HOOKPROOF_API_KEY');
  const tlsFlags = isCertificateFaulty ? withoutCertificate(flags) : flags;
  const { read: readTls, files: tlsFiles, clientCertificate } = await tlsSettings(tlsFlags);
  const first = readTls === null ? null : await readTls();
  const tls = first?.tls;
  printAdvice(first?.advice ?? []);
  const checksClients = tls?.clientCertificate !== undefined || clientCertificate !== undefined;
  requireProtection(secrets.length + keys.length > 0 || checksClients, flags.open === true);
  return { secrets, readSecrets, keys, tls, readTls, tlsFiles, clientCertificate };
}

function protectionOptions(
  flags: ReceiverFlags,
  { secrets, keys, tls, clientCertificate }: Protection,
  scheme: Scheme | undefined,
) {
  if (scheme !== undefined && secrets.length === 0) {
    throw new HookproofError('RECEIVER_SCHEME', '`--scheme` needs a secret', {
      hint: 'Set HOOKPROOF_SECRET, or give `--secret-file`.',
    });
  }
  const { signatureHeader: header, publicUrl } = flags;
  return given({
    signing: secrets.length > 0 ? given({ secrets, header, scheme, publicUrl }) : undefined,
    apiKey: keys.length > 0 ? given({ keys, header: flags.apiKeyHeader }) : undefined,
    open: flags.open === true ? (true as const) : undefined,
    tls,
    clientCertificate,
  });
}

type RunningReceiver = Awaited<ReturnType<ReceiverModule['startReceiver']>>;

/** Reloads certificates and secrets when their files change. Returns a function that stops reloading. */
function startReloading(
  flags: ReceiverFlags,
  { secrets, readSecrets, tls, readTls, tlsFiles }: Protection,
  { receiver, logger }: { receiver: Pick<RunningReceiver, 'reloadTls' | 'reloadSecrets'>; logger: ReceiverLogger },
): () => void {
  const stops: (() => void)[] = [];
  if (readTls !== null && tls !== undefined) {
    const read = async () => {
      const { tls: content, advice } = await readTls();
      return { content, advice };
    };
    const reloading = { noun: 'certificates', failure: 'tls-reload-failed', reload: receiver.reloadTls } as const;
    stops.push(reloadFiles({ ...reloading, current: tls, read, files: tlsFiles, logger }));
  }
  if (secrets.length > 0) {
    stops.push(reloadSecrets(flags, { current: secrets, read: readSecrets, receiver, logger }));
  }
  return () => {
    for (const stop of stops) stop();
  };
}

interface ReloadedSecrets {
  readonly current: readonly string[];
  readonly read: () => Promise<readonly string[]>;
  readonly receiver: { reloadSecrets(secrets: readonly string[]): void };
  readonly logger: ReceiverLogger;
}

/**
 * Reloads the secrets if all of them come from files and no inspector is running. Returns a function that stops
 * reloading.
 */
function reloadSecrets(
  { inspect, secretFile: files = [] }: ReceiverFlags,
  { current, read, receiver, logger }: ReloadedSecrets,
): () => void {
  if (files.length === 0 || files.includes('-')) {
    return refuseToReload('secrets', 'not all of them come from a `--secret-file` path');
  }
  if (inspect !== undefined) return refuseToReload('secrets', 'the inspector uses those that were read at start-up');
  return reloadFiles({
    noun: 'secrets',
    failure: 'secrets-reload-failed',
    current,
    read: async () => ({ content: await read() }),
    files,
    reload: (secrets) => receiver.reloadSecrets(secrets),
    logger,
  });
}

/** Requires either authentication of deliveries or `--open`, but not both. */
function requireProtection(isProtected: boolean, isOpen: boolean): void {
  if (isProtected && isOpen) {
    const message = '`--open` cannot be combined with an HMAC secret, an API key or a check of client certificates';
    throw new HookproofError('RECEIVER_OPEN_CONFLICT', message, {
      hint: 'Remove `--open` to require what is configured, or remove the others, including HOOKPROOF_* variables.',
    });
  }
  if (isProtected || isOpen) return;
  throw new HookproofError(
    'RECEIVER_UNPROTECTED',
    'no HMAC secret, no API key and no check of client certificates was given',
    {
      hint:
        'Set HOOKPROOF_SECRET or HOOKPROOF_API_KEY, give `--secret-file`, `--api-key-file`, `--client-ca` or ' +
        '`--proxy`, or give `--open` to accept deliveries from anyone.',
    },
  );
}

/** Returns an error handler that closes `opened` and rethrows the error. */
function closing(opened: { close(): Promise<void> }): (error: unknown) => Promise<never> {
  return async (error) => {
    await opened.close();
    throw error;
  };
}

type Metrics = Awaited<ReturnType<ReceiverModule['createMetrics']>>;

/** Creates the metrics of the receiver; null without `--admin-port`. */
async function createReceiverMetrics(flags: AdminFlags): Promise<Metrics | null> {
  if (flags.adminPort !== undefined) return (await loadReceiver()).createMetrics();
  if (flags.adminHost === undefined) return null;
  throw new HookproofError('RECEIVER_ADMIN_HOST', '`--admin-host` needs `--admin-port`', {
    hint: 'Add it, for example `--admin-port 9464`.',
  });
}

/** Starts the server for health and metrics. It reports ready while the inbox can be reached. */
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

type InspectorOptions = NonNullable<Parameters<ReceiverModule['startInspector']>[0]>;
type Inspector = Awaited<ReturnType<ReceiverModule['startInspector']>>;

/**
 * Opens the receiver and, with `--inspect`, the inspector. `open` receives the inspector's observer, if any. Closing
 * the receiver closes both; if the receiver cannot be opened, the inspector is closed.
 */
async function openInspected<Receiver extends { readonly url: string; close(): Promise<void> }>(
  { inspect, inspectHost: host }: InspectFlags,
  { signing, apiKey }: Pick<InspectorOptions, 'signing' | 'apiKey'>,
  open: (observers: Inspector['observe'][]) => Promise<Receiver>,
): Promise<Receiver & { readonly inspectorUrl: string | null }> {
  if (inspect === undefined) {
    if (host === undefined) return { ...(await open([])), inspectorUrl: null };
    throw new HookproofError('RECEIVER_INSPECT_HOST', '`--inspect-host` needs `--inspect`', {
      hint: 'Add `--inspect`, or remove `--inspect-host`.',
    });
  }
  let receiverUrl: string | undefined;
  const { startInspector } = await loadReceiver();
  const inspector = await startInspector({
    ...given({ signing, apiKey, host }),
    port: portOf('--inspect', inspect === true ? INSPECTOR_PORT : inspect),
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

/**
 * Removes the flags for a temporary server certificate, because the mutant generates its own, faulty one. Throws if the
 * user gives a certificate.
 */
function withoutCertificate(flags: ReceiverFlags): ReceiverFlags {
  if (flags.tlsCert === undefined && flags.tlsKey === undefined) {
    const { tlsQuickStart: _, tlsQuickStartCa: __, ...others } = flags;
    return others;
  }
  throw new HookproofError('RECEIVER_FAULT_CERTIFICATE', `the fault ${flags.fault} serves its own certificate`, {
    hint: 'Remove `--tls-cert` and `--tls-key`.',
  });
}

/** Reads one value from each file, or the environment variable if no file is given. */
async function readCredentials(
  files: readonly string[] | undefined,
  noun: string,
  flag: string,
  variable: string,
): Promise<string[]> {
  const read = async (file: string | undefined) => (await credential({ noun, flag, file, variable })) ?? [];
  return (await Promise.all((files ?? [undefined]).map(read))).flat();
}
