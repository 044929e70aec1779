import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../harness/report/index.ts';
import { BEGIN_PRIVATE_KEY, pem as pemOf } from '../../certs/material.ts';
import { SPELLINGS } from '../../proofs/hostile/spellings.ts';

/** A secret with characters that each encoding changes. */
const secret = `${randomBytes(9).toString('base64url')}/+ "'\\<&>é${randomBytes(9).toString('hex')}`;
const redactor = createRedactor({ values: [{ name: 'signature secret', value: secret }] });

const bytes = Buffer.from(secret);
const quoted = JSON.stringify(secret).slice(1, -1);
const ENCODINGS: readonly (readonly [string, string])[] = [
  ['the value itself', secret],
  ['upper case', secret.toUpperCase().replace('É', 'é')],
  ['base64', bytes.toString('base64')],
  ['base64 without padding', bytes.toString('base64').replace(/=+$/, '')],
  ['base64url', bytes.toString('base64url')],
  ['hex', bytes.toString('hex')],
  ['upper-case hex', bytes.toString('hex').toUpperCase()],
  ['percent-encoding', encodeURIComponent(secret)],
  ['percent-encoding in lower case', encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
  ['form data', new URLSearchParams({ a: secret }).toString().slice(2)],
  ['percent-encoding of every byte', Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
  ['JSON', quoted],
  ['JSON in ASCII', quoted.replace('é', '\\u00e9')],
  ['JSON with escaped slashes', quoted.replace('/', '\\/')],
  ['JSON in JSON', JSON.stringify(quoted).slice(1, -1)],
  ['JSON for HTML', quoted.replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)],
  [
    'HTML',
    secret.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;').replace('"', '&quot;').replace("'", '&#39;'),
  ],
  ['a quoted shell word', secret.replace("'", "'\\''")],
  ['UTF-8 read as Latin-1', bytes.toString('latin1')],
];

/** Secrets in common shapes, with characters that only some encodings change. */
const SHAPES: Readonly<Record<string, string>> = {
  base64: randomBytes(32).toString('base64'),
  'API key': `sk_live-${randomBytes(18).toString('base64url')}`,
  hex: randomBytes(20).toString('hex'),
  passphrase: `horse'battery/staple+${randomBytes(4).toString('hex')}=`,
};

describe('redacting a secret', () => {
  it.each(Object.keys(SPELLINGS))('finds it in text and in bytes: %s', (name) => {
    const all = createRedactor({ values: Object.values(SHAPES).map((value) => ({ name: 'secret', value })) });
    const spelt = Object.values(SHAPES).map((value) => SPELLINGS[name]?.(value) ?? value);
    const texts = spelt.map((one) => `a=(${one}) b`);
    expect(texts.map(all.text).filter((text, at) => text.includes(spelt[at]!.slice(-20)))).toEqual([]);
    const bytes = texts.map((text) => Buffer.from(all.bytes(Buffer.from(text))).toString());
    expect(bytes.filter((text, at) => text.includes(spelt[at]!))).toEqual([]);
    expect([...texts.map(all.text), ...bytes].filter((text) => !/^a=\(.*\) b$/s.test(text))).toEqual([]);
  });

  it('changes no other text: pages, images in base64, digests, dumps and random bytes', () => {
    const { text, bytes: redactBytes } = createRedactor({
      values: Object.values(SHAPES).map((value) => ({ name: 'secret', value })),
    });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 300, maxLength: 3000 }), fc.string({ unit: 'grapheme' }), (raw, words) => {
        const image = Buffer.from(raw);
        const page = `<p title="${words}">&lt;b&gt; 100&#37; &amp;amp; %20 \\u0041</p>`;
        const others = [
          image.toString('base64'),
          image.toString('hex'),
          image.join(', '),
          image.toString('hex').replace(/../g, '$&:'),
          `${page}<img src="data:image/png;base64,${image.toString('base64')}">`,
          JSON.stringify({ words, nested: JSON.stringify({ words, path: 'C:\\temp\\x41' }) }),
          words,
        ];
        expect(others.map(text)).toEqual(others);
        expect(redactBytes(image)).toBe(image);
      }),
      { numRuns: 30 },
    );
  });

  it.each(ENCODINGS)('finds it as %s', (_, form) => {
    expect(redactor.text(form)).toBe('[redacted:signature secret]');
    expect(redactor.text(`before=${form};after`)).toBe('before=[redacted:signature secret];after');
  });

  it('finds it inside longer base64, at each of the three alignments', () => {
    for (const before of ['', 'u', 'us', 'user:']) {
      const text = Buffer.from(`${before}${secret}@host`).toString('base64');
      const redacted = redactor.text(text);
      expect(redacted).toContain('[redacted:signature secret]');
      const left = Buffer.from(redacted.split('[redacted:signature secret]')[0] ?? '', 'base64').toString();
      expect(left).toBe(before.slice(0, left.length));
    }
  });

  it('changes nothing else', () => {
    const text = 'The plain valid delivery was refused with 401: {"signature":"none"}';
    expect(redactor.text(text)).toBe(text);
    expect(createRedactor({ values: [{ name: 'empty', value: '' }] }).text(text)).toBe(text);
  });

  it('finds the start of it at the end of a truncated text, and nearly all of it anywhere', () => {
    const key = randomBytes(16).toString('hex');
    const { text } = createRedactor({ values: [{ name: 'API key', value: key }] });
    expect(text(`body: ${key.slice(0, 12)}`)).toBe('body: [redacted:API key]');
    expect(text(`body: ${key.slice(0, 12)}… (cut)`)).toBe('body: [redacted:API key]… (cut)');
    const dump = Buffer.from(key);
    expect(text(`1, 2, ${dump.subarray(0, 6).join(', ')}`)).toBe('1, 2, [redacted:API key]');
    expect(text(`1, 2, ${dump.subarray(0, 2).join(', ')}`)).toBe(`1, 2, ${dump.subarray(0, 2).join(', ')}`);
    expect(text(`${key.slice(0, -1)}! was refused`)).toBe('[redacted:API key]! was refused');
    expect(text(`body: ${key.slice(0, 12)} and more`)).toBe(`body: ${key.slice(0, 12)} and more`);
  });

  it('redacts overlapping and nested secrets under the name of the longest', () => {
    const [a, b, c] = [randomBytes(6), randomBytes(6), randomBytes(6)].map((part) => part.toString('hex'));
    const { text } = createRedactor({
      values: [
        { name: 'inner', value: `${b}` },
        { name: 'left', value: `${a}${b}` },
        { name: 'right', value: `${b}${c}--` },
      ],
    });
    expect(text(`<${b}>`)).toBe('<[redacted:inner]>');
    expect(text(`<${a}${b}>`)).toBe('<[redacted:left]>');
    expect(text(`<${a}${b}${c}-->`)).toBe('<[redacted:right]>');
  });

  it('finds the trimmed value and the lines of PEM material', () => {
    const line = randomBytes(48).toString('base64');
    const pem = pemOf('PRIVATE KEY', Buffer.from(line, 'base64'));
    const { text } = createRedactor({ values: [{ name: 'client key', value: pem }] });
    expect(text(pem)).toBe('[redacted:client key]');
    expect(text(`read "${line}"`)).toBe('read "[redacted:client key]"');
    expect(text(`no ${BEGIN_PRIVATE_KEY} line`)).toBe(`no ${BEGIN_PRIVATE_KEY} line`);
  });

  it('redacts a very short secret only where it is a complete value', () => {
    const { text, headers, wording } = createRedactor({ values: [{ name: 'API key', value: 'the' }] });
    expect(text('the other; {"key":"the"} key=the&a=b X-API-Key: the\r\n')).toBe(
      'the other; {"key":"[redacted:API key]"} key=[redacted:API key]&a=b X-API-Key: [redacted:API key]\r\n',
    );
    expect(headers([['X-API-Key', 'the']])).toEqual([['X-API-Key', '[redacted:API key]']]);
    expect(wording('the')).toBe('the');
  });

  it('keeps a secret that is a plain word only in texts of the catalogue', () => {
    const { text, wording } = createRedactor({ values: [{ name: 'API key', value: 'delivery' }] });
    expect(wording('Rejects a delivery without a key')).toBe('Rejects a delivery without a key');
    expect(text('echo: delivery')).toBe('echo: [redacted:API key]');
    expect(redactor.wording(`never ${secret} here`)).toBe('never [redacted:signature secret] here');
  });

  it('never writes a marker that contains the secret', () => {
    const values = ['redacted', 'API key', '[***]'].map((value) => ({ name: 'API key', value }));
    expect(createRedactor({ values }).text('redacted API key [***]')).toBe('<----> <----> <---->');
  });

  it('redacts any bytes and keeps the others', () => {
    const input = Buffer.concat([Buffer.from([0xff, 0x00]), bytes, Buffer.from([0xfe])]);
    expect(Buffer.from(redactor.bytes(input))).toEqual(
      Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from('[redacted:signature secret]'), Buffer.from([0xfe])]),
    );
    const clean = randomBytes(64);
    expect(redactor.bytes(clean)).toBe(clean);
  });
});

