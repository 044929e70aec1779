/**
 * Creates a set of certificates for testing HTTPS and mutual TLS on one machine: two CAs, a server, a client, and
 * client certificates that a receiver must reject. Not for production. Specification: TLS, mutual TLS.
 */
import { randomBytes } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { derCommonName } from './der.ts';
import type { CertificateOptions, IssuedCertificate } from './factory/certificate-options.ts';
import { inDays } from './factory/fixture-parts.ts';
import { makeCertificate } from './factory/make-certificate.ts';

export interface WorkingSetOptions {
  /** Absolute path of the folder for the files. The commands of the README contain it. */
  readonly directory: string;
  /** Host names and IP addresses of the server certificate; at least one. */
  readonly hosts: readonly string[];
  /** Validity in days, from now. */
  readonly days: number;
  readonly key: 'p256' | 'rsa2048';
  /** Common name of the client certificate, at most 64 characters. */
  readonly clientName: string;
  /** Includes the keys of the CAs, which can issue more certificates. */
  readonly keepCaKeys: boolean;
}

export interface WorkingSetFile {
  /** Path relative to the folder, with `/` as the separator. */
  readonly name: string;
  readonly text: string;
  /** True for a private key, which only its owner may read. */
  readonly secret: boolean;
}

export interface WorkingSet {
  readonly files: readonly WorkingSetFile[];
  /** The commands of the README, section by section. */
  readonly guide: readonly GuideSection[];
  readonly validUntil: Date;
}

/** Client certificates that a receiver must reject. Their names are those of `mtls.fixtures` in the configuration. */
export const WORKING_SET_FIXTURES = ['expired', 'not-yet-valid', 'wrong-purpose', 'other-subject'] as const;

/** Every file of a working set, including the CA keys. */
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

/** Age of the expired certificate, in days. Its CA is one day older. */
const EXPIRED_SINCE_DAYS = 60;

/** Creates new certificates in memory. Takes half a second with P-256 keys, and a few seconds with RSA keys. */
export async function makeWorkingSet(options: WorkingSetOptions): Promise<WorkingSet> {
  const { hosts, days, clientName, keepCaKeys } = options;
  const validUntil = inDays(days);
  // The names of the CAs contain a random tag, so that files of different sets can be told apart.
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
    // The validity begins after the end of the set's validity.
    'not-yet-valid': client(clientName, clientCa, { notBefore: inDays(days + 1), notAfter: inDays(2 * days + 1) }),
    'wrong-purpose': client(clientName, clientCa, { usages: ['serverAuth'] }),
    'other-subject': client(otherClientName(clientName), clientCa),
  };
  // A common name has at most 64 characters (RFC 5280, appendix A). Clients check only the subject alternative name.
  const serverName = hosts.find((host) => host.length <= 64) ?? 'hookproof test server';
  const [server, validClient, ...fixtures] = await Promise.all([
    make({ subject: derCommonName(serverName), issuer: intermediate, hosts, usages: ['serverAuth'] }),
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
      open('client.pem', validClient.cert),
      secret('client-key.pem', validClient.key),
      ...WORKING_SET_FIXTURES.flatMap((name, at) => [
        open(`fixtures/client-${name}.pem`, fixtures[at]?.cert ?? ''),
        secret(`fixtures/client-${name}-key.pem`, fixtures[at]?.key ?? ''),
      ]),
      ...(keepCaKeys ? [secret('ca-key.pem', root.key), secret('client-ca-key.pem', clientCa.key)] : []),
    ],
  };
}

/**
 * Returns a name that contains the client's name, if it is short enough. It detects a server that searches the subject
 * for the client's name.
 */
function otherClientName(clientName: string): string {
  const name = `${clientName}-not-${clientName}`;
  return name.length <= 64 ? name : 'someone-else';
}

function open(name: string, text: string): WorkingSetFile {
  return { name, text, secret: false };
}

function secret(name: string, text: string): WorkingSetFile {
  return { name, text, secret: true };
}

/** A section of the README: its purpose, and lines to copy. */
export interface GuideSection {
  readonly title: string;
  readonly text: string;
  readonly language: 'sh' | 'nginx';
  readonly lines: readonly string[];
}

