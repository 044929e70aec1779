/** Sends headers with which a TLS proxy reports a client certificate, although the client presents none. */
import { X509Certificate } from 'node:crypto';
import type { HeaderLine } from '../../contract/index.ts';
import { addHeaders } from '../changes/addressing.ts';
import { presenting } from '../changes/transmitting.ts';
import { certificateRefused } from '../expectations.ts';
import type { Change, Delivery, FollowUp, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';

/** What a header can say about a client certificate. */
interface Certificate {
  readonly pem: string;
  /** The DER in base64, without the PEM lines around it. */
  readonly base64: string;
  readonly subject: string;
  readonly issuer: string;
  readonly name: string;
  readonly sha1: string;
  readonly sha256: string;
  readonly serial: string;
  readonly notBefore: string;
  readonly notAfter: string;
}

/** A format in which proxies write a certificate and the result of its verification. */
interface Form {
  /** Formats the whole certificate. */
  readonly certificate: (certificate: Certificate) => string;
  /** The value that says that the certificate was verified. */
  readonly result: string;
  /** The value that says that there is a certificate, or a TLS connection. */
  readonly present: string;
  /** Set if subjects are written in OpenSSL's old format: `/O=Example/CN=sender`. */
  readonly slashes?: true;
}

const subjectOf = ({ subject }: Certificate, { slashes }: Form) =>
  slashes
    ? subject
        .split(',')
        .toReversed()
        .map((part) => `/${part}`)
        .join('')
    : subject;
const escapedPem = ({ pem }: Certificate) => encodeURIComponent(pem);
const onOneLine = ({ pem }: Certificate, space: string) => pem.trim().replaceAll('\n', space);

/**
 * The formats, with the result values that proxies use with them. HAProxy's result is an error number, and 0 means no
 * error.
 */
const FORMS: Readonly<Record<string, Form>> = {
  'PEM, percent-encoded': { certificate: escapedPem, result: 'SUCCESS', present: '1' },
  'Base64 of the DER': { certificate: ({ base64 }) => base64, result: '0', present: '1', slashes: true },
  'PEM with spaces instead of line ends': { certificate: (of) => onOneLine(of, ' '), result: 'OK', present: 'on' },
  'PEM with tabs instead of line ends': { certificate: (of) => onOneLine(of, '\t'), result: '1', present: 'yes' },
  'Base64 of the PEM': {
    certificate: ({ pem }) => Buffer.from(pem).toString('base64'),
    result: 'NONE',
    present: '1',
    slashes: true,
  },
  'Base64 between colons, as in RFC 9440': {
    certificate: ({ base64 }) => `:${base64}:`,
    result: 'true',
    present: 'true',
  },
  'the list of Envoy': {
    certificate: (of) =>
      `By=spiffe://cluster.local/ns/default/sa/receiver;Hash=${of.sha256};Cert="${escapedPem(of)}";` +
      `Subject="${of.subject}";URI=spiffe://cluster.local/ns/default/sa/${of.name}`,
    result: 'SUCCESS',
    present: 'true',
  },
};

type Content = keyof Certificate | 'certificate' | 'result' | 'present' | 'info' | 'validity' | 'no-error';

/** The headers of each group of products. One request contains the headers of one group, unless they are too long. */
const HEADERS: Readonly<Record<string, readonly (readonly [name: string, content: Content])[]>> = {
  'nginx, Apache, HAProxy and OpenShift': [
    ['X-SSL', 'present'],
    ['X-SSL-Client-Verify', 'result'],
    ['X-SSL-Client-S-DN', 'subject'],
    ['X-SSL-Client-DN', 'subject'],
    ['X-SSL-Client-CN', 'name'],
    ['X-SSL-Issuer', 'issuer'],
    ['X-SSL-Client-SHA1', 'sha1'],
    ['X-SSL-Client-Serial', 'serial'],
    ['X-SSL-Client-NotBefore', 'notBefore'],
    ['X-SSL-Client-NotAfter', 'notAfter'],
    ['X-SSL-Client-DER', 'certificate'],
    ['X-SSL-Client-Cert', 'certificate'],
    ['X-SSL-Cert', 'certificate'],
  ],
  'recipes for nginx, and Google Cloud': [
    ['X-Client-Verify', 'result'],
    ['X-Client-DN', 'subject'],
    ['X-Client-CN', 'name'],
    ['X-Client-Fingerprint', 'sha1'],
    ['X-Client-Serial', 'serial'],
    ['X-Client-Cert-Present', 'present'],
    ['X-Client-Cert-Chain-Verified', 'result'],
    ['X-Client-Cert-Error', 'no-error'],
    ['X-Client-Cert-Hash', 'sha256'],
    ['X-Client-Cert-Serial-Number', 'serial'],
    ['X-Client-Cert-Subject-DN', 'subject'],
    ['X-Client-Cert-Leaf', 'certificate'],
    ['X-Client-Cert', 'certificate'],
    ['X-Client-Certificate', 'certificate'],
  ],
  'ingress-nginx': [
    ['SSL-Client-Verify', 'result'],
    ['SSL-Client-Subject-DN', 'subject'],
    ['SSL-Client-Issuer-DN', 'issuer'],
    ['SSL-Client-Cert', 'certificate'],
  ],
  'Apache, under the names of its variables': [
    ['SSL_CLIENT_VERIFY', 'result'],
    ['SSL_CLIENT_S_DN', 'subject'],
    ['SSL_CLIENT_CERT', 'certificate'],
  ],
  'Envoy, Istio and Cloud Foundry': [['X-Forwarded-Client-Cert', 'certificate']],
  Traefik: [
    ['X-Forwarded-Tls-Client-Cert', 'certificate'],
    ['X-Forwarded-Tls-Client-Cert-Info', 'info'],
  ],
  'AWS load balancers': [
    ['X-Amzn-Mtls-Clientcert', 'certificate'],
    ['X-Amzn-Mtls-Clientcert-Leaf', 'certificate'],
    ['X-Amzn-Mtls-Clientcert-Subject', 'subject'],
    ['X-Amzn-Mtls-Clientcert-Issuer', 'issuer'],
    ['X-Amzn-Mtls-Clientcert-Serial-Number', 'serial'],
    ['X-Amzn-Mtls-Clientcert-Validity', 'validity'],
  ],
  Cloudflare: [
    ['Cf-Client-Cert-Verified', 'result'],
    ['Cf-Cert-Verified', 'result'],
    ['Cf-Cert-Presented', 'present'],
    ['Cf-Cert-Subject-DN', 'subject'],
    ['Cf-Client-Cert-Sha256', 'sha256'],
    ['Cf-Client-Cert-Der-Base64', 'certificate'],
  ],
  'Azure App Service': [['X-ARR-ClientCert', 'certificate']],
  'RFC 9440': [['Client-Cert', 'certificate']],
  WebLogic: [['WL-Proxy-Client-Cert', 'certificate']],
};

function read(pem: string): Certificate {
  const base64 = pem.replace(/-----[^-]+-----|\s/g, '');
  try {
    const of = new X509Certificate(pem);
    const subject = of.subject.split('\n').toReversed().join(',');
    const { issuer, serialNumber, validFrom, validTo, fingerprint, fingerprint256 } = of;
    return {
      pem,
      base64,
      subject,
      name: /(?:^|,)CN=([^,]*)/.exec(subject)?.[1] ?? subject,
      issuer: issuer.split('\n').toReversed().join(','),
      sha1: fingerprint.replaceAll(':', ''),
      sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
      serial: serialNumber,
      notBefore: asAsn1Time(validFrom),
      notAfter: asAsn1Time(validTo),
    };
  } catch {
    const dates = { notBefore: '260101000000Z', notAfter: '300101000000Z' };
    const names = { subject: 'CN=webhook-sender', name: 'webhook-sender', issuer: 'CN=Client CA' };
    return { pem, base64, ...names, ...dates, sha1: '0'.repeat(40), sha256: '0'.repeat(64), serial: '01' };
  }
}

/** Formats a date as HAProxy does: `260102030405Z`. */
const asAsn1Time = (date: string) => `${new Date(date).toISOString().replace(/\D/g, '').slice(2, 14)}Z`;

function valueIn(content: Content, of: Certificate, form: Form): string {
  switch (content) {
    case 'certificate':
      return form.certificate(of);
    case 'result':
      return form.result;
    case 'present':
      return form.present;
    case 'subject':
      return subjectOf(of, form);
    case 'info':
      return encodeURIComponent(`Subject="${of.subject}"`);
    case 'validity':
      return `NotBefore=${of.notBefore};NotAfter=${of.notAfter}`;
    case 'no-error':
      return '';
    default:
      return of[content];
  }
}

type Named = readonly [name: string, content: Content];

/**
 * Maximum size of the headers of one request, in bytes. The smallest limit for a head is 8 kB, in Tomcat and Jetty, and
 * the rest of the head needs some space, too.
 */
const MAX_BYTES = 6500;

/** Servers that convert headers to variables do not distinguish these names, so a request contains only one of them. */
const asVariable = ([name]: Named) => name.toUpperCase().replaceAll('-', '_');

/** Distributes the headers of all products over as few requests as the maximum size allows. */
function requestsFor(of: Certificate, form: Form): Named[][] {
  const sizeOf = (lines: readonly Named[]) =>
    lines.reduce((size, [name, content]) => size + name.length + valueIn(content, of, form).length + 4, 0);
  /** If the certificate is long, each part contains some of the headers with the certificate, and all other headers. */
  const partsOfProduct = (lines: readonly Named[]): Named[][] => {
    if (sizeOf(lines) <= MAX_BYTES) return [[...lines]];
    const small = lines.filter(([, content]) => content !== 'certificate');
    const parts: Named[][] = [];
    for (const line of lines) {
      if (small.includes(line)) continue;
      const fitting = parts.find((part) => sizeOf([...part, line]) <= MAX_BYTES);
      if (fitting === undefined) parts.push([...small, line]);
      else fitting.push(line);
    }
    return parts;
  };
  const requests: Named[][] = [];
  for (const lines of Object.values(HEADERS).flatMap(partsOfProduct)) {
    const names = new Set(lines.map(asVariable));
    const fitting = requests.find(
      (one) => sizeOf(one) + sizeOf(lines) <= MAX_BYTES && !one.some((line) => names.has(asVariable(line))),
    );
    if (fitting === undefined) requests.push(lines);
    else fitting.push(...lines);
  }
  return requests;
}

type Pem = 'clientCertificate' | 'selfSignedCertificate';

function claiming(lines: readonly Named[], form: Form, pem: Pem = 'clientCertificate'): Change {
  const values = (kit: Kit): HeaderLine[] => {
    const of = read(kit[pem] ?? kit.clientCertificate);
    return lines.map(([name, content]) => [name, valueIn(content, of, form)]);
  };
  return {
    connect: presenting('none'),
    address: addHeaders('headers that claim a client certificate', values),
  };
}

/**
 * Returns each header alone, and then the headers of each product. The self-signed certificate comes first, because
 * believing a certificate that anyone can create is worse than believing the sender's.
 */
function partsOf(lines: readonly Named[], of: Certificate, formName: string, form: Form): FollowUp[] {
  const part = (label: string, parts: readonly Named[], pem?: Pem): FollowUp => ({
    role: 'narrows',
    label,
    change: claiming(parts, form, pem),
  });
  const products = Object.entries(HEADERS)
    .map(([product, all]) => [product, all.filter((one) => lines.includes(one))] as const)
    .filter(([, own]) => own.length > 1);
  return [
    ...lines.flatMap((line) => {
      const [name, content] = line;
      if (content !== 'certificate') return part(`${name}: ${valueIn(content, of, form)}`, [line]);
      return [
        part(`${name}: a self-signed certificate (${formName})`, [line], 'selfSignedCertificate'),
        part(`${name}: the sender's certificate (${formName})`, [line]),
      ];
    }),
    ...products.map(([product, own]) => part(`the headers of ${product}`, own)),
  ];
}

function inEveryForm(kit: Kit): Delivery[][] {
  const of = read(kit.clientCertificate);
  return Object.entries(FORMS).flatMap(([formName, form]) => {
    const label = `headers that claim a client certificate (${formName})`;
    // If the endpoint accepts the delivery without any of the headers, they are not the reason.
    const plain: FollowUp = { role: 'narrows', label, change: { connect: presenting('none') } };
    return requestsFor(of, form).map((lines) => [
      {
        label,
        change: claiming(lines, form),
        expect: certificateRefused,
        followUps: [plain, ...partsOf(lines, of, formName, form)],
      },
    ]);
  });
}

/**
 * Deliveries without a certificate, but with headers that claim the sender's. Each delivery needs both changes, because
 * the headers would show nothing if there were a certificate. A receiver that believes any certificate also believes
 * the sender's, which is public.
 */
export const mtlsForgedHeaders: readonly Scenario[] = family(
  { suite: 'mtls', verb: 'Rejects', level: 'must', requirements: ['mtls-verified'], needs: ['https', 'mtls'] },
  {
    'forged-headers': [
      'deliveries without a certificate but with headers that claim one, in every usual form',
      { flow: inEveryForm, endsInHandshake: true },
      'certificate-header-unprotected',
    ],
  },
);
