/**
 * The scenarios that need not turn a mutant red, each with the reason. Those of level `info` need not be here: they are recorded and never red.
 */
export const EXEMPT_PROBES: Readonly<Record<string, string>> = {
  'raw-body/first-byte-alone':
    'Whether the first byte is read alone depends on how busy the machine is; in-pieces and large-in-pieces find the same mutants for sure.',
  'valid/answers-in-time':
    'It looks at answers that take more than five seconds, for which the matrix does not wait; tests of the judge show it.',
  'tls/http-1-1':
    'Without HTTP/1.1 no delivery gets through, so that it has no verdict; the handshakes of tls/tls-1-x-http-1-1 find such a server.',
  'mtls/tls-1-2-revoked':
    'It takes a list of revoked certificates, which the reference receiver does not read; docs/tls-matrix.md shows it on nginx.',
  'mtls/tls-1-3-revoked':
    'It takes a list of revoked certificates, which the reference receiver does not read; docs/tls-matrix.md shows it on nginx.',
  'mtls/tls-1-3-right-certificate':
    'Connections prefer TLS 1.3: a server that refuses the right certificate there lets no first delivery through.',
};
