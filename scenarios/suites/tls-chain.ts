import type { ChainFaultCode } from '../../contract/index.ts';
import type { RequirementId } from '../requirements.ts';
import type { ChainScenario } from '../scenario.ts';

const FULL_CHAIN =
  'Serve the certificate followed by its intermediates, without the root: `fullchain.pem` of an ACME client. ' +
  'nginx `ssl_certificate` takes one file with all of them.';

function chain(
  slug: string,
  [title, defect]: readonly [title: string, defect: string],
  requirement: RequirementId,
  expected: Omit<ChainScenario['chain'], 'faults'> | string,
  faults: readonly ChainFaultCode[],
  why: string,
  fix: string,
  level: ChainScenario['level'] = 'must',
): ChainScenario {
  return {
    id: `tls/${slug}`,
    title,
    defect,
    level,
    requirements: [requirement],
    needs: ['https'],
    chain: { ...(typeof expected === 'string' ? { text: expected } : expected), faults },
    why,
    fix,
  };
}

/** The certificates that the endpoint sends. Specification: TLS (certificate, full chain, keys). */
export const tlsChain: readonly ChainScenario[] = [
  chain(
    'trusted-authority',
    ['Serves a certificate of a trusted CA', 'Serves a certificate of an untrusted CA'],
    'tls-trusted',
    { text: 'a chain that ends at a trusted CA', hiddenBy: ['missing-intermediate'] },
    ['unknown-authority', 'unexplained', 'unreadable'],
    'The sender verifies the certificate like any HTTPS client, and does not deliver to an endpoint that it ' +
      'cannot identify.',
    'Get the certificate from a public CA. For a test endpoint with a private CA, pass its root with `--ca FILE`.',
  ),
  chain(
    'not-self-signed',
    ['Serves a certificate that is not self-signed', 'Serves a self-signed certificate'],
    'tls-trusted',
    'a certificate that a CA signed',
    ['self-signed'],
    'Anyone can make such a certificate for any name. Servers show one when their real certificate is not configured.',
    'Get the certificate from a public CA, and check which file the server reads.',
  ),
  chain(
    'genuine-issuer',
    [
      'Serves certificates that were signed by their named issuers',
      'Serves a certificate that its named issuer did not sign',
    ],
    'tls-trusted',
    'only signatures of the named issuers',
    ['forged-issuer'],
    'A CA that was regenerated under its old name has another key, and no client accepts what it signs.',
    'Have the certificate issued by the CA that clients trust, or distribute the new root in good time.',
  ),
  chain(
    'chain-complete',
    ['Sends every intermediate certificate', 'Does not send every intermediate certificate'],
    'tls-chain',
    'every intermediate certificate',
    ['missing-intermediate'],
    'Browsers download or cache missing intermediates, so the page works there. Senders, curl, Go and Node do not.',
    FULL_CHAIN,
  ),
  chain(
    'chain-order',
    ['Sends the certificates in order', 'Sends the certificates in the wrong order'],
    'tls-chain',
    'each certificate followed by its issuer',
    ['misordered'],
    'TLS 1.2 requires the order leaf, issuer, next issuer. Many clients reorder them, but some do not connect.',
    FULL_CHAIN,
    'should',
  ),
  chain(
    'chain-tidy',
    ['Sends only certificates that belong to the chain', 'Sends certificates that do not belong to the chain'],
    'tls-chain',
    'only certificates of the chain',
    ['unrelated'],
    'Unrelated certificates come from files that were concatenated by hand. They slow down every connection.',
    FULL_CHAIN,
    'should',
  ),
  chain(
    'chain-once',
    ['Sends each certificate once', 'Sends a certificate more than once'],
    'tls-chain',
    'each certificate once',
    ['duplicate'],
    'A file that already contains the chain was concatenated with the chain. Strict clients reject the result.',
    FULL_CHAIN,
    'should',
  ),
  chain(
    'root-left-out',
    ['Records whether the root is sent', 'Sends the root'],
    'tls-chain',
    'recorded: whether a root is sent',
    ['root-sent'],
    'A client trusts its own copy of the root only. Sending it costs bytes and changes nothing.',
    'Leave the root out of the file that the server sends.',
    'info',
  ),
  chain(
    'not-expired',
    ['Serves a certificate that has not expired', 'Serves an expired certificate'],
    'tls-chain',
    { text: 'a certificate that is still valid', of: 'leaf' },
    ['expired'],
    'Deliveries stop when the certificate expires.',
    'Renew the certificate, and let the server load it. Automate both, and monitor the expiry date from outside.',
  ),
  chain(
    'issuers-not-expired',
    ['Serves no expired intermediate or root', 'Serves an expired intermediate or root'],
    'tls-chain',
    { text: 'only valid intermediates and roots', of: 'issuers' },
    ['expired'],
    'The server certificate is renewed, but the file with the chain is not, and its certificates expire too.',
    'Serve the intermediates that come with each renewal (`fullchain.pem`), not a copy of old ones.',
  ),
  chain(
    'already-valid',
    ['Serves a certificate that is already valid', 'Serves a certificate that is not valid yet'],
    'tls-chain',
    'only certificates that are already valid',
    ['not-yet-valid'],
    'A certificate before its start date is rejected like an expired one.',
    'Serve the old one until then, and check the clock of the machine that issued it.',
  ),
  chain(
    'renewed-in-time',
    ['Serves certificates that are valid for another 30 days', 'Serves a certificate that expires within 30 days'],
    'tls-chain',
    'no certificate that expires within 30 days',
    ['expires-soon'],
    'Automatic renewal happens about 30 days before the expiry, so a certificate closer to it was probably not ' +
      'renewed.',
    'Check the log of the renewal, and renew by hand if it failed.',
    'should',
  ),
  chain(
    'host-name',
    ['Serves a certificate for the name in the URL', 'Serves a certificate for another name than the one in the URL'],
    'tls-trusted',
    'a certificate with the host of the URL',
    ['host-mismatch'],
    'A certificate for another name proves nothing about this endpoint. The default site of a shared server, or a ' +
      'wildcard for another level, is the usual cause.',
    'Issue a certificate with the host of the registered URL as a subject alternative name, and serve it for that ' +
      'name.',
  ),
  chain(
    'alternative-name',
    ['Serves a certificate with subject alternative names', 'Serves a certificate without subject alternative names'],
    'tls-trusted',
    'a certificate with subject alternative names',
    ['no-alternative-name'],
    'The common name has not counted as a host name since RFC 6125. Browsers, Go and Java reject such certificates.',
    'Issue the certificate with `subjectAltName = DNS:your.host`.',
  ),
  chain(
    'key-size',
    ['Serves a certificate with a strong key', 'Serves a certificate with a weak key'],
    'tls-key',
    { text: 'RSA of at least 2048 bits, or ECDSA of at least 224', of: 'leaf' },
    ['weak-key'],
    'Node and many other clients accept RSA with 1024 bits silently, so a weak key is easily overlooked.',
    'Generate a new key, RSA with 2048 bits or P-256, and reissue the certificate.',
  ),
  chain(
    'issuers-key-size',
    ['Serves only CA certificates with strong keys', 'Serves a CA certificate with a weak key'],
    'tls-key',
    {
      text: 'RSA of at least 2048 bits, or ECDSA of at least 224, in every CA certificate',
      of: 'issuers',
    },
    ['weak-key'],
    'A chain is as strong as its weakest key: an attacker who breaks the key of a CA can issue certificates for ' +
      'every name.',
    'Have the certificate issued by a CA whose keys are RSA with 2048 bits, P-256 or stronger.',
  ),
  chain(
    'signature-hash',
    ['Serves only certificates signed with SHA-256 or better', 'Serves a certificate signed with SHA-1 or MD5'],
    'tls-trusted',
    'no certificate signed with SHA-1 or MD5',
    ['weak-signature'],
    'Certificates with SHA-1 signatures can be forged, and current clients reject them.',
    'Reissue the certificate, and request SHA-256 explicitly in your own tools.',
  ),
  chain(
    'issuers-may-issue',
    [
      'Serves certificates that were signed by CA certificates',
      'Serves a certificate that was signed by a certificate that is not a CA',
    ],
    'tls-trusted',
    'issuers that are CAs',
    ['issuer-not-authority'],
    'If any certificate could sign others, the owner of one site could issue certificates for all. Clients reject ' +
      'such chains.',
    'Sign with a certificate that is marked as a CA (CA:TRUE, keyCertSign).',
  ),
  chain(
    'path-length',
    ['Serves a chain within the path length of its CAs', 'Serves a chain that is longer than its CAs allow'],
    'tls-trusted',
    'no more CAs than their issuers allow',
    ['path-too-long'],
    'A CA limits how many CAs may be below it (pathlen). Clients reject longer chains, and issuing tools do not warn.',
    'Issue from a CA within the path length of its issuers, or have the upper one reissued.',
  ),
  chain(
    'server-purpose',
    ['Serves a certificate for server authentication', 'Serves a certificate that is not valid for servers'],
    'tls-trusted',
    'a certificate for servers',
    ['wrong-purpose'],
    'Clients reject a certificate whose extended key usage names only clients or mail.',
    'Issue it with the extended key usage serverAuth.',
  ),
];
