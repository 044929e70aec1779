/** Turns what Node throws into one classified transport error. The only place that knows Node's error codes. */
import type { TransportError, TransportErrorKind, TransportPhase } from './attempt.ts';

/** The code of an attempt that ran into its time limit. */
export const TIMEOUT_CODE = 'HOOKPROOF_TIMEOUT';

/** The code of an attempt that the caller broke off. */
const ABORT_CODES: ReadonlySet<string> = new Set(['ABORT_ERR', 'AbortError']);

const RESET_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);
const DNS_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED']);
const ROUTE_CODES: ReadonlySet<string> = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN']);

/** What Node's errors carry. Whatever else is thrown has none of it. */
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
 * @param error whatever was thrown or emitted; of an AggregateError (several addresses were tried) the most telling part counts
 * @param phase how far the attempt had got
 * @returns kind, phase, Node's code and one sentence; an error that is not known counts as `local`, so that an endpoint is
 *   never blamed for it. The sentence holds no value of a header.
 */
export function classifyTransportError(error: unknown, phase: TransportPhase): TransportError {
  const thrown = readThrown(mostTelling(error));
  const [kind, message, where = phase] = judge(thrown, phase);
  const alert = kind === 'tls' ? alertName(thrown.code, thrown.message) : undefined;
  return { kind, phase: where, code: thrown.code, message, ...(alert !== undefined && { alert }) };
}

type Judgement = readonly [kind: TransportErrorKind, sentence: string, phase?: TransportPhase];

function judge(thrown: Thrown, phase: TransportPhase): Judgement {
  const { code, message, where } = thrown;
  if (code === TIMEOUT_CODE || code === 'ETIMEDOUT') return judgeTimeout(thrown, phase);
  if (DNS_CODES.has(code) || code.startsWith('EAI_')) {
    return ['dns', `The host name ${thrown.hostname ?? 'of the endpoint'} does not resolve.`, 'dns'];
  }
  if (code === 'ECONNREFUSED') return ['refused', `Nothing listens${where}: the connection was refused.`, 'connect'];
  if (ROUTE_CODES.has(code)) return ['unreachable', `There is no route to the endpoint${where}.`, 'connect'];

  const fault = CERTIFICATE_FAULTS.get(code);
  if (fault !== undefined) return ['tls-untrusted', withReason(fault, thrown.reason), 'tls'];
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return ['tls', handshakeSentence(code, message), 'tls'];

  if (RESET_CODES.has(code)) return judgeReset(phase);
  if (code === 'HPE_HEADER_OVERFLOW') {
    return ['headers-too-large', 'The headers of the answer are larger than the sender reads.', 'answer'];
  }
  if (code.startsWith('HPE_')) return ['invalid-http', invalidHttpSentence(thrown), 'answer'];
  if (ABORT_CODES.has(code)) return ['local', 'The delivery was broken off by the caller.'];
  return ['local', `The request could not be sent from here (${code}).`];
}

/** Until there is a connection, time runs out because the endpoint cannot be reached. */
function judgeTimeout({ hostname, where }: Thrown, phase: TransportPhase): Judgement {
  switch (phase) {
    case 'dns':
      return ['dns', `The host name ${hostname ?? 'of the endpoint'} was not resolved within the time limit.`];
    case 'connect':
      return ['unreachable', `No connection came about${where} within the time limit.`];
    case 'tls':
      return [
        'timeout',
        'The endpoint took the connection and did not finish the TLS handshake within the time limit.',
      ];
    case 'send':
      return ['timeout', 'The endpoint did not take the whole request within the time limit.'];
    case 'answer':
      return ['timeout', 'The endpoint took the request and gave no whole answer within the time limit.'];
  }
}

/** A connection that ends during the handshake is a failure of the handshake: some servers refuse a client certificate in this way. */
function judgeReset(phase: TransportPhase): Judgement {
  switch (phase) {
    case 'dns':
    case 'connect':
      return ['reset', 'The connection was reset while it was being made.', 'connect'];
    case 'tls':
      return [
        'tls',
        'The endpoint closed the connection during the TLS handshake, without an alert; some servers refuse a client certificate, or the lack of one, like this.',
      ];
    case 'send':
      return ['reset', 'The endpoint closed the connection before it had taken the whole request, and gave no answer.'];
    case 'answer':
      return ['reset', 'The endpoint closed the connection before it had given a whole answer.'];
  }
}

function invalidHttpSentence({ rawPacket }: Thrown): string {
  // A TLS server answers plain HTTP with an alert record: type 21, major version 3.
  if (rawPacket?.[0] === 21 && rawPacket[1] === 3) {
    return 'The endpoint speaks TLS on this port: the URL has to begin with https.';
  }
  return 'What came back is not an HTTP answer.';
}

