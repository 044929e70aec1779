/** Starts a mutant: the reference receiver with one stage replaced. */
import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Express } from 'express';
import { createApp, createPipeline, type Pipeline } from '../receiver/create-receiver.ts';
import type { DeliveryObserver } from '../receiver/delivery-report.ts';
import { effectHandlers } from '../receiver/effects/effect-of.ts';
import { type EffectsRecord, memoryEffects } from '../receiver/effects/effects-record.ts';
import { Handling } from '../receiver/handling/handling.ts';
import type { AcceptedDelivery, Inbox } from '../receiver/inbox/inbox.ts';
import { memoryInbox } from '../receiver/inbox/memory-inbox.ts';
import { type ReceiverConfig, type ReceiverOptions, replaceSecrets, resolveOptions } from '../receiver/options.ts';
import { createHttpServer, httpsOptions, protectServer, requestListener } from '../receiver/server/http-server.ts';
import {
  type RunningReceiver,
  type ServerOptions,
  serve,
  withClientCertificateCheck,
} from '../receiver/start-receiver.ts';
import type { Fault, FaultParts, LogFault } from './fault.ts';
import type { SchemeMutant } from './schemes.ts';

/** Tracks the open connections of a server. A crash closes them. */
function connectionsOf(server: Server): Set<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

interface RecordOptions {
  /** The secret after a rotation, for mutants that accept it too early. */
  readonly nextSecret?: string | undefined;
  readonly effects?: EffectsRecord | undefined;
  /** Writes to the log of a log mutant. Default: standard output. */
  readonly log?: ((text: string) => void) | undefined;
}

type FaultyOptions = ReceiverOptions & ServerOptions & RecordOptions;

interface RunningFaultyReceiver extends RunningReceiver {
  /**
   * Ends the receiver as a crash would, and starts it again on the same port. Only the effects record and the inbox
   * survive.
   */
  restart(): Promise<void>;
}

/**
 * Serves a mutant, or the reference receiver if `fault` is null. Takes the options of `startReceiver`, and throws the
 * same errors. `effects` is the record for a mutant of the effects. Default: a new record.
 */
export async function startFaultyReceiver(
  fault: Fault | SchemeMutant | null,
  given: FaultyOptions,
): Promise<RunningFaultyReceiver> {
  const {
    effects,
    nextSecret,
    log = (text: string) => process.stdout.write(text),
    ...options
  } = withClientCertificateCheck(given);
  const handlesEffects = effects !== undefined || fault?.stage === 'effects';
  const record = effects ?? memoryEffects();
  const openInbox = keptInbox();
  const open = async (port: number | undefined) =>
    startProcess(fault, {
      ...options,
      log,
      nextSecret,
      ...(port !== undefined && { port }),
      ...(handlesEffects && { record, inbox: options.inbox ?? (await openInbox()) }),
    });
  let current = await open(options.port);
  return {
    url: current.running.url,
    port: current.running.port,
    settled: () => current.handling.settled(),
    reloadTls: (tls) => current.running.reloadTls(tls),
    reloadSecrets: (secrets) => current.running.reloadSecrets(secrets),
    close: () => current.close(),
    async restart() {
      current.kill();
      current = await open(current.running.port);
    },
  };
}

/** A REFUND waits for its SELL no longer than checks wait for the effect of the REFUND. */
const HANDLING = { refundWaitMs: 500 };

type ProcessOptions = ReceiverOptions &
  ServerOptions &
  Pick<RecordOptions, 'nextSecret'> & { readonly record?: EffectsRecord; readonly log: (text: string) => void };

