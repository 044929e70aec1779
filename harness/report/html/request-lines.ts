/** The head of a request or a response, with the lines marked that the plain delivery beside it does not have. */
import type { Exchange } from '../../result/result-document.ts';
import { html, type Markup } from './markup.ts';

type Lines = Exchange['request']['headers'];

const MOST_LINES = 16;
const LONGEST_VALUE = 160;

const NEW_LINE = html`
`;

function short(text: string): string {
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}… [${text.length} characters]`;
}

function headerText([name, value]: Lines[number]): string {
  return `${short(name)}: ${short(value)}`;
}

function listed(lines: readonly Markup[], left: number): Markup {
  const more = left > 0 ? html`<i>and ${left} more header lines</i>` : '';
  return html`${lines.map((line) => html`${line}${NEW_LINE}`)}${more}`;
}

const keyOf = ([name, value]: Lines[number]): string => JSON.stringify([name, value]);
const nameOf = ([name]: Lines[number]): string => name.toLowerCase();

/** A length that only follows from the body says nothing about the change. */
const follows = (line: Lines[number]): boolean => nameOf(line) === 'content-length';

function marked(text: string, isNew: boolean): Markup {
  return isNew ? html`<mark>${text}</mark>` : html`${text}`;
}

/** `control` is null where there is nothing to compare with. */
export function requestHead({ request }: Exchange, control: Exchange['request'] | null): Markup {
  const first = `${request.method} ${short(request.target)}`;
  const had = new Set(control?.headers.map(keyOf));
  const names = new Set(request.headers.map(nameOf));
  const lines = request.headers
    .slice(0, MOST_LINES)
    .map((line) => marked(headerText(line), control !== null && !had.has(keyOf(line)) && !follows(line)));
  const gone = (control?.headers ?? [])
    .filter((line) => !names.has(nameOf(line)))
    .slice(0, MOST_LINES)
    .map((line) => html`<del>${headerText(line)}</del>`);
  const isOther = control !== null && (control.method !== request.method || control.target !== request.target);
  return listed([marked(first, isOther), ...lines, ...gone], request.headers.length - MOST_LINES);
}

export function responseHead({ status, headers }: NonNullable<Exchange['response']>): Markup {
  const lines = headers.slice(0, MOST_LINES).map((line) => html`${headerText(line)}`);
  return listed([html`<b>${status}</b>`, ...lines], headers.length - MOST_LINES);
}
