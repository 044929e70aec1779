import { beforeAll, describe, expect, it } from 'vitest';
import { type Authorities, analyse, DAY, drawChain, makeAuthorities } from './authorities.ts';

let m: Authorities;
beforeAll(async () => {
  m = await makeAuthorities();
});

const now = new Date();
const day = (days: number) => new Date(now.getTime() + days * DAY);
const date = (days: number) => day(days).toISOString().slice(0, 10);

describe('the drawing of a chain', () => {
  it('has the root on top, keys, signatures, dates and marks', async () => {
    const inter = await m.leafOf(m.root, {
      subject: 'CN=Example CA 2',
      key: 'p384',
      authority: true,
      hosts: [],
      notAfter: day(800.5),
      usages: undefined as never,
    });
    const leaf = await m.leafOf(inter, { key: 'rsa1024', notAfter: day(10.5) });
    expect(drawChain(analyse([leaf, inter], { trusted: [m.root], now }))).toEqual([
      'CN=Test Root R1, O=Test Trust (trusted here)',
      `└─ CN=Example CA 2, P-384, ecdsa-sha256, until ${date(800.5)} (800 days)`,
      `   └─ CN=hooks.example, RSA 1024, ecdsa-sha256, until ${date(10.5)} (10 days) [expires-soon] [weak-key]`,
    ]);
  });

  it('shows chains without a root, extra certificates, and faults of the root', async () => {
    const lost = drawChain(analyse([m.leaf, m.wrongRoot], { trusted: [m.root], now }), { ascii: true });
    expect(lost[0]).toBe('CN=Test CA 1, O=Test Trust (not sent, not trusted here)');
    expect(lost[1]).toMatch(/^`- CN=hooks\.example, P-256, .* \[missing-intermediate\]$/);
    expect(lost.slice(2)).toEqual([
      'also sent:',
      expect.stringMatching(/^ {3}second: CN=Wrong Root, .* \[unrelated\]$/),
    ]);

    const weak = drawChain(analyse([await m.leafOf(m.weakRoot)], { trusted: [m.weakRoot], now }));
    expect(weak[0]).toBe('CN=Weak Root (trusted here) [weak-key]');
    const sentRoot = drawChain(analyse([m.leaf, m.inter, m.root], { trusted: [m.root], now }));
    expect(sentRoot[0]).toMatch(/^CN=Test Root R1, P-256, .* \[root-sent\] \(trusted here\)$/);
    const unknown = drawChain(analyse([m.selfSigned], { trusted: [m.root], now }));
    expect(unknown).toEqual([expect.stringMatching(/^CN=hooks\.example, P-256, .* \[self-signed\]$/)]);
    expect(drawChain(analyse([m.selfSigned], { trusted: [m.selfSigned], now }))[0]).toMatch(/\(trusted here\)$/);
  });

  it('shows what cannot be read or seen, and what only OpenSSL knows', () => {
    expect(drawChain(analyse([], { now }))).toEqual(['(no certificate that can be read) [unreadable]']);
    const broken = drawChain(analyse([m.leaf, { der: Buffer.from('x') }, m.inter], { trusted: [m.root], now }));
    expect(broken.at(-1)).toBe('   second: (unreadable) [unreadable]');
    const refused = drawChain(
      analyse([m.leaf, m.inter], { trusted: [m.root], now, exact: false, oracle: 'CERT_REVOKED' }),
    );
    expect(refused.slice(-2)).toEqual([
      '(order and extra certificates are not visible over TLS 1.3)',
      expect.stringMatching(/^\[unexplained\] OpenSSL rejects the chain \(CERT_REVOKED\)/),
    ]);
  });
});
