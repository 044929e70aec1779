/** The object identifiers of the extensions of certificates that matter here. RFC 5280, 4.2; RFC 6962, 3.3; RFC 7633. */
export const EXTENSION_IDS = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlDistributionPoints: '2.5.29.31',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  freshestCrl: '2.5.29.46',
  authorityInformationAccess: '1.3.6.1.5.5.7.1.1',
  tlsFeature: '1.3.6.1.5.5.7.1.24',
  signedTimestamps: '1.3.6.1.4.1.11129.2.4.2',
} as const;
