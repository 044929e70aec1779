/**
 * Searches an answer for what it must not reveal. Specification: Authentication (secrets must not be shown).
 */
import { type DecodedText, decodeText } from '../../contract/decoded-texts.ts';
import { partsIn, SecretFinder } from '../../contract/find-secrets.ts';
import { secretSpellings, signatureSpellings } from '../../contract/secret-spellings.ts';
import type { Leak } from '../../scenarios/index.ts';
import { everySecret, type Partner } from '../partner.ts';
import type { Answer } from '../transport/index.ts';

/** Minimum length of a credential to search for. A shorter one may occur in an answer by chance. */
const MIN_SEARCHED = 8;

/**
 * Returns every spelling of a credential, in lower case and starting with the value itself. Empty if the value is
 * short.
 */
function spellingsOf(value: string | undefined): string[] {
  if (value === undefined || value.length < MIN_SEARCHED) return [];
  return secretSpellings(value).map((spelling) => spelling.toLowerCase());
}

interface Credentials {
  readonly secret: readonly string[];
  readonly key: readonly string[];
  /** Finds the spellings of the secrets and the key in one pass. Searching for each spelling would take hundreds. */
  readonly finder: SecretFinder;
}

const credentials = new WeakMap<Partner, Credentials>();

function credentialsOf(partner: Partner): Credentials {
  const known = credentials.get(partner);
  if (known !== undefined) return known;
  const secrets = everySecret(partner);
  const secret = secrets.flatMap(spellingsOf);
  const key = spellingsOf(partner.apiKey?.value);
  const finder = new SecretFinder();
  for (const value of [...secrets, partner.apiKey?.value ?? '']) {
    if (value.length >= MIN_SEARCHED) finder.addSecret('', value);
  }
  const made = { secret, key, finder };
  credentials.set(partner, made);
  return made;
}

/** Removes the spaces from lists of numbers and pairs of hexadecimal digits. Dumps of buffers contain them. */
function withoutGaps(text: string): string {
  return text.replace(/(?<=\d),\s+(?=\d)/g, ',').replace(/(?<=\b[0-9a-f]{2}) (?=[0-9a-f]{2}\b)/gi, '');
}

/**
 * Joins the decoded texts. `read` is the text as it is, with escapes removed, and with gaps removed. `decoded` is what
 * is encoded in the text, for example as base64.
 */
function joinDecoded(text: string, all: readonly DecodedText[]): { readonly read: string; readonly decoded: string } {
  const plain = all.filter(({ depth }) => depth === 0).map((one) => one.text);
  const bytes = all.filter(({ depth }) => depth > 0).map((one) => one.text);
  return { read: [...new Set([...plain, withoutGaps(plain.at(-1) ?? text)])].join('\n'), decoded: bytes.join('\n') };
}

/** Removes the escapes of JSON, URLs and HTML, which libraries insert into base64. */
function unescaped(text: string): string {
  return decodeText(text).findLast(({ depth }) => depth === 0)?.text ?? text;
}

/** Answers without any trace of a credential, for each partner. Cached, because most answers are the same. */
const harmless = new WeakMap<Partner, Set<string>>();
const MAX_HARMLESS = 200;
const MAX_HARMLESS_LENGTH = 4_000;

/** Returns whether the endpoint has sent the same answer before, and it contained no credential. */
export function isHarmless(answer: Answer, partner: Partner): boolean {
  return harmless.get(partner)?.has(withoutDate(textOf(answer))) === true;
}

function textOf({ reasonPhrase, headers, body }: Answer): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return `${reasonPhrase}\n${lines.join('\n')}\n\n${Buffer.from(body).toString('latin1')}`;
}

const withoutDate = (text: string) => text.replace(/^Date: .*$/im, '');

/**
 * Finds leaks in an answer. `sent` contains the values of the request. An answer that repeats one of them, even with a
 * correct signature or the secret in it, reveals nothing new to the sender. A repeated API key is still a leak, because
 * answers are stored and shown in places where the key does not belong.
 */
