import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { wrongEncodings } from '../../../harness/diagnose/wrong-encodings.ts';
import { explainSignature, signBody } from '../../../harness/offline/index.ts';
import { newSecret, ODD_BODY } from '../offline/inputs.ts';

const MORE = { url: 'https://partner.example/hooks' };

function signedBy(fault: string, secret: string, body: Uint8Array): string | undefined {
  return wrongEncodings(secret)
    .find((way) => way.fault === fault)
    ?.sign(body);
}

describe('wrongEncodings', () => {
  it('starts with the likeliest, and names each with what, why and how to mend it', () => {
    const ways = wrongEncodings(newSecret());
    expect(ways.slice(0, 3).map(({ fault }) => fault)).toEqual(['hex', 'prefixed-hex', 'reserialised-json']);
    expect(new Set(ways.map(({ fault }) => fault)).size).toBe(ways.length);
    for (const { fault, title, why, fix } of ways) {
      expect(fault).not.toBe('');
      for (const text of [title, why, fix]) expect(text).toMatch(/^[A-Z].+\.$/);
    }
  });

  it('signs in each way what a receiver with this fault would accept', () => {
    const secret = newSecret();
    const parsed = JSON.parse(ODD_BODY.toString());
    expect(signedBy('hex', secret, ODD_BODY)).toBe(createHmac('sha256', secret).update(ODD_BODY).digest('hex'));
    expect(signedBy('reserialised-json', secret, ODD_BODY)).toBe(
      createHmac('sha256', secret).update(JSON.stringify(parsed)).digest('base64'),
    );
    expect(signedBy('data-only', secret, ODD_BODY)).toBe(
      createHmac('sha256', secret).update(JSON.stringify(parsed.data)).digest('base64'),
    );
    expect(signedBy('latin1-body', secret, ODD_BODY)).toBe(
      createHmac('sha256', secret).update(Buffer.from(ODD_BODY.toString(), 'latin1')).digest('base64'),
    );
    expect(signedBy('base64-decoded-secret', secret, ODD_BODY)).toBe(
      createHmac('sha256', Buffer.from(secret, 'base64')).update(ODD_BODY).digest('base64'),
    );
  });

  it('tells all ways apart over an odd body, and never gives the right signature', () => {
    const secret = `${newSecret()}\u00e9 `;
    const more = { ...MORE, apiKey: newSecret() };
    const signatures = wrongEncodings(secret, more).flatMap(({ fault, sign }) => {
      const signature = sign(ODD_BODY);
      return signature === undefined ? [] : [{ fault, signature }];
    });
    expect(signatures.length).toBeGreaterThanOrEqual(20);
    expect(signatures.map(({ signature }) => signature)).not.toContain(signBody(ODD_BODY, secret));
    for (const { fault, signature } of signatures) {
      const same = signatures.filter((other) => other.signature === signature).map((other) => other.fault);
      // Without "+" and "/" in the digest, both alphabets are one.
      if (!same.includes('base64url')) expect(same).toEqual([fault]);
      const report = explainSignature({ body: ODD_BODY, secret, header: signature, ...more });
      expect(same).toContain(report.explanation?.fault);
    }
  });

  it('leaves out what does not apply or would not differ', () => {
    const secret = 'word-'.repeat(8);
    const left = (body: string): string[] =>
      wrongEncodings(secret)
        .filter(({ sign }) => sign(Buffer.from(body)) === undefined)
        .map(({ fault }) => fault);
    // The secret is ASCII, without a prefix and without white space; there is no API key and no URL.
    const always = ['trimmed-secret', 'hex-decoded-secret', 'prefix-stripped-decoded-secret', 'latin1-secret'];
    expect(left(ODD_BODY.toString())).toEqual(expect.arrayContaining([...always, 'url-body', 'api-key-as-secret']));
    expect(left('{"id":"a"}')).toEqual(
      expect.arrayContaining(['reserialised-json', 'python-compact-json', 'trimmed-body', 'latin1-body', 'data-only']),
    );
    expect(left(ODD_BODY.toString())).not.toContain('reserialised-json');
  });

  it('signs a body that is not JSON where it can', () => {
    const ways = wrongEncodings(newSecret());
    const body = Buffer.from('not json \xff', 'latin1');
    expect(ways.find(({ fault }) => fault === 'hex')?.sign(body)).toMatch(/^[0-9a-f]{64}$/);
    expect(ways.find(({ fault }) => fault === 'reserialised-json')?.sign(body)).toBe(undefined);
  });
});
