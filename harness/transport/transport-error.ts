/** Classifies what Node throws as one transport error. Only this module knows Node's error codes. */
import type { TransportError, TransportErrorKind, TransportPhase } from './attempt.ts';

/** The code of an attempt that exceeded its time limit. */
export const TIMEOUT_CODE = 'HOOKPROOF_TIMEOUT';
/** The code of a delivery that did not fit into the sender's queue. */
export const QUEUE_FULL_CODE = 'HOOKPROOF_QUEUE_FULL';
/** The code of a delivery that began after the sender was closed. */
export const CLOSED_CODE = 'HOOKPROOF_CLOSED';

/** The codes of an attempt that the caller aborted. */
const ABORT_CODES: ReadonlySet<string> = new Set(['ABORT_ERR', 'AbortError']);

const RESET_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);
const DNS_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED']);
const ROUTE_CODES: ReadonlySet<string> = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN']);

/** The fields of Node's errors. */
interface Thrown {
  readonly code: string;
  readonly message: string;
  readonly hostname: string | undefined;
  readonly where: string;
  readonly reason: string | undefined;
  readonly rawPacket: Uint8Array | undefined;
}

/**
 * Classifies an error.
 *
 * @param error anything thrown or emitted; of an AggregateError (several addresses were tried), the most specific one
 * counts
 * @param phase the phase that the attempt had reached
 * @returns kind, phase, Node's code and one sentence without any header value. An unknown error counts as `local`, so
 * that the endpoint is not blamed for it
 */
export function classifyTransportError(error: unknown, phase: TransportPhase): TransportError {
  const thrown = readThrown(mostSpecific(error));
  const [kind, message, where = phase] = classify(thrown, phase);
  const alert = kind === 'tls' ? alertName(thrown.code, thrown.message) : undefined;
  return { kind, phase: where, code: thrown.code, message, ...(alert !== undefined && { alert }) };
}

/** Codes that are not in one of this module's sets. */
const SINGLE_CODES = [
  'ECONNREFUSED',
  'ETIMEDOUT',
  'EPROTO',
  'EAI_AGAIN',
  'HPE_HEADER_OVERFLOW',
  'HPE_INVALID_CONSTANT',
];

/** Returns the error codes of attempts that failed because of the endpoint or the network. */
export function transportErrorCodes(): string[] {
  return [TIMEOUT_CODE, ...SINGLE_CODES, ...RESET_CODES, ...DNS_CODES, ...ROUTE_CODES, ...CERTIFICATE_FAULTS.keys()];
}

/** Explains an error code of Node in a sentence; null for a code that does not concern the endpoint. */
export function explainErrorCode(code: string): TransportError | null {
  const isKnown = transportErrorCodes().includes(code) || /^(?:HPE|EAI|ERR_SSL)_[A-Z_]+$/.test(code);
  return isKnown ? classifyTransportError(Object.assign(new Error(''), { code }), 'answer') : null;
}

type Classification = readonly [kind: TransportErrorKind, sentence: string, phase?: TransportPhase];

function classify(thrown: Thrown, phase: TransportPhase): Classification {
  const { code, message, where } = thrown;
  if (code === TIMEOUT_CODE || code === 'ETIMEDOUT') return classifyTimeout(thrown, phase);
  if (DNS_CODES.has(code) || code.startsWith('EAI_')) {
    return ['dns', `The host name ${thrown.hostname ?? 'of the endpoint'} does not resolve.`, 'dns'];
  }
  if (code === 'ECONNREFUSED')
    return ['refused', `The connection was refused: nothing is listening${where.replace(' at ', ' on ')}.`, 'connect'];
  if (ROUTE_CODES.has(code)) return ['unreachable', `There is no route to the endpoint${where}.`, 'connect'];

  const fault = CERTIFICATE_FAULTS.get(code);
  if (fault !== undefined) return ['tls-untrusted', withReason(fault, thrown.reason), 'tls'];
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return ['tls', handshakeSentence(code, message), 'tls'];

  if (RESET_CODES.has(code)) return classifyReset(phase);
  if (code === 'HPE_HEADER_OVERFLOW') {
    return ['headers-too-large', 'The headers of the answer are larger than the limit of the sender.', 'answer'];
  }
  if (code.startsWith('HPE_')) return ['invalid-http', invalidHttpSentence(thrown), 'answer'];
  if (code === QUEUE_FULL_CODE) return ['local', 'Too many deliveries to this endpoint are waiting for a connection.'];
  if (code === CLOSED_CODE) return ['local', 'The sender was closed before the delivery began.'];
  if (ABORT_CODES.has(code)) return ['local', 'The caller aborted the delivery.'];
  return ['local', `The request could not be sent from here (${code}).`];
}