interface GuideOptions {
  readonly directory: string;
  readonly hosts: readonly string[];
  readonly clientName: string;
  readonly fixtures: readonly string[];
}

/** Returns the sections for the receiver, a run, the fixtures, nginx and curl. The paths in the commands are quoted. */
function guideSections({ directory, hosts, clientName, fixtures }: GuideOptions): GuideSection[] {
  const path = (name: string) => join(directory, name);
  const shell = (name: string) => shellWord(path(name));
  const url = (port: number) => `https://${urlHost(hosts)}:${port}/`;
  const secret = `--secret-file ${shell('secret.txt')}`;
  const asClient = [
    `--ca ${shell('ca.pem')}`,
    `--client-cert ${shell('client.pem')}`,
    `--client-key ${shell('client-key.pem')}`,
  ].join(' ');
  const receiver =
    `hookproof receiver ${secret} --tls-cert ${shell('server.pem')} --tls-key ${shell('server-key.pem')} ` +
    `--client-ca ${shell('client-ca.pem')} --allow-client ${shellWord(clientName)}`;
  const curl = `curl --include --cacert ${shell('ca.pem')}`;
  return [
    {
      title: 'Create a secret for the signatures, once',
      text: 'Both sides read it from the same file.',
      language: 'sh',
      lines: [`(umask 077 && head -c 32 /dev/urandom | base64 | tr -d '\\n' > ${shell('secret.txt')})`],
    },
    {
      title: 'The reference receiver, with mutual TLS',
      text:
        'It rejects a client without a certificate from client-ca.pem in the handshake, and another client ' +
        'of that CA with 401.',
      language: 'sh',
      lines: [receiver],
    },
    {
      title: 'Or: the receiver accepts every connection, and answers 401 without a valid client certificate',
      text: 'A receiver whose framework checks the certificate behaves like this.',
      language: 'sh',
      lines: [`${receiver} --client-cert-mode optional`],
    },
    {
      title: 'Run the checks against that receiver or yours',
      text:
        `Run this in another terminal. For your receiver, replace ${url(3000)} with its URL and path, for example ` +
        `${url(3000)}hooks. A hookproof.yaml in the current folder is also read; these flags take precedence.`,
      language: 'sh',
      lines: [`hookproof run ${url(3000)} ${secret} ${asClient}`],
    },
    {
      title: 'The same with a hookproof.yaml, including the client certificates that must be rejected',
      text: 'With --config, no other hookproof.yaml is read. Set the URL and path of your receiver in this one.',
      language: 'sh',
      lines: [
        `cat > ${shell('hookproof.yaml')} <<'EOF'`,
        `url: '${url(3000)}'`,
        'hmac:',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the spelling of the configuration
        '  secret: ${file:./secret.txt}',
        'tls:',
        '  ca: ca.pem',
        '  client-cert: client.pem',
        '  client-key: client-key.pem',
        'mtls:',
        '  fixtures:',
        ...fixtures.map(
          (name) => `    ${name}: { cert: fixtures/client-${name}.pem, key: fixtures/client-${name}-key.pem }`,
        ),
        'EOF',
        `hookproof run --config ${shell('hookproof.yaml')}`,
      ],
    },
    {
      title: 'nginx in front of a plain HTTP receiver on port 3000',
      text:
        'Add this to the http section of nginx, for example as /etc/nginx/conf.d/hookproof.conf, and ' +
        `reload nginx. Start the receiver with: hookproof receiver ${secret}. The URL is ${url(8443)}`,
      language: 'nginx',
      lines: nginxLines(path, hosts, clientName),
    },
    {
      title: 'curl',
      text:
        'The first request passes TLS and gets 401, because curl does not sign it. The others are rejected: ' +
        'no certificate, and an expired one.',
      language: 'sh',
      lines: [
        `${curl} --cert ${shell('client.pem')} --key ${shell('client-key.pem')} --data '{}' ${url(3000)}`,
        `${curl} --data '{}' ${url(3000)}`,
        `${curl} --cert ${shell('fixtures/client-expired.pem')} --key ` +
          `${shell('fixtures/client-expired-key.pem')} --data '{}' ${url(3000)}`,
      ],
    },
  ];
}

