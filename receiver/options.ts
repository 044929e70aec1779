/**
 * The configuration of a receiver. It is checked at start-up: a missing credential is an error, and never disables a
 * check.
 */
import { BlockList, isIP } from 'node:net';
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  HookproofError,
  LIMITS,
  RESERVED_HEADERS,
  sameHeaderName,
  TOKEN,
} from '../contract/index.ts';
import { requireSchemeKey } from '../contract/signing/schemes/check-scheme.ts';
import type { Scheme } from '../contract/signing/schemes/scheme.ts';
import { signatureHeaderOf } from '../contract/signing/schemes/sign-scheme.ts';
import {
  type Budget,
  type ConnectionObserver,
  createBudget,
  MAX_TIMER_MS,
  requirePositive,
  resolveLimits,
  type ServerLimits,
  silentConnectionObserver,
} from './budget.ts';
import type { DeliveryObserver } from './delivery-report.ts';
import { type Handlers, type HandlingPolicy, resolveHandlingPolicy } from './handling/handlers.ts';
import { type Inbox, type InboxMeter, silentMeter } from './inbox/inbox.ts';
import { memoryInbox } from './inbox/memory-inbox.ts';
import type { NotificationSink } from './inbox/notification-sink.ts';
import { type ReceiverLogger, silentLogger } from './logger.ts';

export interface ReceiverOptions {
  /**
   * Requires the HMAC signature. During a rotation, several secrets are valid: the first is the current one, and a
   * delivery with any other is logged as a warning. `header` defaults to X-Service-Signature.
   *
   * With `scheme`, deliveries of another service are verified instead, in its headers. Their bodies can be any JSON, or
   * any bytes if the Content-Type is not JSON. They are answered and reported to `observers`, but not stored, because
   * inboxes, sinks and handlers take notifications. `publicUrl` is the URL to which the service delivers, for a scheme
   * that signs it. Default: the URL in the request. The client chooses its Host, but gains nothing by that: a signature
   * for another URL does not match. Set `publicUrl` behind a proxy that terminates TLS or rewrites the URL.
   */
  readonly signing?: {
    readonly secrets: readonly string[];
    readonly header?: string;
    readonly scheme?: Scheme;
    readonly publicUrl?: string;
  };
  /**
   * Requires the API key. During a rotation, several keys are valid, the current one first. `header` defaults to
   * X-API-Key.
   */
  readonly apiKey?: { readonly keys: readonly string[]; readonly header?: string };
  /**
   * Requires a client certificate (mutual TLS). `startReceiver` adds this option when `tls.clientCertificate` is given.
   */
  readonly clientCertificate?: ClientCertificateOption;
  /**
   * Must be set when neither `signing` nor `apiKey` nor `clientCertificate` is. Anyone who knows the URL can then
   * deliver anything.
   */
  readonly open?: true;
  /** Path of the URL to which the sender delivers, for example `/webhooks`. Default: any path is accepted. */
  readonly path?: string;
  /** Maximum size of an accepted body, in bytes. Default: 1 MiB. The specification states no maximum. */
  readonly bodyLimit?: number;
  /** Limits on what all clients together can consume. The limits on connections and requests need `startReceiver`. */
  readonly limits?: ServerLimits;
  /** Maximum nesting of a body, in levels. Default: 64; notifications have 4. Bodies with more are answered 400. */
  readonly maxDepth?: number;
  /** Your handlers, by kind of notification. */
  readonly handlers?: Handlers;
  /** Concurrency, time limits and retries of handlers. */
  readonly handling?: Partial<HandlingPolicy>;
  /**
   * Where accepted notifications are stored. Default: in memory. `openInbox` opens an inbox that survives the process.
   * The receiver does not close the inbox.
   */
  readonly inbox?: Inbox;
  /**
   * Stores accepted notifications instead of an inbox, usually in a message broker, from which other programs receive
   * them. Cannot be combined with `inbox` or `handlers`. The receiver does not close the sink.
   */
  readonly sink?: NotificationSink;
  /** Maximum time that a delivery waits for the sink, in milliseconds, before it is answered 503. Default: 5,000. */
  readonly sinkTimeLimitMs?: number;
  /** Receives the durations of storing and of handling. */
  readonly meter?: InboxMeter;
  /** A pino logger, or a compatible one. Default: no logging. */
  readonly logger?: ReceiverLogger;
  /** Called after every delivery. */
  readonly observers?: readonly DeliveryObserver[];
  /** Receives events about connections, including those that are closed at a limit. */
  readonly connectionObserver?: ConnectionObserver;
}

