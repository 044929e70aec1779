/** Splits PEM text into its blocks, as strictly as OpenSSL does, and detects faulty lines (RFC 7468). */

export interface PemBlock {
  /** Label after BEGIN. */
  readonly label: string;
  /** True when the block has the headers of an encrypted legacy key (RFC 1421). */
  readonly encrypted: boolean;
  /** Decoded content. Undefined when it is not base64. */
  readonly der: Buffer | undefined;
  /** The block as OpenSSL reads it, with LF line endings. */
  readonly text: string;
}

/** Faults of lines in PEM text. finding.ts has the texts for them. */
export type LineFault =
  | 'no-end'
  | 'no-begin'
  | 'other-end'
  | 'glued'
  | 'blank-lines'
  | 'escaped'
  | 'one-line'
  | 'carriage-returns'
  | 'indented'
  | 'begin-line';

export type PemText = { readonly blocks: readonly PemBlock[] } | { readonly fault: LineFault };

const BEGIN = /^-----BEGIN ([^-]{1,64})-----$/;
const END = /^-----END ([^-]{1,64})-----$/;
const HEADER = /^[A-Za-z][A-Za-z0-9-]*: /;

/**
 * Returns the blocks of a text, or the fault of its lines. Text between blocks is ignored. The list is empty when
 * nothing looks like PEM.
 */
export function pemText(text: string): PemText {
  if (/-----END [^-]{1,64}-----[ \t]*-----BEGIN /.test(text)) return { fault: 'glued' };
  const blocks: PemBlock[] = [];
  let open: { label: string; lines: string[] } | undefined;
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd();
    const begin = BEGIN.exec(line)?.[1];
    const end = END.exec(line)?.[1];
    if (begin !== undefined) {
      if (open !== undefined) return { fault: 'no-end' };
      open = { label: begin, lines: [] };
    } else if (end !== undefined) {
      if (open === undefined) return { fault: 'no-begin' };
      if (open.label !== end) return { fault: 'other-end' };
      const block = toBlock(open.label, open.lines);
      if (block === undefined) return { fault: 'blank-lines' };
      blocks.push(block);
      open = undefined;
    } else open?.lines.push(line);
  }
  if (open !== undefined) return { fault: 'no-end' };
  if (blocks.length > 0) return { blocks };
  const fault = brokenLines(text);
  return fault === undefined ? { blocks } : { fault };
}

/** Less strict than {@link pemText}, for text that was checked before, or that Node or OpenSSL wrote. */
const CERTIFICATE = /-----BEGIN (X509 )?CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END \1CERTIFICATE-----/g;

/** Returns the certificates in PEM text, and ignores everything else. Much faster than {@link pemText}. */
export function certificateBlocks(text: string): { readonly text: string; readonly der: Buffer }[] {
  return Array.from(text.matchAll(CERTIFICATE), ([block, , base64 = '']) => ({
    text: block,
    der: Buffer.from(base64, 'base64'),
  }));
}

/** Returns the first line of a block. */
export function beginLine(label: string): string {
  return `-----BEGIN ${label}-----`;
}

export function pemOf(label: string, der: Uint8Array): string {
  return blockText(label, Buffer.from(der).toString('base64'));
}

function blockText(label: string, base64: string, headers: readonly string[] = []): string {
  const lines = base64.match(/.{1,64}/g) ?? [];
  return [beginLine(label), ...headers, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** Creates a block. Returns undefined when it contains empty lines, which OpenSSL does not read. */
function toBlock(label: string, lines: readonly string[]): PemBlock | undefined {
  const hasHeaders = HEADER.test(lines[0] ?? '');
  const headers = hasHeaders ? lines.slice(0, Math.max(1, lines.indexOf(''))) : [];
  const body = lines.slice(hasHeaders ? headers.length + 1 : 0);
  if (!label.startsWith('PGP ') && body.includes('')) return undefined;
  const base64 = body.map((line) => line.trim()).join('');
  const isBase64 = base64 !== '' && base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  const text = blockText(label, base64, hasHeaders ? [...headers, ''] : []);
  const encrypted = headers.some((line) => /^Proc-Type: *4, *ENCRYPTED/.test(line));
  return { label, encrypted, der: isBase64 ? Buffer.from(base64, 'base64') : undefined, text };
}

/** Returns the fault of a text without a valid BEGIN line. Returns undefined when the text is not PEM. */
function brokenLines(text: string): LineFault | undefined {
  const line = /^.*\bBEGIN [A-Z0-9 ]{0,64}(?:CERTIFICATE|KEY|PKCS|CRL|REQUEST|PARAMETERS).*$/m.exec(text)?.[0];
  if (line === undefined) return undefined;
  if (!/-----BEGIN [^-]+-----/.test(line)) return 'begin-line';
  if (/-----BEGIN [^-]+-----(?:\\r)?\\n/.test(line)) return 'escaped';
  if (/-----BEGIN [^-]+-----\r(?!\n)/.test(text)) return 'carriage-returns';
  return /^[ \t]+-----BEGIN [^-]+-----\s*$/.test(line) ? 'indented' : 'one-line';
}
