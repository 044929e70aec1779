/** The flags of `hookproof receiver` about the certificates of clients: whose, and who says so. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import type { ClientCertificateOption } from './receiver-door.ts';

export interface ClientCertificateFlags {
  readonly clientCa?: string;
  readonly allowClient?: string[];
  readonly proxy?: string[];
  readonly proxyClientHeader?: string;
}

export function wrongTlsFlags(message: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError('RECEIVER_TLS_FLAGS', message, { hint, cause });
}

/** What the flags say about who is let in, beside the authority. Throws a {@link HookproofError} of kind `usage`. */
export function clientCertificateFrom(flags: ClientCertificateFlags): ClientCertificateOption | undefined {
  const { allowClient, proxy, proxyClientHeader, clientCa } = flags;
  if (proxy !== undefined || proxyClientHeader !== undefined) {
    if (proxy === undefined || proxyClientHeader === undefined) {
      throw wrongTlsFlags(
        '--proxy and --proxy-client-header go together',
        "Give the proxy's address and the header that it sets, for example --proxy 127.0.0.1 --proxy-client-header 'X-SSL-Client-Verify: SUCCESS'.",
      );
    }
    if (allowClient !== undefined) {
      throw wrongTlsFlags(
        '--allow-client stands beside --proxy',
        'Behind a proxy, it is the proxy that knows the names: check them there.',
      );
    }
    const [, header, value] = /^([^:\s]+):[ \t]*(\S.*?)[ \t]*$/.exec(proxyClientHeader) ?? [];
    if (header === undefined || value === undefined) {
      throw wrongTlsFlags('--proxy-client-header is no header line', "For example 'X-SSL-Client-Verify: SUCCESS'.");
    }
    return { from: 'proxy', proxies: proxy, header, value };
  }
  if (allowClient === undefined) return undefined;
  if (clientCa === undefined) {
    throw wrongTlsFlags(
      '--allow-client stands without --client-ca',
      'Name the authority that issues the certificates.',
    );
  }
  return { from: 'connection', allowed: allowClient };
}
