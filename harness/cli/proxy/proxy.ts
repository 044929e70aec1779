/** `hookproof proxy`: forwards plain HTTP to a receiver, shows the deliveries and saves them for `replay`. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { type ConfigFlags, numberOfFlag, type ResolvedConfig } from '../../config/index.ts';
import type { Partner } from '../../partner.ts';
import {
  createTap,
  curlForCaptured,
  defaultStoreFolder,
  type KeepBudget,
  openStore,
  readCaptured,
  replayCaptured,
  startRelay,
} from '../../proxy/index.ts';
import { counted } from '../../report/index.ts';
import { endpointOf, type Pin, pinEndpoint, scopeOf } from '../../transport/index.ts';
import { commandConfig } from '../command-input.ts';
import { portOf } from '../receiver/receiver-limits.ts';
import { loadReceiver, type ReceiverModule } from '../receiver-entry.ts';
import { firstStopSignal } from '../stop-signals.ts';
import { printAdvice, shownPath } from '../terminal.ts';
import { createDeliveryLog } from './delivery-log.ts';
import { forwardUrl } from './forward-url.ts';

interface ProxyFlags extends ConfigFlags {
  readonly config?: string;
  readonly to?: string;
  readonly publicUrl?: string;
  readonly host: string;
  readonly port: string;
  readonly inspect: string;
  readonly inspectHost: string;
  readonly keep: string;
  readonly keepBytes: string;
  readonly maxConnections: string;
  /** The folder for saved deliveries; false with `--no-store`. */
  readonly store?: string | boolean;
}

const BAD_NUMBER = { code: 'PROXY_BAD_NUMBER', hint: 'Write digits only.' };
/** Maximum size in bytes of a request that is shown in full and saved; larger ones are only forwarded. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
/** Maximum memory in bytes for requests and answers in transit on all connections. */
const MAX_IN_FLIGHT_BYTES = 64 * 1024 * 1024;

export async function proxyCommand(flags: ProxyFlags): Promise<number> {
  const url = forwardUrl(flags.to, ['http:']);
  const port = portOf('--port', flags.port, BAD_NUMBER);
  const inspectPort = portOf('--inspect', flags.inspect, BAD_NUMBER);
  const maxDeliveries = numberOfFlag('--keep', flags.keep, [1, 100_000], BAD_NUMBER);
  const maxBytes = numberOfFlag('--keep-bytes', flags.keepBytes, [1, 2 ** 31], BAD_NUMBER);
  const maxConnections = numberOfFlag('--max-connections', flags.maxConnections, [1, 100_000], BAD_NUMBER);
  // Only the flags for credentials are settings; the others belong to this command.
  const { secretFile, signatureHeader, scheme, apiKeyFile, apiKeyHeader, timeout } = flags;
  const given = { secretFile, signatureHeader, scheme, apiKeyFile, apiKeyHeader, timeout };
  const config = await commandConfig(url.href, flags.config, given);
  requirePublicUrl(config.partner, flags.publicUrl);
  printAdvice(config.advice);
  const pin = await pinEndpoint(url.href, { timeoutMs: config.run.timeoutMs, chooses: false });
  if (pin.error !== null) {
    throw new HookproofError('PROXY_UNRESOLVED', `the host of \`--to\` is unknown: ${pin.error.message}`, {
      hint: 'Check the name, and the network.',
    });
  }
  refuseLoop(flags.host, port, endpointOf(url.href).port, pin);
  const folder = storeFolder(flags.store);
  const store = folder === undefined ? undefined : await openStore(folder, { maxFiles: maxDeliveries, maxBytes });
  const front = await openFront(flags, { config, url, pin, inspectPort, maxDeliveries, maxBytes, folder });
  const log = createDeliveryLog((text) => process.stderr.write(text));
  const relay = await startRelay({
    host: flags.host,
    port,
    upstream: { host: pin.host, port: endpointOf(url.href).port, lookup: pin.lookup },
    maxConnections,
    tap: createTap({
      budget: sharedBudget(MAX_IN_FLIGHT_BYTES),
      maxRequestBytes: Math.min(maxBytes, MAX_REQUEST_BYTES),
      report(exchange) {
        const delivery = front.inspector.record(exchange);
        const { raw, complete } = exchange.request;
        const { answered, id, status } = delivery;
        if (raw !== undefined && complete) store?.add(id, raw, { status, answered });
        log.add(delivery);
      },
    }),
  }).catch(async (error: unknown) => {
    await front.inspector.close();
    throw error;
  });
  const host = flags.host.includes(':') ? `[${flags.host}]` : flags.host;
  front.listening(`http://${host}:${relay.port}${url.pathname}`);
  const stopped = firstStopSignal();
  process.stderr.write(`listening at http://${host}:${relay.port}${url.pathname} and forwarding to ${url.href}\n`);
  process.stderr.write(
    `inspector at ${front.inspector.url}: each delivery, and why a signature does not match\n` +
      'ALARM marks the deliveries that the inspector counts as alarms\n',
  );
  if (folder !== undefined) {
    process.stderr.write(
      `the last ${counted(maxDeliveries, 'delivery').replace(/ys$/, 'ies')} are kept in ${shownPath(folder)}\n`,
    );
  }
  await stopped;
  await relay.close();
  await front.inspector.close();
  await store?.settled();
  log.close();
  if (relay.dropped() > 0) {
    process.stderr.write(
      `${counted(relay.dropped(), 'connection')} closed at once: more than ${maxConnections} open\n`,
    );
  }
  const missed = store?.missed() ?? 0;
  if (missed > 0) process.stderr.write(`${counted(missed, 'delivery', 'deliveries')} could not be written\n`);
  return 0;
}

