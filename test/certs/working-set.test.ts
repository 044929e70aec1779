import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeWorkingSet, WORKING_SET_FILES, type WorkingSetOptions } from '../../certs/index.ts';

const OPTIONS: WorkingSetOptions = {
  directory: '/somewhere/certs',
  hosts: ['localhost'],
  days: 30,
  key: 'p256',
  clientName: 'partner',
  keepCaKeys: false,
};

async function textsOf(change: Partial<WorkingSetOptions> = {}): Promise<Record<string, string>> {
  const { files } = await makeWorkingSet({ ...OPTIONS, ...change });
  return Object.fromEntries(files.map(({ name, text }) => [name, text]));
}
const certificate = (pem: string | undefined) => new X509Certificate(pem!);

describe('the content of a working set', () => {
  it('marks the keys as secret, and only them', async () => {
    const { files } = await makeWorkingSet({ ...OPTIONS, keepCaKeys: true });
    expect(files.map(({ name }) => name).toSorted()).toEqual([...WORKING_SET_FILES].toSorted());
    expect(files.filter(({ text }) => text.includes('PRIVATE KEY')).map(({ name }) => name)).toEqual(
      files.filter(({ secret }) => secret).map(({ name }) => name),
    );
  });

  it('has authorities that issued what they should have, and each fixture wrong in one way', async () => {
    const texts = await textsOf();
    const authority = certificate(texts['client-ca.pem']);
    const facts = Object.fromEntries(
      [
        'client',
        ...['expired', 'not-yet-valid', 'wrong-purpose', 'other-subject'].map((name) => `fixtures/client-${name}`),
      ].map((name) => {
        const one = certificate(texts[`${name}.pem`]);
        const now = Date.now();
        return [
          name.replace('fixtures/client-', ''),
          [
            one.verify(authority.publicKey) && one.checkIssued(authority),
            Date.parse(one.validFrom) <= now,
            Date.parse(one.validTo) > now,
            one.keyUsage?.join() === '1.3.6.1.5.5.7.3.2',
            one.subject === 'CN=partner',
          ],
        ];
      }),
    );
    expect(facts).toEqual({
      client: [true, true, true, true, true],
      expired: [true, true, false, true, true],
      'not-yet-valid': [true, false, true, true, true],
      'wrong-purpose': [true, true, true, false, true],
      'other-subject': [true, true, true, true, false],
    });
    // This certificate must not become valid while the others are still valid.
    const early = Date.parse(certificate(texts['fixtures/client-not-yet-valid.pem']).validFrom);
    expect(early).toBeGreaterThan(Date.parse(certificate(texts['client.pem']).validTo));
  });

  it('has another client even when the client is called like the other one', async () => {
    const texts = await textsOf({ clientName: 'someone-else' });
    expect(certificate(texts['fixtures/client-other-subject.pem']).subject).not.toBe('CN=someone-else');
  });

  it('takes hosts that are too long for a common name', async () => {
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.test`;
    expect(certificate((await textsOf({ hosts: [long] }))['server.pem']).subjectAltName).toBe(`DNS:${long}`);
  });

  it.each([
    [['localhost', '127.0.0.1'], 'https://localhost:3000/'],
    [['::1'], 'https://[::1]:3000/'],
    [['*.partner.test'], 'https://hooks.partner.test:3000/'],
    [['*.partner.test', 'partner.test'], 'https://partner.test:3000/'],
  ])('names a URL that the certificate for %s is for', async (hosts, url) => {
    expect((await textsOf({ hosts }))['README.md']).toContain(`hookproof run ${url} `);
  });

  it('says which client nginx has to let in, where the name can be written plainly', async () => {
    const plain = (await textsOf({ clientName: 'Partner 7' }))['README.md']!;
    expect(plain).toContain('if ($ssl_client_s_dn != "CN=Partner 7") { return 403; }');
    expect((await textsOf({ clientName: 'a"b$c' }))['README.md']).not.toContain('ssl_client_s_dn');
  });
});