function nginxLines(path: (name: string) => string, hosts: readonly string[], clientName: string): string[] {
  const file = (name: string) => `"${path(name).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  const names = hosts.filter((host) => isIP(host) === 0);
  return [
    'server {',
    '    listen 127.0.0.1:8443 ssl;',
    `    server_name ${names.length === 0 ? '_' : names.join(' ')};`,
    '    ssl_protocols TLSv1.2 TLSv1.3;',
    `    ssl_certificate ${file('server.pem')};`,
    `    ssl_certificate_key ${file('server-key.pem')};`,
    `    ssl_client_certificate ${file('client-ca.pem')};`,
    '    ssl_verify_client on;',
    // A name with other characters would need escapes, so this line is omitted. Every client of the CA is then
    // accepted.
    ...(/^\w[\w.-]*(?: [\w.-]+)*$/.test(clientName)
      ? [`    if ($ssl_client_s_dn != "CN=${clientName}") { return 403; }`]
      : []),
    '    location / {',
    '        proxy_pass http://127.0.0.1:3000;',
    '    }',
    '}',
  ];
}

/** Returns the first host without a wildcard, or else a host that the first wildcard matches. */
function urlHost(hosts: readonly string[]): string {
  const host = hosts.find((one) => !one.startsWith('*.')) ?? hosts[0]?.replace('*', 'hooks') ?? 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}

/** Quotes a text as one word for a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

interface ReadmeOptions {
  readonly hosts: readonly string[];
  readonly clientName: string;
  readonly keepCaKeys: boolean;
  readonly validUntil: Date;
  readonly guide: readonly GuideSection[];
}

/** Returns the README of the folder, in Markdown. */
function readmeText({ hosts, clientName, keepCaKeys, validUntil, guide }: ReadmeOptions): string {
  const files = [
    ['ca.pem', 'The root of the server certificate, which a client must trust.'],
    ['server.pem', `The server certificate for ${code(hosts)}, followed by the intermediate that issued it.`],
    ['server-key.pem', 'The private key of the server.'],
    ['client-ca.pem', 'The CA of the client certificates, which a server must trust.'],
    ['client.pem', `The client certificate, for ${code([clientName])}.`],
    ['client-key.pem', 'The private key of the client.'],
    ['fixtures/client-expired.pem', 'A client certificate that expired yesterday. A server must reject it.'],
    [
      'fixtures/client-not-yet-valid.pem',
      'A client certificate that becomes valid only after the set has expired. A server must reject it.',
    ],
    [
      'fixtures/client-wrong-purpose.pem',
      'A certificate for servers only. A server must reject it as a client ' + 'certificate.',
    ],
    [
      'fixtures/client-other-subject.pem',
      'A valid certificate from the same CA for another client. A server that accepts only this client must reject it.',
    ],
    ['fixtures/client-*-key.pem', 'The private keys of these client certificates.'],
    ...(keepCaKeys ? [['ca-key.pem, client-ca-key.pem', 'The CA keys, which can issue more certificates.']] : []),
  ];
  return [
    '# Certificates for trying out HTTPS and mutual TLS',
    '',
    'Created by `hookproof certs`. Everything except the faulty client certificates is valid until ' +
      `${validUntil.toISOString()}.`,
    '',
    '**Never for production.** The keys are not encrypted. Do not commit this folder, and do not add its CAs ' +
      'to the trust store of a system.',
    keepCaKeys
      ? 'The CA keys are included.'
      : 'The CA keys were deleted: to get more certificates, create a new set (`hookproof certs --force`).',
    '',
    '| file | content |',
    '| --- | --- |',
    ...files.map(([name, what]) => `| \`${name}\` | ${what} |`),
    '',
    'The commands below contain the path of this folder. If you move it, change them or create a new set.',
    '',
    ...guide.flatMap(({ title, text, language, lines }) => [
      `## ${title}`,
      '',
      text,
      '',
      `\`\`\`${language}`,
      ...lines,
      '```',
      '',
    ]),
  ].join('\n');
}

function code(words: readonly string[]): string {
  return words.map((word) => `\`${word.replaceAll('`', "'").replaceAll('|', '\\|')}\``).join(', ');
}