/**
 * How the client's certificate is checked: on the connection itself, or by a proxy in front that terminates TLS.
 * Specification: Mutual TLS.
 *
 * Headers about certificates (`X-SSL-Client-Verify`, `X-Forwarded-Client-Cert` and the like) are trusted only with
 * `from: 'proxy'`, on a TCP connection from one of `proxies`, when the configured header occurs exactly once and has
 * exactly the configured value. The proxy must replace the header on every request; otherwise a client could send its
 * own.
 */
export type ClientCertificateOption =
  | {
      readonly from: 'connection';
      /**
       * Names of the certificates that may deliver: common names, or host names or IP addresses of the subject
       * alternative name, spelt exactly as in the certificate. Other types of names, such as URIs, are never compared.
       * Use this when the CA also issues certificates to other clients. Default: every certificate of the CA may
       * deliver.
       */
      readonly allowed?: readonly string[];
    }
  | {
      readonly from: 'proxy';
      /** IP addresses of the proxies, for example `127.0.0.1`. */
      readonly proxies: readonly string[];
      /** Name of the header, for example `X-SSL-Client-Verify`. */
      readonly header: string;
      /** Value that the proxy sends after it has verified a certificate, for example `SUCCESS`. */
      readonly value: string;
    };

/** The option in the form that the stage uses. The header name is in lower case. */
export type ClientCertificateConfig =
  | { readonly from: 'connection'; readonly allowed: readonly string[] | undefined }
  | { readonly from: 'proxy'; readonly proxies: BlockList; readonly header: string; readonly value: string };

/** The options with all defaults filled in. Header names are in lower case. */
export interface ReceiverConfig {
  /** Read `secrets` for each delivery, because reloading replaces the list. */
  readonly signing:
    | { secrets: readonly string[]; readonly header: string; readonly scheme?: Scheme; readonly publicUrl?: string }
    | undefined;
  readonly apiKey: { readonly keys: readonly string[]; readonly header: string } | undefined;
  readonly clientCertificate: ClientCertificateConfig | undefined;
  readonly path: string | undefined;
  readonly bodyLimit: number;
  readonly budget: Budget;
  /** Keeps bodies of requests that are already rejected because of their headers. */
  readonly keepsRejectedBodies: boolean;
  readonly maxDepth: number;
  readonly handlers: Handlers;
  readonly handling: HandlingPolicy;
  readonly meter: InboxMeter;
  /** Stays empty when a sink is configured. */
  readonly inbox: Inbox;
  readonly sink: NotificationSink | undefined;
  readonly sinkTimeLimitMs: number;
  readonly logger: ReceiverLogger;
  readonly observers: readonly DeliveryObserver[];
  /** Warnings for the log about options that are allowed but not advisable. */
  readonly warnings: readonly string[];
}

const DEFAULT_BODY_LIMIT = 1024 * 1024;
export const DEFAULT_MAX_DEPTH = 64;
/** Default time limit of a sink, in milliseconds. Inboxes answer within the same time. */
const DEFAULT_SINK_TIME_LIMIT_MS = 5000;

