/** Values that stand for a value. */

/** What a variable that was never substituted looks like: ${NAME}, $NAME, {{name}}, <name>, %NAME%, [name], @name@. */
const TEMPLATE =
  /^(?:\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_]\w*|\{\{.*\}\}|<[^<>]+>|%[A-Za-z_]\w*%|\[[A-Za-z _-]+\]|@[A-Za-z_]\w*@|\*+|[xX]{3,}|\.{3,}|-+|_+)$/s;

const WORDS: ReadonlySet<string> = new Set([
  'changeme',
  'changeit',
  'changethis',
  'replaceme',
  'replacethis',
  'fillme',
  'fixme',
  'todo',
  'tbd',
  'none',
  'null',
  'nil',
  'undefined',
  'nan',
  'false',
  'true',
  'default',
  'dummy',
  'example',
  'sample',
  'placeholder',
  'redacted',
  'hidden',
  'masked',
  'secret',
  'secretkey',
  'mysecret',
  'topsecret',
  'supersecret',
  'password',
  'passwd',
  'key',
  'apikey',
  'token',
  'test',
  'testing',
  'testsecret',
  'testkey',
  'foobar',
  'value',
  'string',
  'objectobject',
]);

const PHRASE =
  /^(?:your|my|the|an?|insert|put|enter|paste|add|set|some)(?:your|the|own|a)?(?:webhook|api|shared|signing|hmac|test)*(?:secret|key|apikey|token|value)+(?:here|goeshere)?$/;

export function isPlaceholder(value: string): boolean {
  const text = value.trim().replace(/^(["'])(.*)\1$/s, '$2');
  if (TEMPLATE.test(text)) return true;
  const word = text.toLowerCase().replace(/[^a-z]/g, '');
  // A word with more digits than "changeme123" has is a value.
  if (text.replace(/[^0-9]/g, '').length > 4 || word === '') return false;
  return WORDS.has(word) || PHRASE.test(word);
}
