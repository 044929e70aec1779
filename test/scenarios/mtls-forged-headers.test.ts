import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../../certs/index.ts';
import type { HeaderLine } from '../../contract/index.ts';
import { createKit } from '../../harness/run/kit.ts';
import { findScenario } from '../../scenarios/index.ts';
import { assemble } from './credential-check.ts';

const ID = 'mtls/forged-headers';

/** Names as in the certificate of a public CA, which make it long: 1.6 kB of DER. */
const HOSTS = Array.from({ length: 10 }, (_, at) => `sender-${at}.notifications.example.com`);

async function kitWith(key: 'p256' | 'rsa2048' | 'rsa4096') {
  const hosts = key === 'rsa4096' ? HOSTS : [];
  const { cert: clientCert } = await makeCertificate({ subject: 'CN=sender', key, hosts, usages: ['clientAuth'] });
  const partner = { url: 'https://localhost/hooks', signing: { secret: 's'.repeat(32) }, tls: { clientCert } };
  return createKit(partner, 'seed', ID, new Date());
}

describe.each([
  ['p256', 30],
  ['rsa2048', 30],
  ['rsa4096', 70],
] as const)('the claims of a client certificate with a key of %s', async (key, limit) => {
  const kit = await kitWith(key);
  const scenario = findScenario(ID);
  const deliveries = scenario !== undefined && 'flow' in scenario ? scenario.flow(kit).flat() : [];
  const headersOf = (change: (typeof deliveries)[number]['change']) => assemble(change, kit).head.headers;
  const sent = deliveries.map(({ change }) => headersOf(change));
  const valuesOf = (name: string) =>
    sent.flatMap((lines) => lines.filter(([other]) => other === name).map(([, value]) => value));

  it('fit into the smallest usual limit of a head, and are few', () => {
    const sizeOf = (lines: readonly HeaderLine[]) =>
      lines.reduce((size, [name, value]) => size + name.length + value.length + 4, 0);
    expect(Math.max(...sent.map(sizeOf))).toBeLessThan(8000);
    expect(deliveries.length).toBeLessThanOrEqual(limit);
  });

  it('come without a certificate', () => {
    expect(deliveries.map(({ change }) => change.connect?.clientCertificate)).toEqual(deliveries.map(() => 'none'));
  });

  it('have no name twice, also where a server makes variables of them', () => {
    const repeated = sent.filter((lines) => {
      const names = lines.map(([name]) => name.toUpperCase().replaceAll('-', '_'));
      return new Set(names).size < names.length;
    });
    expect(repeated).toEqual([]);
  });

  it.each(['X-Forwarded-Client-Cert', 'X-SSL-Client-Cert', 'SSL_CLIENT_CERT', 'Client-Cert'])(
    'have the certificate in %s in every form',
    (name) => {
      const decoded = valuesOf(name).map((value) => {
        const inList = /Cert="([^"]*)"/.exec(value)?.[1] ?? value;
        const text = decodeURIComponent(inList.replace(/^:|:$/g, ''));
        const pem = text.startsWith('LS0t') ? Buffer.from(text, 'base64').toString() : text;
        const der = pem.replace(/-----[A-Z ]+-----|\s/g, '');
        return new X509Certificate(Buffer.from(der, 'base64')).fingerprint256;
      });
      expect(decoded).toEqual(Array(7).fill(new X509Certificate(kit.clientCertificate).fingerprint256));
    },
  );

  it('say that it is verified as each product does', () => {
    expect(new Set(valuesOf('X-SSL-Client-Verify'))).toEqual(new Set(['SUCCESS', '0', 'OK', '1', 'NONE', 'true']));
    expect(valuesOf('X-SSL-Client-DN')).toContain(`/CN=${valuesOf('X-SSL-Client-CN')[0]}`);
  });

  it('have the headers that say it is verified next to each certificate of the same product', () => {
    const withCertificate = sent.filter((lines) => lines.some(([name]) => name === 'X-SSL-Cert'));
    expect(withCertificate).toHaveLength(7);
    for (const lines of withCertificate) expect(lines.map(([name]) => name)).toContain('X-SSL-Client-Verify');
  });

  it('are narrowed to one header, first with a certificate that anyone can make', () => {
    const [plain, ...parts] = deliveries.find(({ change }) =>
      headersOf(change).some(([name]) => name === 'X-Forwarded-Client-Cert'),
    )!.followUps!;
    expect(plain!.change).toEqual({ connect: deliveries[0]!.change.connect });
    const [own, senders] = parts
      .filter(({ label }) => label.startsWith('X-Forwarded-Client-Cert: '))
      .map(({ change }) => headersOf(change).at(-1)![1]);
    const subjectIn = (pem: string) => new X509Certificate(decodeURIComponent(pem)).subject;
    expect(subjectIn(own!)).toBe(subjectIn(senders!));
    expect(own).not.toBe(senders);
  });
});
