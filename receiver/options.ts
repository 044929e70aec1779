/** The option that turns the check of client certificates on, checked at start-up. */
import { BlockList, isIP } from 'node:net';
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  HookproofError,
  LIMITS,
  RESERVED_HEADERS,
  sameHeaderName,
} from '../contract/index.ts';
import type { DeliveryObserver } from './delivery-report.ts';
import { type Handlers, type HandlingPolicy, resolveHandlingPolicy } from './handling/handlers.ts';
import { type Inbox, type InboxMeter, silentMeter } from './inbox/inbox.ts';
import { memoryInbox } from './inbox/memory-inbox.ts';
import { type ReceiverLogger, silentLogger } from './logger.ts';

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
function resolveClientCertificate(option: ClientCertificateOption): ClientCertificateConfig {
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

/** The configuration of a receiver, checked at start-up: what is missing or empty fails closed. */

export interface ReceiverOptions {
  /**
   * Requires the HMAC signature. During a rotation several secrets are valid: the first is the current one, and the use of another is
   * logged as a warning. `header` defaults to X-Service-Signature.
   */
  readonly signing?: { readonly secrets: readonly string[]; readonly header?: string };
  /** Requires the API key. Several keys during a rotation, the current one first, as with secrets. `header` defaults to X-API-Key. */
  readonly apiKey?: { readonly keys: readonly string[]; readonly header?: string };
  /** Requires a client certificate (mutual TLS). `startReceiver` fills it in from `tls`. */
  readonly clientCertificate?: ClientCertificateOption;
  /** Has to be stated to run with none of them: whoever finds the URL can then deliver anything. */
  readonly open?: true;
  /** The path of the registered URL, for example `/webhooks`. Any path by default. */
  readonly path?: string;
  /** The largest body that is taken, in bytes. 1 MiB by default; the specification states no maximum. */
  readonly bodyLimit?: number;
  /** Levels of nesting that a body may have. 64 by default; notifications have 4. Deeper ones are answered 400. */
  readonly maxDepth?: number;
  /** Your code, by kind of notification. */
  readonly handlers?: Handlers;
  /** How they are tried: how many at a time, how often, how long. */
  readonly handling?: Partial<HandlingPolicy>;
  /** Where accepted notifications are kept. In memory by default; `openInbox` gives one that outlives the process. Whoever opens it closes it. */
  readonly inbox?: Inbox;
  /** Told what storing and handling take. */
  readonly meter?: InboxMeter;
  /** A pino logger, or anything like it. Silent by default. */
  readonly logger?: ReceiverLogger;
  /** Told of every delivery when it is over, beside the log. */
  readonly observers?: readonly DeliveryObserver[];
}

/** The options with every default filled in. Header names are in lower case. */
export interface ReceiverConfig {
  readonly signing: { readonly secrets: readonly string[]; readonly header: string } | undefined;
  readonly apiKey: { readonly keys: readonly string[]; readonly header: string } | undefined;
  readonly clientCertificate: ClientCertificateConfig | undefined;
  readonly path: string | undefined;
  readonly bodyLimit: number;
  readonly maxDepth: number;
  readonly handlers: Handlers;
  readonly handling: HandlingPolicy;
  readonly meter: InboxMeter;
  readonly inbox: Inbox;
  readonly logger: ReceiverLogger;
  readonly observers: readonly DeliveryObserver[];
  /** What is allowed and not wise, for the log. */
  readonly warnings: readonly string[];
}

const DEFAULT_BODY_LIMIT = 1024 * 1024;
const DEFAULT_MAX_DEPTH = 64;

/** Checks the options. Throws {@link HookproofError} (`RECEIVER_*`), which never holds a secret's value. */
export function resolveOptions(options: ReceiverOptions): ReceiverConfig {
  const { signing, apiKey, clientCertificate, open, path, bodyLimit = DEFAULT_BODY_LIMIT } = options;
  const { maxDepth = DEFAULT_MAX_DEPTH } = options;
  if (signing === undefined && apiKey === undefined && clientCertificate === undefined && open !== true) {
    throw new HookproofError('RECEIVER_UNPROTECTED', 'Neither a signature secret nor an API key is configured.', {
      hint: 'Set signing.secrets or apiKey.keys, or state open: true to take deliveries from anyone.',
    });
  }
  if (open === true && (signing !== undefined || apiKey !== undefined)) {
    throw new HookproofError('RECEIVER_OPEN_CONFLICT', 'open: true stands beside a signature secret or an API key.', {
      hint: 'Leave out open: true; what is configured is then required.',
    });
  }
  if (path !== undefined && !path.startsWith('/')) {
    throw new HookproofError('RECEIVER_PATH', 'The path does not start with "/".', {
      hint: 'Give the path of the registered URL, for example /webhooks.',
    });
  }
  if (!Number.isSafeInteger(bodyLimit) || bodyLimit < 1) {
    throw new HookproofError('RECEIVER_BODY_LIMIT', 'bodyLimit is not a whole number of bytes above 0.', {
      hint: `Give a number of bytes, for example ${DEFAULT_BODY_LIMIT}.`,
    });
  }
  if (!Number.isSafeInteger(maxDepth) || maxDepth < 1) {
    throw new HookproofError('RECEIVER_MAX_DEPTH', 'maxDepth is not a whole number of levels above 0.', {
      hint: `Give a number of levels, for example ${DEFAULT_MAX_DEPTH}.`,
    });
  }

  const signatureHeader = signing?.header ?? DEFAULT_SIGNATURE_HEADER;
  const apiKeyHeader = apiKey?.header ?? DEFAULT_API_KEY_HEADER;
  const warnings: string[] = [];
  if (open === true && clientCertificate === undefined) warnings.push('open: anyone can deliver');
  if (signing !== undefined) {
    requireHeaderName(signatureHeader, 'signing.header');
    requireValues(signing.secrets, 'signing.secrets');
    if (signing.secrets.some((secret) => secret.length < LIMITS.recommendedSecretLength)) {
      warnings.push(`a signature secret is shorter than ${LIMITS.recommendedSecretLength} characters`);
    }
    if (signing.secrets.some((secret) => secret.trim() !== secret)) {
      warnings.push(
        'a signature secret begins or ends with white space, which counts: was a newline read from a file?',
      );
    }
  }
  if (apiKey !== undefined) {
    requireHeaderName(apiKeyHeader, 'apiKey.header');
    requireValues(apiKey.keys, 'apiKey.keys');
    if (!apiKey.keys.every((key) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key))) {
      throw new HookproofError('RECEIVER_KEY_UNSENDABLE', 'An API key cannot be sent in a header as it stands.', {
        hint: 'Use printable ASCII characters with no space at either end. Was a newline read from a file?',
      });
    }
  }
  if (signing !== undefined && apiKey !== undefined && sameHeaderName(signatureHeader, apiKeyHeader)) {
    throw new HookproofError('RECEIVER_HEADER_NAME', 'The signature and the API key have the same header name.', {
      hint: 'Give them two names.',
    });
  }

  return {
    signing: signing && { secrets: [...signing.secrets], header: signatureHeader.toLowerCase() },
    apiKey: apiKey && { keys: [...apiKey.keys], header: apiKeyHeader.toLowerCase() },
    clientCertificate: clientCertificate && resolveClientCertificate(clientCertificate),
    path,
    bodyLimit,
    maxDepth,
    handlers: options.handlers ?? {},
    handling: resolveHandlingPolicy(options.handling),
    meter: options.meter ?? silentMeter,
    inbox: options.inbox ?? memoryInbox(),
    logger: options.logger ?? silentLogger,
    observers: options.observers ?? [],
    warnings,
  };
}

/** What an unset variable turns into when a template or a shell writes it out. */
const PLACEHOLDERS = new Set(['undefined', 'null', '[object Object]']);

function requireValues(values: readonly unknown[], name: string): void {
  const usable = (value: unknown) =>
    typeof value === 'string' && value.trim() !== '' && !PLACEHOLDERS.has(value.trim());
  if (Array.isArray(values) && values.length > 0 && values.every(usable)) return;
  throw new HookproofError('RECEIVER_SECRET_MISSING', `${name} is empty, or one of its values is.`, {
    hint: 'Is the variable or file that it comes from set? To run without this check, leave the whole option out.',
  });
}

function requireHeaderName(name: string, option: string): void {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && !RESERVED_HEADERS.has(name.toLowerCase())) return;
  throw new HookproofError('RECEIVER_HEADER_NAME', `${option} is not a header name that can be used.`, {
    hint: 'Use letters, digits and hyphens, and no name that HTTP itself uses, for example X-Service-Signature.',
  });
}
