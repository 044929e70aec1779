/** Credentials are taken out by value, wherever a sender has put them. */

const MASK = '[***]';

/** Shorter values stand in any text by chance. They are masked only where they are the whole text. */
const SHORTEST_WITHIN = 4;

export interface Redactor {
  text(input: string): string;
  /** The same buffer when there was nothing to take out. */
  bytes(input: Buffer): Buffer;
  /** Every text in a value that can be written as JSON, however deep. */
  value<T>(input: T): T;
}

/** The spellings in which a credential is found in headers and bodies. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const hex = bytes.toString('hex');
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    value.replaceAll('/', '\\/'),
    encodeURIComponent(bytes.toString('utf8')),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    hex,
    hex.toUpperCase(),
  ];
}

export function createRedactor(values: readonly string[]): Redactor {
  // The longest first: one credential may be the beginning of another.
  const forms = [...new Set(values.flatMap((value) => [...formsOf(value), ...formsOf(value.trim())]))]
    .filter((form) => form !== '')
    .sort((a, b) => b.length - a.length);
  const within = forms.filter((form) => form.length >= SHORTEST_WITHIN);

  const text = (input: string): string => {
    if (forms.includes(input)) return MASK;
    return within.reduce((result, form) => (result.includes(form) ? result.replaceAll(form, MASK) : result), input);
  };
  const value = (input: unknown): unknown => {
    if (typeof input === 'string') return text(input);
    if (Array.isArray(input)) return input.map(value);
    if (typeof input !== 'object' || input === null) return input;
    return Object.fromEntries(Object.entries(input).map(([name, item]) => [name, value(item)]));
  };
  return {
    text,
    value: (input) => value(input) as typeof input,
    bytes(input) {
      const found = within.filter((form) => input.includes(form));
      if (found.length === 0) return input;
      // One character a byte, so that nothing else changes.
      const asLatin1 = (form: string) => Buffer.from(form, 'utf8').toString('latin1');
      const result = found.reduce((all, form) => all.replaceAll(asLatin1(form), MASK), input.toString('latin1'));
      return Buffer.from(result, 'latin1');
    },
  };
}
