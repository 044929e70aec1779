import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffBytes } from '../../../receiver/inspector/byte-diff.ts';
import { explainOutcome, jsonFault } from '../../../receiver/inspector/explain-outcome.ts';
import { createMasker, maskHeaders, maskTarget } from '../../../receiver/inspector/masking.ts';
import { recordDelivery } from '../../../receiver/inspector/recorder.ts';
import { SPELLINGS } from '../../proofs/hostile/spellings.ts';
import { reportOf } from './inspected.ts';

const NAMES = { signature: 'X-Service-Signature', apiKey: 'X-API-Key', aliases: [] };
type Report = Parameters<typeof reportOf>[0];
const explain = (changes: Report) => explainOutcome(recordDelivery(reportOf(changes), 1, 1e6), NAMES);

const signed = (...values: string[]) => ({ headers: values.flatMap((value) => ['X-Service-Signature', value]) });

describe('explainOutcome', () => {
  it.each([
    ['signature-missing', {}, 'has no signature'],
    ['signature-malformed', signed('a'.repeat(64)), '64 characters. The value looks like hexadecimal.'],
    ['signature-malformed', signed('a', 'b'), 'The header 2 times.'],
    ['signature-malformed', signed('A'), '1 character. The value is not standard base64.'],
    ['signature-malformed', signed(''), 'An empty header.'],
    ['signature-missing', { headers: ['X-Hub-Signature', 'a'] }, 'there is one named X-Hub-Signature'],
    ['api-key-missing', { headers: ['X-API-Key', ''] }, 'X-API-Key is empty'],
    ['api-key-mismatch', {}, 'which is not shown'],
    ['client-certificate-untrusted', { reasonDetail: 'certificate has expired' }, 'certificate has expired'],
    ['content-type-not-json', { headers: ['Content-Type', 'text/plain'] }, 'text/plain'],
    ['content-encoding-not-supported', { headers: ['Content-Encoding', 'gzip'] }, 'Content-Encoding: gzip'],
    ['method-not-allowed', {}, 'not POST'],
    ['not-found', { url: '/other?key=1' }, '/other'],
    ['body-too-large', { headers: ['Content-Length', '99'] }, 'Content-Length: 99'],
    ['body-not-json', { rawBody: Buffer.from('{"a":1,}') }, 'Something else at offset 7 (hex 7)'],
    ['body-not-json', { rawBody: Buffer.from('{"\u00e9":') }, 'The body ends at offset 6'],
    ['body-not-json', { rawBody: Buffer.alloc(0) }, 'An empty body'],
    ['body-not-utf8', { rawBody: Buffer.from([0x22, 0xef, 0xbf, 0xbd, 0xff]) }, 'Byte 0xff at offset 4'],
    ['not-a-notification', { rawBody: Buffer.from('{"id":"a"}') }, 'type'],
    ['inbox-failed', { reason: 'inbox failed: database is down' }, 'database is down'],
    ['connection-closed', { outcome: 'aborted', status: undefined }, 'closed the connection'],
    ['a-new-reason', {}, 'a-new-reason'],
    ['toString', {}, 'toString'],
  ])('explains %s', (reasonCode, changes, words) => {
    const explanation = explain({ reason: reasonCode, reasonCode, ...(changes as Report) });
    expect(JSON.stringify(explanation)).toContain(words);
    expect(explanation.title).toMatch(/^[A-Z].*\.$/);
  });

  it('explains accepted deliveries', () => {
    expect(explain({ outcome: 'accepted', reason: undefined }).title).toContain('every check passed');
    expect(explain({ outcome: 'accepted', reason: undefined, duplicate: true }).title).toContain('duplicate');
  });
});

describe('jsonFault', () => {
  it('finds no fault in JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(3), (text, indent) => {
        expect(jsonFault(text)).toBeUndefined();
        expect(jsonFault(JSON.stringify(JSON.parse(text), null, indent))).toBeUndefined();
      }),
    );
  });

  it('finds a fault in everything that JSON.parse rejects', () => {
    const pieces = fc.constantFrom(...'{ } [ ] , : "a" 1 01 true tru - \''.split(' '), '"\n"');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect(jsonFault(text) === undefined).toBe(isJson);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['[1,]', 3, 'value'],
    ['{"a" 1}', 5, 'colon'],
    ['{"a":1 "b"}', 7, 'comma-or-end'],
    ['{} x', 3, 'nothing'],
    ['{a:1}', 1, 'key-or-end'],
  ])('finds the fault in %s', (text, at, expected) => {
    expect(jsonFault(text)).toEqual({ at, expected });
  });
});

