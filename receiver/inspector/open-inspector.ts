/** Assembles the inspector and starts listening. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type ForwardedExchange,
  HookproofError,
} from '../../contract/index.ts';
import { signatureHeaderOf, signatureHeadersOf } from '../../contract/signing/index.ts';
import type { DeliveryObserver } from '../delivery-report.ts';
import type { ReceiverOptions } from '../options.ts';
import { credentialsOf, type ViewConfig } from './delivery-view.ts';
import { createEventStreams } from './event-streams.ts';
import { recordForwarded } from './forwarded.ts';
import { createGuard } from './guard.ts';
import { createMasker } from './masking.ts';
import { createRecorder } from './recorder.ts';
import { type Forwarding, InspectorRoutes, readPageFiles } from './routes.ts';
import { createSummariser, type DeliverySummary } from './summary.ts';

export interface InspectorOptions {
  /**
   * Address to listen on. Default: 127.0.0.1. On an address that is not a loopback address, the URL of the page
   * contains a token, without which nothing is served.
   */
  readonly host?: string;
  /** Port to listen on. Default: 0, which picks a free port. */
  readonly port?: number;
  /** The signing options of the receiver, which are used to explain signatures and to mask secrets. */
  readonly signing?: ReceiverOptions['signing'];
  /** The API key options of the receiver. */
  readonly apiKey?: ReceiverOptions['apiKey'];
  /** Maximum number of deliveries that are kept. The oldest are removed first. Default: 500. */
  readonly maxDeliveries?: number;
  /** Maximum memory for the kept deliveries, in bytes. The oldest are removed first. Default: 32 MiB. */
  readonly maxBytes?: number;
  /** Returns the URL to which senders must deliver. The page shows it as long as there are no deliveries. */
  readonly receiverUrl?: () => string | undefined;
  /** Actions of the page, for a proxy in front of another receiver. Without them, the page is read-only. */
  readonly forwarding?: Forwarding & {
    /** URL of the other receiver, which the page shows. */
    readonly upstream: string;
    /** Folder in which deliveries are stored, which the page shows. Undefined when they are kept only in memory. */
    readonly storedIn?: string | undefined;
  };
}

export interface RunningInspector {
  /** URL of the page, including the token if one is required. */
  readonly url: string;
  readonly port: number;
  /** Records the outcome of a delivery. Returns quickly, and never throws. */
  readonly observe: DeliveryObserver;
  /** Records an exchange with another receiver. Returns its line in the list, with masked credentials. */
  record(exchange: ForwardedExchange): DeliverySummary;
  /** Closes every stream, and stops listening. */
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
  const files = readPageFiles();
  const routes = new InspectorRoutes({ guard, files, recorder, summarise, streams, config, forwarding });
  const timeouts = { headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 5_000 };
  const server = createServer(timeouts, (req, res) => routes.answer(req, res));
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
  const { header, scheme, publicUrl } = signing ?? {};
  const names = {
    signature: header ?? (scheme && signatureHeaderOf(scheme)) ?? DEFAULT_SIGNATURE_HEADER,
    apiKey: apiKey?.header ?? DEFAULT_API_KEY_HEADER,
    aliases: scheme === undefined ? [] : signatureHeadersOf(scheme).slice(1),
  };
  const keys = apiKey?.keys ?? [];
  const credentials = {
    apiKey: { keys, header: names.apiKey },
    signing: signing && { secrets: signing.secrets, apiKeys: keys, header: names.signature, scheme, publicUrl },
  };
  return { names, ...credentials, masker: createMasker(credentialsOf(credentials)) };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new HookproofError('INSPECTOR_LISTEN', `The inspector cannot listen on ${host} port ${port} (${cause.code}).`, {
          hint: 'Choose another port with `--inspect PORT` (0 picks a free one), and an address of this machine.',
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}
