/** A small strict reader of XML 1.0: elements, attributes, text, references. Throws at anything that is not well-formed. */

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

const NAME = '[A-Za-z_][A-Za-z0-9_.-]*';
const ILLEGAL = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(?:#(\d+)|(\w+));|&/g, (whole, code: string | undefined, name: string | undefined) => {
    const character = code === undefined ? NAMED[name ?? ''] : String.fromCodePoint(Number(code));
    if (character === undefined || ILLEGAL.test(character)) throw new Error(`bad reference ${whole}`);
    return character;
  });
}

function readAttributes(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  const rest = text.replace(new RegExp(`\\s+(${NAME})="([^"<]*)"`, 'g'), (_, name: string, value: string) => {
    if (name in attributes) throw new Error(`attribute ${name} twice`);
    // A parser flattens literal white space in attribute values.
    attributes[name] = decode(value.replace(/[\t\n\r]/g, ' '));
    return '';
  });
  if (rest.trim() !== '') throw new Error(`bad attributes ${rest}`);
  return attributes;
}

/** The root element. */
export function parseXml(source: string): XmlElement {
  if (ILLEGAL.test(source)) throw new Error('a character that XML 1.0 does not allow');
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (!source.startsWith(declaration)) throw new Error('no XML declaration');
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const token = new RegExp(`<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>|([^<]+)|<`, 'g');
  for (const [whole, closing, name, attributes, empty, text] of source.slice(declaration.length).matchAll(token)) {
    const parent = open.at(-1);
    if (parent === undefined) throw new Error('nothing is open');
    if (text !== undefined) {
      if (text.includes(']]>')) throw new Error(']]> in text');
      parent.text += decode(text.replace(/\r\n?/g, '\n'));
    } else if (name === undefined) {
      throw new Error(`bad markup at ${whole}`);
    } else if (closing === '/') {
      if (parent.name !== name || open.length === 1) throw new Error(`</${name}> closes <${parent.name}>`);
      open.pop();
    } else {
      const element = { name, attributes: readAttributes(attributes ?? ''), children: [], text: '' };
      parent.children.push(element);
      if (empty !== '/') open.push(element);
    }
  }
  const [only] = root.children;
  if (open.length !== 1 || only === undefined || root.children.length !== 1 || root.text.trim() !== '') {
    throw new Error('not one whole root element');
  }
  return only;
}
