/** The parts of the inspector put together, and listening. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEFAULT_API_KEY_HEADER, DEFAULT_SIGNATURE_HEADER, HookproofError } from '../../contract/index.ts';
import { credentialsOf, type ViewConfig } from './delivery-view.ts';
import { createEventStreams } from './event-streams.ts';
import { createGuard } from './guard.ts';
import type { InspectorOptions, RunningInspector } from './inspector-options.ts';
import { readPageFiles } from './page-files.ts';
import { createRecorder } from './recorder.ts';
import { createRedactor } from './redact.ts';
import { createRoutes } from './routes.ts';
import { createSummariser } from './summary.ts';

export async function openInspector(options: InspectorOptions): Promise<RunningInspector> {
  const { host = '127.0.0.1', port = 0, signing, apiKey, receiverUrl = () => undefined } = options;
  const config = viewConfig(signing, apiKey);
  const recorder = createRecorder(options);
  const summarise = createSummariser(recorder, createRedactor(credentialsOf(config)));
  const streams = createEventStreams(recorder, summarise, {
    hello: () => ({
      receiver: receiverUrl(),
      signature: signing === undefined ? undefined : config.names.signature,
      apiKey: apiKey === undefined ? undefined : config.names.apiKey,
    }),
  });
  const guard = createGuard(host);
  const files = await readPageFiles();
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 5_000 },
    createRoutes({ guard, files, recorder, summarise, streams, config }),
  );
  server.maxConnections = 100;
  await listen(server, host, port);

  const address = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${address.port}${guard.base}`,
    port: address.port,
    observe: recorder.observe,
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
  return {
    names,
    apiKey: { keys, header: names.apiKey },
    signing: signing && { secrets: signing.secrets, apiKeys: keys, header: names.signature },
  };
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
