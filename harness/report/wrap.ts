/** Breaking text into lines of a display width. */

/** Characters that take two columns: East Asian wide and full-width forms, and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /\p{M}/u;
/** Everything below is one column each: the usual case, decided without a look at single characters. */
const NARROW = /^[\x20-\x7e\u00a0-\u02ff]*$/;

function columnsOf(character: string): number {
  if (MARK.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Columns that visible text takes in a terminal; combining marks take none, wide characters two. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** The longest head of the text that fits into the width (at least one character), and the rest. */
function splitAt(text: string, width: number): [head: string, rest: string] {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += columnsOf(character);
    if (used > width && end > 0) break;
    end += character.length;
  }
  return [text.slice(0, end), text.slice(end)];
}

/** Cuts to a display width and marks the cut. */
export function truncate(text: string, width: number, mark = '…'): string {
  if (displayWidth(text) <= width) return text;
  return splitAt(text, Math.max(1, width - displayWidth(mark)))[0] + mark;
}

/** Lines of at most `width` columns, broken at spaces; a word that is wider than a line is broken inside. Never empty. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const joined = line === '' ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    let rest = word;
    while (displayWidth(rest) > width) {
      const [head, tail] = splitAt(rest, width);
      lines.push(head);
      rest = tail;
    }
    line = rest;
  }
  if (line !== '' || lines.length === 0) lines.push(line);
  return lines;
}