export function findLeaks(
  answer: Answer,
  partner: Partner,
  rightSignatures: readonly string[],
  sent: readonly string[],
): Leak[] {
  const text = textOf(answer);
  const known = harmless.get(partner) ?? new Set();
  const allDecoded = decodeText(text);
  const { read, decoded } = joinDecoded(text, allDecoded);
  // Decoded texts are searched only for whole credentials, because they may contain a part of one by chance.
  const folded = `${read}\n${decoded}`.toLowerCase();
  const { secret, key, finder } = credentialsOf(partner);
  const showsCredentials = finder.find(text, allDecoded).length > 0;

  /** Returns whether the answer contains one of the spellings, and the request did not. */
  const isNew = (spellings: readonly string[], furtherOf: (value: string) => readonly string[] = () => []): boolean => {
    if (!spellings.some((spelling) => folded.includes(spelling))) return false;
    // Servers trim header values, split lists, and escape what is not ASCII, so a part of a sent value is an echo,
    // too. Sent values are decoded like the answer: the echo of a value that contains a secret leaks nothing.
    const echoes = sent
      .flatMap((value) => [value, ...value.split(/[\s,]+/), ...value.split(/[^ -~]+/)])
      .flatMap((value) => [...furtherOf(value), ...decodeText(value).map((one) => one.text)])
      .map((value) => value.toLowerCase())
      .filter((value) => spellings.some((spelling) => value.includes(spelling)));
    const rest = echoes.reduce((left, echo) => left.replaceAll(echo, ''), folded);
    return spellings.some((spelling) => rest.includes(spelling));
  };

  const apiKey = partner.apiKey?.value;
  const signatures = rightSignatures.flatMap(signatureSpellings).map((one) => one.toLowerCase());
  const leaks: Leak[] = [];
  if (showsCredentials) {
    if (isNew(secret)) leaks.push('secret');
    const showsKey = apiKey !== undefined && key.length > 0 && (read.includes(apiKey) || decoded.includes(apiKey));
    if (showsKey || isNew(key.slice(1))) leaks.push('api-key');
  }
  // The sender knows every spelling of what it has sent.
  if (isNew(signatures, secretSpellings)) leaks.push('signature');
  const echoes = once(() => [...new Set(sent.flatMap((value) => [value, unescaped(value)]))]);
  const showsAnEnd = (value: string | undefined) => value !== undefined && showsEnd(read, value, echoes);
  const showsAPart = () => rightSignatures.some((one) => showsPart(read, one, echoes));
  if (leaks.length === 0 && ([apiKey, ...everySecret(partner)].some(showsAnEnd) || showsAPart())) {
    leaks.push('credential-part');
  }
  const found = [...leaks, ...findInternals(text)];
  const showsNothing = () =>
    !showsCredentials &&
    !signatures.some((spelling) => folded.includes(spelling)) &&
    ![apiKey, ...everySecret(partner)].some((value) => value !== undefined && showsEnd(read, value, NONE)) &&
    !rightSignatures.some((one) => showsPart(read, one, NONE));
  if (found.length === 0 && text.length <= MAX_HARMLESS_LENGTH && known.size < MAX_HARMLESS && showsNothing()) {
    harmless.set(partner, known.add(withoutDate(text)));
  }
  return found;
}

const NONE = (): readonly string[] => [];

/** Calls `make` on the first use, and caches the result. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Minimum number of consecutive Base64 characters of a signature that cannot occur by chance. For hexadecimal digits,
 * it is 1.5 times as many.
 */
const MIN_SIGNATURE_PART = 12;

/** Returns whether a text contains a part of the signature that the request did not contain. */
function showsPart(text: string, base64: string, sent: () => readonly string[]): boolean {
  const digest = Buffer.from(base64, 'base64');
  const hexLength = Math.ceil((MIN_SIGNATURE_PART * 6) / 4);
  const spellings = [
    [base64, MIN_SIGNATURE_PART],
    [digest.toString('base64url'), MIN_SIGNATURE_PART],
    [digest.toString('hex'), hexLength],
    [digest.toString('hex').toUpperCase(), hexLength],
  ] as const;
  return spellings.some(([spelling, length]) =>
    partsIn(text, spelling, length).some(
      ({ start, end }) => !sent().some((value) => value.includes(text.slice(start, end))),
    ),
  );
}

/** Number of characters at either end of a secret that identify it ("key ending in a1b2c3"). */
const MIN_END = 6;
/** Minimum length of a secret whose ends are searched for. The end of a shorter one may be an ordinary word. */
const MIN_ENDED = 16;
const LETTER_OR_DIGIT = /[A-Za-z0-9]/;

/**
 * Returns whether a text contains the beginning or the end of a secret as a separate word that the request did not
 * contain.
 */