/** Classifies a timeout. Before a connection is established, it means that the endpoint cannot be reached. */
function classifyTimeout({ hostname, where }: Thrown, phase: TransportPhase): Classification {
  switch (phase) {
    case 'dns':
      return ['dns', `The host name ${hostname ?? 'of the endpoint'} was not resolved within the time limit.`];
    case 'connect':
      return ['unreachable', `No connection${where} could be made within the time limit.`];
    case 'tls':
      return [
        'timeout',
        'The endpoint accepted the connection but did not finish the TLS handshake within the time limit.',
      ];
    case 'send':
      return ['timeout', 'The endpoint did not read the whole request within the time limit.'];
    case 'answer':
      return ['timeout', 'The endpoint read the request but gave no complete answer within the time limit.'];
  }
}

/**
 * Classifies a closed connection. During the handshake it is a handshake failure: some servers reject a client
 * certificate this way.
 */
function classifyReset(phase: TransportPhase): Classification {
  switch (phase) {
    case 'dns':
    case 'connect':
      return ['reset', 'The connection was reset while it was being made.', 'connect'];
    case 'tls':
      return [
        'tls',
        'The endpoint closed the connection during the TLS handshake without an alert. ' +
          'Some servers reject a client certificate, or a missing one, like this.',
      ];
    case 'send':
      return ['reset', 'The endpoint closed the connection before it had read the whole request, and gave no answer.'];
    case 'answer':
      return ['reset', 'The endpoint closed the connection before it had sent a complete answer.'];
  }
}

function invalidHttpSentence({ rawPacket }: Thrown): string {
  // A TLS server answers plain HTTP with an alert record: type 21, major version 3.
  if (rawPacket?.[0] === 21 && rawPacket[1] === 3) {
    return 'The endpoint speaks TLS on this port: use an https URL.';
  }
  return 'The endpoint sent something that is not an HTTP answer.';
}

/** Appends Node's reason, which lists the requested host and the names in the certificate, possibly many. */
function withReason(sentence: string, reason: string | undefined): string {
  if (reason === undefined) return sentence;
  const text = reason.replace(/[^\x20-\x7e]/g, '?');
  return `${sentence} ${text.length > 200 ? `${text.slice(0, 200)}...` : text}`;
}

/** Returns the most specific error of several addresses: a refused connection, because the host exists. */
function mostSpecific(error: unknown): unknown {
  if (!(error instanceof AggregateError) || error.errors.length === 0) return error;
  const causes: readonly unknown[] = error.errors;
  return causes.find((cause) => readThrown(cause).code === 'ECONNREFUSED') ?? causes[0];
}

function readThrown(error: unknown): Thrown {
  const fields = (typeof error === 'object' && error !== null ? error : {}) as Readonly<Record<string, unknown>>;
  const code = textOf(fields.code) ?? (error instanceof Error ? error.name : 'UNKNOWN');
  const address = textOf(fields.address);
  const port = fields.port;
  return {
    code,
    message: error instanceof Error ? error.message : '',
    hostname: textOf(fields.hostname),
    where:
      address === undefined
        ? ''
        : ` at ${address.includes(':') ? `[${address}]` : address}${port === undefined ? '' : `:${port}`}`,
    reason: textOf(fields.reason),
    rawPacket: fields.rawPacket instanceof Uint8Array ? fields.rawPacket : undefined,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Node's codes for untrusted certificates, each with a sentence; they all mean `tls-untrusted`. */
const CERTIFICATE_FAULTS: ReadonlyMap<string, string> = new Map([
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'The certificate of the endpoint is self-signed: no CA that is trusted here issued it.',
  ],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'The certificate chain of the endpoint ends at a root CA that is not trusted here.'],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'The certificate of the endpoint cannot be traced to a trusted CA: the endpoint does not send an intermediate ' +
      'certificate, or its CA is not trusted here.',
  ],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'The certificate chain of the endpoint ends at a CA that is not trusted here.'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'The certificate chain of the endpoint lacks the certificate of an issuer.'],
  ['CERT_HAS_EXPIRED', 'The certificate of the endpoint, or an intermediate one that it sends, has expired.'],
  ['CERT_NOT_YET_VALID', 'The certificate of the endpoint is not valid yet, or a clock is wrong.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate of the endpoint is not for the name in the URL.'],
  ['HOSTNAME_MISMATCH', 'The certificate of the endpoint is not for the name in the URL.'],
  ['CERT_REVOKED', 'The certificate of the endpoint has been revoked.'],
  ['CERT_SIGNATURE_FAILURE', 'A signature in the certificate chain of the endpoint is invalid.'],
  ['CERT_CHAIN_TOO_LONG', 'The certificate chain of the endpoint is too long.'],
  ['CERT_UNTRUSTED', 'The CA of the certificate is not trusted for this purpose.'],
  ['CERT_REJECTED', 'The CA of the certificate is marked as rejected for this purpose.'],
  ['INVALID_CA', 'A certificate in the chain of the endpoint issues others but is not a CA.'],
  ['INVALID_PURPOSE', 'The certificate of the endpoint is not for servers (extended key usage).'],
  ['PATH_LENGTH_EXCEEDED', 'The certificate chain of the endpoint is longer than one of its CAs allows.'],
  [
    'UNSPECIFIED',
    'The certificate chain of the endpoint is not acceptable. Usual causes: a SHA-1 signature, or an issuer that ' +
      'is not a CA.',
  ],
]);

