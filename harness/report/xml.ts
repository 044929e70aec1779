/** Writing XML 1.0 from hostile strings. */
import { escapeCharacter } from './visible.ts';

/** Colour and cursor sequences: they say nothing in a test report. */
const ANSI_SEQUENCE = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g;

/** What the Char production of XML 1.0 leaves out, lone surrogates included; and C1 controls and directional overrides, which it allows. */
const ILLEGAL = /[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\p{Cf}\p{Zl}\p{Zp}]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function clean(text: string): string {
  return (
    text
      .replace(ANSI_SEQUENCE, '')
      .replace(ILLEGAL, escapeCharacter)
      .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
      // On a log that a runner of GitHub Actions reads, these would begin commands.
      .replaceAll('##[', '##&#91;')
      .replace(/^([^\S\n]*):(?=:)/gm, '$1&#58;')
  );
}

/** Character data. ANSI sequences are dropped; what XML cannot hold becomes a visible escape (`\x00`). */
function xmlText(text: string): string {
  return clean(text).replace(/\r/g, '&#13;');
}

/** An attribute value, without its quotes: line breaks and tabs are kept as references, which parsers would otherwise flatten. */
function xmlAttribute(text: string): string {
  return clean(text).replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** An element on lines of its own. Children are finished XML, each on its line; text is character data. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: { readonly children?: readonly string[]; readonly text?: string } = {},
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${xmlAttribute(String(value))}"`);
  const open = `<${name}${written.join('')}`;
  if (content.text !== undefined) return `${open}>${xmlText(content.text)}</${name}>`;
  const children = content.children ?? [];
  return children.length === 0 ? `${open}/>` : `${open}>\n${children.join('\n')}\n</${name}>`;
}