function showsEnd(text: string, secret: string, sent: () => readonly string[]): boolean {
  if (secret.length < MIN_ENDED) return false;
  const isWord = (start: number, end: number) =>
    !LETTER_OR_DIGIT.test(text[start - 1] ?? ' ') && !LETTER_OR_DIGIT.test(text[end] ?? ' ');
  const isShown = (part: string, grow: (start: number, end: number) => readonly [number, number]) => {
    if (!isUnlikelyWord(part) || !text.includes(part) || sent().some((value) => value.includes(part))) return false;
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
      if (isWord(...grow(at, at + part.length))) return true;
    }
    return false;
  };
  const toTheRight = (start: number, end: number): readonly [number, number] => {
    let to = end;
    while (to - start < secret.length && text[to] === secret[to - start]) to++;
    return [start, to];
  };
  const toTheLeft = (start: number, end: number): readonly [number, number] => {
    let from = start;
    while (end - from < secret.length && text[from - 1] === secret[secret.length - 1 - (end - from)]) from--;
    return [from, end];
  };
  return isShown(secret.slice(0, MIN_END), toTheRight) || isShown(secret.slice(-MIN_END), toTheLeft);
}

/** Returns whether a text mixes letters with digits, or upper with lower case, unlike most words on a page. */
function isUnlikelyWord(text: string): boolean {
  return [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(text)).length > 1;
}

/*
 * What the internals of a receiver look like in an answer. Each pattern is unambiguous, because a false alarm is worse
 * than a miss.
 */

const STACK_TRACES = [
  // The indentation excludes newlines: a search that starts at each of many blank lines would take quadratic time.
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
  // .NET, Rust
  /is an invalid start of a value|BytePositionInLine|(?:expected|EOF while) [^\n]{1,60} at line \d+ column \d/,
  /com\.fasterxml\.jackson|com\.google\.gson|System\.Text\.Json|Newtonsoft/,
  /JSON::ParserError|simplejson|JSONDecodeError|SyntaxError/,
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
  /phpdebugbar|facade[\\/]ignition|spatie[\\/]laravel-ignition/,
  /Whoops, looks like something went wrong|Symfony Exception/,
  /Action Controller: Exception caught|<title>Routing Error/, // Rails
  /Microsoft\.AspNetCore\.Diagnostics|Server Error in '[^'\n]{0,100}' Application/, // .NET
];

/** Matches the status line and the headers of the searched text. */
const HEAD = String.raw`^[^\n]*(?:\n[^\n]+)*\n{2,3}`;
const COMMENTS = String.raw`(?:(?:#[^\n]*|\r?)\n){0,50}`;
const NAME = '[A-Z][A-Z0-9_]+=';

/** Titles and members that only the internal page itself has. A page that describes it does not match. */
const INTERNAL_PAGES = [
  /<title>\/debug\/pprof\/<\/title>|"memstats": ?\{"Alloc"/, // Go: net/http/pprof, expvar
  /"propertySources": ?\[|"dispatcher(?:Servlets|Handlers)": ?\{/, // Spring Boot: env, mappings
  /"(?:beans|configprops|env|heapdump|mappings|threaddump)": ?\{"href": ?"/, // Spring Boot: the list of them
  /<title>[^<\n]{0,60}phpinfo\(\)<\/title>|<title>Symfony Profiler<\/title>/,
  /<title>Console \/\/ Werkzeug Debugger<\/title>|<td class="name">Rails version<\/td>/,
  /<h1>Apache Server Status for /,
  new RegExp(`${HEAD}ref: refs/`), // .git/HEAD
  new RegExp(String.raw`${HEAD}${COMMENTS}${NAME}[^\n]*\n${COMMENTS}${NAME}`), // .env; one line may be a health page
];

const PATTERNS: readonly (readonly [Leak, readonly RegExp[]])[] = [
  ['stack-trace', STACK_TRACES],
  ['parser-detail', PARSER_DETAILS],
  ['error-message', ERROR_MESSAGES],
  ['database-message', DATABASE_MESSAGES],
  ['debug-page', DEBUG_PAGES],
  ['internal-page', INTERNAL_PAGES],
];

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Finds what a text reveals about the code of the receiver, even inside JSON strings. */
function findInternals(written: string): Leak[] {
  const text = written.replace(/\\([nrt"'/])/g, (_all, character: string) => ESCAPED[character] ?? character);
  return PATTERNS.filter(([, patterns]) => patterns.some((pattern) => pattern.test(text))).map(([leak]) => leak);
}