/**
 * Returns the sentence for any other handshake failure. `message` is OpenSSL's and contains the alert or the reason.
 */
function handshakeSentence(code: string, message: string): string {
  const alert = alertName(code, message);
  if (alert !== undefined) {
    if (isAboutClientCertificate(alert)) {
      return `The endpoint rejected the client certificate, or a missing one, with the TLS alert ${alert}.`;
    }
    if (alert === 'handshake_failure') {
      return (
        'The endpoint ended the TLS handshake with the alert handshake_failure: it may require a client certificate, ' +
        'or have no cipher in common.'
      );
    }
    return `The endpoint ended the TLS handshake with the alert ${alert}.`;
  }
  if (
    /wrong.version.number|WRONG_VERSION_NUMBER|packet length too long|PACKET_LENGTH_TOO_LONG/.test(`${code} ${message}`)
  ) {
    return 'The endpoint does not speak TLS on this port.';
  }
  if (/UNSUPPORTED_PROTOCOL|unsupported protocol/.test(`${code} ${message}`)) {
    return 'The endpoint speaks only TLS versions below 1.2.';
  }
  return `The TLS handshake with the endpoint failed (${code}).`;
}

/** Returns the name of the alert that the other side sent, from an OpenSSL error. */
function alertName(code: string, message: string): string | undefined {
  const number = /SSL alert number (\d+)/.exec(message)?.[1];
  if (number !== undefined) return alertNameOf(Number(number));
  return /(?<=_ALERT_)[A-Z_]+$/.exec(code)?.[0].toLowerCase();
}

/** TLS alerts (RFC 8446, section 6, and its predecessors). */
const ALERTS: ReadonlyMap<number, string> = new Map([
  [0, 'close_notify'],
  [10, 'unexpected_message'],
  [20, 'bad_record_mac'],
  [21, 'decryption_failed'],
  [22, 'record_overflow'],
  [30, 'decompression_failure'],
  [40, 'handshake_failure'],
  [41, 'no_certificate'],
  [42, 'bad_certificate'],
  [43, 'unsupported_certificate'],
  [44, 'certificate_revoked'],
  [45, 'certificate_expired'],
  [46, 'certificate_unknown'],
  [47, 'illegal_parameter'],
  [48, 'unknown_ca'],
  [49, 'access_denied'],
  [50, 'decode_error'],
  [51, 'decrypt_error'],
  [60, 'export_restriction'],
  [70, 'protocol_version'],
  [71, 'insufficient_security'],
  [80, 'internal_error'],
  [86, 'inappropriate_fallback'],
  [90, 'user_canceled'],
  [100, 'no_renegotiation'],
  [109, 'missing_extension'],
  [110, 'unsupported_extension'],
  [112, 'unrecognized_name'],
  [115, 'unknown_psk_identity'],
  [116, 'certificate_required'],
  [120, 'no_application_protocol'],
]);

export const TLS_ALERTS: readonly string[] = [...ALERTS.values()];

/** Returns "handshake_failure" for 40; "number 99" for an unknown one. */
export function alertNameOf(number: number): string {
  return ALERTS.get(number) ?? `number ${number}`;
}

/** Alerts that concern only the client certificate or its absence. */
const ABOUT_CLIENT_CERTIFICATE: ReadonlySet<string> = new Set([
  'bad_certificate',
  'unsupported_certificate',
  'certificate_revoked',
  'certificate_expired',
  'certificate_unknown',
  'unknown_ca',
  'access_denied',
  'certificate_required',
]);

export function isAboutClientCertificate(alert: string): boolean {
  return ABOUT_CLIENT_CERTIFICATE.has(alert);
}
