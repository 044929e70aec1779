import { describe, expect, it } from 'vitest';
import type { TransportErrorKind, TransportPhase } from '../../../harness/sender/index.ts';
import { classifyTransportError, TIMEOUT_CODE } from '../../../harness/sender/index.ts';

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
      message: 'Nothing listens at 192.0.2.1:443: the connection was refused.',
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
