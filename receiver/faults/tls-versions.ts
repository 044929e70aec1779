import { answersHellos } from './answer-hello.ts';
import type { ConnectionFault } from './fault.ts';

const fix = {
  rule: 'Set the lowest version to TLS 1.2 wherever TLS ends: in the proxy or the load balancer, if there is one.',
  express:
    'Leave `minVersion` of `https.createServer` at its default, TLS 1.2, and take `@SECLEVEL=0` out of `ciphers`; behind nginx, `ssl_protocols TLSv1.2 TLSv1.3;`.',
  spring: 'Set `server.ssl.enabled-protocols=TLSv1.2,TLSv1.3`.',
  go: 'Leave `tls.Config.MinVersion` at its default or set it to `tls.VersionTLS12`.',
  dotnet: 'Set `SslProtocols.Tls12 | SslProtocols.Tls13` in the HTTPS options of Kestrel, or leave them to the system.',
} as const;

/** Versions of TLS that were withdrawn. */
export const oldVersions: readonly ConnectionFault[] = [
  {
    name: 'speaks-ssl-3-0',
    area: 'tls',
    title: 'The endpoint still speaks SSL 3.0.',
    seen: 'Appliances and load balancers whose software is from before 2015 (CVE-2014-3566, known as POODLE).',
    why: 'An attacker in between can bring a connection down to it, and read an API key byte by byte.',
    fix,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    // Node cannot speak it: the first flight is imitated.
    server: (server) =>
      answersHellos(server, ({ version, suites: [suite] }) =>
        version === 0x0300 && suite !== undefined ? { suite } : null,
      ),
  },
  {
    name: 'speaks-tls-1-0',
    area: 'tls',
    title: 'The endpoint still speaks TLS 1.0 and TLS 1.1.',
    seen: 'Load balancers with a compatibility policy of years ago, and Java or Windows servers that were never told otherwise.',
    why: 'Both versions rest on hashes that can be forged and were withdrawn (RFC 8996), and an attacker in between can push a connection down to them.',
    fix,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    options: { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
  },
  {
    name: 'speaks-tls-1-1',
    area: 'tls',
    title: 'The endpoint still speaks TLS 1.1, though no longer TLS 1.0.',
    seen: 'Configurations that were hardened when card payments banned TLS 1.0, and not since.',
    why: 'TLS 1.1 was withdrawn together with TLS 1.0 (RFC 8996), and has the same weak hashes.',
    fix,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    options: { minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  },
];
