/** Turns what Node throws into one classified transport error. The only place that knows Node's error codes. */
import type { TransportError, TransportErrorKind, TransportPhase } from './attempt.ts';
import { alertName, CERTIFICATE_FAULTS, handshakeSentence } from './certificate-faults.ts';

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