/** Checks the options. Throws {@link HookproofError} (`RECEIVER_*`), which never contains the value of a secret. */
export function resolveOptions(options: ReceiverOptions): ReceiverConfig {
  const { signing, apiKey, clientCertificate, path } = options;
  const { bodyLimit = DEFAULT_BODY_LIMIT, maxDepth = DEFAULT_MAX_DEPTH } = options;
  const { sinkTimeLimitMs = DEFAULT_SINK_TIME_LIMIT_MS } = options;
  checkProtection(options);
  checkSink(options);
  checkScheme(options);
  if (path !== undefined && !path.startsWith('/')) {
    throw new HookproofError('RECEIVER_PATH', 'The path does not start with "/".', {
      hint: 'Use the path of the registered URL, for example /webhooks.',
    });
  }
  requirePositive('RECEIVER_BODY_LIMIT', 'bodyLimit', 'bytes', bodyLimit, DEFAULT_BODY_LIMIT);
  requirePositive('RECEIVER_MAX_DEPTH', 'maxDepth', 'levels', maxDepth, DEFAULT_MAX_DEPTH);
  const sinkLimit = sinkTimeLimitMs <= MAX_TIMER_MS ? sinkTimeLimitMs : Number.NaN;
  requirePositive('RECEIVER_SINK', 'sinkTimeLimitMs', 'milliseconds', sinkLimit, DEFAULT_SINK_TIME_LIMIT_MS);
  const limits = resolveLimits(options.limits, bodyLimit);

  const ofScheme = signing?.scheme && signatureHeaderOf(signing.scheme);
  const signatureHeader = signing?.header ?? ofScheme ?? DEFAULT_SIGNATURE_HEADER;
  const apiKeyHeader = apiKey?.header ?? DEFAULT_API_KEY_HEADER;
  if (signing !== undefined) {
    requireHeaderName(signatureHeader, 'signing.header');
    requireValues(signing.secrets, 'signing.secrets');
  }
  if (apiKey !== undefined) {
    requireHeaderName(apiKeyHeader, 'apiKey.header');
    requireValues(apiKey.keys, 'apiKey.keys');
    if (!apiKey.keys.every((key) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key))) {
      throw new HookproofError('RECEIVER_KEY_UNSENDABLE', 'An API key cannot be sent in a header.', {
        hint: 'Use printable ASCII characters without leading or trailing spaces. Was a newline read from a file?',
      });
    }
  }
  if (signing !== undefined && apiKey !== undefined && sameHeaderName(signatureHeader, apiKeyHeader)) {
    throw new HookproofError('RECEIVER_HEADER_NAME', 'The signature and the API key have the same header name.', {
      hint: 'Use two different names.',
    });
  }

  return {
    signing: signing && { ...signing, secrets: [...signing.secrets], header: signatureHeader.toLowerCase() },
    apiKey: apiKey && { keys: [...apiKey.keys], header: apiKeyHeader.toLowerCase() },
    clientCertificate: clientCertificate && resolveClientCertificate(clientCertificate),
    path,
    bodyLimit,
    budget: createBudget(limits, options.connectionObserver ?? silentConnectionObserver),
    keepsRejectedBodies: options.observers?.some((observe) => observe.needsRejectedBodies === true) ?? false,
    maxDepth,
    handlers: options.handlers ?? {},
    handling: resolveHandlingPolicy(options.handling),
    meter: options.meter ?? silentMeter,
    inbox: options.inbox ?? memoryInbox(),
    sink: options.sink,
    sinkTimeLimitMs,
    logger: options.logger ?? silentLogger,
    observers: options.observers ?? [],
    warnings: warningsAbout(options),
  };
}

/** Replaces the valid secrets. Throws as {@link resolveOptions} does; the old secrets then stay valid. */
export function replaceSecrets({ signing }: Pick<ReceiverConfig, 'signing'>, secrets: readonly string[]): void {
  if (signing === undefined) {
    throw new HookproofError('RECEIVER_SECRET_MISSING', 'The receiver was started without an HMAC secret.', {
      hint: 'Restart it with `signing.secrets`: whether signatures are required cannot be changed while it runs.',
    });
  }
  requireValues(secrets, 'secrets');
  if (signing.scheme !== undefined) for (const secret of secrets) requireSchemeKey(signing.scheme, secret);
  signing.secrets = [...secrets];
}

