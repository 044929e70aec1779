/**
 * Describes how the body of a delivery differs from a valid one, in words and as lines to compare. Invisible bytes are
 * made visible.
 */
import { visible } from '../../contract/visible.ts';
import { bytesOf, type ChangedBytes, changedBytes } from './changed-bytes.ts';
import { counted, truncate } from './layout.ts';
import type { Exchange, ScenarioResult } from './result-document.ts';
import { changeInWords } from './wording.ts';

/** A body. `length` is the number of bytes sent; `bytes` may contain only the first of them. */
export interface ComparedBody {
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** The sending stages that change the body. Their changes are described by comparing bodies, not by their labels. */
const BODY_STAGES: ReadonlySet<string> = new Set(['compose', 'serialise']);

/**
 * Describes each change in a probe with a phrase: "body: 2 spaces added after `"type":` (312 -> 314 bytes)",
 * "signature: no signature header". `result` contains the controls that the probe is compared with.
 */
export function changesInWords({ exchanges }: Pick<ScenarioResult, 'exchanges'>, probe: Exchange): string[] {
  const [before, after] = exchanges.filter(({ role }) => role === 'control');
  const phrases = probe.changes.map((change) => {
    if (before === undefined || !BODY_STAGES.has(change.stage)) return changeInWords(change);
    const sent = comparedBody(probe);
    const plain = comparedBody(before);
    const changes = changedBytes(sent.bytes, plain.bytes, after === undefined ? null : comparedBody(after).bytes);
    return `body: ${bodyChangeInWords(sent, plain, changes)}`;
  });
  return [...new Set(phrases)];
}

function comparedBody({ request: { body } }: Exchange): ComparedBody {
  return { bytes: bytesOf(body), length: body.length };
}

/** Describes the change of a body. `changes` is the result of {@link changedBytes}: null if the whole body differs. */
export function bodyChangeInWords(
  sent: ComparedBody,
  plain: ComparedBody,
  changes: readonly ChangedBytes[] | null,
): string {
  const size = sent.length === plain.length ? '' : ` (${plain.length} -> ${counted(sent.length, 'byte')})`;
  if (sent.length === 0) return `empty${size}`;
  if (changes === null) return `${otherText(sent, plain)}${size}`;
  const [first, ...more] = joined(changes, sent);
  if (first === undefined) return `the same, except for ids and times${size}`;
  const added = changes.flatMap(({ start, end }) => [...sent.bytes.subarray(start, end)]);
  const blank = nameOfBlank(added);
  if (blank !== null && changes.every(({ removed }) => removed.length === 0)) {
    return `${blanks(added.length, blank)} added${changes.length > 1 ? ', first' : ''} ${placeOf(first, sent)}${size}`;
  }
  const rest = more.length > 0 ? `, and ${counted(more.length, 'more change')}` : '';
  return `${oneChange(first, sent)} ${placeOf(first, sent)}${rest}${size}`;
}

const BLANKS: ReadonlyMap<number, string> = new Map([
  [0x20, 'space'],
  [0x09, 'tab'],
  [0x0a, 'line feed'],
  [0x0d, 'carriage return'],
]);

const MIXED = 'byte of whitespace';

/** Returns the name of the whitespace if all bytes are whitespace; null otherwise. */
function nameOfBlank(bytes: readonly number[]): string | null {
  const names = new Set(bytes.map((byte) => BLANKS.get(byte)));
  if (names.size === 0 || names.has(undefined)) return null;
  const [name = null] = names;
  return names.size === 1 ? name : MIXED;
}

function blanks(count: number, name: string): string {
  return name === MIXED ? counted(count, MIXED, 'bytes of whitespace') : counted(count, name);
}

/** Merges changes that are one byte apart. */
function joined(changes: readonly ChangedBytes[], { bytes }: ComparedBody): ChangedBytes[] {
  const all: ChangedBytes[] = [];
  for (const change of changes) {
    const last = all.at(-1);
    const isReplaced = ({ start, end, removed }: ChangedBytes) => end > start && removed.length > 0;
    if (last !== undefined && change.start - last.end === 1 && isReplaced(last) && isReplaced(change)) {
      const removed = Buffer.concat([last.removed, bytes.subarray(last.end, change.start), change.removed]);
      all[all.length - 1] = { start: last.start, end: change.end, removed };
    } else all.push(change);
  }
  return all;
}

/** A body counts as derived from the plain one if they share a prefix of at least this many bytes. */
const MIN_COMMON = 8;

function otherText(sent: ComparedBody, plain: ComparedBody): string {
  const same = commonStart(sent.bytes, plain.bytes);
  if (same < MIN_COMMON) return `another text, ${quoted(sent.bytes)}`;
  const start = { start: same, end: same, removed: new Uint8Array() };
  return `another text ${placeOf(start, sent)}, ${quoted(sent.bytes.subarray(same))}`;
}

/** Returns the length of the common prefix in bytes, without a partial character. */
function commonStart(one: Uint8Array, other: Uint8Array): number {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  while (same > 0 && ((one[same] ?? 0) & 0xc0) === 0x80) same--;
  return same;
}

function oneChange({ start, end, removed }: ChangedBytes, { bytes }: ComparedBody): string {
  const added = bytes.subarray(start, end);
  if (removed.length === 0) return `${quoted(added)} added`;
  if (added.length === 0) return `${quoted(removed)} removed`;
  return `${quoted(removed)} -> ${quoted(added)}`;
}

const MAX_QUOTED = 40;
const MAX_CONTEXT = 48;
const MAX_OTHER_CONTEXT = 16;

/** Returns the beginning of the bytes as text in backticks. */
function quoted(bytes: Uint8Array): string {
  const blank = nameOfBlank([...bytes]);
  if (blank !== null) return blanks(bytes.length, blank);
  return `\`${truncate(visibleBytes(bytes.subarray(0, 4 * MAX_QUOTED)), MAX_QUOTED)}\``;
}

function placeOf({ start, end }: ChangedBytes, { bytes, length }: ComparedBody): string {
  if (start === 0) return 'at the start';
  if (end === length) return 'at the end';
  const before = visibleBytes(bytes.subarray(Math.max(0, start - MAX_CONTEXT), start));
  // If a field name precedes the change, only the name is quoted.
  const name = /"[^"]*": *[[{]?"?$/.exec(before)?.[0];
  return `after \`${name ?? Array.from(before).slice(-MAX_OTHER_CONTEXT).join('')}\``;
}

