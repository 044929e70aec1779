import { createHmac } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ProbeScenario } from '../../scenarios/scenario.ts';
import { rawBodySuite } from '../../scenarios/suites/raw-body.ts';
import { assemble, fakeKit, someCredentials } from './credential-check.ts';

const kit = fakeKit(someCredentials());
const probes = rawBodySuite.scenarios.filter((one): one is ProbeScenario => 'change' in one);

function probe(slug: string): ProbeScenario {
  const found = probes.find(({ id }) => id === `raw-body/${slug}`);
  if (found === undefined) throw new Error(`no scenario raw-body/${slug}`);
  return found;
}

const bodyOf = (slug: string) => assemble(probe(slug).change, kit).body;

/**
 * Faulty inputs of the HMAC, independent of the mutants: each takes the raw body and returns the bytes that such a
 * receiver hashes.
 */
const WRONG: Record<string, (body: Buffer) => Buffer> = {
  node: (body) => Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8')))),
  latin1: (body) => Buffer.from(body.toString('latin1'), 'utf8'),
  trim: (body) => Buffer.from(body.toString('utf8').trim()),
  lines: (body) => Buffer.from(body.toString('utf8').replace(/\r\n?/g, '\n')),
  bom: (body) => Buffer.from(new TextDecoder('utf-8').decode(body)),
  nfc: (body) => Buffer.from(body.toString('utf8').normalize('NFC')),
};

function caughtBy(body: Buffer): string {
  const differs = Object.entries(WRONG).filter(([, hash]) => {
    try {
      return !hash(body).equals(body);
    } catch {
      return true;
    }
  });
  return differs.map(([name]) => name).join(' ');
}

describe('the bodies of the raw-body suite', () => {
  it('distinguish receivers by the input that they verify', () => {
    const accepting = probes.filter(({ id, expect: due }) => due.authentic && !/gzip|charset-u|pieces|alone/.test(id));
    expect(
      Object.fromEntries(accepting.map(({ id, change }) => [id.slice(9), caughtBy(assemble(change, kit).body)])),
    ).toEqual({
      spaces: 'node',
      'indent-2': 'node',
      'indent-4': 'node',
      tabs: 'node',
      'python-separators': 'node',
      'trailing-lf': 'node trim',
      'trailing-crlf': 'node trim lines',
      'trailing-space': 'node trim',
      'leading-space': 'node trim',
      'leading-lf': 'node trim',
      'crlf-lines': 'node lines',
      'cr-lines': 'node lines',
      'mixed-space': 'node lines',
      'float-1-0': 'node',
      exponent: 'node',
      'exponent-plus': 'node',
      // Empty entries: JavaScript returns these bodies unchanged, and they are for receivers in other languages.
      'exponent-21': '',
      'negative-zero': 'node',
      'negative-zero-float': 'node',
      'trailing-zero': 'node',
      'integer-20-digits': 'node',
      'integer-2-53-plus-1': 'node',
      'long-decimal': 'node',
      'exponent-400': 'node',
      'escaped-slash': 'node',
      'plain-slash': '',
      'escaped-letter': 'node',
      'escape-lower': 'node',
      'escape-upper': 'node',
      'raw-accent': 'latin1',
      'raw-emoji': 'latin1',
      'escaped-emoji': 'node',
      'combining-accent': 'latin1 nfc',
      'line-separator': 'latin1',
      'escaped-html': 'node',
      'plain-html': '',
      'percent-escapes': '',
      'format-characters': '',
      'delete-character': '',
      'null-character': '',
      'lone-surrogate': '',
      'keys-reversed': '',
      'keys-like-integers': 'node',
      'keys-repeated': 'node',
      'empty-object': '',
      'empty-array': 'node',
      'byte-order-mark': 'node latin1 trim bom',
      'invalid-utf-8': 'node latin1 trim lines bom nfc',
      'latin-1-bytes': 'node latin1 trim lines bom nfc',
      'charset-latin-1': 'latin1',
      'split-characters': 'latin1',
    });
  });

  it('contain the spellings that their titles name', () => {
    const holds = (slug: string, text: string | Buffer) => bodyOf(slug).includes(text);
    expect(holds('float-1-0', '"testNumber":1.0}')).toBe(true);
    expect(holds('exponent', '"testNumber":1e3}')).toBe(true);
    expect(holds('negative-zero', '"testNumber":-0}')).toBe(true);
    expect(holds('long-decimal', ':0.1234567890123456789012}')).toBe(true);
    expect(holds('escaped-slash', '"memo\\/1\\/2"')).toBe(true);
    expect(holds('escape-lower', '"caf\\u00e9"')).toBe(true);
    expect(holds('escape-upper', '"caf\\u00E9"')).toBe(true);
    expect(holds('raw-accent', Buffer.of(0x66, 0xc3, 0xa9))).toBe(true);
    expect(holds('latin-1-bytes', Buffer.of(0x66, 0xe9, 0x22))).toBe(true);
    expect(holds('escaped-emoji', '\\ud83d\\ude00')).toBe(true);
    expect(holds('null-character', '"a\\u0000b"')).toBe(true);
    expect(holds('keys-like-integers', '{"10":"a","9":"b","x":"c"}')).toBe(true);
    expect(
      bodyOf('keys-repeated')
        .toString()
        .match(/"type":"CAAS"/g),
    ).toHaveLength(2);
    expect(bodyOf('escaped-letter').toString()).toMatch(/"t\\u0079pe":"\\u0043AAS"/);
    expect(bodyOf('byte-order-mark').subarray(0, 4)).toEqual(Buffer.of(0xef, 0xbb, 0xbf, 0x7b));
    expect(JSON.parse(gunzipSync(bodyOf('gzip')).toString())).toMatchObject({ type: 'CAAS' });
    expect(Object.keys(JSON.parse(bodyOf('keys-reversed').toString()))).toEqual(['data', 'at', 'type', 'id']);
  });

  it('cut pieces within characters', () => {
    const { change } = probe('split-characters');
    const transmit = change.transmit;
    if (transmit?.kind !== 'pieces') throw new Error('not in pieces');
    const body = bodyOf('split-characters');
    const [size = 0] = transmit.sizes;
    const cuts = Array.from({ length: Math.floor((body.length - 1) / size) }, (_, index) => (index + 1) * size);
    // A byte 10xxxxxx at a cut continues a character that began before it.
    expect(cuts.filter((cut) => ((body[cut] ?? 0) & 0xc0) === 0x80).length).toBeGreaterThan(0);
    expect(cuts.length).toBeLessThan(12);
  });

  it('send the large body in few pieces', () => {
    const length = bodyOf('large-in-pieces').length;
    expect(length).toBeGreaterThan(150_000);
    expect(length).toBeLessThan(151_000);
  });
});

