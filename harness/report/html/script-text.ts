/** What is there to be copied: commands and scripts, on their lines, whole or not at all. */
import { visible } from '../visible.ts';
import { html, type Markup } from './markup.ts';

/** curl scripts carry bodies of up to 4096 bytes. */
const LONGEST = 8192;
const PIECE = 1024;

const NEW_LINE = html`
`;

/** The script of the page puts a button for copying beside it. */
export function script(text: string): Markup {
  if (text.length > LONGEST)
    return html`<p class="none">a script of ${text.length} characters: see the JSON report</p>`;
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => visible(line).match(new RegExp(`[^]{1,${PIECE}}`, 'gu')) ?? []);
  return html`<pre class="copy">${lines.map((line, at) => html`${at > 0 && NEW_LINE}${line}`)}</pre>`;
}
