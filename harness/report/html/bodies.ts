/** Bodies as text and as hex, with the bytes marked that differ from those of a valid delivery. */
import { diffArrays } from 'diff';
import { escapeCharacter, UNSEEN } from '../../../contract/visible.ts';
import type { Bytes } from '../result-document.ts';
import { html, type Markup, pieces } from './markup.ts';

export function bytesOf({ text, base64 }: Bytes): Uint8Array {
  return text === null ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text, 'utf8');
}

/**
 * A part of the probe's body that differs from the control's; `start` equals `end` where something was only removed.
 */
export interface ChangedBytes {
  readonly start: number;
  readonly end: number;
  /** What the control contains instead. */
  readonly removed: Uint8Array;
}

interface Token {
  readonly text: string;
  /** Whether it differs between two valid deliveries, as ids and addresses do. */
  readonly isFresh: boolean;
}

/** Words, white space, and single other bytes. A character of several bytes is one word, and is never split. */
const TOKEN = /[A-Za-z0-9_\x80-\xff]+|[ \t\r\n]+|[\s\S]/g;

/** Beyond this number of edits the bodies count as different as a whole. */
const MAX_EDITS = 1000;

/** With a larger part of the body changed it is another notification, and marks would not help. */
const MAX_CHANGED_PART = 0.7;

/** Seconds that the timestamps of two deliveries may be apart. */
const MAX_CLOCK_SECONDS = 3600;

/**
 * The parts of `probe` that differ from `control`, in order. `other` is a second valid delivery, which shows what is
 * fresh in each (ids, addresses); null when there is none. Null when so much differs that it is another notification.
 */
export function changedBytes(probe: Uint8Array, control: Uint8Array, other: Uint8Array | null): ChangedBytes[] | null {
  const sent = tokensOf(probe).map((text): Token => ({ text, isFresh: false }));
  const edits = diffArrays(controlTokens(control, other), sent, { comparator: isSame, maxEditLength: MAX_EDITS });
  if (edits === undefined) return null;
  const changes: { start: number; end: number; removed: Uint8Array }[] = [];
  let offset = 0;
  for (const { added, removed, value } of edits) {
    const text = value.map((token) => token.text).join('');
    if (removed) changes.push({ start: offset, end: offset, removed: Buffer.from(text, 'latin1') });
    if (removed) continue;
    const start = offset;
    offset += text.length;
    const last = changes.at(-1);
    // An addition follows the removal that it replaces.
    if (added && last?.end === start) last.end = offset;
    else if (added) changes.push({ start, end: offset, removed: new Uint8Array() });
  }
  const touched = changes.reduce((sum, { start, end, removed }) => sum + Math.max(end - start, removed.length), 0);
  const longer = Math.max(probe.length, control.length);
  return longer > 64 && touched > longer * MAX_CHANGED_PART && probe.length > 0 ? null : changes;
}

function tokensOf(bytes: Uint8Array): string[] {
  return Buffer.from(bytes).toString('latin1').match(TOKEN) ?? [];
}

function controlTokens(control: Uint8Array, other: Uint8Array | null): Token[] {
  const texts = tokensOf(control);
  const others = other === null ? texts : tokensOf(other);
  const isComparable = texts.length === others.length;
  return texts.map((text, at) => ({ text, isFresh: isComparable && text !== others[at] && isWord(text) }));
}

function isWord(token: string): boolean {
  return /^[A-Za-z0-9_]/.test(token);
}

function isSame({ text, isFresh }: Token, { text: sent }: Token): boolean {
  return text === sent || areTimestamps(text, sent) || (isFresh && text.length === sent.length && isWord(sent));
}

function areTimestamps(one: string, other: string): boolean {
  return /^\d{10}$/.test(one) && /^\d{10}$/.test(other) && Math.abs(Number(one) - Number(other)) <= MAX_CLOCK_SECONDS;
}

/** This much of a body is shown as text. */
const MAX_TEXT_BYTES = 2048;

/** The text of a body: what is new is in `mark`, what was removed in `del`. */
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

/** Splits a text, and keeps what it splits at. */
const WITH_UNSEEN = new RegExp(`(${UNSEEN.source})`, 'u');

const LINE_BREAK = html`
`;

/** The text with its line breaks; every control and invisible character is an escape that is set apart. */
function shown(text: string): Markup[] {
  return text.split(WITH_UNSEEN).map((part, at) => {
    if (at % 2 === 0) return html`${pieces(part)}`;
    return html`<i>${escapeCharacter(part)}</i>${part === '\n' ? LINE_BREAK : ''}`;
  });
}

/** This much of what was removed is shown. */
const MAX_REMOVED_BYTES = 60;

function removedText({ removed }: ChangedBytes): Markup | '' {
  if (removed.length === 0) return '';
  const text = decoded(removed, 0, MAX_REMOVED_BYTES);
  return html`<del>${shown(removed.length > MAX_REMOVED_BYTES ? `${text}…` : text)}</del>`;
}

/** Narrow enough for a telephone. */
const BYTES_PER_LINE = 8;
const MAX_HEX_LINES = 12;

const ELLIPSIS = html`<i>…</i>
`;

/** Offset, eight bytes in hex, and as ASCII: the lines with a change, or without one the first lines. */
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

/** The lines with a change, each with the one before it; without any change the first ones. */
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

/** Adjacent bytes that are marked alike, so that they share one mark. */
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