function checkProtection({ signing, apiKey, clientCertificate, open }: ReceiverOptions): void {
  if (signing === undefined && apiKey === undefined && clientCertificate === undefined && open !== true) {
    throw new HookproofError(
      'RECEIVER_UNPROTECTED',
      'No HMAC secret, no API key and no client certificate is configured.',
      {
        hint:
          'Set `signing.secrets`, `apiKey.keys` or `clientCertificate`, or `open: true` to accept deliveries ' +
          'from anyone.',
      },
    );
  }
  if (open === true && (signing !== undefined || apiKey !== undefined || clientCertificate !== undefined)) {
    throw new HookproofError(
      'RECEIVER_OPEN_CONFLICT',
      '`open: true` is set together with an HMAC secret, an API key or a client certificate.',
      { hint: 'Remove `open: true`, or the credentials that it makes optional.' },
    );
  }
}

/** Rejects a sink together with an inbox or with handlers, which need the claims of an inbox. */
function checkSink({ sink, inbox, handlers = {} }: ReceiverOptions): void {
  if (sink === undefined) return;
  if (typeof sink?.put !== 'function') {
    throw new HookproofError('RECEIVER_SINK', '`sink` has no `put` method.', {
      hint: 'Add a `put` method that stores a notification and resolves when it is durable.',
    });
  }
  if (inbox !== undefined) {
    throw new HookproofError(
      'RECEIVER_SINK',
      '`sink` and `inbox` are both set: a notification is stored in one of them.',
      {
        hint: 'Leave out `inbox` to pass notifications on to the sink, or `sink` to handle them here.',
      },
    );
  }
  if (Object.values(handlers).every((handler) => handler === undefined)) return;
  throw new HookproofError(
    'RECEIVER_SINK',
    '`sink` and `handlers` are both set: handlers claim their work from an inbox.',
    {
      hint:
        'Leave out `handlers`, and handle notifications in a consumer of the broker; or use `inbox` instead of ' +
        '`sink`.',
    },
  );
}

/** Rejects options that a scheme excludes. Throws `SECRET_INVALID` for a secret without a key of the scheme. */
function checkScheme({ signing, inbox, sink, handlers = {} }: ReceiverOptions): void {
  if (signing === undefined) return;
  const { scheme, header, publicUrl, secrets } = signing;
  if (scheme === undefined) {
    if (publicUrl === undefined) return;
    throw new HookproofError('RECEIVER_SCHEME', '`signing.publicUrl` is set without `signing.scheme`.', {
      hint: 'Leave it out: only the schemes of some other services sign the URL.',
    });
  }
  if (header !== undefined) {
    throw new HookproofError('RECEIVER_SCHEME', '`signing.header` and `signing.scheme` are both set.', {
      hint: 'Leave out `signing.header`: the scheme names its headers.',
    });
  }
  if (publicUrl !== undefined && !URL.canParse(publicUrl)) {
    throw new HookproofError('RECEIVER_SCHEME', '`signing.publicUrl` is not a URL.', {
      hint: 'Use the URL that is registered with the service, for example https://partner.test/webhooks.',
    });
  }
  if (inbox !== undefined || sink !== undefined || Object.values(handlers).some((handler) => handler !== undefined)) {
    throw new HookproofError(
      'RECEIVER_SCHEME',
      '`signing.scheme` is set together with `inbox`, `sink` or `handlers`.',
      {
        hint: 'Leave them out: they take notifications. Use `observers` for the deliveries of another service.',
      },
    );
  }
  requireValues(secrets, 'signing.secrets');
  for (const secret of secrets) requireSchemeKey(scheme, secret);
}