describe('the mirrors', () => {
  const text = (body: Buffer) => body.toString('utf8');
  const pythonLike = (json: string) =>
    json.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (token) => (token === ',' || token === ':' ? `${token} ` : token));
  /** The fault that accepts each mirror, independent of the mutants. */
  const ACCEPTED_BY: Record<string, (body: Buffer) => Buffer> = {
    javascript: (body) => Buffer.from(JSON.stringify(JSON.parse(text(body)))),
    pretty: (body) => Buffer.from(JSON.stringify(JSON.parse(text(body)), null, 2)),
    python: (body) => Buffer.from(pythonLike(JSON.stringify(JSON.parse(text(body))))),
    sorted: (body) => {
      const sorted = (value: unknown): unknown =>
        typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .sort(([a], [b]) => (a < b ? -1 : 1))
                .map(([key, field]) => [key, sorted(field)]),
            )
          : value;
      return Buffer.from(JSON.stringify(sorted(JSON.parse(text(body)))));
    },
    php: (body) => Buffer.from(JSON.stringify(JSON.parse(text(body))).replaceAll('/', '\\/')),
    'data-only': (body) => Buffer.from(JSON.stringify(JSON.parse(text(body)).data)),
    'id-and-body': (body) => Buffer.from(`${JSON.parse(text(body)).id}.${text(body)}`),
    trimmed: (body) => Buffer.from(text(body).trimEnd()),
    newlines: (body) => Buffer.from(text(body).split('\r\n').join('\n')),
    'latin-1': (body) => Buffer.from([...text(body)].map((letter) => letter.charCodeAt(0))),
    ascii: (body) => Buffer.from([...text(body)].map((letter) => (letter.charCodeAt(0) < 128 ? letter : '?')).join('')),
    escapes: (body) => Buffer.from(text(body).split('\u00e9').join('\\u00e9')),
    'zero-byte': (body) => Buffer.from(text(body).split('\0')[0] ?? ''),
    'invalid-utf-8-twin': (body) => Buffer.from(text(body)),
    'ignored-bytes': (body) => Buffer.from(text(body).split('\ufffd').join('')),
    'composed-accents': (body) => Buffer.from(text(body).normalize('NFC')),
    'without-spaces': (body) => Buffer.from(text(body).split(/\s/).join('')),
    'byte-order-mark': (body) => Buffer.from(new TextDecoder().decode(body)),
  };

  it('are all listed with the fault that accepts them', () => {
    const slugs = probes.map(({ id }) => id).filter((id) => id.startsWith('raw-body/mirror-'));
    expect(slugs.map((id) => id.slice('raw-body/mirror-'.length)).toSorted()).toEqual(
      Object.keys(ACCEPTED_BY).toSorted(),
    );
  });

  it.each(Object.entries(ACCEPTED_BY))(
    'mirror-%s is accepted by its fault, and not by the right check',
    (slug, fault) => {
      const { change } = probe(`mirror-${slug}`);
      const { head, body } = assemble(change, kit);
      const sent = head.headers.find(([name]) => name === kit.signatureHeader)?.[1];
      const over = (bytes: Buffer) => createHmac('sha256', kit.secret).update(bytes).digest('base64');
      expect(sent).toBe(over(fault(body)));
      expect(sent).not.toBe(over(body));
    },
  );

  it('of the compressed body is a signature over the body before compression', () => {
    const { head, body } = assemble(probe('gzip-signed-plain').change, kit);
    const plain = gunzipSync(body);
    expect(JSON.parse(plain.toString())).toMatchObject({ type: 'CAAS' });
    expect(head.headers).toContainEqual([kit.signatureHeader, kit.sign(plain)]);
    expect(head.headers).toContainEqual(['Content-Encoding', 'gzip']);
  });
});
