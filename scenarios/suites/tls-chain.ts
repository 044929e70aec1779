import type { Scenario } from '../scenario.ts';
import { family } from './family.ts';

const shared = { suite: 'tls', verb: 'Serves', needs: ['https'], level: 'must' } as const;
const trusted = { ...shared, requirements: ['tls-trusted'] } as const;
const chain = { ...shared, requirements: ['tls-chain'] } as const;
const key = { ...shared, requirements: ['tls-key'] } as const;

/** The certificates that the endpoint sends. Specification: TLS (certificate, full chain, keys). */
export const tlsChain: readonly Scenario[] = [
  ...family(
    { ...trusted, mistake: 'untrusted-certificate' },
    {
      'trusted-authority': [
        'a certificate from a trusted CA',
        {
          chain: {
            text: 'a chain that ends at a trusted CA',
            hiddenBy: ['missing-intermediate'],
            faults: ['unknown-authority', 'unexplained', 'unreadable'],
          },
        },
        { defect: 'Serves a certificate from an untrusted CA' },
      ],
      'not-self-signed': [
        'a certificate that is not self-signed',
        { chain: { text: 'a certificate that a CA signed', faults: ['self-signed'] } },
        { defect: 'Serves a self-signed certificate', note: 'Anyone can make such a certificate for any name.' },
      ],
      'genuine-issuer': [
        'certificates that were signed by their named issuers',
        { chain: { text: 'only signatures of the named issuers', faults: ['forged-issuer'] } },
        'recreated-issuer',
        { defect: 'Serves a certificate that its named issuer did not sign' },
      ],
    },
  ),
  ...family(
    { ...chain, verb: 'Sends' },
    {
      'chain-complete': [
        'every intermediate certificate',
        { chain: { text: 'every intermediate certificate', faults: ['missing-intermediate'] } },
        'incomplete-chain',
        { defect: 'Does not send every intermediate certificate' },
      ],
    },
  ),
  ...family(
    { ...chain, verb: 'Sends', level: 'should', mistake: 'untidy-chain-file' },
    {
      'chain-order': [
        'the certificates in order',
        { chain: { text: 'each certificate followed by its issuer', faults: ['misordered'] } },
        { defect: 'Sends the certificates in the wrong order' },
      ],
      'chain-tidy': [
        'only certificates that belong to the chain',
        { chain: { text: 'only certificates of the chain', faults: ['unrelated'] } },
        { defect: 'Sends certificates that do not belong to the chain' },
      ],
      'chain-once': [
        'each certificate once',
        { chain: { text: 'each certificate once', faults: ['duplicate'] } },
        { defect: 'Sends a certificate more than once' },
      ],
    },
  ),
  ...family(
    { ...chain, verb: 'Records whether', level: 'info' },
    {
      'root-left-out': [
        'the root is sent',
        { chain: { text: 'recorded: whether a root is sent', faults: ['root-sent'] } },
        'untidy-chain-file',
        {
          defect: 'Sends the root',
          note: 'A client trusts only its own copy of the root. Sending it changes nothing.',
        },
      ],
    },
  ),
  ...family(
    { ...chain, mistake: 'certificate-not-renewed' },
    {
      'not-expired': [
        'a certificate that has not expired',
        { chain: { text: 'a certificate that is still valid', of: 'leaf', faults: ['expired'] } },
        { defect: 'Serves an expired certificate' },
      ],
      'issuers-not-expired': [
        'no expired intermediate or root',
        { chain: { text: 'only valid intermediates and roots', of: 'issuers', faults: ['expired'] } },
        'outdated-intermediates',
        { defect: 'Serves an expired intermediate or root' },
      ],
      'already-valid': [
        'a certificate that is already valid',
        { chain: { text: 'only certificates that are already valid', faults: ['not-yet-valid'] } },
        'premature-certificate',
        { defect: 'Serves a certificate that is not valid yet' },
      ],
      'renewed-in-time': [
        'certificates that are valid for another 30 days',
        { chain: { text: 'no certificate that expires within 30 days', faults: ['expires-soon'] } },
        { level: 'should', defect: 'Serves a certificate that expires within 30 days' },
      ],
    },
  ),
  ...family(
    { ...trusted, mistake: 'host-not-in-certificate' },
    {
      'host-name': [
        'a certificate for the name in the URL',
        { chain: { text: 'a certificate with the host of the URL', faults: ['host-mismatch'] } },
        { defect: 'Serves a certificate for a name other than the one in the URL' },
      ],
      'alternative-name': [
        'a certificate with subject alternative names',
        { chain: { text: 'a certificate with subject alternative names', faults: ['no-alternative-name'] } },
        {
          defect: 'Serves a certificate without subject alternative names',
          note: 'Browsers, Go and Java reject a certificate with a common name only (RFC 6125).',
        },
      ],
    },
  ),
  ...family(
    { ...key, mistake: 'weak-certificate-key' },
    {
      'key-size': [
        'a certificate with a strong key',
        {
          chain: { text: 'RSA with at least 2048 bits, or ECDSA with at least 224', of: 'leaf', faults: ['weak-key'] },
        },
        { defect: 'Serves a certificate with a weak key' },
      ],
      'issuers-key-size': [
        'only CA certificates with strong keys',
        {
          chain: {
            text: 'RSA with at least 2048 bits, or ECDSA with at least 224, in every CA certificate',
            of: 'issuers',
            faults: ['weak-key'],
          },
        },
        { defect: 'Serves a CA certificate with a weak key' },
      ],
    },
  ),
  ...family(
    { ...trusted, mistake: 'issuer-without-permission' },
    {
      'signature-hash': [
        'only certificates signed with SHA-256 or better',
        { chain: { text: 'no certificate signed with SHA-1 or MD5', faults: ['weak-signature'] } },
        'weak-certificate-hash',
        { defect: 'Serves a certificate signed with SHA-1 or MD5' },
      ],
      'issuers-may-issue': [
        'certificates that were signed by CA certificates',
        { chain: { text: 'issuers that are CAs', faults: ['issuer-not-authority'] } },
        { defect: 'Serves a certificate that was signed by a certificate that is not a CA' },
      ],
      'path-length': [
        'a chain within the path length of its CAs',
        { chain: { text: 'no more CAs than their issuers allow', faults: ['path-too-long'] } },
        {
          defect: 'Serves a chain that is longer than its CAs allow',
          note: 'A CA limits how many CAs may be below it (pathlen).',
        },
      ],
      'server-purpose': [
        'a certificate for server authentication',
        { chain: { text: 'a certificate for servers', faults: ['wrong-purpose'] } },
        'certificate-without-server-usage',
        { defect: 'Serves a certificate that is not valid for servers' },
      ],
    },
  ),
];
