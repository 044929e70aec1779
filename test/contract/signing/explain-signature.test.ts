import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainMistake } from '../../../contract/mistakes/index.ts';
import { explainSignature, SIGNING_MISTAKES, signBody } from '../../../contract/signing/index.ts';
import { anyCharacter } from '../../setup/any-character.ts';
import { newSecret, ODD_BODY } from './inputs.ts';

const body = Buffer.from('{ "id": "a", "n": 1.0 }');

function faultOf(header: string, secret: string, signed: Uint8Array = body): string | null {
  return explainSignature({ body: signed, secret, header }).explanation?.fault ?? null;
}

/** Finds a secret for which the signature of `body` has a "+", a "/" and letters in both cases. */
function secretWithAllCharacters(): string {
  for (;;) {
    const secret = newSecret();
    if (/(?=.*\+)(?=.*\/)(?=.*[a-z])(?=.*[A-Z])/.test(signBody(body, secret))) return secret;
  }
}

describe('explainSignature', () => {
  it('says whose fault it is that a signature is valid for another form of the body', () => {
    const secret = newSecret();
    const spaced = Buffer.from('{ "id": "1" }');
    const { explanation } = explainSignature({
      body: spaced,
      secret,
      header: signBody(Buffer.from('{"id":"1"}'), secret),
    });
    expect(explanation?.fix).toMatch(/^If a sender sent it, the sender signed that text, but other bytes arrived/);
    expect(explanation?.fix).toContain(explainMistake({ mistake: 'reserialised-body' }).fix);
  });

  it.each([body, Buffer.from('{"a":1}')])(
    'reports that the correct signature matches, without an explanation',
    (signed) => {
      const secret = newSecret();
      expect(explainSignature({ body: signed, secret, header: signBody(signed, secret) })).toEqual({
        matches: true,
        header: [],
        explanation: null,
        printed: null,
        tried: expect.any(Number),
      });
    },
  );

  it('ignores white space around the value, and reports it', () => {
    const secret = newSecret();
    const report = explainSignature({ body, secret, header: ` ${signBody(body, secret)}\t` });
    expect([report.matches, report.header.map(({ name }) => name)]).toEqual([true, ['outer-white-space']]);
  });

  it('has no explanation for an unrelated signature', () => {
    const report = explainSignature({
      body: ODD_BODY,
      secret: newSecret(),
      header: randomBytes(32).toString('base64'),
    });
    expect(report).toEqual({ matches: false, header: [], explanation: null, printed: null, tried: expect.any(Number) });
    expect(report.tried).toBeGreaterThan(1000);
  });

  it('explains the mistake, its cause and its fix', () => {
    const secret = newSecret();
    expect(explainSignature({ body, secret, header: signBody(body, secret, 'hex') }).explanation).toEqual({
      fault: 'hex',
      title: 'Writes the digest as hexadecimal, not as base64.',
      mistake: 'wrong-digest-encoding',
      ...explainMistake({ mistake: 'wrong-digest-encoding' }),
    });
  });

  it.each([
    'reserialised-json+hex',
    'python-json+prefixed-hex',
    'reserialised-json+secret-newline',
    'reserialised-json+secret-newline+hex',
    'base64-decoded-secret+hex',
    'data-only+hmac-sha512',
    'secret-newline+hmac-sha1+hex',
    'empty-body+empty-secret',
  ])('finds the pair %s', (fault) => {
    const secret = newSecret();
    expect(faultOf(signBody(ODD_BODY, secret, fault), secret, ODD_BODY)).toBe(fault);
  });

  const secret = secretWithAllCharacters();
  const correct = signBody(body, secret);
  const altered = `${correct.slice(0, 5)}${correct[5] === '7' ? '8' : '7'}${correct.slice(6)}`;
  const swapped = correct.replace(/[a-z]/gi, (c) => (c < 'a' ? c.toLowerCase() : c.toUpperCase()));

  it.each([
    ['truncated-signature', correct.slice(0, 20)],
    ['truncated-signature+hex', signBody(body, secret, 'hex').slice(0, 32)],
    [null, correct.slice(0, 4)],
    ['extra-characters', `${correct}AAAA`],
    ['altered-signature', altered],
    ['letter-case', swapped],
    ['secret-as-signature', secret],
    ['quoted-header', `"${correct}"`],
    ['prefixed-header', `v1,${correct}`],
    ['several-values', `${randomBytes(32).toString('base64')}, ${correct}`],
    ['inner-white-space', `${correct.slice(0, 10)}\n${correct.slice(10)}`],
    ['header-name-included', `X-Service-Signature: ${correct}`],
  ])('explains a nearly correct value: %s', (fault, header) => {
    expect(faultOf(header, secret)).toBe(fault);
  });

  it('recognises the API key instead of the signature', () => {
    const apiKey = newSecret();
    const report = explainSignature({ body, secret: newSecret(), header: apiKey, apiKey });
    expect(report.explanation?.fault).toBe('api-key-as-signature');
  });

  it('compares nothing for an empty header', () => {
    const report = explainSignature({ body, secret: newSecret(), header: '' });
    expect(report).toEqual({
      matches: false,
      header: [expect.objectContaining({ name: 'empty-header' })],
      explanation: null,
      printed: null,
      tried: 0,
    });
  });

  it('tries every mistake with usual bodies, and only the common ones with huge bodies', () => {
    const secret = newSecret();
    const tried = (size: number): number =>
      explainSignature({ body: randomBytes(size), secret, header: randomBytes(32).toString('base64') }).tried;
    expect(tried(10_000)).toBeLessThan(8_000);
    expect(tried(1024 * 1024 + 1)).toBeLessThan(tried(300 * 1024));
    expect(tried(300 * 1024)).toBeLessThan(tried(10_000));

    const huge = Buffer.alloc(1024 * 1024 + 1, ' ');
    expect(faultOf(signBody(huge, secret, 'secret-newline+hex'), secret, huge)).toBe('secret-newline+hex');
    expect(faultOf(signBody(huge, secret, 'secret-cr'), secret, huge)).toBe(null);
  });

  it('accepts bodies and headers of any kind', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.string({ unit: anyCharacter, maxLength: 80 }),
        (bytes, header) => {
          expect(explainSignature({ body: bytes, secret: newSecret(), header }).matches).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
    const deep = Buffer.from(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    const secret = newSecret();
    expect(faultOf(signBody(deep, secret, 'hex'), secret, deep)).toBe('hex');
    expect(faultOf('AAAA', secret, deep)).toBe(null);
  });

  it('ends for a body of 1 MiB of blanks, of which an expression would try every beginning', () => {
    const [secret, blanks] = [newSecret(), ' '.repeat(1024 * 1024)];
    expect(faultOf('AAAA', secret, Buffer.from(`{"a":"${blanks}"}`))).toBe(null);
    const padded = Buffer.from(`${blanks}{}${blanks}`);
    expect(faultOf(signBody(Buffer.from('{}'), secret), secret, padded)).toBe('trimmed-body');
  });

  it('never reports the secret, the API key, the header or the correct signature', () => {
    const faults = SIGNING_MISTAKES.map(({ name }) => name);
    fc.assert(
      fc.property(
        fc.constantFrom(...faults),
        fc.json({ maxDepth: 2 }),
        fc.integer({ min: 0, max: 3 }),
        (fault, json, around) => {
          const [secret, apiKey] = [newSecret(), newSecret()];
          const bytes = Buffer.from(`{"id":"n-1","at":1700000000,"data": ${json} }`);
          const right = signBody(bytes, secret);
          const more = { apiKey, url: 'https://partner.example/hooks' };
          let wrong = secret;
          try {
            wrong = signBody(bytes, secret, fault, more);
          } catch {
            // The mistake does not apply to this body, so the secret is used as the signature.
          }
          const header = [wrong, `v1,${wrong}`, `"${right}", ${wrong}`, apiKey][around] ?? '';
          const shown = JSON.stringify(explainSignature({ body: bytes, secret, header, ...more }));
          for (const hidden of [secret, apiKey, right, wrong, header]) expect(shown.includes(hidden)).toBe(false);
        },
      ),
      { numRuns: 150 },
    );
  });
});