interface FrontParts {
  readonly config: ResolvedConfig;
  readonly url: URL;
  readonly pin: Pin;
  readonly inspectPort: number;
  readonly maxDeliveries: number;
  readonly maxBytes: number;
  readonly folder: string | undefined;
}

/** Requires the registered URL if it is signed: a sender knows the proxy by another URL than that of `--to`. */
function requirePublicUrl({ signing }: Partner, publicUrl: string | undefined): void {
  const { scheme } = signing ?? {};
  if (publicUrl !== undefined && (scheme === undefined || !URL.canParse(publicUrl))) {
    const message = scheme === undefined ? '`--public-url` needs a scheme and a secret' : '`--public-url` is not a URL';
    throw new HookproofError('PROXY_SCHEME', message, { hint: 'Give the URL as it is registered with the sender.' });
  }
  if (publicUrl !== undefined || scheme?.signed.includes('{url}') !== true) return;
  throw new HookproofError('PROXY_SCHEME', `${scheme.title} signs the URL of the endpoint`, {
    hint: 'Give it with `--public-url`, exactly as it is registered with the sender.',
  });
}

/** Starts the inspector with the actions that its page offers. `listening` receives the address of the proxy. */
async function openFront(
  flags: ProxyFlags,
  { config, url, pin, inspectPort, maxDeliveries, maxBytes, folder }: FrontParts,
): Promise<{
  readonly inspector: Awaited<ReturnType<ReceiverModule['startInspector']>>;
  readonly listening: (address: string) => void;
}> {
  const partner: Partner = { ...config.partner, lookup: pin.lookup };
  const { signing, apiKey } = partner;
  const { publicUrl } = flags;
  let address: string | undefined;
  const { startInspector } = await loadReceiver();
  const inspector = await startInspector({
    host: flags.inspectHost,
    port: inspectPort,
    maxDeliveries,
    maxBytes,
    ...(signing && { signing: { ...signing, secrets: [signing.secret], ...(publicUrl && { publicUrl }) } }),
    ...(apiKey && { apiKey: { keys: [apiKey.value], ...(apiKey.header && { header: apiKey.header }) } }),
    receiverUrl: () => address,
    forwarding: {
      upstream: url.href,
      storedIn: folder === undefined ? undefined : shownPath(folder),
      replay: (raw, asked) => replayCaptured(raw, { partner, publicUrl, timeoutMs: config.run.timeoutMs, ...asked }),
      curl(raw) {
        const captured = readCaptured(raw);
        return captured === null ? null : curlForCaptured(captured, partner);
      },
    },
  });
  return {
    inspector,
    listening(now) {
      address = now;
    },
  };
}

/** Rejects an upstream that is the proxy itself, because every request would be forwarded endlessly. */
function refuseLoop(host: string, port: number, upstreamPort: number, { address }: Pin): void {
  if (address === null || port === 0 || port !== upstreamPort) return;
  if (address !== host && scopeOf(address) !== 'loopback') return;
  throw new HookproofError('PROXY_LOOP', `the proxy would forward to itself: \`--to\` has its own port ${port}`, {
    hint: 'Choose another port with `--port`.',
  });
}

export function storeFolder(given: string | boolean | undefined): string | undefined {
  if (given === false) return undefined;
  return typeof given === 'string' ? given : defaultStoreFolder(process.env);
}

/** Creates a memory budget of `max` bytes that all connections share. */
function sharedBudget(max: number): KeepBudget {
  let used = 0;
  return {
    take(bytes) {
      if (used + bytes > max) return false;
      used += bytes;
      return true;
    },
    release(bytes) {
      used -= bytes;
    },
  };
}
