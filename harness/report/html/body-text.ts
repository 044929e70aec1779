/** A body as text and as hex, with what was changed marked. */
import type { Bytes } from '../../result/result-document.ts';
import { escapeCharacter } from '../visible.ts';
import type { ChangedBytes } from './changed-bytes.ts';
import { html, type Markup } from './markup.ts';

/** Of a longer body only so many bytes are shown as text. */
const TEXT_BYTES = 2048;

/** Of what was taken away only so many bytes are shown. */
const REMOVED_BYTES = 60;

/** Short enough for a telephone. */
const BYTES_A_LINE = 8;

const HEX_LINES = 12;

/** Pieces that {@link html} does not cut. */
const PIECE = 1024;

const UNSEEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/gu;

export function bytesOf({ text, base64 }: Bytes): Uint8Array {
  return text === null ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text, 'utf8');
}

function pieces(text: string): string[] {
  return text.match(new RegExp(`[^]{1,${PIECE}}`, 'gu')) ?? [];
}

/** Text as it stands, line breaks kept, with every control and invisible character as an escape that is set apart. */
function shown(text: string): Markup[] {
  return text.split(UNSEEN).map((part, at) => {
    if (at % 2 === 0) return html`${pieces(part)}`;
    return html`<i>${escapeCharacter(part)}</i>${part === '\n' ? LINE_BREAK : ''}`;
  });
}

const LINE_BREAK = html`
`;

const textOf = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.subarray(start, end)).toString('utf8');

function removedText({ removed }: ChangedBytes): Markup | '' {
  if (removed.length === 0) return '';
  const text = textOf(removed, 0, REMOVED_BYTES);
  return html`<del>${shown(removed.length > REMOVED_BYTES ? `${text}…` : text)}</del>`;
}

/** The text of a body; what is new stands in `mark`, what is gone in `del`. */
export function bodyText(bytes: Uint8Array, changes: readonly ChangedBytes[]): Markup {
  const end = Math.min(bytes.length, TEXT_BYTES);
  const parts: (Markup | Markup[] | '')[] = [];
  let at = 0;
  for (const change of changes.filter(({ start }) => start <= end)) {
    parts.push(shown(textOf(bytes, at, change.start)), removedText(change));
    const until = Math.min(change.end, end);
    if (until > change.start) parts.push(html`<mark>${shown(textOf(bytes, change.start, until))}</mark>`);
    at = until;
  }
  parts.push(shown(textOf(bytes, at, end)));
  return html`${parts}`;
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const seen = (value: number): string =>
  value > 0x20 && value < 0x7f ? String.fromCharCode(value) : value === 0x20 ? ' ' : '.';

/** Neighbours that are marked alike, so that a mark is written once for all of them. */
function runs(line: readonly number[], isChanged: (at: number) => boolean, start: number) {
  const found: { changed: boolean; values: number[] }[] = [];
  for (const [index, value] of line.entries()) {
    const changed = isChanged(start + index);
    const last = found.at(-1);
    if (last?.changed === changed) last.values.push(value);
    else found.push({ changed, values: [value] });
  }
  return found;
}

function hexLine(bytes: Uint8Array, start: number, isChanged: (at: number) => boolean): Markup {
  const line = [...bytes.subarray(start, start + BYTES_A_LINE)];
  const parts = runs(line, isChanged, start);
  const digits = parts.map(({ changed, values }) => {
    const text = values.map((value) => hex(value, 2)).join(' ');
    return changed ? html`<mark>${text}</mark> ` : html`${text} `;
  });
  const letters = parts.map(({ changed, values }) => {
    const text = values.map(seen).join('');
    return changed ? html`<mark>${text}</mark>` : text;
  });
  return html`<i>${hex(start, 4)}</i>  ${digits}${'   '.repeat(BYTES_A_LINE - line.length)} ${letters}
`;
}

/** The lines with a change, each with the one before it; without any change the first ones. */
function linesToShow(length: number, changes: readonly ChangedBytes[]): number[] {
  const count = Math.ceil(length / BYTES_A_LINE);
  if (changes.length === 0) return Array.from({ length: Math.min(count, HEX_LINES) }, (_, line) => line);
  const wanted = new Set<number>();
  for (const { start, end } of changes) {
    const first = Math.floor(start / BYTES_A_LINE);
    const last = Math.floor(Math.max(start, end - 1) / BYTES_A_LINE);
    for (let line = Math.max(0, first - 1); line <= last && wanted.size <= HEX_LINES; line++) wanted.add(line);
  }
  return [...wanted]
    .filter((line) => line < count)
    .toSorted((one, other) => one - other)
    .slice(0, HEX_LINES);
}

/** Offset, eight bytes in hex, and as ASCII: the lines in which something changed, or the first ones. */
export function bodyHex(bytes: Uint8Array, changes: readonly ChangedBytes[]): Markup {
  const isChanged = (at: number): boolean => changes.some(({ start, end }) => at >= start && at < end);
  const lines = linesToShow(bytes.length, changes);
  const total = Math.ceil(bytes.length / BYTES_A_LINE);
  const shownLines = lines.map((line, index) => {
    const gap = line > (index === 0 ? 0 : (lines[index - 1] ?? 0) + 1);
    return html`${gap ? ELLIPSIS : ''}${hexLine(bytes, line * BYTES_A_LINE, isChanged)}`;
  });
  return html`${shownLines}${(lines.at(-1) ?? 0) < total - 1 ? ELLIPSIS : ''}`;
}

const ELLIPSIS = html`<i>…</i>
`;
