import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyseChain } from '../../../certs/index.ts';
import { type Authorities, analyse, codes, DAY, fromNow, HOST, makeAuthorities, oddLeaf } from './authorities.ts';
import { EXTENSION, handmade, name, validity } from './handmade.ts';

let m: Authorities;
beforeAll(async () => {
  m = await makeAuthorities();
});

const now = new Date();

describe('an analysis', () => {
  it('is the certificates with their roles, the path, the root and the days left', async () => {
    const leaf = await m.leafOf(m.soonInter);
    const analysis = analyse([leaf, m.wrongInter, m.soonInter, m.root, leaf], { trusted: [m.root], now });
    expect(analysis.certificates.map(({ role, subject }) => `${role} ${subject}`)).toEqual([
      'leaf CN=hooks.example',
      'extra CN=Wrong CA, O=Unknown',
      'intermediate CN=Going CA',
      'root CN=Test Root R1, O=Test Trust',
      'extra CN=hooks.example',
    ]);
    expect(analysis).toMatchObject({
      path: [0, 2, 3],
      anchor: 'CN=Test Root R1, O=Test Trust',
      exact: true,
      daysLeft: 12,
      checkedAt: now.toISOString(),
    });
    expect(codes(analysis)).toEqual(['expires-soon@2', 'unrelated@1', 'root-sent@3', 'duplicate@4']);
  });

  it('names certificates, dates, sizes and hosts', async () => {
    const leaf = await m.leafOf(m.inter, {
      key: 'rsa1024',
      hosts: ['a.example', 'b.example'],
      notBefore: fromNow(-90),
      notAfter: new Date(now.getTime() - 2.5 * DAY),
    });
    const { faults, daysLeft } = analyse([leaf, m.inter], { trusted: [m.root], now });
    const day = new Date(now.getTime() - 2.5 * DAY).toISOString().slice(0, 10);
    expect(faults.map(({ text }) => text)).toEqual([
      `The leaf CN=hooks.example expired on ${day}, 2 days ago.`,
      'The leaf CN=hooks.example has an RSA key of 1024 bits; the minimum is 2048.',
      'CN=hooks.example is for a.example and b.example, not for hooks.example.',
    ]);
    expect(daysLeft).toBe(-3);
  });

  it('tells an unknown authority from a missing intermediate, and says when it cannot know', async () => {
    const unknown = analyse([await m.leafOf(m.wrongRoot)], { trusted: [m.root] }).faults[0];
    expect(unknown?.text).toContain('either an untrusted root, or an intermediate that the server should send');
    const private_ = await m.leafOf(m.wrongInter, { issuerUrl: 'http://ca.example/wrong.der' });
    expect(analyse([private_], { trusted: [m.root] }).faults[0]).toMatchObject({
      code: 'missing-intermediate',
      text: expect.stringMatching(/CN=Wrong CA, which the server does not send.*http:\/\/ca\.example\/wrong\.der/),
    });
    // The intermediate of a private CA also has such an address, but its root is unknown.
    const corporate = await m.leafOf(m.wrongRoot, {
      subject: 'CN=Corporate CA',
      authority: true,
      issuerUrl: 'http://ca.example/root.der',
    });
    const under = await m.leafOf(corporate, { issuerUrl: 'http://ca.example/ca.der' });
    expect(codes(analyse([under, corporate], { trusted: [m.root] }))).toEqual(['unknown-authority@1']);
  });

  it.each([
    [undefined, ['expires-soon@0']],
    [29.9, ['expires-soon@0']],
    [30.1, []],
  ])('warns of a certificate with %s days left', async (days, faults) => {
    const leaf = await m.leafOf(m.inter, { notAfter: new Date(Math.ceil(now.getTime() / 1000) * 1000 + 100 * DAY) });
    const later = new Date(now.getTime() + (100 - (days ?? 0)) * DAY);
    expect(codes(analyse([leaf, m.inter], { trusted: [m.root], now: later }))).toEqual(faults);
  });

  it('prefers a path to a trusted root, even with an expired certificate, to a faultless path without one', () => {
    const cross = (issuer: string, signer: string, ended: boolean) =>
      handmade({
        subject: name({ CN: 'Cross' }),
        issuer: issuer === 'root' ? name({ CN: 'Test Root R1', O: 'Test Trust' }) : name({ CN: issuer }),
        key: m.fakeInter.key,
        signer,
        extensions: [EXTENSION.authority(), EXTENSION.keyUsage(5)],
        ...(ended ? { validity: validity(fromNow(-90), fromNow(-1)) } : {}),
      });
    const leaf = oddLeaf(m.fakeInter, name({ CN: 'Cross' }), { key: m.leaf.key });
    const sent = [leaf, cross('Unknown', m.wrongRoot.key, false), cross('root', m.root.key, true)];
    const analysis = analyse(sent, { trusted: [m.root] });
    expect([analysis.path, codes(analysis)]).toEqual([[0, 2], ['expired@2']]);
  });

  it('follows the key identifiers like OpenSSL, and without a trusted path takes the longest', () => {
    const middle = (issuer: Uint8Array, signer: string, id: string) =>
      handmade({
        subject: name({ CN: 'Middle' }),
        issuer,
        key: m.fakeInter.key,
        signer,
        extensions: [EXTENSION.authority(), EXTENSION.keyUsage(5), EXTENSION.subjectKey(Buffer.from(id))],
      });
    const root = name({ CN: 'Test Root R1', O: 'Test Trust' });
    const leaf = oddLeaf(m.fakeInter, name({ CN: 'Middle' }), {
      key: m.leaf.key,
      extensions: [EXTENSION.hosts(HOST), EXTENSION.authorityKey(Buffer.from('two'))],
    });
    const twice = [leaf, middle(root, m.root.key, 'one'), middle(root, m.root.key, 'two')];
    expect(analyse(twice, { trusted: [m.root] })).toMatchObject({ path: [0, 2], faults: [] });
    const wrong = name({ CN: 'Wrong Root', O: 'Unknown' });
    const lost = [
      leaf,
      middle(name({ CN: 'Gone' }), m.root.key, 'two'),
      middle(wrong, m.wrongRoot.key, 'two'),
      m.wrongRoot,
    ];
    const analysis = analyse(lost, { trusted: [m.root] });
    expect([analysis.path, codes(analysis)]).toEqual([[0, 2, 3], ['unknown-authority@3']]);
  });

  it('finds the leaf even if the CA is sent before it', () => {
    const analysis = analyse([m.inter, m.leaf], { trusted: [m.root] });
    expect([analysis.path, codes(analysis)]).toEqual([[1, 0], ['misordered@1']]);
    expect(analysis.faults[0]?.text).toBe(
      'The leaf CN=hooks.example is sent as the second certificate; it must be the first.',
    );
    expect(codes(analyse([m.leaf, m.inter], { trusted: [m.root] }))).toEqual([]);
  });

  it('does not judge the order of a list that is not exact', () => {
    const sent = [m.leaf, m.root, m.wrongInter, m.inter, m.inter];
    expect(codes(analyse(sent, { trusted: [m.root], exact: false }))).toEqual([]);
    expect(codes(analyse(sent, { trusted: [m.root], exact: true }))).toEqual([
      'misordered@1',
      'root-sent@1',
      'unrelated@2',
      'duplicate@4',
    ]);
    // Faults that affect trust are still reported.
    expect(codes(analyse([m.leaf], { trusted: [m.root], exact: false }))).toEqual(['missing-intermediate@0']);
  });

  it('reports an unreadable certificate and analyses the rest', () => {
    const broken = { der: m.inter.der.subarray(0, 300) };
    const analysis = analyse([m.leaf, broken, m.inter], { trusted: [m.root] });
    expect(codes(analysis)).toEqual(['unreadable@1']);
    expect(analysis.faults[0]?.text).toMatch(
      /^The second certificate in the chain \(300 bytes\) cannot be read: it is cut off/,
    );
    expect(analysis.certificates[1]).toMatchObject({ role: 'extra', subject: '(unreadable)', notAfter: '' });
    expect(analysis.path).toEqual([0, 2]);
    expect(codes(analyse([broken, m.inter], { trusted: [m.root], oracle: 'EPROTO' }))).toEqual(['unreadable@0']);
    expect(analyse([broken], { trusted: [m.root] })).toMatchObject({ path: [], anchor: null, daysLeft: null });
    expect(codes(analyse([], { trusted: [m.root] }))).toEqual(['unreadable@null']);
  });

  it('refuses a DSA key, which no server can use any more', () => {
    const { privateKey } = generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 });
    const leaf = oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), { key: privateKey });
    expect(codes(analyse([leaf], { trusted: [m.root] }))).toEqual(['weak-key@0']);
  });

  it('reports a signature that cannot be verified, and believes OpenSSL when it can', () => {
    const odd = oddLeaf(m.inter, name({ CN: 'Test CA 1', O: 'Test Trust' }), { key: m.leaf.key, signature: '1.2.3.4' });
    expect(codes(analyse([odd, m.inter], { trusted: [m.root] }))).toEqual(['unexplained@0']);
    expect(codes(analyse([odd, m.inter], { trusted: [m.root], oracle: 'UNSPECIFIED' }))).toEqual(['unexplained@0']);
    expect(codes(analyse([odd, m.inter], { trusted: [m.root], oracle: null }))).toEqual([]);
  });
});

