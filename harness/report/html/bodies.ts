/** A body as text and as hex, with what was changed marked. */
import type { Bytes } from '../result-document.ts';
import { escapeCharacter } from '../visible.ts';
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

/** What a probe's body has otherwise than that of the plain delivery beside it. Pure. */

/** A stretch of the probe's body that is not the control's; `start` equals `end` where something is only missing. */
export interface ChangedBytes {
  readonly start: number;
  readonly end: number;
  /** What the control has in its place. */
  readonly removed: Uint8Array;
}

/** Words, white space, and every other byte for itself. A character of several bytes is never split. */
const TOKEN = /[A-Za-z0-9_\x80-\xff]+|[ \t\r\n]+|[\s\S]/g;

/** Beyond this many comparisons the middle is taken as changed as a whole. */
const MOST_CELLS = 250_000;

/** With more than this part of the body changed, it is another notification, and marks would only be noise. */
const ANOTHER = 0.7;

/** Seconds by which the clock of two deliveries may differ. */
const SAME_TIME = 3600;

const tokensOf = (bytes: Uint8Array): string[] => Buffer.from(bytes).toString('latin1').match(TOKEN) ?? [];

const isWord = (token: string): boolean => /^[A-Za-z0-9_]/.test(token);

/** Ids and addresses are fresh in every delivery: the words in which two plain deliveries differ say nothing about the probe. */
function freshIn(control: readonly string[], other: readonly string[]): ReadonlySet<number> {
  if (control.length !== other.length) return new Set();
  return new Set(control.flatMap((token, at) => (token !== other[at] && isWord(token) ? [at] : [])));
}

function isClock(one: string, other: string): boolean {
  return /^\d{10}$/.test(one) && /^\d{10}$/.test(other) && Math.abs(Number(one) - Number(other)) <= SAME_TIME;
}

type Same = (inControl: number, inProbe: number) => boolean;

/** Whether each token of the probe, from `head` on, is one of the control's: the longest common subsequence. */
function matched(same: Same, head: number, controlEnd: number, probeEnd: number): [control: number, probe: number][] {
  const rows = controlEnd - head;
  const columns = probeEnd - head;
  const width = columns + 1;
  if (rows * columns > MOST_CELLS) return [];
  const lengths = new Uint16Array((rows + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      lengths[row * width + column] = same(head + row, head + column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (same(head + row, head + column)) pairs.push([head + row++, head + column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return pairs;
}

/** Pairs of tokens that are the same in both, in order, with the ends as the last pair. */
function pairsOf(control: readonly string[], probe: readonly string[], fresh: ReadonlySet<number>) {
  const same: Same = (inControl, inProbe) => {
    const one = control[inControl] ?? '';
    const other = probe[inProbe] ?? '';
    return (
      one === other || isClock(one, other) || (fresh.has(inControl) && one.length === other.length && isWord(other))
    );
  };
  let head = 0;
  while (head < control.length && head < probe.length && same(head, head)) head++;
  let tail = 0;
  const shorter = Math.min(control.length, probe.length) - head;
  while (tail < shorter && same(control.length - 1 - tail, probe.length - 1 - tail)) tail++;
  const middle = matched(same, head, control.length - tail, probe.length - tail);
  const ends = (count: number, controlAt: number, probeAt: number): [number, number][] =>
    Array.from({ length: count }, (_, index) => [controlAt + index, probeAt + index]);
  return [
    ...ends(head, 0, 0),
    ...middle,
    ...ends(tail, control.length - tail, probe.length - tail),
    [control.length, probe.length] as [number, number],
  ];
}

/**
 * The stretches of `probe` that differ from `control`, in order. `other` is a second plain delivery, which shows what is fresh in each
 * (ids, addresses); null when there is none. Gives null when so much differs that it is another notification.
 */
export function changedBytes(probe: Uint8Array, control: Uint8Array, other: Uint8Array | null): ChangedBytes[] | null {
  const inControl = tokensOf(control);
  const inProbe = tokensOf(probe);
  const fresh = freshIn(inControl, other === null ? inControl : tokensOf(other));
  const changes: ChangedBytes[] = [];
  let [controlAt, probeAt, offset] = [0, 0, 0];
  for (const [nextControl, nextProbe] of pairsOf(inControl, inProbe, fresh)) {
    const removed = inControl.slice(controlAt, nextControl).join('');
    const start = offset;
    for (; probeAt < nextProbe; probeAt++) offset += inProbe[probeAt]?.length ?? 0;
    if (removed !== '' || offset > start) changes.push({ start, end: offset, removed: Buffer.from(removed, 'latin1') });
    offset += inProbe[probeAt]?.length ?? 0;
    probeAt = nextProbe + 1;
    controlAt = nextControl + 1;
  }
  const touched = changes.reduce((sum, { start, end, removed }) => sum + Math.max(end - start, removed.length), 0);
  const longer = Math.max(probe.length, control.length);
  return longer > 64 && touched > longer * ANOTHER && probe.length > 0 ? null : changes;
}
