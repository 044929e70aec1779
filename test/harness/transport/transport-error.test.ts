import { describe, expect, it } from 'vitest';
import {
  alertNameOf,
  classifyTransportError,
  TIMEOUT_CODE,
  type TransportErrorKind,
  type TransportPhase,
} from '../../../harness/transport/index.ts';

function thrown(code: string, rest: object = {}, message = 'whatever Node says'): Error {
  return Object.assign(new Error(message), { code, ...rest });
}

describe('classifyTransportError', () => {
  const TABLE: readonly [code: string, during: TransportPhase, kind: TransportErrorKind, phase: TransportPhase][] = [
    ['ENOTFOUND', 'dns', 'dns', 'dns'],
    ['EAI_AGAIN', 'dns', 'dns', 'dns'],
    [TIMEOUT_CODE, 'dns', 'dns', 'dns'],
    ['ECONNREFUSED', 'connect', 'refused', 'connect'],
    ['EHOSTUNREACH', 'connect', 'unreachable', 'connect'],
    ['ENETUNREACH', 'connect', 'unreachable', 'connect'],
    ['ETIMEDOUT', 'connect', 'unreachable', 'connect'],
    [TIMEOUT_CODE, 'connect', 'unreachable', 'connect'],
    [TIMEOUT_CODE, 'tls', 'timeout', 'tls'],
    [TIMEOUT_CODE, 'send', 'timeout', 'send'],
    ['ETIMEDOUT', 'answer', 'timeout', 'answer'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls', 'tls-untrusted', 'tls'],
    ['INVALID_PURPOSE', 'tls', 'tls-untrusted', 'tls'],
    ['UNSPECIFIED', 'tls', 'tls-untrusted', 'tls'],
    ['EPROTO', 'tls', 'tls', 'tls'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'answer', 'tls', 'tls'],
    ['ECONNRESET', 'tls', 'tls', 'tls'],
    ['ECONNRESET', 'connect', 'reset', 'connect'],
    ['ECONNRESET', 'answer', 'reset', 'answer'],
    ['EPIPE', 'send', 'reset', 'send'],
    ['HPE_HEADER_OVERFLOW', 'answer', 'headers-too-large', 'answer'],
    ['HPE_INVALID_CONSTANT', 'answer', 'invalid-http', 'answer'],
    ['HPE_INVALID_CHUNK_SIZE', 'answer', 'invalid-http', 'answer'],
    ['ERR_INVALID_CHAR', 'dns', 'local', 'dns'],
    ['ERR_HTTP_INVALID_HEADER_VALUE', 'dns', 'local', 'dns'],
    ['EMFILE', 'connect', 'local', 'connect'],
    ['SOMETHING_NEW', 'answer', 'local', 'answer'],
  ];

  it.each(TABLE)('%s during %s is %s in phase %s', (code, during, kind, phase) => {
    const error = classifyTransportError(thrown(code), during);
    expect(error).toMatchObject({ kind, phase, code });
    expect(error.message).toMatch(/^[A-Z].*[.)]$/);
  });

  it.each([
    [
      'unknown_ca',
      'write EPROTO 00:error:0A000418:SSL routines:x:tlsv1 alert unknown ca:../x.c:1:SSL alert number 48',
      /client certificate.*unknown_ca/,
    ],
    ['protocol_version', 'EPROTO tlsv1 alert protocol version:SSL alert number 70', /alert protocol_version/],
    ['a number without a name', 'EPROTO SSL alert number 99', /alert number 99/],
    [
      'handshake_failure',
      'EPROTO sslv3 alert handshake failure:SSL alert number 40',
      /handshake_failure.*client certificate/,
    ],
    ['plain HTTP', 'EPROTO ssl3_get_record:wrong version number', /does not speak TLS/],
    ['an old version', 'EPROTO unsupported protocol', /below 1\.2/],
    ['anything else', 'EPROTO something', /handshake.*failed \(EPROTO\)/],
  ])('names what ended the handshake: %s', (_what, message, sentence) => {
    expect(classifyTransportError(thrown('EPROTO', {}, message), 'tls').message).toMatch(sentence);
  });

  it('takes a refusal for more telling than a missing route, when several addresses were tried', () => {
    const parts = [
      thrown('ENETUNREACH', { address: '2001:db8::1', port: 443 }),
      thrown('ECONNREFUSED', { address: '192.0.2.1', port: 443 }),
    ];
    expect(classifyTransportError(new AggregateError(parts), 'connect')).toEqual({
      kind: 'refused',
      phase: 'connect',
      code: 'ECONNREFUSED',
      message: 'The connection was refused: nothing is listening on 192.0.2.1:443.',
    });
    expect(classifyTransportError(new AggregateError(parts.slice(0, 1)), 'connect').message).toBe(
      'There is no route to the endpoint at [2001:db8::1]:443.',
    );
  });

  it('copes with anything that can be thrown', () => {
    const codes = ['text', null, undefined, 7, new AggregateError([]), new TypeError('x')].map(
      (error) => classifyTransportError(error, 'send').code,
    );
    expect(codes).toEqual(['UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'AggregateError', 'TypeError']);
  });

  it('does not repeat what Node says about a value, and tames what a certificate says', () => {
    const local = classifyTransportError(thrown('ERR_INVALID_ARG_TYPE', {}, "Received 'a secret'"), 'dns');
    expect(local.message).toBe('The request could not be sent from here (ERR_INVALID_ARG_TYPE).');
    const reason = `names: \u001b[31m${'x'.repeat(1_000)}`;
    const { message } = classifyTransportError(thrown('ERR_TLS_CERT_ALTNAME_INVALID', { reason }), 'tls');
    expect(message).toMatch(/^[\x20-\x7e]{1,320}$/);
  });
});

/** The whole sentence for each way to fail, so that a report that loses a word is noticed. */
describe('the sentence', () => {
  const sentence = (code: string, during: TransportPhase, rest: object = {}, message?: string) =>
    classifyTransportError(thrown(code, rest, message), during).message;

  it.each<[string, TransportPhase, string]>([
    ['ENOTFOUND', 'dns', 'The host name of the endpoint does not resolve.'],
    ['ENODATA', 'dns', 'The host name of the endpoint does not resolve.'],
    ['ESERVFAIL', 'dns', 'The host name of the endpoint does not resolve.'],
    ['EREFUSED', 'dns', 'The host name of the endpoint does not resolve.'],
    ['EAI_FAIL', 'dns', 'The host name of the endpoint does not resolve.'],
    ['ECONNREFUSED', 'connect', 'The connection was refused: nothing is listening.'],
    ['EHOSTUNREACH', 'connect', 'There is no route to the endpoint.'],
    ['ENETUNREACH', 'connect', 'There is no route to the endpoint.'],
    ['EHOSTDOWN', 'connect', 'There is no route to the endpoint.'],
    ['ENETDOWN', 'connect', 'There is no route to the endpoint.'],
    [TIMEOUT_CODE, 'dns', 'The host name of the endpoint was not resolved within the time limit.'],
    [TIMEOUT_CODE, 'connect', 'No connection could be made within the time limit.'],
    [
      TIMEOUT_CODE,
      'tls',
      'The endpoint accepted the connection and did not finish the TLS handshake within the time limit.',
    ],
    [TIMEOUT_CODE, 'send', 'The endpoint did not read the whole request within the time limit.'],
    [TIMEOUT_CODE, 'answer', 'The endpoint read the request and gave no complete answer within the time limit.'],
    ['ECONNRESET', 'dns', 'The connection was reset while it was being made.'],
    ['ECONNABORTED', 'connect', 'The connection was reset while it was being made.'],
    [
      'ECONNRESET',
      'tls',
      'The endpoint closed the connection during the TLS handshake without an alert. Some servers reject a client ' +
        'certificate, or a missing one, like this.',
    ],
    ['EPIPE', 'send', 'The endpoint closed the connection before it had read the whole request, and gave no answer.'],
    [
      'ERR_STREAM_PREMATURE_CLOSE',
      'answer',
      'The endpoint closed the connection before it had sent a complete answer.',
    ],
    ['HPE_HEADER_OVERFLOW', 'answer', 'The headers of the answer are larger than the limit of the sender.'],
    ['HPE_INVALID_VERSION', 'answer', 'The endpoint sent something that is not an HTTP answer.'],
    ['ABORT_ERR', 'answer', 'The caller aborted the delivery.'],
    ['EMFILE', 'connect', 'The request could not be sent from here (EMFILE).'],
  ])('for %s during %s', (code, during, expected) => expect(sentence(code, during)).toBe(expected));

  it('names host, address and port when they are known', () => {
    const hostname = 'partner.example';
    expect(sentence('ENOTFOUND', 'dns', { hostname })).toBe('The host name partner.example does not resolve.');
    expect(sentence(TIMEOUT_CODE, 'dns', { hostname })).toBe(
      'The host name partner.example was not resolved within the time limit.',
    );
    expect(sentence('ETIMEDOUT', 'connect', { address: '192.0.2.1' })).toBe(
      'No connection at 192.0.2.1 could be made within the time limit.',
    );
    expect(sentence('ENETDOWN', 'connect', { address: '2001:db8::1', port: 443 })).toBe(
      'There is no route to the endpoint at [2001:db8::1]:443.',
    );
    // What is no text is not a name.
    expect(sentence('ENOTFOUND', 'dns', { hostname: 7 })).toBe('The host name of the endpoint does not resolve.');
  });

  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'ends at a root CA that is not trusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'does not send an intermediate certificate'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'ends at a CA that is not trusted'],
    ['UNABLE_TO_GET_ISSUER_CERT', 'lacks the certificate of an issuer'],
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['CERT_NOT_YET_VALID', 'is not valid yet'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another name'],
    ['HOSTNAME_MISMATCH', 'for another name'],
    ['CERT_REVOKED', 'has been revoked'],
    ['CERT_SIGNATURE_FAILURE', 'A signature in the certificate chain'],
    ['CERT_CHAIN_TOO_LONG', 'is too long'],
    ['CERT_UNTRUSTED', 'not trusted for this purpose'],
    ['CERT_REJECTED', 'rejected for this purpose'],
    ['INVALID_CA', 'issues others and is not a CA'],
    ['INVALID_PURPOSE', 'not for servers'],
    ['PATH_LENGTH_EXCEEDED', 'longer than one of its CAs allows'],
    ['UNSPECIFIED', 'SHA-1 signature'],
  ])('for a certificate: %s', (code, part) => {
    expect(classifyTransportError(thrown(code), 'tls').kind).toBe('tls-untrusted');
    expect(sentence(code, 'tls')).toContain(part);
    expect(sentence(code, 'tls', { reason: 'Because.' })).toMatch(/\. Because\.$/);
  });

  it('takes 200 characters of a reason and no more', () => {
    const withReason = (reason: string) => sentence('CERT_REVOKED', 'tls', { reason });
    expect(withReason('x'.repeat(200))).toBe(`The certificate of the endpoint has been revoked. ${'x'.repeat(200)}`);
    expect(withReason('x'.repeat(201))).toBe(`The certificate of the endpoint has been revoked. ${'x'.repeat(200)}...`);
    expect(withReason('a\nb\x7f\xe9')).toBe('The certificate of the endpoint has been revoked. a?b??');
  });

  it.each<[string, string, string, string | undefined]>([
    [
      'an alert about the client certificate',
      'EPROTO',
      'tlsv13 alert certificate required:SSL alert number 116',
      'The endpoint rejected the client certificate, or a missing one, with the TLS alert certificate_required.',
    ],
    [
      'an alert that is in the code alone',
      'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
      'x',
      'The endpoint rejected the client certificate, or a missing one, with the TLS alert unknown_ca.',
    ],
    [
      'handshake_failure',
      'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
      'x',
      'The endpoint ended the TLS handshake with the alert handshake_failure: it may require a client ' +
        'certificate, or have no cipher in common.',
    ],
    [
      'another alert',
      'EPROTO',
      'SSL alert number 112',
      'The endpoint ended the TLS handshake with the alert unrecognized_name.',
    ],
    [
      'an alert without a name',
      'EPROTO',
      'SSL alert number 255',
      'The endpoint ended the TLS handshake with the alert number 255.',
    ],
    ['no TLS', 'EPROTO', 'wrong version number', 'The endpoint does not speak TLS on this port.'],
    ['no TLS, by the code', 'ERR_SSL_WRONG_VERSION_NUMBER', 'x', 'The endpoint does not speak TLS on this port.'],
    ['no TLS: a record too long', 'EPROTO', 'packet length too long', 'The endpoint does not speak TLS on this port.'],
    [
      'no TLS: a record too long, by the code',
      'ERR_SSL_PACKET_LENGTH_TOO_LONG',
      'x',
      'The endpoint does not speak TLS on this port.',
    ],
    ['an old version', 'EPROTO', 'unsupported protocol', 'The endpoint speaks only TLS versions below 1.2.'],
    [
      'an old version, by the code',
      'ERR_SSL_UNSUPPORTED_PROTOCOL',
      'x',
      'The endpoint speaks only TLS versions below 1.2.',
    ],
    ['anything else', 'ERR_SSL_BAD', 'x', 'The TLS handshake with the endpoint failed (ERR_SSL_BAD).'],
  ])('for the handshake: %s', (_what, code, message, expected) => {
    expect(classifyTransportError(thrown(code, {}, message), 'tls')).toMatchObject({ kind: 'tls', message: expected });
  });

  it.each([
    'bad_certificate',
    'unsupported_certificate',
    'certificate_revoked',
    'certificate_expired',
    'certificate_unknown',
    'unknown_ca',
    'access_denied',
    'certificate_required',
  ])('for the client certificate: %s', (alert) => {
    expect(sentence(`ERR_SSL_TLSV1_ALERT_${alert.toUpperCase()}`, 'tls')).toContain(
      `rejected the client certificate, or a missing one, with the TLS alert ${alert}.`,
    );
  });
});

describe('the alert', () => {
  it('is reported for a handshake that the endpoint ended with one, and for nothing else', () => {
    const alertOf = (code: string, message: string) => classifyTransportError(thrown(code, {}, message), 'tls').alert;
    expect(alertOf('EPROTO', 'SSL alert number 48')).toBe('unknown_ca');
    expect(alertOf('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', '')).toBe('protocol_version');
    expect(alertOf('CERT_REVOKED', 'SSL alert number 44')).toBeUndefined();
    for (const code of ['EPROTO', 'CERT_REVOKED', 'ERR_SSL_X_ALERT_y', 'ERR_SSL_X_ALERT_Y2']) {
      expect(classifyTransportError(thrown(code), 'tls')).not.toHaveProperty('alert');
    }
  });

  it('has a number where it has no name', () =>
    expect([alertNameOf(48), alertNameOf(99)]).toEqual(['unknown_ca', 'number 99']));
});

describe('of several addresses', () => {
  const part = (code: string) => thrown(code, { address: '192.0.2.1' });

  it('the first counts when none refused, and whatever is no list of errors counts as it is', () => {
    const both = new AggregateError([part('ENETUNREACH'), part('ETIMEDOUT')]);
    expect(classifyTransportError(both, 'connect')).toMatchObject({ kind: 'unreachable', code: 'ENETUNREACH' });
    const empty = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(classifyTransportError(empty, 'connect').kind).toBe('refused');
    const alike = Object.assign(part('EPIPE'), { errors: [part('ECONNREFUSED')] });
    expect(classifyTransportError(alike, 'send').code).toBe('EPIPE');
  });
});

describe('an answer that is not HTTP', () => {
  it('is a TLS alert only when its first two bytes say so', () => {
    const of = (rawPacket: unknown) =>
      classifyTransportError(thrown('HPE_INVALID_CONSTANT', { rawPacket }), 'answer').message;
    expect(of(Uint8Array.of(21, 3, 3))).toBe('The endpoint speaks TLS on this port: use an https URL.');
    for (const other of [Uint8Array.of(21, 4), Uint8Array.of(22, 3), new Uint8Array(), [21, 3], undefined]) {
      expect(of(other)).toBe('The endpoint sent something that is not an HTTP answer.');
    }
  });
});
