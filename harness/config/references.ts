/** References to values that are kept elsewhere: `${env:NAME}` and `${file:PATH}`. */

export type Reference =
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/** A text that is one whole reference. Also the pattern in the JSON Schema of the configuration file. */
export const WHOLE_REFERENCE = /^\$\{(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^{}]+)\}$/;

/** How to write a reference, for hints. */
export const HOW_TO_REFER = `Write \${env:NAME} for an environment variable, or \${file:PATH} for a file.`;

/** The reference that a text is, or undefined when it is not one whole reference. */
export function wholeReference(text: string): Reference | undefined {
  if (!WHOLE_REFERENCE.test(text)) return undefined;
  const content = text.slice(2, -1);
  const colon = content.indexOf(':');
  const target = content.slice(colon + 1);
  return content.startsWith('env:') ? { kind: 'env', name: target } : { kind: 'file', path: target };
}

/** A text in pieces: literal text and the references in it. undefined when a `${` begins something that is no reference. */
export function splitReferences(text: string): (string | Reference)[] | undefined {
  const pieces: (string | Reference)[] = [];
  let rest = text;
  for (;;) {
    const start = rest.indexOf('${');
    if (start < 0) break;
    const end = rest.indexOf('}', start);
    const reference = end < 0 ? undefined : wholeReference(rest.slice(start, end + 1));
    if (reference === undefined) return undefined;
    if (start > 0) pieces.push(rest.slice(0, start));
    pieces.push(reference);
    rest = rest.slice(end + 1);
  }
  return rest === '' && pieces.length > 0 ? pieces : [...pieces, rest];
}
