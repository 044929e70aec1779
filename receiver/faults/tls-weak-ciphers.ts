import { answersHellos } from './answer-hello.ts';
import type { ConnectionFault } from './fault.ts';

const fix = {
  rule: 'Use the cipher list of a current server or a current policy of the load balancer, and remove whatever adds to it.',
  express:
    'Leave `ciphers` of `https.createServer` alone, above all no `ALL` and no `@SECLEVEL=0`; behind nginx, take an `ssl_ciphers` line of a current recommendation.',
} as const;

type Text = Pick<ConnectionFault, 'title' | 'seen' | 'why'> & Partial<ConnectionFault>;

function weak(name: string, text: Text): ConnectionFault {
  return { name, area: 'tls', fix, severity: 'medium', forbidden: false, stage: 'connection', ...text };
}

/** Takes a hello of TLS 1.2 that offers nothing but these suites, which OpenSSL in Node no longer has. Who offers better ones gets those. */
function takes(suites: readonly number[]): Pick<ConnectionFault, 'server'> {
  return {
    server: (server) =>
      answersHellos(server, (hello) => {
        const [suite] = hello.suites;
        const only = hello.suites.every((offered) => suites.includes(offered));
        return hello.version === 0x0303 && suite !== undefined && only ? { suite } : null;
      }),
  };
}

/** Cipher suites, and compression, that give away what they should hide. */
export const weakCiphers: readonly ConnectionFault[] = [
  weak('takes-rc4', {
    title: 'The endpoint takes cipher suites with RC4.',
    seen: 'Servers that were told to prefer RC4 in 2011, when it was the advice against another attack, and old Windows servers.',
    why: 'RC4 leaks what is sent again and again, as an API key is (RFC 7465 forbids it).',
    ...takes([0x0004, 0x0005, 0xc007, 0xc011]),
  }),
  weak('takes-triple-des', {
    title: 'The endpoint takes cipher suites with triple DES.',
    seen: 'Java and Windows servers with their old defaults, and cipher lists with `HIGH` on old OpenSSL (CVE-2016-2183, known as SWEET32).',
    why: 'Its blocks are so small that they repeat on a long connection, and repetitions give away what was sent.',
    ...takes([0x000a, 0x0016, 0xc008, 0xc012]),
  }),
  weak('takes-export-ciphers', {
    title: 'The endpoint takes export-grade cipher suites.',
    seen: 'Appliances and embedded servers that list every suite that their library knows (CVE-2015-0204, known as FREAK).',
    why: 'Such keys are broken within minutes, and an attacker in between can push a connection towards them.',
    ...takes([0x0003, 0x0006, 0x0008, 0x0014, 0x0017]),
  }),
  weak('takes-null-ciphers', {
    title: 'The endpoint takes cipher suites that do not encrypt.',
    seen: 'Cipher lists with `ALL:eNULL`, left over from looking at the traffic while debugging.',
    why: 'Everybody on the way reads the API key and the payload, and both ends believe that they use TLS.',
    options: { ciphers: 'ALL:!aNULL:eNULL:@SECLEVEL=0' },
  }),
  weak('takes-anonymous-ciphers', {
    title: 'The endpoint takes cipher suites that need no certificate.',
    seen: 'Cipher lists with `ALL`, which in OpenSSL holds the anonymous suites unless `!aNULL` follows.',
    why: 'Without a certificate the sender cannot tell the endpoint from somebody in between.',
    options: { ciphers: 'ALL:@SECLEVEL=0' },
  }),
  weak('compresses-tls', {
    title: 'The endpoint compresses the TLS connection.',
    seen: 'Servers on OpenSSL builds of before 2013 with zlib compiled in (CVE-2012-4929, known as CRIME).',
    why: 'The length of what is compressed gives away secrets in the headers to who can have requests repeated.',
    fix: {
      rule: 'Switch TLS compression off, or update the TLS library: none of today has it on.',
      express: 'Node has no TLS compression: look at the proxy in front (`SSLCompression off` in Apache).',
    },
    server: (server) =>
      answersHellos(server, ({ version, suites: [suite], compressions }) =>
        version === 0x0303 && suite !== undefined && compressions.includes(1) ? { suite, compression: 1 } : null,
      ),
  }),
];
