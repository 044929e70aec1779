import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesHost } from '../../../certs/chain/host-faults.ts';
import { readCertificate } from '../../../certs/facts/read-certificate.ts';
import { EXTENSION, handmade, name } from './handmade.ts';

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

describe('the comparison of names', () => {
  it('agrees with OpenSSL', () => {
    const label = fc.constantFrom('a', 'A', 'a-b', 'xn--a');
    const host = fc.array(label, { minLength: 1, maxLength: 4 });
    const odd = fc.constantFrom('*', 'a*', '*a', 'b');
    // Half of the patterns are the name with one label changed.
    const pair = fc.tuple(
      host,
      fc.array(fc.oneof(label, odd), { minLength: 1, maxLength: 4 }),
      odd,
      fc.nat({ max: 7 }),
    );
    const names = pair.map(([wanted, other, change, at]): [string, string] => {
      const given = at < 5 ? wanted.map((own, index) => (index === at ? change : own)) : other;
      return [given.join('.'), wanted.join('.').toLowerCase()];
    });
    let covered = 0;
    fc.assert(
      fc.property(names, ([given, wanted]) => {
        const { der } = handmade({ subject: name({ CN: 'x' }), key, extensions: [EXTENSION.hosts(given)] });
        const openssl =
          new X509Certificate(der).checkHost(wanted, { subject: 'never', partialWildcards: false }) !== undefined;
        const { alternativeNames } = readCertificate(der).extensions;
        const ours = matchesHost(alternativeNames ?? [], wanted);
        if (ours) covered += 1;
        expect({ given, wanted, covers: ours }).toEqual({ given, wanted, covers: openssl });
      }),
      { numRuns: 1500 },
    );
    expect(covered).toBeGreaterThan(100);
  });
});
