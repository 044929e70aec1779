// Shows bytes as readable text with every invisible character named, as hexadecimal with offsets, and as JSON with one
// item per line.
import { element } from './dom.js';

export function fromBase64(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Returns the length of the UTF-8 character at a position; 0 when there is none. */
function characterLength(all, at) {
  const first = all[at];
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (let index = 1; index < length; index++) if ((all[at + index] ?? 0) >> 6 !== 2) return 0;
  const second = all[at + 1];
  if ((first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f)) return 0;
  if ((first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f)) return 0;
  return length;
}

/** Yields parts of text, and parts of bytes that are not UTF-8. */
function* parts(all) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let start = 0;
  let valid = true;
  const part = (end) => ({
    valid,
    bytes: all.subarray(start, end),
    text: valid ? decoder.decode(all.subarray(start, end)) : '',
  });
  for (let at = 0; at < all.length; ) {
    const length = characterLength(all, at);
    if (length > 0 !== valid) {
      if (at > start) yield part(at);
      start = at;
      valid = length > 0;
    }
    at += length || 1;
  }
  if (start < all.length) yield part(all.length);
}

const CONTROLS = String.raw`\0-\x08\x0b-\x1f\x7f-\x9f`;
/** Direction marks, zero-width characters and line separators. */
const FORMATTING = String.raw`\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb`;
const TAGS = String.raw`\u{e0000}-\u{e00ff}`;
/** Characters that are invisible or change how others are shown. */
const SPECIAL = new RegExp(`[${CONTROLS}${FORMATTING}${TAGS}]+`, 'gu');

const hex = (value, length) => value.toString(16).padStart(length, '0');

function nameOf(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : `<U+${hex(code, 4).toUpperCase()}>`;
}

/** Maximum number of marked parts. Hostile bytes could require so many elements that the page freezes. */
const MAX_MARKS = 1000;

/**
 * Returns the text of bytes for a `pre`, with invisible characters named. With `spaces`, spaces and line ends are also
 * shown, for differences that consist of them.
 */
export function textOf(all, { spaces = false } = {}) {
  const fragment = document.createDocumentFragment();
  let marks = 0;
  let pending = '';
  const plain = (text) => {
    pending += spaces ? showSpaces(text) : text;
  };
  const mark = (text) => {
    marks += 1;
    if (marks > MAX_MARKS) {
      pending += text;
      return;
    }
    fragment.append(pending, element('span', { class: 'special' }, text));
    pending = '';
  };
  for (const { valid, bytes, text } of parts(all)) {
    if (!valid) {
      mark(Array.from(bytes, (byte) => `\\x${hex(byte, 2)}`).join(''));
      continue;
    }
    let at = 0;
    for (const match of text.matchAll(SPECIAL)) {
      plain(text.slice(at, match.index));
      mark(Array.from(match[0], nameOf).join(''));
      at = match.index + match[0].length;
    }
    plain(text.slice(at));
  }
  fragment.append(pending);
  return fragment;
}

function showSpaces(text) {
  return text.replaceAll(' ', '\u00b7').replaceAll('\t', '\u2192\t').replaceAll('\n', '\u21b5\n');
}

/** Counts the bytes and characters that cannot be shown as they are. */
export function oddities(all) {
  let invalid = 0;
  let special = 0;
  for (const { valid, bytes, text } of parts(all)) {
    if (valid) special += (text.match(SPECIAL) ?? []).join('').length;
    else invalid += bytes.length;
  }
  return { invalid, special };
}

/** Returns the decoded text, for copying. */
export function plainText(all) {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(all);
}

/** Returns lines of offset, bytes and characters. */
export function hexDump(all, width = 16) {
  const lines = [];
  for (let at = 0; at < all.length; at += width) {
    const row = all.subarray(at, at + width);
    const codes = Array.from(row, (byte, index) => (index === 8 ? ` ${hex(byte, 2)}` : hex(byte, 2))).join(' ');
    const characters = Array.from(row, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'));
    lines.push(`${hex(at, 6)}  ${codes.padEnd(width * 3 + (width > 8 ? 0 : -1))}  ${characters.join('')}`);
  }
  return lines.join('\n');
}

/** Returns a few bytes as hexadecimal. */
export function hexOf(all) {
  return Array.from(all, (byte) => hex(byte, 2)).join(' ');
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;
const MAX_DEPTH = 100;
const MAX_LENGTH = 400_000;
/** Maximum number of parts of a text that is coloured. */
const MAX_COLOURED = 6000;

/** Returns the parts of a JSON text, or the reason why it cannot be formatted. */
export function layOut(text) {
  try {
    JSON.parse(text);
  } catch {
    return { problem: 'This is not JSON.' };
  }
  const tokens = text.match(TOKEN) ?? [];
  const parts = [];
  let depth = 0;
  let length = 0;
  const add = (kind, part) => {
    parts.push([kind, part]);
    length += part.length;
  };
  const line = () => add('space', `\n${'  '.repeat(depth)}`);
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (token === '{' || token === '[') {
      add('sign', token);
      depth += 1;
      if (depth > MAX_DEPTH) return { problem: 'It is nested too deeply to be formatted.' };
      if (next !== '}' && next !== ']') line();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      if (tokens[index - 1] !== '{' && tokens[index - 1] !== '[') line();
      add('sign', token);
    } else if (token === ',') {
      add('sign', token);
      line();
    } else if (token === ':') {
      add('sign', ': ');
    } else {
      add(token.startsWith('"') ? (next === ':' ? 'key' : 'text') : 'value', token);
    }
    if (length > MAX_LENGTH) return { problem: 'It is too long to be formatted.' };
  }
  return { parts, text: parts.map(([, part]) => part).join('') };
}

/** Returns the formatted text as nodes. `show` turns text into nodes in which invisible characters are named. */
export function jsonNodes({ parts, text }, show) {
  if (parts.length > MAX_COLOURED) return show(text);
  const fragment = document.createDocumentFragment();
  for (const [kind, part] of parts) {
    if (kind === 'space' || kind === 'value') fragment.append(part);
    else if (kind === 'sign') fragment.append(element('span', { class: 'j-sign' }, part));
    else fragment.append(element('span', { class: `j-${kind}` }, show(part)));
  }
  return fragment;
}