/** Decodes bytes to text with invisible characters as escapes; bytes that are not UTF-8 become `\xff`. */
export function visibleBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8');
  if (!text.includes('\ufffd')) return visible(text);
  return Array.from(bytes, (byte) => {
    return byte < 0x80 ? visible(String.fromCharCode(byte)) : `\\x${byte.toString(16)}`;
  }).join('');
}

export interface ComparisonOptions {
  /** Maximum width of a line, in columns. */
  readonly width: number;
  /** The symbol for a changed space: "·", or "\x20" if only ASCII can be shown. */
  readonly space: string;
  readonly maxPlaces: number;
}

/** Number of unchanged characters to show around a change, and the maximum number between two changes on one line. */
const AROUND = 14;
const BETWEEN = 24;

interface Place {
  plain: string;
  sent: string;
  changes: number;
}

/**
 * Renders the changed places of a body, two lines each: "- " with the plain delivery, "+ " with what is sent instead. A
 * last line counts the omitted places.
 */
export function bodyComparison(
  sent: Uint8Array,
  plain: Uint8Array,
  changes: readonly ChangedBytes[] | null,
  { width, space, maxPlaces }: ComparisonOptions,
): string[] {
  const cut = (sign: string, text: string) => `${sign} ${truncate(text, width - 2)}`;
  if (changes === null || sent.length === 0) {
    const same = commonStart(sent, plain);
    const lead = same < MIN_COMMON ? '' : lastOf(visibleBytes(sent.subarray(0, same)), AROUND);
    const from = (bytes: Uint8Array) =>
      lead + visibleBytes(bytes.subarray(lead === '' ? 0 : same).subarray(0, 2 * width));
    const isBlank = nameOfBlank([...sent]) !== null;
    const after = isBlank ? from(sent).replaceAll(' ', space) : from(sent);
    return [cut('-', from(plain)), cut('+', sent.length === 0 ? '(empty)' : after)];
  }
  const changed = (bytes: Uint8Array) => shortened(visibleBytes(bytes).replaceAll(' ', space), bytes.length);
  const common = (from: number, to: number) => visibleBytes(sent.subarray(from, to));
  const places: Place[] = [];
  let at = 0;
  for (const change of changes) {
    const between = common(at, change.start);
    const last = places.at(-1);
    const removed = changed(change.removed);
    const added = changed(sent.subarray(change.start, change.end));
    const isNear = last !== undefined && Array.from(between).length <= BETWEEN;
    if (isNear && Math.max(last.plain.length + removed.length, last.sent.length + added.length) < width - 2 * AROUND) {
      last.plain += between + removed;
      last.sent += between + added;
      last.changes += 1;
    } else {
      const lead = lastOf(between, AROUND, at === 0 ? '' : '…');
      if (last !== undefined) close(last, between, '…');
      places.push({ plain: lead + removed, sent: lead + added, changes: 1 });
    }
    at = change.end;
  }
  const last = places.at(-1);
  if (last !== undefined) close(last, common(at, sent.length), '');
  const shown = places.slice(0, maxPlaces);
  const left = places.slice(maxPlaces).reduce((sum, place) => sum + place.changes, 0);
  return [
    ...shown.flatMap((place) => [cut('-', place.plain), cut('+', place.sent)]),
    ...(left > 0 ? [`and ${counted(left, 'more change')}`] : []),
  ];
}

const MAX_CHANGED = 40;

function shortened(text: string, bytes: number): string {
  const characters = Array.from(text);
  if (characters.length <= MAX_CHANGED) return text;
  return `${characters.slice(0, MAX_CHANGED / 2).join('')}…(${bytes} bytes)`;
}

/** Returns the last characters of a text, preceded by an ellipsis if the text is longer, otherwise by `rest`. */
function lastOf(text: string, characters: number, rest = ''): string {
  const all = Array.from(text);
  return all.length <= characters ? rest + text : `…${all.slice(-characters).join('')}`;
}

/**
 * Appends the beginning of the text after the place, followed by an ellipsis if that text is longer, otherwise by
 * `rest`.
 */
function close(place: Place, after: string, rest: string): void {
  const all = Array.from(after);
  const tail = all.length <= AROUND ? after + rest : `${all.slice(0, AROUND).join('')}…`;
  place.plain += tail;
  place.sent += tail;
}
