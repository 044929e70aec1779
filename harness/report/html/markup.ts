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
