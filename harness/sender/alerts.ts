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
