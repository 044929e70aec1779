/** Finds which bytes of a body differ from those of a valid delivery. */
import { diffArrays } from 'diff';
import type { Bytes } from './result-document.ts';

/** Decodes the bytes of a body that the document keeps. */
export function bytesOf({ text, base64 }: Pick<Bytes, 'text' | 'base64'>): Uint8Array {
  return text === null ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text, 'utf8');
}

/** A part of the probe's body that differs from the control's; `start` equals `end` if something was only removed. */
export interface ChangedBytes {
  readonly start: number;
  readonly end: number;
  /** The control's bytes in this place. */
  readonly removed: Uint8Array;
}

interface Token {
  readonly text: string;
  /** Whether the part also differs between two valid deliveries, as ids and addresses do. */
  readonly isFresh: boolean;
}

/** Matches words, whitespace, and single other bytes. A multi-byte character is one word and is never split. */
const TOKEN = /[A-Za-z0-9_\x80-\xff]+|[ \t\r\n]+|[\s\S]/g;

/** Bodies with more edits than this are treated as entirely different. */
const MAX_EDITS = 1000;

/** If a larger fraction of the body has changed, it is another notification, and marking changes would not help. */
const MAX_CHANGED_PART = 0.7;

/** Maximum difference in seconds between two numbers for both to be timestamps of the same run. */
const MAX_CLOCK_SECONDS = 3600;

/**
 * Returns the parts of `probe` that differ from `control`, in order. `other` is a second valid delivery, which shows
 * what is fresh in each (ids, addresses); null if there is none. Returns null if so much differs that it is another
 * notification.
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
