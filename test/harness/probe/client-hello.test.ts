import { describe, expect, it } from 'vitest';
import type { TlsVersion } from '../../../contract/index.ts';
import { encodeClientHello, suiteName, suitesOf } from '../../../harness/probe/client-hello.ts';
import type { SuiteGroup } from '../../../scenarios/index.ts';
import { type ParsedHello, parseClientHello } from '../../endpoints/client-hello.ts';
import { NUMBERS } from '../../endpoints/tls-bytes.ts';

function parsed(hello: Parameters<typeof encodeClientHello>[0]): ParsedHello {
  const found = parseClientHello(Buffer.from(encodeClientHello(hello)));
  if (found === null || found === 'no-hello') throw new Error('The hello cannot be read.');
  return found;
}

const OLD: readonly TlsVersion[] = ['SSLv3', 'TLSv1', 'TLSv1.1', 'TLSv1.2'];

describe('a ClientHello', () => {
  it.each(OLD)('of %s states that version and uses no later feature', (version) => {
    const hello = parsed({ version, suites: [0x002f, 0x0035], serverName: 'example.com' });
    expect(hello).toMatchObject({
      recordVersion: version === 'SSLv3' ? 0x0300 : 0x0301,
      version: NUMBERS[version],
      versions: [],
      suites: [0x002f, 0x0035, 0x00ff],
      compressions: [0],
      serverName: version === 'SSLv3' ? null : 'example.com',
    });
    expect(hello.sessionId).toHaveLength(0);
    expect(hello.extensions).toEqual(
      version === 'SSLv3' ? null : version === 'TLSv1.2' ? [0, 10, 11, 13] : [0, 10, 11],
    );
  });

  it('of TLS 1.3 states its version in the extension only, with a session id and a key share', () => {
    const hello = parsed({ version: 'TLSv1.3', suites: [0x1301], serverName: 'example.com' });
    expect(hello).toMatchObject({ recordVersion: 0x0301, version: 0x0303, versions: [0x0304], suites: [0x1301] });
    expect(hello.sessionId).toHaveLength(32);
    expect(hello.extensions).toEqual([0, 10, 11, 13, 43, 51]);
  });

  it('offers exactly what was requested', () => {
    const plain = { version: 'TLSv1.2', suites: [0x002f], serverName: null } as const;
    expect(parsed(plain).extensions).toEqual([10, 11, 13]);
    const full = parsed({ ...plain, compression: true, alpn: ['h2', 'http/1.1'], ocsp: true });
    expect(full).toMatchObject({ compressions: [1, 0], alpn: ['h2', 'http/1.1'], serverName: null });
    expect(full.extensions).toEqual([10, 11, 13, 16, 5]);
  });

  it('is random each time', () => {
    const hello = { version: 'TLSv1.3', suites: [0x1301], serverName: null } as const;
    expect(encodeClientHello(hello)).not.toEqual(encodeClientHello(hello));
  });
});

describe('cipher suites', () => {
  const groups: readonly SuiteGroup[] = [
    'modern',
    'tls13',
    'legacy',
    'cbc',
    'rc4',
    '3des',
    'null',
    'export',
    'anonymous',
    'static-rsa',
  ];

  it('all have a registered name that fits their group', () => {
    const pattern: Partial<Record<SuiteGroup, RegExp>> = {
      modern: /_(?:GCM|CHACHA20_POLY1305)_SHA/,
      tls13: /^TLS_(?:AES|CHACHA20)/,
      legacy: /_CBC_SHA$/,
      cbc: /_CBC_SHA/,
      rc4: /_RC4_128_/,
      '3des': /_3DES_EDE_CBC_SHA$/,
      null: /_WITH_NULL_/,
      export: /_EXPORT_WITH_/,
      anonymous: /_anon_WITH_/,
      'static-rsa': /^TLS_RSA_WITH_AES/,
    };
    for (const group of groups) {
      const names = suitesOf([group]).map(suiteName);
      expect({ group, odd: names.filter((name) => pattern[group]?.test(name) !== true) }).toEqual({ group, odd: [] });
    }
    expect(suiteName(0x1a2b)).toBe('suite 0x1a2b');
    expect(suiteName(0x00af)).toBe('suite 0x00af');
  });

  it('of several groups are listed once each', () => {
    const both = suitesOf(['cbc', 'legacy']);
    expect(new Set(both).size).toBe(both.length);
    expect(both).toEqual(expect.arrayContaining([...suitesOf(['cbc']), ...suitesOf(['legacy'])]));
  });
});
