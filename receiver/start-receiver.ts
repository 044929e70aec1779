import { HookproofError } from '../contract/index.ts';
import type { ClientCertificateOption } from './client-certificate-option.ts';
import { createReceiver, type Receiver } from './create-receiver.ts';
import type { ReceiverOptions } from './options.ts';
import { type RunningServer, type ServerOptions, serve } from './serve.ts';

/** A receiver that is listening. */
export interface RunningReceiver extends RunningServer {
  /** Resolves when no handler runs and none is due. */
  settled(): Promise<void>;
}

/**
 * Makes a receiver and serves it over HTTP, or HTTPS when `tls` is given. Throws `HookproofError` (`RECEIVER_*`) when the
 * configuration is incomplete or the address cannot be used. Closing it waits for requests and handlers under way.
 */
export async function startReceiver(given: ReceiverOptions & ServerOptions): Promise<RunningReceiver> {
  const options = withClientCertificateCheck(given);
  const receiver: Receiver = createReceiver(options);
  const server = await serve(receiver, options);
  return { ...server, settled: () => receiver.settled() };
}

/** The options with the check of client certificates that goes with `tls`. */
export function withClientCertificateCheck<Options extends ReceiverOptions & ServerOptions>(options: Options): Options {
  return { ...options, ...clientCertificateOf(options) };
}

/** What does not go together would refuse everyone, or let anyone in. */
function clientCertificateOf({ tls, clientCertificate }: ReceiverOptions & ServerOptions): {
  clientCertificate?: ClientCertificateOption;
} {
  const asked = tls?.clientCertificate;
  if (clientCertificate === undefined) return asked === undefined ? {} : { clientCertificate: { from: 'connection' } };
  if (clientCertificate.from === 'connection' && asked === undefined) {
    throw conflict(
      'The certificate of the connection is to be checked, but tls.clientCertificate does not ask for one.',
      "Say tls.clientCertificate: 'required' or 'optional'. Behind a proxy that ends TLS, say from: 'proxy'.",
    );
  }
  if (clientCertificate.from === 'proxy' && asked === 'optional') {
    throw conflict(
      'A proxy is to say who the client is, so nothing would check the certificate of the connection.',
      "Say tls.clientCertificate: 'required', which is then about the proxy's own certificate, or leave it out.",
    );
  }
  return { clientCertificate };
}

function conflict(message: string, hint: string): HookproofError {
  return new HookproofError('RECEIVER_CLIENT_CERTIFICATE', message, { hint });
}
