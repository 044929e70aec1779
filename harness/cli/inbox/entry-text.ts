/** Formats entries: a single one in full, with its body, for people, and JSON lines for programs. */
import { formatDuration, type Layout, visibleJson } from '../../report/index.ts';
import type { EntrySummary, InboxEntry } from '../receiver-entry.ts';

const LABEL_WIDTH = 13;
/** Maximum size of a printed body in bytes; `--raw` writes all of it. */
const MAX_BODY_BYTES = 64 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns one entry as lines. `now` determines the time until its next attempt. */
export function entryText(entry: InboxEntry, layout: Layout, now: Date): string[] {
  const field = (label: string, value: string | null) =>
    value === null
      ? []
      : layout.paragraph(layout.paint(label.padEnd(LABEL_WIDTH), 'dim'), value.replaceAll('\n', '\\n'));
  const time = (value: Date | null) => value?.toISOString() ?? null;
  const shown = shownBody(entry.rawBody);
  return [
    ...field('id', entry.id),
    ...field('state', entry.state),
    ...field('kind', entry.kind),
    ...field('type', entry.type),
    ...field('transaction', entry.transactionId),
    ...field('status', entry.status),
    ...field('at', time(entry.at)),
    ...field('received', time(entry.receivedAt)),
    ...field('attempts', String(entry.attempts)),
    ...field('next attempt', nextAttempt(entry, now)),
    ...field('last error', entry.lastError),
    ...field('settled', time(entry.settledAt)),
    ...field('number', String(entry.seq)),
    ...field('body', `${entry.bodyBytes} bytes${shown.text === null ? ', not text' : ''}`),
    '',
    // Not wrapped, so that it can be copied.
    ...(shown.text === null
      ? hexLines(shown.bytes, layout.width < 78 ? 8 : 16)
      : shown.text.split('\n').map(layout.safe)),
    ...(shown.cut ? [layout.paint(`(cut after ${MAX_BODY_BYTES} bytes; \`--raw\` writes all of them)`, 'dim')] : []),
  ];
}

/** Returns one line of JSON with everything except the body. Control and invisible characters are escaped. */
export function summaryLine(entry: EntrySummary): string {
  return `${visibleJson(entry)}\n`;
}

/**
 * Returns one line of JSON with everything: `body` contains the bytes in base64, and `json` the parsed body if it is
 * JSON.
 */
export function entryLine({ rawBody, ...summary }: InboxEntry): string {
  return `${visibleJson({ ...summary, body: rawBody.toString('base64'), ...parsed(rawBody) })}\n`;
}

function nextAttempt({ state, dueAt }: InboxEntry, now: Date): string | null {
  if (state !== 'pending' || dueAt === null) return null;
  const inMs = dueAt.getTime() - now.getTime();
  return inMs <= 0
    ? 'as soon as a receiver takes it, in the order of its transaction'
    : `${dueAt.toISOString()}, in ${formatDuration(inMs)} at the earliest`;
}

function shownBody(body: Buffer): { text: string | null; bytes: Buffer; cut: boolean } {
  const cut = body.length > MAX_BODY_BYTES;
  const text = textOf(body);
  return {
    text: text === null || !cut ? text : text.slice(0, MAX_BODY_BYTES),
    bytes: body.subarray(0, MAX_BODY_BYTES),
    cut,
  };
}

function textOf(body: Buffer): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}

/** Renders bytes in the format of `hexdump -C`: 78 columns wide, or 53 with 8 bytes per line. */
function hexLines(bytes: Buffer, perLine: 8 | 16): string[] {
  return Array.from({ length: Math.ceil(bytes.length / perLine) }, (_, line) => {
    const row = bytes.subarray(line * perLine, (line + 1) * perLine);
    const hex = [...row].map((byte) => byte.toString(16).padStart(2, '0'));
    const halves = [hex.slice(0, 8), ...(perLine === 16 ? [hex.slice(8)] : [])].map((half) =>
      half.join(' ').padEnd(23),
    );
    const text = [...row].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    return `${(line * perLine).toString(16).padStart(8, '0')}  ${halves.join('  ')}  |${text}|`;
  });
}

function parsed(rawBody: Buffer): { json?: unknown } {
  try {
    return { json: JSON.parse(rawBody.toString('utf8')) };
  } catch {
    return {};
  }
}
