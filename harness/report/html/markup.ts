/**
 * Writing HTML from hostile strings. What is put into a template is escaped and capped unless it is markup that a template made:
 * there is no way to say "this string is safe", and a result document, which is JSON, cannot hold a symbol as a key.
 */
import { visible } from '../visible.ts';

const MARKUP = Symbol('markup');

/** A piece of finished HTML. Only {@link html} makes it. */
export interface Markup {
  readonly [MARKUP]: string;
}

type Value = Markup | string | number | false | null | undefined | readonly Value[];

/** No single text of a report needs more characters; what does (bodies, scripts) is split before. */
const LONGEST = 1500;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function isMarkup(value: object): value is Markup {
  return MARKUP in value;
}

function capped(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest)} [${text.length - longest} more characters]`;
}

/** Characters that act rather than show (controls, directional overrides, lone surrogates) become escapes that can be read. */
function escaped(text: string): string {
  return visible(capped(text, LONGEST)).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

function written(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  if (isMarkup(value)) return value[MARKUP];
  return value.map(written).join('');
}

/** A template whose values are escaped. Attributes are to be written with double quotes. */
export function html(literals: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let text = literals[0] ?? '';
  for (const [at, value] of values.entries()) text += written(value) + (literals[at + 1] ?? '');
  return { [MARKUP]: text };
}

/** The finished page as text. */
export function textOf(markup: Markup): string {
  return markup[MARKUP];
}

/** How many characters a piece takes in the page. */
export function sizeOf(markup: Markup): number {
  return markup[MARKUP].length;
}

/** A piece between two others, as `join` does it. */
export function joined(pieces: readonly Value[], between: Value): Markup {
  return html`${pieces.flatMap((piece, at) => (at === 0 ? [piece] : [between, piece]))}`;
}

/** Sentences of ours: what stands between backticks is code. */

/** Code that is no longer than this is kept on one line: a flag that is broken at its hyphens cannot be read. */
const UNBROKEN = 24;

export function prose(text: string): Markup {
  const parts = text.split(/`([^`\n]+)`/);
  const code = (part: string) =>
    part.length <= UNBROKEN ? html`<code class="short">${part}</code>` : html`<code>${part}</code>`;
  return html`${parts.map((part, at) => (at % 2 === 1 ? code(part) : part))}`;
}

/** "Answered 500." from "answered 500": a reason of the run as the beginning of a line. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What is there to be copied: commands and scripts, on their lines, whole or not at all. */

/** curl scripts carry bodies of up to 4096 bytes. */
const LONGEST_SCRIPT = 8192;
const PIECE = 1024;

const NEW_LINE = html`
`;

/** The script of the page puts a button for copying beside it. */
export function script(text: string): Markup {
  if (text.length > LONGEST_SCRIPT)
    return html`<p class="none">a script of ${text.length} characters: see the JSON report</p>`;
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => visible(line).match(new RegExp(`[^]{1,${PIECE}}`, 'gu')) ?? []);
  return html`<pre class="copy">${lines.map((line, at) => html`${at > 0 && NEW_LINE}${line}`)}</pre>`;
}
