/** A strict parser for the HTML report. It throws for every tag and attribute that the report does not use. */

export interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const WORDS = '[a-z-]+';
const NUMBER = '-?[0-9.]+';

/** Every element of the page, with its attributes and their values. */
const ALLOWED: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  html: { lang: /^en$/ },
  meta: {
    charset: /^utf-8$/,
    name: /^(viewport|referrer|color-scheme)$/,
    'http-equiv': /^Content-Security-Policy$/,
    content: /^(?:[\w ,.=;/+-]|&#39;)+$/,
  },
  details: { 'data-v': new RegExp(`^${WORDS}$`), class: /^(fold|quiet|repeated)$/, id: /^requirements$/ },
  div: { id: /^(c\d+|unseen)$/, class: /^(first|lead|pair|verdicts)$/, role: /^group$/, 'aria-label': /^Verdict$/ },
  section: { id: /^(fix|warnings|open|suites|checks|not-scored|since)$/, class: /^(suite|unseen)$/, 'data-s': /^\d+$/ },
  a: { href: /^(#(c\d+|q\d+|suite-[a-z0-9-]*|unseen|since)|(\.\.\/)?[a-z]+\/report\.html(#[\w/.-]+)?)$/ },
  h3: { id: /^suite-[a-z0-9-]*$/ },
  dt: { id: /^q\d+$/, class: /^screen$/ },
  dd: { class: /^screen$/ },
  dl: { class: /^(facts|requirements)$/ },
  ol: { class: /^causes$/, start: /^9$/ },
  ul: { class: /^(reasons|members|times)$/ },
  li: { class: /^close$/ },
  p: { class: /^[a-z]+$/, id: /^found$/, role: /^status$/ },
  span: { class: /^(?:close|word)$/ },
  pre: { class: /^(copy|hex)$/ },
  article: { class: /^(exchange|fault|fault open)$/ },
  // The only attribute with a string from the document is the id of a requirement.
  b: { title: /^[^<]*$/, class: new RegExp(`^v-${WORDS}$`) },
  svg: {
    class: new RegExp(`^(bar|strip|shape v-${WORDS})$`),
    viewBox: /^[0-9 -]+$/,
    width: new RegExp(`^${NUMBER}$`),
    height: new RegExp(`^${NUMBER}$`),
    preserveAspectRatio: /^none$/,
    'aria-hidden': /^true$/,
  },
  path: { d: /^[MmzhvHV0-9 .-]+$/, class: new RegExp(`^v-${WORDS}$`) },
  rect: {
    class: new RegExp(`^([ctwr]|v-${WORDS})$`),
    ...Object.fromEntries(['x', 'y', 'width', 'height'].map((name) => [name, new RegExp(`^${NUMBER}$`)])),
  },
  form: { id: /^filter$/, hidden: /^$/ },
  button: { type: /^button$/, 'aria-pressed': /^false$/, 'data-v': new RegExp(`^${WORDS}$`), id: /^unfold$/ },
  select: { id: /^suite$/ },
  option: { value: /^\d*$/ },
  input: { type: /^search$/, id: /^words$/, autocomplete: /^off$/, spellcheck: /^false$/ },
  label: { class: /^words$/ },
  table: { class: /^matrix$/ },
  th: { scope: /^(row|col)$/, class: /^(cells|number)$/ },
  code: { class: /^short$/ },
  td: { class: new RegExp(`^(cells|number( zero| v-${WORDS})?)$`), 'data-w': /^[a-z/ ]+$/ },
  ...Object.fromEntries(
    'head title style script body header main aside h1 h2 h4 summary strong em i mark del br thead tbody tr'
      .split(' ')
      .map((name) => [name, {}]),
  ),
};

const VOID = new Set(['meta', 'br', 'input', 'path', 'rect']);

/** Matches an ampersand outside the character references that the report writes. */
const REFERENCE = /&(?!(?:amp|lt|gt|quot|#39);)/;

/** Matches control characters and directional overrides. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

function readAttributes(name: string, source: string): Record<string, string> {
  const allowed = ALLOWED[name] ?? {};
  const attributes: Record<string, string> = {};
  const rest = source.replace(/[ \n]([A-Za-z-]+)(?:="([^"<]*)")?/g, (_, key: string, value = '') => {
    if (!Object.hasOwn(allowed, key) || !allowed[key]?.test(value)) throw new Error(`<${name} ${key}="${value}">`);
    attributes[key] = value;
    return '';
  });
  if (rest !== '') throw new Error(`<${name}${source}>`);
  return attributes;
}

/** Returns the elements of the page in order. */
export function readPage(source: string): Tag[] {
  if (!source.startsWith('<!doctype html>\n<html') || !source.endsWith('</html>\n'))
    throw new Error('not a complete page');
  // The style and the script are files of the product, and the policy contains their digests.
  const body = source
    .slice('<!doctype html>\n'.length)
    .replace(/<style>[^<]*<\/style>/, '<style></style>')
    .replace(/<script>[^<]*(?:<(?!\/script)[^<]*)*<\/script><\/body>/, '<script></script></body>');
  if (UNSEEN.test(body)) throw new Error(`the page contains ${JSON.stringify(UNSEEN.exec(body)?.[0])}`);
  const tags: Tag[] = [];
  const open: string[] = [];
  for (const piece of body.match(/<[^>]*>|[^<]+|</g) ?? []) {
    if (!piece.startsWith('<')) {
      if (REFERENCE.test(piece) || piece.includes('>'))
        throw new Error(`text that is not escaped: ${piece.slice(0, 80)}`);
      continue;
    }
    const [, slash, name = '', attributes = ''] = /^<(\/?)([a-z][a-z0-9]*)((?:[ \n][^>]*?)?)\/?>$/.exec(piece) ?? [];
    if (!Object.hasOwn(ALLOWED, name)) throw new Error(`not an element of the report: ${piece.slice(0, 80)}`);
    if (slash === '/') {
      const last = open.pop();
      if (last !== name) throw new Error(`</${name}> closes <${last}>`);
      continue;
    }
    tags.push({ name, attributes: readAttributes(name, attributes) });
    if (!VOID.has(name)) open.push(name);
  }
  if (open.length > 0) throw new Error(`left open: ${open.join(' ')}`);
  return tags;
}