describe('hosts', () => {
  const of = (hosts: readonly string[], host: string) =>
    codes(analyse([{ der: leafFor(hosts).der }], { trusted: [m.root], host }));
  const leafFor = (hosts: readonly string[]) =>
    oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), {
      key: m.leaf.key,
      extensions: [EXTENSION.hosts(...hosts)],
    });

  it.each([
    [['hooks.example'], 'HOOKS.example.', []],
    [['hooks.example'], 'a.hooks.example', ['host-mismatch@0']],
    [['*.hooks.example'], 'hooks.example', ['host-mismatch@0']],
    [['*.hooks.example'], 'a.b.hooks.example', ['host-mismatch@0']],
    [['h*.hooks.example'], 'ha.hooks.example', ['host-mismatch@0']],
    [['a.*.example'], 'a.b.example', ['host-mismatch@0']],
    [['*.example'], 'hooks.example', ['host-mismatch@0']],
    [['127.0.0.1'], '127.0.0.1', ['host-mismatch@0']],
    [['hooks.example\0.evil.example'], 'hooks.example', ['host-mismatch@0']],
  ])('%j and %s', (hosts, host, faults) => {
    expect(of(hosts, host)).toEqual(faults);
  });

  it.each(['::1', '[::1]', '0:0:0:0:0:0:0:1', '127.0.0.1'])('an address in any spelling: %s', (host) => {
    expect(codes(analyse([m.leaf, m.inter], { trusted: [m.root], host }))).toEqual([]);
  });

  it('reports an address that is written as a DNS name, and a list without hosts', () => {
    expect(analyse([leafFor(['127.0.0.1'])], { trusted: [m.root], host: '127.0.0.1' }).faults[0]?.text).toContain(
      'as a DNS name, but clients expect an IP address',
    );
    const mail = oddLeaf(m.root, name({ CN: 'Test Root R1', O: 'Test Trust' }), {
      key: m.leaf.key,
      extensions: [EXTENSION.email('a@b.example')],
    });
    expect(analyse([mail], { trusted: [m.root] }).faults).toMatchObject([
      { code: 'no-alternative-name', text: expect.stringContaining('has no host in its subject alternative name') },
    ]);
  });

  it('lists only some of many names', () => {
    const many = Array.from({ length: 40 }, (_, index) => `n${index}.example`);
    expect(analyse([leafFor(many)], { trusted: [m.root] }).faults[0]?.text).toBe(
      'CN=hooks.example is for n0.example, n1.example, n2.example, n3.example, n4.example and 35 more, not ' +
        'for hooks.example.',
    );
  });
});

