/** How the inside of a receiver looks when it shows in an answer. Each pattern is sure: a false alarm costs more than a miss. */
import type { Leak } from '../../scenarios/index.ts';

const STACK_TRACES = [
  // Blank lines are left to the newline before them: tens of thousands of them would be gone through from each.
  /\n[^\S\n]{1,100}at .{1,200}:\d+:\d+\)?/, // JavaScript
  /&nbsp; &nbsp;at .{1,200}:\d+:\d+/, // JavaScript, by Express's default error page
  /Traceback \(most recent call last\)/, // Python
  /\bat [\w.$]{3,200}\([\w]+\.(?:java|kt|scala):\d+\)/, // Java
  /\bgoroutine \d+ \[/, // Go
  /\.php(?:\(\d+\)|:\d+|<\/b> on line)/, // PHP
  /\.rb:\d+:in [`']/, // Ruby
  /\bat [\w.`<>]{3,200}\(.{0,200}\) in .{1,200}:line \d+/, // .NET
];

const PARSER_DETAILS = [
  /Unexpected (?:token|end of JSON|non-whitespace)| in JSON at position \d|is not valid JSON/i, // JavaScript
  /Expecting (?:value|property name|',' delimiter)|Unterminated string starting at|Extra data: line \d/, // Python
  /invalid character .{1,10} (?:looking for|after)|json: cannot unmarshal/, // Go
  /is an invalid start of a value|BytePositionInLine|(?:expected|EOF while) [^\n]{1,60} at line \d+ column \d/, // .NET, Rust
  /com\.fasterxml\.jackson|com\.google\.gson|System\.Text\.Json|Newtonsoft|JSON::ParserError|simplejson|JSONDecodeError|SyntaxError/,
];

const ERROR_MESSAGES = [
  /Cannot read propert(?:y|ies) [^\n]{0,100}of (?:undefined|null)/, // JavaScript
  /Input buffers must have the same byte length|ERR_INVALID_ARG_TYPE/, // Node
  /\b(?:TypeError|ReferenceError|RangeError|KeyError|AttributeError|ValueError|binascii\.Error): /,
  /'\w{1,50}' object (?:has no attribute|is not subscriptable)/, // Python
  /NullPointerException|IllegalArgumentException|ClassCastException/, // Java
  /Object reference not set to an instance of an object/, // .NET
  /nil pointer dereference|interface conversion: interface \{\}/, // Go
  /undefined method [`'‘]|no implicit conversion of \w+ into/, // Ruby
  /Undefined (?:array key|index|property|variable)|Trying to access array offset/, // PHP
];

const DATABASE_MESSAGES = [
  /violates (?:unique|not-null|foreign key|check) constraint|invalid byte sequence for encoding/, // PostgreSQL
  /value too long for type character|syntax error at or near "|relation "[^"\n]{1,100}" does not exist/, // PostgreSQL
  /SQLSTATE\[|You have an error in your SQL syntax|Duplicate entry '[^\n]{0,300}' for key|\bER_[A-Z]+_[A-Z]+/, // MySQL
  /\b(?:UNIQUE|NOT NULL|CHECK) constraint failed|SQLITE_[A-Z]{4}/,
  /\bORA-\d{5}\b|Violation of (?:UNIQUE|PRIMARY) KEY constraint|E11000 duplicate key/, // Oracle, SQL Server, MongoDB
  /Invalid `prisma\.|PrismaClientKnownRequestError|SequelizeUniqueConstraintError|psycopg2\.|org\.hibernate\./,
];

const DEBUG_PAGES = [
  /DEBUG = True|__debugger__|Werkzeug Debugger/, // Django, Flask
  /phpdebugbar|facade[\\/]ignition|spatie[\\/]laravel-ignition|Whoops, looks like something went wrong|Symfony Exception/,
  /Action Controller: Exception caught|<title>Routing Error/, // Rails
  /Microsoft\.AspNetCore\.Diagnostics|Server Error in '[^'\n]{0,100}' Application/, // .NET
];

const PATTERNS: readonly (readonly [Leak, readonly RegExp[]])[] = [
  ['stack-trace', STACK_TRACES],
  ['parser-detail', PARSER_DETAILS],
  ['error-message', ERROR_MESSAGES],
  ['database-message', DATABASE_MESSAGES],
  ['debug-page', DEBUG_PAGES],
];

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** What of the code inside shows in a text, also when it stands there as a JSON string. */
export function findInsides(written: string): Leak[] {
  const text = written.replace(/\\([nrt"'/])/g, (_all, character: string) => ESCAPED[character] ?? character);
  return PATTERNS.filter(([, patterns]) => patterns.some((pattern) => pattern.test(text))).map(([leak]) => leak);
}