/** Starts the parts of the receiver that a crash ends. */
async function startProcess(
  fault: Fault | SchemeMutant | null,
  { record, log, nextSecret, ...options }: ProcessOptions,
) {
  let isAlive = true;
  // Handlers of an ended process may still run, but must have no effect.
  const apply: EffectsRecord['apply'] = (effect, key) =>
    isAlive && record !== undefined ? record.apply(effect, key) : new Promise(() => {});
  const { stages, ...changes } = fault?.stage === 'effects' ? fault.replace({ apply }) : {};
  const given = options.handlers === undefined ? {} : { handlers: options.handlers };
  const effects = record === undefined ? {} : { handlers: effectHandlers({ apply }, given) };
  const policy = record === undefined ? options.handling : { ...HANDLING, ...options.handling, ...changes.handling };
  const settings = { ...options, ...effects, ...changes, ...(policy !== undefined && { handling: policy }) };
  // A mutant may need the body of a delivery that the correct receiver rejects because of its headers.
  const resolved = { ...resolveOptions(settings), keepsRejectedBodies: true };
  const observers = fault?.stage === 'log' ? [logObserver(fault, resolved, options, log)] : [];
  const config = { ...resolved, observers: [...resolved.observers, ...observers] };
  const handling = new Handling(config);
  const correct = createPipeline(config, handling);
  let server: Server | null = null;
  let connections = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;

  const crash = (downMs: number) => {
    const listening = server;
    if (listening === null || !listening.listening) return;
    const { port, address } = listening.address() as AddressInfo;
    listening.close();
    for (const socket of connections) socket.destroy();
    if (!Number.isFinite(downMs)) return;
    timer = setTimeout(() => {
      if (isAlive) listening.listen(port, address);
    }, downMs);
  };
  const parts: FaultParts = { correct, config, handling, nextSecret, tls: options.tls, crash };
  const receiver = {
    app: createApp({ ...correct, ...replacedStages(fault, parts), ...stages?.(parts) }, config),
    reloadSecrets: (secrets: readonly string[]) => replaceSecrets(config, secrets),
    settled: () => handling.settled(),
    stop: (timeoutMs: number) => handling.stop(timeoutMs),
  };
  server = createFaultyServer(receiver.app, options, fault?.options);
  connections = connectionsOf(server);
  if (fault?.stage === 'connection') fault.server?.(server, parts);
  const running = await serve(receiver, server, options);
  // Handles deliveries that an earlier process has stored but not handled.
  handling.wake();
  return {
    running,
    handling,
    kill() {
      isAlive = false;
      crash(Number.POSITIVE_INFINITY);
      clearTimeout(timer);
      void handling.stop(0);
    },
    close() {
      isAlive = false;
      clearTimeout(timer);
      return running.close();
    },
  };
}

function replacedStages(fault: Fault | SchemeMutant | null, parts: FaultParts): Partial<Pipeline> {
  if (fault === null || fault.stage === 'connection' || fault.stage === 'effects' || fault.stage === 'log') return {};
  return { [fault.stage]: fault.replace(parts) };
}

/** Observes deliveries, and writes the additional log lines of a log mutant. */
function logObserver(
  fault: LogFault,
  { signing, apiKey }: ReceiverConfig,
  { tls }: ServerOptions,
  log: (text: string) => void,
): DeliveryObserver {
  const { start, delivery } = fault.logs({
    secret: signing?.secrets[0] ?? '',
    apiKey: apiKey?.keys[0] ?? '',
    signatureHeader: signing?.header ?? '',
    apiKeyHeader: apiKey?.header ?? '',
    tlsKey: tls?.key ?? '',
  });
  if (start !== undefined) log(`${start}\n`);
  return (report) => {
    const text = delivery?.(report);
    if (text !== undefined) log(`${text}\n`);
  };
}

/**
 * Opens an inbox in memory. Like an inbox on disk, it contains the deliveries that earlier processes have stored but
 * not settled.
 */
function keptInbox(): () => Promise<Inbox> {
  const stored = new Map<string, AcceptedDelivery>();
  return async () => {
    const inbox = memoryInbox();
    for (const delivery of stored.values()) await inbox.put(delivery);
    return {
      ...inbox,
      async put(delivery) {
        const result = await inbox.put(delivery);
        if (result === 'stored') stored.set(delivery.notification.id, delivery);
        return result;
      },
      async settle(settlement) {
        const isOurs = await inbox.settle(settlement);
        const delivery = stored.get(settlement.claim.id);
        if (isOurs && delivery !== undefined && settlement.state !== 'pending') {
          stored.set(settlement.claim.id, { ...delivery, handle: false });
        }
        return isOurs;
      },
    };
  };
}

/** Creates the server of the reference receiver. For HTTPS, it also uses the options of the mutant. */
function createFaultyServer(app: Express, options: ServerOptions, changes: TlsOptions | undefined): Server {
  const { tls } = options;
  if (tls === undefined || changes === undefined) return createHttpServer(app, options);
  const settings = { ...httpsOptions(app, tls, options), ...changes };
  return protectServer(createTlsServer(settings, requestListener(app, options)), options);
}
