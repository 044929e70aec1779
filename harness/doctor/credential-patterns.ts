/** The encoding that a text seems to have. */

interface Encoding {
  readonly names: readonly ('base64' | 'base64url' | 'hex' | 'uuid')[];
  /** The length after decoding; null for a UUID, which is not decoded. */
  readonly decodedBytes: number | null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Shorter texts are treated as words. */
const MIN_LENGTH = 16;

/** Returns the encoding that a text seems to have, or null. It is a guess: many words are also valid base64. */
export function encodingOf(text: string): Encoding | null {
  if (UUID.test(text)) return { names: ['uuid'], decodedBytes: null };
  if (text.length < MIN_LENGTH) return null;
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return { names: ['hex'], decodedBytes: text.length / 2 };
  const body = text.replace(/={1,2}$/, '');
  const padded = body !== text;
  if (body.length % 4 === 1 || (padded && text.length % 4 !== 0)) return null;
  const decodedBytes = Math.floor((body.length * 3) / 4);
  if (/^[A-Za-z0-9+/]+$/.test(body)) {
    const distinct = padded || /[+/]/.test(body);
    if (!distinct && !isMixed(body)) return null;
    // Without padding or characters of only one alphabet, the text can be base64 or base64url.
    if (distinct && text.length % 4 === 0) return { names: ['base64'], decodedBytes };
    if (/[+/]/.test(body)) return { names: ['base64'], decodedBytes };
    return { names: text.length % 4 === 0 ? ['base64', 'base64url'] : ['base64url'], decodedBytes };
  }
  return /^[A-Za-z0-9_-]+$/.test(body) && isMixed(body) ? { names: ['base64url'], decodedBytes } : null;
}

/** Returns whether a text mixes lower case, upper case and digits, as encoded random bytes do and names do not. */
function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text) && /[0-9]/.test(text);
}

/** Patterns of variables that were never substituted, and of other placeholders. */
const TEMPLATES: readonly RegExp[] = [
  // ${NAME}, $(command), $NAME, {{name}}, <name>, %NAME%, [name], @name@
  /^\$\{[^}]*\}$/,
  /^\$\([^)]*\)$/,
  /^\$[A-Za-z_]\w*$/,
  /^\{\{.*\}\}$/s,
  /^<[^<>]+>$/,
  /^%[A-Za-z_]\w*%$/,
  /^\[[A-Za-z _-]+\]$/,
  /^@[A-Za-z_]\w*@$/,
  // Characters that are meant to be overwritten, such as ***
  /^(?:\*+|[xX]{3,}|\.{3,}|-+|_+)$/,
];

const WORDS: ReadonlySet<string> = new Set(
  [
    'changeme changeit changethis replaceme replacethis fillme fixme todo tbd',
    'none null nil undefined nan false true objectobject',
    'default dummy example sample placeholder redacted hidden masked foobar value string',
    'test testing testsecret testkey',
    'secret secretkey mysecret topsecret supersecret password passwd key apikey token',
  ].flatMap((line) => line.split(' ')),
);

/** Matches "your-webhook-secret-here", "insert the key", "my_api_key". */
const PHRASE = new RegExp(
  '^(?:your|my|the|an?|insert|put|enter|paste|add|set|some)(?:your|the|own|a)?' +
    '(?:webhook|api|shared|signing|hmac|test)*(?:secret|key|apikey|token|value)+(?:here|goeshere)?$',
);

/** Returns whether a value is a placeholder for the real one. */
export function isPlaceholder(value: string): boolean {
  const text = value.trim().replace(/^(["'])(.*)\1$/s, '$2');
  if (TEMPLATES.some((template) => template.test(text))) return true;
  const word = text.toLowerCase().replace(/[^a-z]/g, '');
  // A value with more than four digits is real; changeme123 is a placeholder.
  if (text.replace(/[^0-9]/g, '').length > 4 || word === '') return false;
  return WORDS.has(word) || PHRASE.test(word);
}