/** Node's reason names the host that was asked for and the names of the certificate, which may be many. */
function withReason(sentence: string, reason: string | undefined): string {
  if (reason === undefined) return sentence;
  const text = reason.replace(/[^\x20-\x7e]/g, '?');
  return `${sentence} ${text.length > 200 ? `${text.slice(0, 200)}...` : text}`;
}

/** Several addresses were tried and each failed: one that refused says that the machine is there, which tells more than no route. */
function mostTelling(error: unknown): unknown {
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

/** Why a certificate is not trusted: the codes of Node, each with a sentence. Specification: TLS. */

/** Sentences by code. A code of this table means `tls-untrusted`. */
const CERTIFICATE_FAULTS: ReadonlyMap<string, string> = new Map([
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'The certificate of the endpoint is self-signed, so no authority that is trusted here vouches for it.',
  ],
  [
    'SELF_SIGNED_CERT_IN_CHAIN',
    'The certificate of the endpoint leads to an authority that is not trusted here: the root in its chain is an unknown one.',
  ],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'The certificate of the endpoint cannot be traced to a trusted authority: an intermediate certificate is missing from what the endpoint sends, or its authority is not trusted here.',
  ],
  [
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'The certificate chain of the endpoint ends at an authority that is not trusted here.',
  ],
  ['UNABLE_TO_GET_ISSUER_CERT', 'The certificate chain of the endpoint lacks the certificate of an issuer.'],
  ['CERT_HAS_EXPIRED', 'The certificate of the endpoint, or an intermediate one that it sends, has expired.'],
  ['CERT_NOT_YET_VALID', 'The certificate of the endpoint is not valid yet (or a clock is wrong).'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate of the endpoint is for another name than the one in the URL.'],
  ['HOSTNAME_MISMATCH', 'The certificate of the endpoint is for another name than the one in the URL.'],
  ['CERT_REVOKED', 'The certificate of the endpoint has been revoked.'],
  ['CERT_SIGNATURE_FAILURE', 'A signature in the certificate chain of the endpoint is wrong.'],
  ['CERT_CHAIN_TOO_LONG', 'The certificate chain of the endpoint is too long.'],
  ['CERT_UNTRUSTED', 'The authority of the certificate is not trusted for this purpose.'],
  ['CERT_REJECTED', 'The authority of the certificate is marked as rejected for this purpose.'],
  ['INVALID_CA', 'A certificate in the chain of the endpoint signs others and is not an authority.'],
  ['INVALID_PURPOSE', 'The certificate of the endpoint is not meant for a server (extended key usage).'],
  ['PATH_LENGTH_EXCEEDED', 'The certificate chain of the endpoint is longer than one of its authorities allows.'],
  [
    'UNSPECIFIED',
    'The certificate chain of the endpoint is not acceptable: usual causes are a signature with SHA-1, or an issuer that is not an authority.',
  ],
]);

/** The sentence for any other failure of a handshake. `message` is OpenSSL's, which holds the alert or the reason. */
function handshakeSentence(code: string, message: string): string {
  const alert = alertName(code, message);
  if (alert !== undefined) {
    if (isAboutClientCertificate(alert)) {
      return `The endpoint refused the client certificate, or the lack of one, with the TLS alert ${alert}.`;
    }
    if (alert === 'handshake_failure') {
      return 'The endpoint ended the TLS handshake with the alert handshake_failure: it may require a client certificate, or have no cipher in common.';
    }
    return `The endpoint ended the TLS handshake with the alert ${alert}.`;
  }
  if (
    /wrong.version.number|WRONG_VERSION_NUMBER|packet length too long|PACKET_LENGTH_TOO_LONG/.test(`${code} ${message}`)
  ) {
    return 'The endpoint does not speak TLS on this port.';
  }
  if (/UNSUPPORTED_PROTOCOL|unsupported protocol/.test(`${code} ${message}`)) {
    return 'The endpoint speaks only a TLS version below 1.2.';
  }
  return `The TLS handshake with the endpoint failed (${code}).`;
}

/** The name of the alert that an error of OpenSSL reports as sent by the other side, or undefined. */
function alertName(code: string, message: string): string | undefined {
  const number = /SSL alert number (\d+)/.exec(message)?.[1];
  if (number !== undefined) return alertNameOf(Number(number));
  return /_ALERT_([A-Z_]+)$/.exec(code)?.[1]?.toLowerCase();
}

/** The names of TLS alerts (RFC 8446, section 6, and its predecessors). */

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

/** "handshake_failure" for 40; "number 99" for one that has no name here. */
export function alertNameOf(number: number): string {
  return ALERTS.get(number) ?? `number ${number}`;
}

/** Alerts with which a server says what it thinks of the client certificate, or of the lack of one, and nothing else. */
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
