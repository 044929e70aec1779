// JSON with one item a line. Numbers, texts and escapes stay as they came: only the white space between them is changed.
import { element } from './dom.js';

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;
const DEEPEST = 100;
const LONGEST = 400_000;
/** Beyond so many tokens there are no colours. */
const MOST_COLOURED = 6000;

/** The parts of a JSON text, or why there are none. */
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
      if (depth > DEEPEST) return { problem: 'It is nested too deep to be laid out.' };
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
    if (length > LONGEST) return { problem: 'It would be too long when laid out.' };
  }
  return { parts, text: parts.map(([, part]) => part).join('') };
}

/** The laid-out text as nodes. `show` turns a piece of text into nodes in which nothing hides. */
export function jsonNodes({ parts, text }, show) {
  if (parts.length > MOST_COLOURED) return show(text);
  const fragment = document.createDocumentFragment();
  for (const [kind, part] of parts) {
    if (kind === 'space' || kind === 'value') fragment.append(part);
    else if (kind === 'sign') fragment.append(element('span', { class: 'j-sign' }, part));
    else fragment.append(element('span', { class: `j-${kind}` }, show(part)));
  }
  return fragment;
}
