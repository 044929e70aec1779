/** Markdown from hostile text. Every function gives one line. */
import { visible } from '../visible.ts';

/** Characters that are shown of one text. */
const MOST = 600;

function short(text: string): string {
  const shown = visible(text.slice(0, 2 * MOST));
  return shown.length > MOST ? `${Array.from(shown.slice(0, MOST)).slice(0, -1).join('')}…` : shown;
}

/** Everything that Markdown or HTML could take for markup. */
const MARKUP = /[!#$&*+\-./:<>@[\\\]^_`{|}~]/g;
/** A joiner that nobody sees keeps these from becoming a mention, an address or a reference. */
const REFERS = new Set(['@', '#']);

/** Prose: text as it reads, and no markup, link, mention or picture in it. */
export function prose(text: string): string {
  return short(text).replace(MARKUP, (sign) => `&#${sign.charCodeAt(0)};${REFERS.has(sign) ? '&#8288;' : ''}`);
}

/** A code span: its fence is longer than any run of backticks in it. */
export function code(text: string): string {
  const shown = short(text);
  if (shown.trim() === '') return '';
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 && shown === shown.trim() ? `${fence}${shown}${fence}` : `${fence} ${shown} ${fence}`;
}

/** A part that is folded. The blank lines make what is in it Markdown again. `title` is our own. */
export function folded(title: string, lines: readonly string[]): string[] {
  return [`<details><summary>${title}</summary>`, '', ...lines, '', '</details>', ''];
}
