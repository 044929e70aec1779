/**
 * Builds HTML from untrusted strings. A value in a template is escaped and shortened unless a template created it: no
 * string can be marked as safe, and a result document, which is JSON, cannot contain a symbol as a key.
 */
import { visible } from '../../../contract/visible.ts';

const MARKUP = Symbol('markup');

/** A piece of finished HTML. Only {@link html} creates it. */
export interface Markup {
  readonly [MARKUP]: string;
}

type Value = Markup | string | number | false | null | undefined | readonly Value[];

/**
 * Maximum length of a text; longer ones are shortened. Bodies and scripts are first split into {@link pieces}.
 */
const MAX_CHARACTERS = 1500;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Creates markup from a template whose values are escaped. Attributes must be in double quotes. */
export function html(literals: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let text = literals[0] ?? '';
  for (const [at, value] of values.entries()) text += written(value) + (literals[at + 1] ?? '');
  return { [MARKUP]: text };
}

export function textOf(markup: Markup): string {
  return markup[MARKUP];
}

export function sizeOf(markup: Markup): number {
  return markup[MARKUP].length;
}

export function joined(items: readonly Value[], between: Value): Markup {
  return html`${items.flatMap((item, at) => (at === 0 ? [item] : [between, item]))}`;
}

/** A line break, for `pre` elements. */
export const NEW_LINE = html`
`;

/** Renders one of our own sentences, in which text between backticks is code. */
export function prose(text: string): Markup {
  const parts = text.split(/`([^`\n]+)`/);
  return html`${parts.map((part, at) => (at % 2 === 1 ? code(part) : part))}`;
}

/** Code up to this length is kept on one line: a flag broken at its hyphens is hard to read. */
const MAX_UNBROKEN = 24;

function code(text: string): Markup {
  return text.length <= MAX_UNBROKEN ? html`<code class="short">${text}</code>` : html`<code>${text}</code>`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Renders a row of a description list; empty without a value. */
export function field(name: string, value: Markup | string): Markup | '' {
  return value === '' ? '' : html`<dt>${name}</dt><dd>${value}</dd>`;
}

/** Maximum length of a script. Enough for curl scripts, whose bodies have up to 4096 bytes. */
const MAX_SCRIPT = 8192;

/** Renders a command or script to copy, unwrapped and never shortened. The page's script adds a button. */
export function script(source: string): Markup {
  if (source.length > MAX_SCRIPT) {
    return html`<p class="none">a script of ${source.length} characters: see the JSON report</p>`;
  }
  const text = (line: string) => html`${pieces(visible(line))}`;
  // Browsers also break lines at hyphens, even inside flags.
  const word = (one: string) => (one.includes('-') ? html`<span class="word">${text(one)}</span>` : text(one));
  const lines = source
    .trimEnd()
    .split('\n')
    .map((line) => (line.startsWith('hookproof ') ? joined(line.split(' ').map(word), ' ') : text(line)));
  return html`<pre class="copy">${joined(lines, NEW_LINE)}</pre>`;
}

/** Splits a long text into parts that {@link html} does not shorten. */
export function pieces(text: string): string[] {
  return text.match(/.{1,1024}/gsu) ?? [];
}

function written(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  if (isMarkup(value)) return value[MARKUP];
  return value.map(written).join('');
}

function isMarkup(value: object): value is Markup {
  return MARKUP in value;
}

/**
 * Replaces characters that control a display (controls, directional overrides, lone surrogates) with readable escapes.
 */
function escaped(text: string): string {
  return visible(capped(text)).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

function capped(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS)} [${text.length - MAX_CHARACTERS} more characters]`;
}
