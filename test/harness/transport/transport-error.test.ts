import { describe, expect, it } from 'vitest';
import {
  alertNameOf,
  classifyTransportError,
  explainErrorCode,
  TIMEOUT_CODE,
  type TransportErrorKind,
  type TransportPhase,
} from '../../../harness/transport/index.ts';

function thrown(code: string, rest: object = {}, message = 'whatever Node says'): Error {
  return Object.assign(new Error(message), { code, ...rest });
}

describe('classifyTransportError', () => {
  type Row = readonly [code: string, during: TransportPhase, kind: TransportErrorKind, phase: TransportPhase];
  const CERTIFICATE_CODES = [
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_GET_ISSUER_CERT', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
    ...['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH', 'CERT_REVOKED', 'CERT_SIGNATURE_FAILURE'],
    ...['CERT_CHAIN_TOO_LONG', 'CERT_UNTRUSTED', 'CERT_REJECTED', 'INVALID_CA', 'INVALID_PURPOSE'],
    ...['PATH_LENGTH_EXCEEDED', 'UNSPECIFIED'],
  ];
  const TABLE: readonly Row[] = [
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
    ...CERTIFICATE_CODES.map((code): Row => [code, 'tls', 'tls-untrusted', 'tls']),
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
    expect(error.message).toMatch(/^[A-Z](?!.* {2}).*[.)]$/);
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

  it('explains a code alone, unless it does not concern the endpoint', () => {
    const kinds = ['ENOTFOUND', 'HPE_INVALID_CONSTANT', 'ERR_SSL_NO_SHARED_CIPHER', 'EMFILE'].map(
      (code) => explainErrorCode(code)?.kind,
    );
    expect(kinds).toEqual(['dns', 'invalid-http', 'tls', undefined]);
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

describe('the sentence', () => {
  const sentence = (code: string, during: TransportPhase, rest: object = {}, message?: string) =>
    classifyTransportError(thrown(code, rest, message), during).message;

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
    // A value that is not text is not a name.
    expect(sentence('ENOTFOUND', 'dns', { hostname: 7 })).toBe('The host name of the endpoint does not resolve.');
  });

  it.each([
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'not for the name'],
    ['UNSPECIFIED', 'SHA-1 signature'],
  ])('for a certificate ends with the reason of Node: %s', (code, part) => {
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
