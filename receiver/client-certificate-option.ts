/** The option that turns the check of client certificates on, checked at start-up. */
import { BlockList, isIP } from 'node:net';
import { HookproofError, RESERVED_HEADERS } from '../contract/index.ts';

/**
 * Who is asked about the client's certificate: the connection itself, or a proxy in front that ends TLS. Specification: Mutual TLS.
 *
 * Headers about certificates (`X-SSL-Client-Verify`, `X-Forwarded-Client-Cert` and the like) are believed in one case only: `from: 'proxy'`, the TCP
 * connection comes from one of `proxies`, and the one declared header stands there once, with exactly the declared value. The proxy has to
 * replace the header on every request, or a client could send its own.
 */
export type ClientCertificateOption =
  | {
      readonly from: 'connection';
      /**
       * Subject common names or alternative names of the certificates that may deliver, exactly as they stand there: for an authority that issues
       * to others as well. By default every certificate of the authority may.
       */
      readonly allowed?: readonly string[];
    }
  | {
      readonly from: 'proxy';
      /** IP addresses, for example `127.0.0.1`. */
      readonly proxies: readonly string[];
      /** For example `X-SSL-Client-Verify`. */
      readonly header: string;
      /** For example `SUCCESS`. */
      readonly value: string;
    };

/** The option as the stage needs it. The header name is in lower case. */
export type ClientCertificateConfig =
  | { readonly from: 'connection'; readonly allowed: readonly string[] | undefined }
  | { readonly from: 'proxy'; readonly proxies: BlockList; readonly header: string; readonly value: string };

/** Checks the option. Throws {@link HookproofError} `RECEIVER_CLIENT_CERTIFICATE`. */
export function resolveClientCertificate(option: ClientCertificateOption): ClientCertificateConfig {
  switch (option.from) {
    case 'connection':
      if (option.allowed !== undefined && !isListOfTexts(option.allowed)) {
        throw wrong('clientCertificate.allowed is empty, or one of its names is.', 'Name a client, or leave it out.');
      }
      return { from: 'connection', allowed: option.allowed && [...option.allowed] };
    case 'proxy':
      return resolveProxy(option);
    default:
      throw wrong(
        'clientCertificate.from is neither "connection" nor "proxy".',
        'Say which, or leave clientCertificate out.',
      );
  }
}

function resolveProxy(option: Extract<ClientCertificateOption, { from: 'proxy' }>): ClientCertificateConfig {
  const { proxies, header, value } = option;
  // An address with a zone (fe80::1%eth0) means another neighbour on every machine.
  if (!isListOfTexts(proxies) || !proxies.every((proxy) => isIP(proxy) !== 0 && !proxy.includes('%'))) {
    throw wrong('clientCertificate.proxies is not a list of IP addresses.', "For example ['127.0.0.1'].");
  }
  if (
    typeof header !== 'string' ||
    !/^[\w!#$%&'*+.^`|~-]+$/.test(header) ||
    RESERVED_HEADERS.has(header.toLowerCase())
  ) {
    throw wrong('clientCertificate.header is not a header name that can be used.', 'For example X-SSL-Client-Verify.');
  }
  if (typeof value !== 'string' || value.trim() === '' || value.trim() !== value) {
    throw wrong(
      'clientCertificate.value is empty or has white space around it.',
      'Give what the proxy writes after it has verified a certificate, for example SUCCESS.',
    );
  }
  const list = new BlockList();
  for (const proxy of proxies) list.addAddress(proxy, isIP(proxy) === 4 ? 'ipv4' : 'ipv6');
  return { from: 'proxy', proxies: list, header: header.toLowerCase(), value };
}

function isListOfTexts(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0 && list.every((text) => typeof text === 'string' && text.trim() !== '');
}

function wrong(message: string, hint: string): HookproofError {
  return new HookproofError('RECEIVER_CLIENT_CERTIFICATE', message, { hint });
}