describe('diffBytes', () => {
  const apply = (received: Buffer, signed: Buffer) => {
    let [x, y] = [0, 0];
    const parts: [string, string][] = [];
    for (const [side, length] of diffBytes(received, signed)) {
      if (side === 'both') expect(received.subarray(x, x + length)).toEqual(signed.subarray(y, y + length));
      parts.push([
        side,
        side === 'signed' ? signed.toString('utf8', y, y + length) : received.toString('utf8', x, x + length),
      ]);
      if (side !== 'signed') x += length;
      if (side !== 'received') y += length;
    }
    expect([x, y]).toEqual([received.length, signed.length]);
    return parts;
  };

  it('turns any bytes into any other bytes', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '{', ',', '"', '\u00e9'), maxLength: 60 });
    fc.assert(fc.property(text, text, (a, b) => void apply(Buffer.from(a), Buffer.from(b))));
  });

  it('shows only white space when nothing else differs', () => {
    const value = { id: 'a', at: 1.5, data: [1, { b: null, c: 'd e' }, []] };
    const parts = apply(Buffer.from(JSON.stringify(value, null, 2)), Buffer.from(JSON.stringify(value)));
    const different = parts.filter(([side]) => side !== 'both');
    expect(different.map(([side, text]) => [side, text.trim()])).toEqual(different.map(() => ['received', '']));
  });

  it('is close to the shortest difference', () => {
    expect(apply(Buffer.from('{"a":"x/y"}\n'), Buffer.from('{"a":"x\\/y"}'))).toEqual([
      ['both', '{"a":"x'],
      ['signed', '\\'],
      ['both', '/y"}'],
      ['received', '\n'],
    ]);
    expect(apply(Buffer.from('{"a":1.0}'), Buffer.from('{"a":1}'))).toEqual([
      ['both', '{"a":1'],
      ['received', '.0'],
      ['both', '}'],
    ]);
  });

  it('ends for large bodies without a common part', () => {
    const [a, b] = [Buffer.alloc(64 * 1024, 'a,'), Buffer.alloc(64 * 1024, 'b;')];
    expect(apply(a, b).length).toBeGreaterThan(0);
  });
});

describe('maskHeaders and maskTarget', () => {
  it('keep order and letter case, and mask credentials', () => {
    const lines = [
      ['x-ONE', '1'],
      ['X-Api-Key', 'k'],
      ['authorization', 'k'],
      ['Cookie', 'k'],
      ['X-Auth-Token', 'k'],
      ['client-secret', 'k'],
      ['X-Service-Signature', 'wrong'],
      ['x-ONE', '2'],
    ] as const;
    const shown = maskHeaders(lines, NAMES, undefined);
    expect(shown.map(({ name, value }) => [name, value])).toEqual(
      lines.map(([name, value]) => [name, value === 'k' ? null : value]),
    );
    const [withheld] = maskHeaders([['x-service-signature', 'right']], NAMES, 'because');
    expect(withheld).toEqual({ name: 'x-service-signature', value: null, note: 'because' });
  });

  it('mask the values of the query', () => {
    expect(maskTarget('/a?key=1&b&c=')).toBe('/a?key=[***]&[***]&c=[***]');
    expect(maskTarget('/a')).toBe('/a');
  });
});

describe('createMasker', () => {
  const secret = 'p/ss"w\u00f6rd-1';
  const masker = createMasker([secret, 'abc', '']);
  const { text, bytes, value } = masker;

  it.each(Object.keys(SPELLINGS))('masks credentials in every spelling: %s', async (name) => {
    const key = `sk_live-${randomBytes(18).toString('base64url')}`;
    const strong = createMasker([key]);
    const spelt = SPELLINGS[name]?.(key) ?? key;
    const masked = [strong.text(`a ${spelt} b`), (await strong.bytes(Buffer.from(`a ${spelt} b`))).toString()];
    expect(masked.filter((one) => one.includes(spelt.slice(-20)) || !/^a .*\[\*{3}\].* b$/s.test(one))).toEqual([]);
  });

  it('masks credentials in texts, bytes and values', async () => {
    const hex = Buffer.from(secret).toString('hex');
    const spellings = [secret, JSON.stringify(secret), secret.replaceAll('/', '\\/'), encodeURIComponent(secret)];
    spellings.push(Buffer.from(secret).toString('base64'), hex, hex.toUpperCase());
    for (const spelling of spellings) {
      expect(text(`a ${spelling} b`)).toMatch(/^a "?\[\*{3}\]"? b$/);
      expect((await bytes(Buffer.from(`a ${spelling} b`))).toString()).toMatch(/^a "?\[\*{3}\]"? b$/);
    }
    expect(value({ a: [secret, 1, null], b: { c: `x${secret}` } })).toEqual({
      a: ['[***]', 1, null],
      b: { c: 'x[***]' },
    });
    expect(masker.with(['a-signature']).text(`a-signature ${secret}`)).toBe('[***] [***]');
  });

  it('masks short credentials only when they are the whole text, and changes nothing else', async () => {
    expect([text('abc'), text('abcd')]).toEqual(['[***]', 'abcd']);
    const clean = Buffer.from([0xff, 0, 0x61]);
    expect(await bytes(clean)).toBe(clean);
    const mixed = Buffer.concat([clean, Buffer.from(secret), clean]);
    expect(await bytes(mixed)).toEqual(Buffer.concat([clean, Buffer.from('[***]'), clean]));
  });

  it('masks large bodies in parts, and finds what lies across two of them', async () => {
    const key = randomBytes(24).toString('base64url');
    const spelt = SPELLINGS['triple percent-encoding']?.(key) ?? '';
    const filler = 'The order is paid. ';
    const large = createMasker([key]);
    for (const place of [16_384 - spelt.length, 16_384 - 200, 16_384, 20_480 - 100, 32_768 - 1]) {
      const before = filler.repeat(2_000).slice(0, place);
      const after = filler.repeat(2_000);
      const masked = (await large.bytes(Buffer.from(`${before}${spelt}${after}`))).toString();
      expect(masked === `${before}[***]${after}`).toBe(true);
      const shown = (await large.bytes(Buffer.from(`${before}${spelt}${after}`), place + 2)).toString();
      expect(shown === `${before}[*`).toBe(true);
    }
  });

  it('lets others work between the parts', async () => {
    let turns = 0;
    let done = false;
    const count = () => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    await createMasker([secret]).bytes(Buffer.alloc(256 * 1024, 'The order is paid. '));
    done = true;
    expect(turns).toBeGreaterThanOrEqual(15);
  });
});
