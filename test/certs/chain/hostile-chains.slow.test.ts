import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { certificateFacts } from '../../../certs/index.ts';
import { type Authorities, analyse, codes, drawChain, HOST, makeAuthorities, oddLeaf } from './authorities.ts';
import { EXTENSION, extension, handmade, name, sequence } from './handmade.ts';

let m: Authorities;
beforeAll(async () => {
  m = await makeAuthorities();
});

const key = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Expects that neither the analysis nor the drawing contains control characters. */
function expectSafe(sent: readonly { readonly der: Uint8Array }[], oracle?: string | null): string {
  const analysis = analyse(sent, { trusted: [m.root], oracle });
  const lines = drawChain(analysis);
  const seen = new Set(analysis.faults.map(({ code, at }) => `${code}@${at}`));
  expect(seen.size).toBe(analysis.faults.length);
  const strings: string[] = [...lines];
  JSON.stringify(analysis, (_, value) => {
    if (typeof value === 'string') strings.push(value);
    return value;
  });
  for (const text of strings) expect(text).not.toMatch(UNSEEN);
  return strings.join('\n');
}

describe('what a server can send', () => {
  it('never throws: random bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 4 }), (sent) => {
        expectSafe(sent.map((der) => ({ der })));
      }),
      { numRuns: 400 },
    );
  });

  it('never throws: certificates with bytes changed, cut out and doubled', () => {
    const place = fc.nat({ max: 700 });
    const change = fc.record({
      at: place,
      to: fc.nat({ max: 255 }),
      cut: fc.nat({ max: 3 }),
      certificate: fc.nat({ max: 2 }),
    });
    let read = 0;
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(undefined, null, 'UNSPECIFIED'),
        (changes, oracle) => {
          const sent = [m.leaf, m.inter, m.root].map(({ der }) => Buffer.from(der));
          for (const { at, to, cut, certificate } of changes) {
            const bytes = sent[certificate]!;
            bytes[at % bytes.length] = to;
            if (cut === 1) sent[certificate] = bytes.subarray(0, at);
            if (cut === 2) sent[certificate] = Buffer.concat([bytes, bytes.subarray(at)]);
          }
          expectSafe(
            sent.map((der) => ({ der })),
            oracle,
          );
          for (const der of sent) {
            try {
              certificateFacts(der);
              read += 1;
            } catch (error) {
              expect(error).toMatchObject({ code: 'CERTIFICATE_UNREADABLE' });
            }
          }
        },
      ),
      { numRuns: 400 },
    );
    expect(read).toBeGreaterThan(100);
  });

  it('is made visible and cut: newlines, escapes, right-to-left marks and 64 kB of name', () => {
    const evil = 'a\nCN=trusted\x1b[2J\u202e\u0000';
    const leaf = oddLeaf(m.inter, name({ CN: evil, O: 'o'.repeat(65_536) }), {
      subject: name({ O: `${'\x1b'.repeat(65_536)}`, CN: evil }),
      key: key(),
      extensions: [
        EXTENSION.hosts(`x\x1b]0;title\x07${'y'.repeat(65_000)}`, 'b\nc'),
        extension('1.3.6.1.5.5.7.1.1', sequence()),
      ],
    });
    const text = expectSafe([leaf, m.inter]);
    expect(text).toContain('a\\nCN=trusted\\x1b[2J\\u202e\\x00');
    expect(text.length).toBeLessThan(12_000);
    const { subject, issuer, hosts } = certificateFacts(leaf.der);
    expect([subject.length < 2500, issuer.length < 2500, hosts[1]]).toEqual([true, true, 'b\\nc']);
  });

  it('keeps what looks like the end of a name apart from a real one', () => {
    const one = handmade({ subject: name({ CN: 'a, O=Trust' }), key: key() });
    expect(certificateFacts(one.der).subject).toBe('CN=a\\, O=Trust');
    const two = oddLeaf(m.root, name({ CN: 'Test Root R1, O=Test Trust' }), { key: key() });
    expect(codes(analyse([two], { trusted: [m.root] }))).toEqual(['unknown-authority@0']);
  });

  it('takes a bounded time: a hundred certificates with one name and one key that certify each other', () => {
    const shared = key();
    const ring = Array.from({ length: 100 }, () =>
      handmade({
        subject: name({ CN: 'Ring' }),
        key: shared,
        extensions: [EXTENSION.authority(), EXTENSION.subjectKey(Buffer.from(String(Math.random())))],
      }),
    );
    const crossed = Array.from({ length: 60 }, (_, index) =>
      handmade({
        subject: name({ CN: `Cross ${index % 2}` }),
        issuer: name({ CN: `Cross ${(index + 1) % 2}` }),
        key: shared,
        extensions: [EXTENSION.authority(), EXTENSION.subjectKey(Buffer.from(String(index)))],
      }),
    );
    const start = performance.now();
    expectSafe([oddLeaf({ key: m.leaf.key }, name({ CN: 'Ring' }), { key: key() }), ...ring]);
    expectSafe([oddLeaf({ key: crossed[0]!.key }, name({ CN: 'Cross 0' }), { key: key() }), ...crossed]);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('takes a bounded time: a name of spaces', () => {
    const start = performance.now();
    certificateFacts(handmade({ subject: name({ CN: `${' '.repeat(200_000)}x` }), key: key() }).der);
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('is compared with the host as it stands, whatever the host is', () => {
    for (const host of ['', '.', '*', `${HOST}\0`, '[', '::ffff:127.0.0.1', 'fe80::1%eth0', 'x'.repeat(70_000)]) {
      expect(() => analyse([m.leaf, m.inter], { trusted: [m.root], host })).not.toThrow();
    }
  });
});