describe('OpenSSL as the second opinion', () => {
  it('is believed with both words when it trusts what the analysis does not', async () => {
    const sent = [await m.leafOf(m.wrongRoot, { notAfter: fromNow(3) })];
    const { faults } = analyse(sent, { trusted: [m.root], oracle: null });
    expect(faults).toMatchObject([
      { code: 'expires-soon' },
      {
        code: 'unexplained',
        at: null,
        text: expect.stringMatching(/^OpenSSL trusts .* unknown-authority: CN=hooks\.example/),
      },
    ]);
    expect(codes(analyse(sent, { trusted: [m.root] }))).toEqual(['unknown-authority@0', 'expires-soon@0']);
  });

  it('is reported when it refuses for a reason that was not found, or that it made up', () => {
    for (const oracle of ['CERT_REVOKED', 'UNSPECIFIED', 'toString', '__proto__', '\x1b[31m']) {
      const { faults } = analyse([m.leaf, m.inter], { trusted: [m.root], oracle });
      expect(faults).toMatchObject([
        { code: 'unexplained', text: expect.stringMatching(/^OpenSSL rejects the chain \(.*found no fault/) },
      ]);
      expect(faults[0]?.text).not.toContain('\x1b');
    }
    expect(codes(analyse([m.leaf, m.inter], { trusted: [m.root], oracle: null }))).toEqual([]);
  });

  it('does not count a fault that explains another code', async () => {
    const leaf = await m.leafOf(m.inter, { key: 'rsa1024' });
    const analysis = analyse([leaf, m.inter], { trusted: [m.root], oracle: 'CERT_HAS_EXPIRED' });
    expect(codes(analysis)).toEqual(['weak-key@0', 'unexplained@null']);
    expect(analysis.faults[1]?.text).toContain('found only weak-key');
  });
});

describe('the trust list', () => {
  it('takes PEM with one certificate or several, read ones, text around them, and what is none of it', () => {
    const sent = [m.leaf.der, m.inter.der];
    const codesWith = (trusted: readonly (string | X509Certificate)[]) =>
      codes(analyseChain({ sent, exact: true, host: HOST, trusted, now, oracle: undefined }));
    expect(codesWith([new X509Certificate(m.root.cert)])).toEqual([]);
    expect(codesWith([`# bundle\r\n${m.wrongRoot.cert}\n${m.root.cert.replaceAll('\n', '\r\n')}`])).toEqual([]);
    expect(codesWith(['', 'hello', m.root.cert.slice(0, 200), m.wrongRoot.cert])).toEqual(['unknown-authority@1']);
    expect(codesWith(['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', m.root.cert])).toEqual([]);
  });

  it('is read once for an array, and again when it has grown', () => {
    const trusted = [...rootCertificates];
    const run = () => {
      const start = performance.now();
      const analysis = analyseChain({
        sent: [m.leaf.der, m.inter.der],
        exact: true,
        host: HOST,
        trusted,
        now,
        oracle: undefined,
      });
      return { codes: codes(analysis), took: performance.now() - start };
    };
    const first = run();
    const again = Math.min(...Array.from({ length: 5 }, () => run().took));
    expect(first.codes).toEqual(['unknown-authority@1']);
    expect(again).toBeLessThan(first.took);
    trusted.push(m.root.cert);
    expect(run().codes).toEqual([]);
  });
});