function warningsAbout({ signing, open }: ReceiverOptions): string[] {
  const secrets = signing?.secrets ?? [];
  const minLength = LIMITS.recommendedSecretLength;
  const warnings: string[] = [];
  if (open === true) warnings.push('`open: true`: anyone can deliver');
  if (secrets.some((secret) => secret.length < minLength)) {
    warnings.push(`an HMAC secret is shorter than ${minLength} characters`);
  }
  if (secrets.some((secret) => secret.trim() !== secret)) {
    warnings.push('an HMAC secret begins or ends with whitespace, which counts: was a newline read from a file?');
  }
  return warnings;
}

/** Texts that templates and shells produce from an unset variable. */
const PLACEHOLDERS = new Set(['undefined', 'null', '[object Object]']);

function requireValues(values: readonly unknown[], option: string): void {
  const isUsable = (value: unknown) =>
    typeof value === 'string' && value.trim() !== '' && !PLACEHOLDERS.has(value.trim());
  if (Array.isArray(values) && values.length > 0 && values.every(isUsable)) return;
  throw new HookproofError('RECEIVER_SECRET_MISSING', `\`${option}\` is empty, or one of its values is.`, {
    hint: 'Is the variable or file that it comes from set? To run without this check, leave out the whole option.',
  });
}

function isUsableHeaderName(name: unknown): boolean {
  return typeof name === 'string' && TOKEN.test(name) && !RESERVED_HEADERS.has(name.toLowerCase());
}

function requireHeaderName(name: string, option: string): void {
  if (isUsableHeaderName(name)) return;
  throw new HookproofError('RECEIVER_HEADER_NAME', `\`${option}\` is not a usable header name.`, {
    hint: 'Use letters, digits and hyphens, for example X-Service-Signature, but no name that HTTP itself uses.',
  });
}

function resolveClientCertificate(option: ClientCertificateOption): ClientCertificateConfig {
  switch (option.from) {
    case 'connection':
      if (option.allowed !== undefined && !isListOfTexts(option.allowed)) {
        throw invalidCertificateOption(
          '`clientCertificate.allowed` is empty, or one of its names is.',
          'Name a client, or leave it out.',
        );
      }
      return { from: 'connection', allowed: option.allowed && [...option.allowed] };
    case 'proxy':
      return resolveProxy(option);
    default:
      throw invalidCertificateOption(
        '`clientCertificate.from` is neither "connection" nor "proxy".',
        'Use one of the two, or leave out `clientCertificate`.',
      );
  }
}

function resolveProxy(option: Extract<ClientCertificateOption, { from: 'proxy' }>): ClientCertificateConfig {
  const { proxies, header, value } = option;
  // An address with a zone (fe80::1%eth0) means a different host on every machine.
  if (!isListOfTexts(proxies) || !proxies.every((proxy) => isIP(proxy) !== 0 && !proxy.includes('%'))) {
    throw invalidCertificateOption(
      '`clientCertificate.proxies` is not a list of IP addresses.',
      "For example ['127.0.0.1'].",
    );
  }
  if (!isUsableHeaderName(header)) {
    throw invalidCertificateOption(
      '`clientCertificate.header` is not a usable header name.',
      'For example X-SSL-Client-Verify.',
    );
  }
  if (typeof value !== 'string' || value.trim() === '' || value.trim() !== value) {
    throw invalidCertificateOption(
      '`clientCertificate.value` is empty, or begins or ends with whitespace.',
      'Use the value that the proxy sends after it has verified a certificate, for example SUCCESS.',
    );
  }
  const list = new BlockList();
  for (const proxy of proxies) list.addAddress(proxy, isIP(proxy) === 4 ? 'ipv4' : 'ipv6');
  return { from: 'proxy', proxies: list, header: header.toLowerCase(), value };
}

function isListOfTexts(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0 && list.every((text) => typeof text === 'string' && text.trim() !== '');
}

function invalidCertificateOption(problem: string, hint: string): HookproofError {
  return new HookproofError('RECEIVER_CLIENT_CERTIFICATE', problem, { hint });
}
