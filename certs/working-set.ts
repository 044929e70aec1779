/**
 * A working set of certificates for trying out HTTPS and mutual TLS on one machine: two authorities, a server, a client, and client
 * certificates that a receiver has to refuse. Never for production. Specification: TLS, mutual TLS.
 */
import { randomBytes } from 'node:crypto';
import { derCommonName } from './der/write-der.ts';
import { type CertificateOptions, type IssuedCertificate, makeCertificate } from './factory/make-certificate.ts';
import { inDays } from './fixtures/once.ts';
import { type GuideSection, guideSections, readmeText } from './working-set-guide.ts';

export interface WorkingSetOptions {
  /** Absolute path of the folder that the files are for: it stands in the commands of the README. */
  readonly directory: string;
  /** Host names and addresses of the server certificate; at least one. */
  readonly hosts: readonly string[];
  /** How long everything is valid, from now. */
  readonly days: number;
  readonly key: 'p256' | 'rsa2048';
  /** The common name of the client certificate, at most 64 characters. */
  readonly clientName: string;
  /** The keys of the authorities are among the files. Without them nobody can issue more certificates. */
  readonly keepCaKeys: boolean;
}

export interface WorkingSetFile {
  /** Relative to the folder, with `/`. */
  readonly name: string;
  readonly text: string;
  /** A private key: only its owner may read it. */
  readonly secret: boolean;
}

export interface WorkingSet {
  readonly files: readonly WorkingSetFile[];
  /** The commands of the README, for whoever wants to print them. */
  readonly guide: readonly GuideSection[];
  readonly validUntil: Date;
}

/** The client certificates of the set that a receiver has to refuse, by their names in `mtls.fixtures`. */
export const WORKING_SET_FIXTURES = ['expired', 'not-yet-valid', 'wrong-purpose', 'other-subject'] as const;

/** Every file that a working set can have, the keys of the authorities included. */
export const WORKING_SET_FILES: readonly string[] = [
  'README.md',
  'ca.pem',
  'server.pem',
  'server-key.pem',
  'client-ca.pem',
  'client.pem',
  'client-key.pem',
  ...WORKING_SET_FIXTURES.flatMap((name) => [`fixtures/client-${name}.pem`, `fixtures/client-${name}-key.pem`]),
  'ca-key.pem',
  'client-ca-key.pem',
];

/** How long before now an expired fixture began. Its authority is older. */
const EXPIRED_SINCE_DAYS = 60;

/** Makes everything afresh and touches no disk. P-256 takes half a second, RSA a few. */
export async function makeWorkingSet(options: WorkingSetOptions): Promise<WorkingSet> {
  const { hosts, days, clientName, keepCaKeys } = options;
  const validUntil = inDays(days);
  // Sets that were made one after the other have authorities of different names: what belongs together can be seen.
  const tag = randomBytes(3).toString('hex');
  const make = (given: CertificateOptions) => makeCertificate({ key: options.key, notAfter: validUntil, ...given });
  const client = (name: string, ca: IssuedCertificate, change: Partial<CertificateOptions> = {}) =>
    make({ subject: derCommonName(name), issuer: ca, usages: ['clientAuth'], ...change });

  const [root, clientCa] = await Promise.all([
    make({ subject: derCommonName(`hookproof test root ${tag}`), authority: true, pathLength: 1 }),
    make({
      subject: derCommonName(`hookproof test client authority ${tag}`),
      authority: true,
      pathLength: 0,
      notBefore: inDays(-EXPIRED_SINCE_DAYS - 1),
    }),
  ]);
  const intermediate = await make({
    subject: derCommonName(`hookproof test intermediate ${tag}`),
    issuer: root,
    authority: true,
    pathLength: 0,
  });
  const faulty: Record<(typeof WORKING_SET_FIXTURES)[number], Promise<IssuedCertificate>> = {
    expired: client(clientName, clientCa, { notBefore: inDays(-EXPIRED_SINCE_DAYS), notAfter: inDays(-1) }),
    // Still not valid on the last day of the set.
    'not-yet-valid': client(clientName, clientCa, { notBefore: inDays(days + 1), notAfter: inDays(2 * days + 1) }),
    'wrong-purpose': client(clientName, clientCa, { usages: ['serverAuth'] }),
    'other-subject': client(nameOfSomebodyElse(clientName), clientCa),
  };
  const [server, right, ...fixtures] = await Promise.all([
    make({ subject: derCommonName(commonNameFor(hosts)), issuer: intermediate, hosts, usages: ['serverAuth'] }),
    client(clientName, clientCa),
    ...WORKING_SET_FIXTURES.map((name) => faulty[name]),
  ]);

  const guide = guideSections({ directory: options.directory, hosts, clientName, fixtures: WORKING_SET_FIXTURES });
  return {
    guide,
    validUntil,
    files: [
      { name: 'README.md', text: readmeText({ ...options, validUntil, guide }), secret: false },
      open('ca.pem', root.cert),
      open('server.pem', `${server.cert}${intermediate.cert}`),
      secret('server-key.pem', server.key),
      open('client-ca.pem', clientCa.cert),
      open('client.pem', right.cert),
      secret('client-key.pem', right.key),
      ...WORKING_SET_FIXTURES.flatMap((name, at) => [
        open(`fixtures/client-${name}.pem`, fixtures[at]?.cert ?? ''),
        secret(`fixtures/client-${name}-key.pem`, fixtures[at]?.key ?? ''),
      ]),
      ...(keepCaKeys ? [secret('ca-key.pem', root.key), secret('client-ca-key.pem', clientCa.key)] : []),
    ],
  };
}

/** Contains the name of the client, so that a server which looks for that anywhere in the subject is found out; where there is room. */
function nameOfSomebodyElse(clientName: string): string {
  const name = `${clientName}-not-${clientName}`;
  return name.length <= 64 ? name : 'someone-else';
}

/** A common name has at most 64 characters (RFC 5280, appendix A), and nobody reads it here: the names are the alternative ones. */
function commonNameFor(hosts: readonly string[]): string {
  return hosts.find((host) => host.length <= 64) ?? 'hookproof test server';
}

function open(name: string, text: string): WorkingSetFile {
  return { name, text, secret: false };
}

function secret(name: string, text: string): WorkingSetFile {
  return { name, text, secret: true };
}
