/** Faults of the raw body, written independently. */
import type { IncomingMessage } from 'node:http';
import { alsoSigns, type FaultMixin, type FaultMixins, peek, reads, signs } from './fault-mixins.ts';

const text = (raw: Buffer) => raw.toString('utf8');

/** Changes the text of the body. A body that is not text is unchanged. */
const onText =
  (change: (text: string) => Buffer | string) =>
  (raw: Buffer): Buffer | string => {
    try {
      return change(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
    } catch {
      return raw;
    }
  };

// biome-ignore lint/suspicious/noExplicitAny: any JSON.
function sorted(value: any): any {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

const ascii = (json: string) =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Formats JSON like json.dumps, with a space after colons and commas outside strings. */
function spaced(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|[:,]/g, (token) => (token.length === 1 ? `${token} ` : token));
}

const reserialise = (raw: Buffer) => JSON.stringify(JSON.parse(text(raw)));

/** Formats a number like a language that distinguishes 1.0 from 1. */
function numberOf(token: string): string {
  if (!/[.e]/i.test(token)) return token;
  const written = String(Number(token));
  return /[.e]/.test(written) ? written : `${written}.0`;
}

/** Writes compact JSON like a language that distinguishes 1.0 from 1. Invalid JSON is unchanged. */
const compact = onText((all) => {
  JSON.parse(all);
  return all.replace(/("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|\s+/g, (_token, string?: string, number?: string) => {
    if (number !== undefined) return numberOf(number);
    return string === undefined ? '' : JSON.stringify(JSON.parse(string));
  });
});
const php = (raw: Buffer) => ascii(String(compact(raw))).replaceAll('/', '\\/');
const python = (raw: Buffer) => ascii(spaced(String(compact(raw))));

/** Computes the HMAC of only the first bytes. */
const firstBytes = (most: number) => signs((raw) => raw.subarray(0, most));

const chunkwise =
  (join: (chunks: Buffer[]) => Buffer): FaultMixin =>
  (Base) =>
    class extends Base {
      protected override async bodyOf(req: IncomingMessage): Promise<Buffer> {
        const chunks: Buffer[] = [];
        for await (const chunk of req) chunks.push(chunk as Buffer);
        return join(chunks);
      }
    };

export const rawBodyFaults: FaultMixins = {
  'verifies-reserialised-json': signs(reserialise),
  'verifies-python-json': signs(python),
  'verifies-python-compact-json': signs((raw) => ascii(String(compact(raw)))),
  'verifies-sorted-json': signs((raw) => ascii(JSON.stringify(sorted(JSON.parse(text(raw)))))),
  'verifies-php-json': signs(php),
  'verifies-php-unescaped-json': signs((raw) =>
    String(compact(raw)).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029'),
  ),
  'verifies-go-map-json': signs((raw) =>
    JSON.stringify(sorted(JSON.parse(text(raw)))).replace(
      /[<>&\u2028\u2029]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  ),
  'verifies-declared-fields': signs((raw) => {
    const { id, type, at, data } = JSON.parse(text(raw));
    return JSON.stringify({ id, type, at, data });
  }),
  'verifies-indented-json': signs((raw) => JSON.stringify(JSON.parse(text(raw)), null, 2)),
  'trims-body': reads((raw) => Buffer.from(raw.toString('latin1').trim(), 'latin1')),
  'chomps-body': reads((raw) => Buffer.from(raw.toString('latin1').replace(/\r?\n$/, ''), 'latin1')),
  'joins-lines-without-line-ends': reads((raw) =>
    Buffer.from(
      raw
        .toString('latin1')
        .split(/\r\n|\r|\n/)
        .join(''),
      'latin1',
    ),
  ),
  'normalises-line-ends': reads((raw) => Buffer.from(raw.toString('latin1').replace(/\r\n?/g, '\n'), 'latin1')),
  'verifies-from-first-brace': reads((raw) => raw.subarray(Math.max(0, raw.indexOf('{')))),
  'strips-byte-order-mark': reads((raw) => (raw.subarray(0, 3).toString('hex') === 'efbbbf' ? raw.subarray(3) : raw)),
  'expands-tabs': reads((raw) => Buffer.from(raw.toString('latin1').replaceAll('\t', '    '), 'latin1')),
  'decodes-body-as-latin-1': signs((raw) => raw.toString('latin1')),
  'encodes-body-as-latin-1': signs((raw) => Buffer.from(text(raw), 'latin1')),
  'verifies-body-in-ascii': signs((raw) => text(raw).replace(/[^\x00-\x7f]/gu, '?')),
  'replaces-invalid-bytes': reads(text),
  'normalises-unicode': signs(onText((all) => all.normalize('NFC'))),
  'loses-four-byte-characters': signs(onText((all) => all.replace(/[\u{10000}-\u{10ffff}]/gu, ''))),
  'counts-characters-as-bytes': reads((raw) => raw.subarray(0, [...text(raw)].length)),
  'stops-at-zero-byte': reads((raw) => (raw.includes(0) ? raw.subarray(0, raw.indexOf(0)) : raw)),
  'escapes-non-ascii': signs(onText((all) => ascii(all))),
  'unescapes-slashes': signs(onText((all) => all.replaceAll('\\/', '/'))),
  'escapes-slashes': signs(onText((all) => all.replaceAll('\\/', '/').replaceAll('/', '\\/'))),
  'url-decodes-body': signs(onText(decodeURIComponent)),
  'reads-first-chunk-only': chunkwise(([first]) => first ?? Buffer.alloc(0)),
  'joins-chunks-as-text': chunkwise((chunks) => Buffer.from(chunks.map((chunk) => chunk.toString()).join(''))),
  'hashes-at-most-1-kib': firstBytes(1024),
  'hashes-at-most-8-kib': firstBytes(8192),
  'hashes-at-most-64-kib': firstBytes(65_536),
  'falls-back-to-reserialised-json': alsoSigns(reserialise),
  'falls-back-to-python-json': alsoSigns(python),
  'falls-back-to-php-json': alsoSigns(php),
  'falls-back-to-sorted-json': alsoSigns((raw) => JSON.stringify(sorted(JSON.parse(text(raw))))),
  'falls-back-to-trimmed-body': alsoSigns((raw) => text(raw).trim()),
  'falls-back-to-line-feeds': alsoSigns((raw) => text(raw).replaceAll('\r\n', '\n')),
  'falls-back-to-data-only': alsoSigns((raw) => JSON.stringify(peek(raw).data)),
  'falls-back-to-id-and-body': alsoSigns((raw) => `${peek(raw).id}.${text(raw)}`),
  'verifies-data-only': signs((raw) => JSON.stringify(JSON.parse(text(raw)).data)),
  'verifies-id-and-body': signs((raw) => `${JSON.parse(text(raw)).id}.${text(raw)}`),
  'verifies-url-and-body': signs((raw, req) => `http://${req.headers.host}${req.url}${text(raw)}`),
};
