/** Renders bodies as text and as hex, and marks the bytes that differ from a valid delivery. */
import { escapeCharacter, UNSEEN } from '../../../contract/visible.ts';
import type { ChangedBytes } from '../changed-bytes.ts';
import { html, type Markup, NEW_LINE, pieces } from './markup.ts';

/** Maximum number of bytes of a body shown as text. */
const MAX_TEXT_BYTES = 2048;

/** Renders the text of a body: additions in `mark`, removals in `del`. */
export function bodyText(bytes: Uint8Array, changes: readonly ChangedBytes[]): Markup {
  const end = Math.min(bytes.length, MAX_TEXT_BYTES);
  const parts: (Markup | Markup[] | '')[] = [];
  let at = 0;
  for (const change of changes.filter(({ start }) => start <= end)) {
    parts.push(shown(decoded(bytes, at, change.start)), removedText(change));
    const until = Math.min(change.end, end);
    if (until > change.start) parts.push(html`<mark>${shown(decoded(bytes, change.start, until))}</mark>`);
    at = until;
  }
  parts.push(shown(decoded(bytes, at, end)));
  return html`${parts}`;
}

function decoded(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString('utf8');
}

/** Splits text and keeps the separators. */
const WITH_UNSEEN = new RegExp(`(${UNSEEN.source})`, 'u');

/** Renders text with its line breaks; every control and invisible character becomes a highlighted escape. */
function shown(text: string): Markup[] {
  return text.split(WITH_UNSEEN).map((part, at) => {
    if (at % 2 === 0) return html`${pieces(part)}`;
    return html`<i>${escapeCharacter(part)}</i>${part === '\n' && NEW_LINE}`;
  });
}

/** Maximum number of removed bytes to show. */
const MAX_REMOVED_BYTES = 60;

function removedText({ removed }: ChangedBytes): Markup | '' {
  if (removed.length === 0) return '';
  const text = decoded(removed, 0, MAX_REMOVED_BYTES);
  return html`<del>${shown(removed.length > MAX_REMOVED_BYTES ? `${text}…` : text)}</del>`;
}

/** Number of bytes per line of hex, few enough for a phone. */
const BYTES_PER_LINE = 8;
const MAX_HEX_LINES = 12;

const ELLIPSIS = html`<i>…</i>
`;

/**
 * Renders lines with the offset and eight bytes, in hex and ASCII: those with a change, or the first lines if there is
 * none.
 */
export function bodyHex(bytes: Uint8Array, changes: readonly ChangedBytes[]): Markup {
  const isChanged = (at: number): boolean => changes.some(({ start, end }) => at >= start && at < end);
  const lines = linesToShow(bytes.length, changes);
  const rendered = lines.map((line, index) => {
    const hasGap = line > (index === 0 ? 0 : (lines[index - 1] ?? 0) + 1);
    return html`${hasGap ? ELLIPSIS : ''}${hexLine(bytes, line * BYTES_PER_LINE, isChanged)}`;
  });
  const lastLine = Math.ceil(bytes.length / BYTES_PER_LINE) - 1;
  return html`${rendered}${(lines.at(-1) ?? 0) < lastLine ? ELLIPSIS : ''}`;
}

/** Returns the lines with a change, each with the line before it; without any change, the first lines. */
function linesToShow(length: number, changes: readonly ChangedBytes[]): number[] {
  const count = Math.ceil(length / BYTES_PER_LINE);
  if (changes.length === 0) return Array.from({ length: Math.min(count, MAX_HEX_LINES) }, (_, line) => line);
  const wanted = new Set<number>();
  for (const { start, end } of changes) {
    const first = Math.floor(start / BYTES_PER_LINE);
    const last = Math.floor(Math.max(start, end - 1) / BYTES_PER_LINE);
    for (let line = Math.max(0, first - 1); line <= last && wanted.size <= MAX_HEX_LINES; line++) wanted.add(line);
  }
  return [...wanted]
    .filter((line) => line < count)
    .toSorted((one, other) => one - other)
    .slice(0, MAX_HEX_LINES);
}

function hexLine(bytes: Uint8Array, start: number, isChanged: (at: number) => boolean): Markup {
  const line = [...bytes.subarray(start, start + BYTES_PER_LINE)];
  const parts = runsOf(line, (index) => isChanged(start + index));
  const digits = parts.map(({ changed, values }) => {
    const text = values.map((value) => hex(value, 2)).join(' ');
    return changed ? html`<mark>${text}</mark> ` : html`${text} `;
  });
  const letters = parts.map(({ changed, values }) => {
    const text = values.map((value) => (value >= 0x20 && value < 0x7f ? String.fromCharCode(value) : '.')).join('');
    return changed ? html`<mark>${text}</mark>` : text;
  });
  return html`<i>${hex(start, 4)}</i>  ${digits}${'   '.repeat(BYTES_PER_LINE - line.length)} ${letters}
`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** Groups adjacent bytes that are marked alike, so that they share one mark. */
function runsOf(line: readonly number[], isChanged: (index: number) => boolean) {
  const runs: { changed: boolean; values: number[] }[] = [];
  for (const [index, value] of line.entries()) {
    const changed = isChanged(index);
    const last = runs.at(-1);
    if (last?.changed === changed) last.values.push(value);
    else runs.push({ changed, values: [value] });
  }
  return runs;
}
