/** Builds the inspector from its parts, and listens. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type ForwardedExchange,
  HookproofError,
} from '../../contract/index.ts';
import type { DeliveryObserver } from '../delivery-report.ts';
import type { ReceiverOptions } from '../options.ts';
import { credentialsOf, type ViewConfig } from './delivery-view.ts';
import { createEventStreams } from './event-streams.ts';
import { recordForwarded } from './forwarded.ts';
import { createGuard } from './guard.ts';
import { createMasker } from './masking.ts';
import { createRecorder } from './recorder.ts';
import { createRoutes, type Forwarding, readPageFiles } from './routes.ts';
import { createSummariser, type DeliverySummary } from './summary.ts';

export interface InspectorOptions {
  /**
   * The address to listen on. 127.0.0.1 by default. On any address that is not loopback, the page needs the token in
   * its URL.
   */
  readonly host?: string;
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** The same as for the receiver: to explain signatures, and to mask the secrets by value. Kept in memory only. */
  readonly signing?: ReceiverOptions['signing'];
  /** The same as for the receiver. */
  readonly apiKey?: ReceiverOptions['apiKey'];
  /** How many deliveries are kept: 500 by default. The oldest go first. */
  readonly maxDeliveries?: number;
  /** How much memory they may take, in bytes: 32 MiB by default. The oldest go first. */
  readonly maxBytes?: number;
  /** Where to send deliveries, for a page that has none to show yet. */
  readonly receiverUrl?: () => string | undefined;
  /** For a proxy in front of another receiver: what the page may do. Without it, the page is read-only. */
  readonly forwarding?: Forwarding & {
    /** The URL of that receiver, for the page. */
    readonly upstream: string;
    /** The folder in which deliveries are kept as files, for the page; undefined when they are in memory only. */
    readonly storedIn?: string | undefined;
  };
}

export interface RunningInspector {
  /** The address of the page, with the token where one is required. */
  readonly url: string;
  readonly port: number;
  /** Records the outcome of a delivery. Fast, and never throws. */
  readonly observe: DeliveryObserver;
  /** Records an exchange with another receiver, and returns its line of the page, masked. */
  record(exchange: ForwardedExchange): DeliverySummary;
  /** Ends every stream and stops listening. */
  close(): Promise<void>;
}

export async function openInspector(options: InspectorOptions): Promise<RunningInspector> {
  const { host = '127.0.0.1', port = 0, signing, apiKey, receiverUrl = () => undefined, forwarding } = options;
  const config = viewConfig(signing, apiKey);
  const recorder = createRecorder(options);
  const summarise = createSummariser(recorder, config.masker);
  const guard = createGuard(host, { allowsActions: forwarding !== undefined });
  const streams = createEventStreams(recorder, summarise, {
    hello: () => ({
      receiver: receiverUrl(),
      signature: signing === undefined ? undefined : config.names.signature,
      apiKey: apiKey === undefined ? undefined : config.names.apiKey,
      ...(forwarding === undefined
        ? {}
        : { upstream: forwarding.upstream, storedIn: forwarding.storedIn, actionToken: guard.actionToken }),
    }),
  });
  const files = await readPageFiles();
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 5_000 },
    createRoutes({ guard, files, recorder, summarise, streams, config, forwarding }),
  );
  server.maxConnections = 100;
  await listen(server, host, port);

  const address = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${address.port}${guard.base}`,
    port: address.port,
    observe: recorder.observe,
    record: (exchange) =>
      summarise(recorder.add((number, maxBytes) => recordForwarded(exchange, config, number, maxBytes))),
    close() {
      streams.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function viewConfig(signing: InspectorOptions['signing'], apiKey: InspectorOptions['apiKey']): ViewConfig {
  const names = {
    signature: signing?.header ?? DEFAULT_SIGNATURE_HEADER,
    apiKey: apiKey?.header ?? DEFAULT_API_KEY_HEADER,
  };
  const keys = apiKey?.keys ?? [];
  const credentials = {
    apiKey: { keys, header: names.apiKey },
    signing: signing && { secrets: signing.secrets, apiKeys: keys, header: names.signature },
  };
  return { names, ...credentials, masker: createMasker(credentialsOf(credentials)) };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new HookproofError('INSPECTOR_LISTEN', `The inspector cannot listen on ${host} port ${port} (${cause.code}).`, {
          hint: 'Choose another port, or 0 for a free one, and an address of this machine.',
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}