describe('redacting valid signatures', () => {
  /** Creates a signature with both characters in which base64 and base64url differ. */
  function signature(): Buffer {
    for (;;) {
      const digest = createHmac('sha256', randomBytes(8)).update('{}').digest();
      if (/\+.*\/|\/.*\+/.test(digest.toString('base64'))) return digest;
    }
  }
  const digest = signature();
  const base64 = digest.toString('base64');
  const signed = createRedactor({ values: [] });
  signed.addSignature(base64);

  it.each([
    ['base64', base64],
    ['base64 without padding', base64.slice(0, -1)],
    ['base64url', digest.toString('base64url')],
    ['padded base64url', `${digest.toString('base64url')}=`],
    ['hex', digest.toString('hex')],
    ['upper-case hex', digest.toString('hex').toUpperCase()],
    ['percent-encoding', encodeURIComponent(base64)],
    ['JSON with escaped slashes', base64.replaceAll('/', '\\/')],
    ['JSON for HTML', base64.replaceAll('+', '\\u002b').replaceAll('=', '\\u003d')],
    ['its first twenty characters', base64.slice(0, 20)],
  ])('finds it as %s', (_, form) => {
    expect(signed.text(form)).toBe('[redacted:signature]');
    expect(signed.text(`expected "sha256=${form}", got none`)).toBe('expected "sha256=[redacted:signature]", got none');
  });

  it('finds it inside longer text, and most of a tampered signature', () => {
    expect(signed.text(`/v1/${base64}/x`)).toBe('/v1/[redacted:signature]/x');
    expect(signed.text(`aa${digest.toString('hex')}bb`)).toBe('aa[redacted:signature]bb');
    const tampered = `${base64.slice(0, 40)}!!!=`;
    expect(signed.text(tampered)).toBe('[redacted:signature]!!!=');
  });

  it('keeps other signatures, and values that are not digests', () => {
    const other = signature().toString('base64');
    expect(signed.text(other)).toBe(other);
    const short = createRedactor({ values: [] });
    short.addSignature('');
    short.addSignature('c2hvcnQ=');
    expect(short.text('c2hvcnQ= and short')).toBe('c2hvcnQ= and short');
  });

  it('finds each of thousands', () => {
    const many = createRedactor({ values: [] });
    const all = Array.from({ length: 3_000 }, () => randomBytes(32).toString('base64'));
    for (const one of all) many.addSignature(one);
    expect(all.filter((one) => many.text(`got ${one}`) !== 'got [redacted:signature]')).toEqual([]);
  });
});
