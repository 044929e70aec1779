/**
 * What must not be in the log of a receiver, and where it is in a text: credentials, signatures, private keys, whole
 * bodies and personal fields, in every known spelling. What hookproof itself sent in a wrong place is an echo there.
 */

import { type Reading, readingsOf } from '../../contract/decoded-readings.ts';
import { createSecretFinder } from '../../contract/find-secrets.ts';
import { type HeaderLine, type JsonValue, sameHeaderName } from '../../contract/index.ts';
import type { LogLeak } from '../../scenarios/index.ts';

/** The credentials of a run. What is absent is not looked for. */
export interface LogCredentials {
  readonly secret?: string | undefined;
  readonly apiKey?: string | undefined;
  /** The key of the client certificate, PEM. */
  readonly clientKey?: string | undefined;
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
}

/** A request before it is sent. */
export interface SentRequest {
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  /** The bytes of the whole request, where they are not those of the other fields. */
  readonly raw?: Buffer | null;
  /** The notification in the body. */
  readonly value?: JsonValue | undefined;
  /** The valid signatures of the body, and of what a receiver may take for it, in base64. */
  readonly signatures: readonly string[];
}

/**
 * A place of a credential other than its own header. `name` is the word before it: the name of a header, a parameter
 * or a field, or a part of the path. `text` is a longer value that contains it.
 */
interface Misplaced {
  readonly credential: Credential;
  readonly value: string;
  readonly name?: string;
  readonly text?: string;
}

type Credential = 'secret' | 'api-key' | 'signature';

/** A value in a log. Positions are those of the searched text. */
export interface Hit {
  readonly leak: LogLeak;
  readonly start: number;
  readonly end: number;
  readonly isEcho: boolean;
}

/** Where each log ends: what is before cannot be an echo of what is sent afterwards. */
type Ends = readonly number[];

export interface LogValues {
  /** Registers the values of a request, and what it has in a wrong place. `ends` are the present ends of the logs. */
  addRequest(request: SentRequest, ends: Ends): void;
  /** Where values are in a text that begins at an offset of a log. Each character of the text is a byte. */
  find(text: string, log: number, offset: number): Hit[];
  /** The places in a request of its credentials and of those registered before. */
  misplacedIn(request: SentRequest): Misplaced[];
}

/** So many bytes of a Buffer does Node print; they are most of a secret. */
const INSPECTED_BYTES = 50;
/** Shorter values occur by chance. */
const MIN_VALUE = 8;
/** So many characters at the end of an id or an address find it. Their beginnings are the same in many values. */
const TAIL = 12;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Value {
  readonly leak: Exclude<LogLeak, 'sent-signature'>;
  readonly text: string;
  /** The part that the value has in a text around a match; undefined when it is not there. */
  readonly confirm: (text: string, match: Span) => Span | undefined;
  /** Names and texts under which hookproof sent it in a wrong place, with the ends of the logs at that time. */
  readonly echoes: Map<string, Ends>;
  readonly echoTexts: Map<string, Ends>;
  /** When the value was first sent in the header of the signature. */
  sentAt?: Ends;
}

/** Looks for a value as its spelling is, in the letter case in which it was given. */
function exactly(...printed: readonly string[]): Value['confirm'] {
  const exact = printed.map(lettersOf);
  const folded = exact.map((letters) => letters.toLowerCase());
  return (text, match) => {
    const letters = lettersOf(text.slice(match.start, match.end));
    const isCaseSensitive = folded.includes(letters.toLowerCase());
    return !isCaseSensitive || exact.includes(letters) ? match : undefined;
  };
}

const isCredential = ({ leak }: Value) => leak === 'secret' || leak === 'api-key' || leak === 'signature';

const lettersOf = (text: string) => text.replace(/[^A-Za-z0-9]+/g, '');

function endsWith(value: string): Value['confirm'] {
  const folded = value.toLowerCase();
  return (text, { end }) => {
    const start = end - value.length;
    return start >= 0 && text.slice(start, end).toLowerCase() === folded ? { start, end } : undefined;
  };
}

/** So much of a body is compared. */
const MAX_HEAD = 4096;
/** A shorter body, or one of fewer words, shows nothing. */
const MIN_BODY = 40;
const MIN_WORDS = 5;
/** Loggers write `None` for null, and shorten long values. */
const MIN_SHARE = 0.9;
const WORD = /[A-Za-z0-9_]{3,}/g;
const MAX_WORD = 64;

const wordsOf = (text: string) => Array.from(text.matchAll(WORD), ([word]) => word.slice(0, MAX_WORD).toLowerCase());

/**
 * Whether the words of a body are around a match, in any order: loggers print a parsed body as JSON, in the notation
 * of their language, or sorted by key.
 */
function withWords(head: string): Value['confirm'] {
  return (text, match) => {
    const words = new Set(wordsOf(head));
    const reach = head.length * 2 + 400;
    const from = Math.max(0, match.start - reach);
    const found: (Span & { readonly word: string })[] = [];
    for (const { 0: written, index } of text.slice(from, match.end + reach).matchAll(WORD)) {
      const word = written.slice(0, MAX_WORD).toLowerCase();
      if (words.has(word)) found.push({ word, start: from + index, end: from + index + written.length });
    }
    const line = linesOf(match, text);
    const inLine = found.filter(({ start, end }) => line.start <= start && end <= line.end);
    for (const these of [inLine, found]) {
      const total = new Set(these.map(({ word }) => word)).size;
      if (total >= words.size * MIN_SHARE) return shortestWith(these, total, match);
    }
    return undefined;
  };
}

/** The shortest part of a text around a match that has so many different words; the match where there is none. */
function shortestWith(found: readonly (Span & { readonly word: string })[], total: number, match: Span): Span {
  const inside = new Map<string, number>();
  let [first, best] = [0, match];
  for (const { word, end } of found) {
    inside.set(word, (inside.get(word) ?? 0) + 1);
    for (let next = found[first]; next !== undefined && (inside.get(next.word) ?? 0) > 1; next = found[first]) {
      inside.set(next.word, (inside.get(next.word) ?? 0) - 1);
      first += 1;
    }
    const start = found[first]?.start ?? match.start;
    if (inside.size < total || start > match.start || end < match.end) continue;
    if (best === match || end - start < best.end - best.start) best = { start, end };
  }
  return best;
}

/** A part of a body that other bodies do not have: the end of its id, or some of its middle. */
function anchorOf(head: string): string | undefined {
  const id = /"id"\s*:\s*"([^"\\]{8,100})"/.exec(head)?.[1];
  if (id !== undefined) return id.slice(-TAIL);
  const middle = Math.floor(head.length / 2);
  const parts = [0, 16, 32, -16, -32, -48].map((shift) => head.slice(Math.max(0, middle + shift)).slice(0, 16));
  return parts.find((part) => lettersOf(part).length >= MIN_VALUE && new Set(part).size > 5);
}

const PERSONAL = /address$|^(?:customer|account)Id$/i;

/** The wallet addresses and the ids of customers and accounts in a notification. */
function personalIn(value: JsonValue | undefined, name = ''): string[] {
  if (typeof value === 'string') return PERSONAL.test(name) && value.length >= MIN_VALUE ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => personalIn(inner, Array.isArray(value) ? name : key));
}

/** A PEM block with a key in it. A block whose content was masked has no base64. */
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY-----.{0,200}?[A-Za-z0-9+/=]{40}[A-Za-z0-9+/=\s\\]*/gs;

/**
 * The beginnings of private keys in DER, in Base64: PKCS #8 with RSA, an elliptic curve and Ed25519, PKCS #1 and SEC 1.
 * They are constant except for lengths.
 */
const DER_KEY = new RegExp(
  `(?:${[
    'MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQEFAASC',
    'MI[GH][A-Za-z0-9+/]AgEAM[BC][A-Z]GByqGSM49AgEG',
    'MC4CAQAwBQYDK2VwBCIEI',
    'MII[A-Za-z0-9+/]{3}IBAAKCA',
    'MHcCAQEEI',
  ].join('|')})[A-Za-z0-9+/]{30}[A-Za-z0-9+/=]*`,
  'g',
);

/** The private part of a JSON Web Key. Its other parts are around it. */
const JWK_PRIVATE = /(["'])d\1\s*(?:=>|:)\s*\1[A-Za-z0-9_-]{40,}\1/g;
const JWK_TYPE = /(["'])kty\1\s*(?:=>|:)\s*\1(?:EC|RSA|OKP)\1/;
const JWK_REACH = 4096;

function privateKeysIn(text: string): Span[] {
  const spans: Span[] = [];
  for (const pattern of [...(text.includes('PRIVATE KEY') ? [PRIVATE_KEY] : []), DER_KEY, JWK_PRIVATE]) {
    for (const { 0: found, index: start } of text.matchAll(pattern)) {
      const end = start + found.length;
      const around = pattern === JWK_PRIVATE ? text.slice(Math.max(0, start - JWK_REACH), end + JWK_REACH) : null;
      if (around === null || JWK_TYPE.test(around)) spans.push({ start, end });
    }
  }
  return spans;
}

/** The word before a position, behind up to eight other characters, and where it begins. */
function wordBefore(text: string, at: number): { readonly word: string; readonly start: number } | undefined {
  const from = Math.max(0, at - 200);
  // What PHP and Python write between a name and a value: `string(46) "`, `b'`.
  const before = text
    .slice(from, at)
    .replace(/string\(\d+\)\s*\\?"$/, '')
    .replace(/(?<![\w-])[bru](?=\\?['"]$)/, '');
  const found = /([\w-]+)([^\w-]*)$/.exec(before);
  if (found === null || (found[2] ?? '').replace(/\s+/g, ' ').length > 8) return undefined;
  return { word: (found[1] ?? '').toLowerCase(), start: from + found.index };
}

/** CGI and WSGI name a header `HTTP_API_KEY`. */
const withoutDialect = (name: string) =>
  name
    .toLowerCase()
    .replace(/^http_/, '')
    .replaceAll('_', '-');

/** What logs call the part of a request that has the query. */
const QUERY = /^(?:args|get|params|parameters|query|query_?params|query_?string|search|url)$/;

/** What logs call the value that a request had in the header of the signature. */
const RECEIVED = 'actual bad found given got header hmac invalid provided received sig signature was'.split(' ');

/** So much of a body is searched for credentials in a wrong place. */
const MAX_SEARCHED = 65_536;

export function createLogValues(credentials: LogCredentials): LogValues {
  const finder = createSecretFinder({ whole: true });
  const values: Value[] = [];
  const known = new Map<string, Value>();
  /** What was sent in the header of the signature. It may be the valid signature of a request that follows. */
  const sentTexts = new Map<string, Ends>();

  const add = (leak: Value['leak'], text: string, confirm: Value['confirm'], spellings: readonly string[]) => {
    const id = `${leak} ${text}`;
    if (known.has(id)) return;
    const value: Value = { leak, text, confirm, echoes: new Map(), echoTexts: new Map() };
    known.set(id, value);
    for (const spelling of spellings) finder.addSpelling(String(values.length), spelling);
    values.push(value);
  };
  const addSecret = (leak: Value['leak'], text: string | undefined) => {
    if (text === undefined || text.length < MIN_VALUE) return;
    finder.addSecret(String(values.length), text);
    const bytes = Buffer.from(text);
    const inspected = bytes.length > INSPECTED_BYTES ? [bytes.toString('hex', 0, INSPECTED_BYTES)] : [];
    add(leak, text, exactly(text, bytes.toString('base64')), inspected);
  };
  const addSignature = (base64: string) => {
    const digest = Buffer.from(base64, 'base64');
    const printed = [digest.toString('base64').replace(/={1,2}$/, ''), digest.toString('base64url')];
    // The digest itself is in lists of numbers.
    const spellings = [...printed, digest.toString('hex'), digest.toString('latin1')];
    if (digest.length < 16) return;
    add('signature', base64, exactly(...printed), spellings);
    const value = known.get(`signature ${base64}`);
    const sentAt = [base64, ...spellings].map((text) => sentTexts.get(text)).find((ends) => ends !== undefined);
    if (value !== undefined && sentAt !== undefined) value.sentAt ??= sentAt;
  };
  const addBody = (body: Uint8Array) => {
    const head = Buffer.from(body.subarray(0, MAX_HEAD)).toString('latin1');
    const anchor = anchorOf(head);
    if (anchor === undefined || head.length < MIN_BODY || new Set(wordsOf(head)).size < MIN_WORDS) return;
    add('body', head, withWords(head), [anchor]);
  };

  addSecret('secret', credentials.secret);
  addSecret('api-key', credentials.apiKey);
  addSecret('private-key', credentials.clientKey);

  const ownHeaderOf = ({ leak }: Value): string | undefined =>
    leak === 'api-key' ? credentials.apiKeyHeader : leak === 'signature' ? credentials.signatureHeader : undefined;

  /** Whether a value follows a name, or is within a text, that hookproof sent before this position. */
  const isEcho = (value: Value, text: string, { start, end }: Span, log: number, offset: number): boolean => {
    const wasSent = (ends: Ends | undefined) => ends !== undefined && offset >= (ends[log] ?? 0);
    for (const [echo, ends] of value.echoTexts) {
      const around = text.slice(Math.max(0, start - echo.length), end + echo.length).toLowerCase();
      if (wasSent(ends) && around.includes(echo)) return true;
    }
    const before = value.echoes.size === 0 ? undefined : wordBefore(text, start);
    if (before === undefined) return false;
    const { word } = before;
    const own = ownHeaderOf(value);
    if (own !== undefined && withoutDialect(word) === withoutDialect(own)) {
      // The name of the credential's own header: an echo in a query only, because logs of headers have it too.
      if (!wasSent(value.echoes.get(word))) return false;
      const isQuery = /[?&]$/.test(text.slice(Math.max(0, before.start - 1), before.start));
      return isQuery || QUERY.test(wordBefore(text, before.start)?.word ?? '');
    }
    return wasSent(value.echoes.get(word)) || wasSent(value.echoes.get(withoutDialect(word)));
  };

  const matchesIn = (
    reading: Reading,
    isWanted: (value: Value) => boolean = () => true,
  ): { readonly value: Value; readonly span: Span }[] =>
    finder.find(reading.text, [{ ...reading, origin: (start, end) => [start, end] }]).flatMap(({ name, ...match }) => {
      const value = values[Number(name)];
      if (value === undefined || !isWanted(value)) return [];
      const span = value.confirm(reading.text, match);
      return span === undefined ? [] : [{ value, span }];
    });

  const find: LogValues['find'] = (text, log, offset) => {
    const found: { value: Value | null; leak: LogLeak; start: number; end: number; isEcho: boolean }[] = [];
    for (const reading of readingsOf(text)) {
      for (const { value, span } of matchesIn(reading)) {
        const [start, end] = reading.origin(span.start, span.end);
        // What is before an encoded value is in the text itself.
        const run = reading.depth === 0 ? undefined : encodedRunAt(text, start);
        const echo =
          isEcho(value, reading.text, span, log, offset + start) ||
          (run !== undefined && isEcho(value, text, { start: run, end }, log, offset + start));
        const wasSent = value.sentAt !== undefined && offset + start >= (value.sentAt[log] ?? 0);
        const leak = wasSent ? 'sent-signature' : value.leak;
        found.push({ value, leak, start, end, isEcho: echo });
      }
      for (const span of privateKeysIn(reading.text)) {
        const [start, end] = reading.origin(span.start, span.end);
        found.push({ value: null, leak: 'private-key', start, end, isEcho: false });
      }
    }
    return withoutEchoesOfSettings(merged(found, text));
  };

  const misplacedIn: LogValues['misplacedIn'] = (request) => {
    for (const signature of request.signatures) addSignature(signature);
    const { target, headers, body } = partsOf(request);
    const places: Misplaced[] = [];
    const search = (text: string, header?: HeaderLine) => {
      for (const reading of readingsOf(text)) {
        for (const { value, span } of matchesIn(reading, isCredential)) {
          const { leak, text: plain } = value;
          if (leak !== 'secret' && leak !== 'api-key' && leak !== 'signature') continue;
          const put = (place: Pick<Misplaced, 'name' | 'text'>) =>
            places.push({ credential: leak, value: plain, ...place });
          const own = ownHeaderOf(value);
          const isOwn = header !== undefined && own !== undefined && sameHeaderName(header[0], own);
          const sent = header?.[1].trim() ?? '';
          if (sent.length > plain.length && sent !== plain) put({ text: sent });
          if (isOwn) continue;
          const [start] = reading.origin(span.start, span.end);
          const before = wordBefore(reading.text, span.start);
          const outside = reading.depth === 0 ? undefined : wordBefore(text, encodedRunAt(text, start));
          for (const one of [before, outside]) if (one !== undefined) put({ name: one.word });
          if (header === undefined) continue;
          put({ name: header[0].toLowerCase() });
          if (!sameHeaderName(header[0], credentials.signatureHeader)) continue;
          for (const name of RECEIVED) put({ name });
        }
      }
    };
    search(target);
    for (const line of headers) search(`${line[0]}: ${line[1]}`, line);
    search(Buffer.from(body.subarray(0, MAX_SEARCHED)).toString('latin1'));
    return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
  };

  return {
    find,
    misplacedIn,
    addRequest(request, ends) {
      for (const { credential, value, name, text } of misplacedIn(request)) {
        const { echoes, echoTexts } = known.get(`${credential} ${value}`) ?? {};
        if (name !== undefined && echoes?.has(name) === false) echoes.set(name, ends);
        const echo = text?.toLowerCase();
        if (echo !== undefined && echoTexts?.has(echo) === false) echoTexts.set(echo, ends);
      }
      for (const [name, sent] of partsOf(request).headers) {
        if (withoutDialect(name) !== withoutDialect(credentials.signatureHeader)) continue;
        if (!sentTexts.has(sent.trim())) sentTexts.set(sent.trim(), ends);
        for (const reading of readingsOf(sent)) {
          for (const { value } of matchesIn(reading)) if (value.leak === 'signature') value.sentAt ??= ends;
        }
      }
      addBody(request.body);
      for (const personal of personalIn(request.value)) {
        add('personal', personal, endsWith(personal), [personal.slice(-TAIL)]);
      }
    },
  };
}

/** The parts of a request as they are on the wire. */
function partsOf({ target, headers, body, raw }: SentRequest): Pick<SentRequest, 'target' | 'headers' | 'body'> {
  if (raw == null) return { target, headers, body };
  const found = raw.indexOf('\r\n\r\n');
  const end = found === -1 ? raw.length : found;
  // A line that begins with white space continues the one before.
  const [first = '', ...lines] = raw
    .subarray(0, end)
    .toString('latin1')
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/);
  const named = lines.map((line): HeaderLine => {
    const colon = line.indexOf(':');
    return colon === -1 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return { target: first, headers: named, body: raw.subarray(end + 4) };
}

/** Where the encoded text around a position begins. */
function encodedRunAt(text: string, at: number): number {
  const first = Math.max(0, at - MAX_SEARCHED);
  let start = at;
  // Not a regular expression for the end of the text, which would be tried at each of its characters.
  while (start > first && /[A-Za-z0-9+/_-]/.test(text.charAt(start - 1))) start -= 1;
  return start;
}

interface Found extends Hit {
  readonly value: object | null;
}

/** The whole lines of a part of a text. */
function linesOf({ start, end }: Span, text: string): Span {
  const next = text.indexOf('\n', end);
  return { start: text.lastIndexOf('\n', start - 1) + 1, end: next === -1 ? text.length : next };
}

/** Nothing that was sent has the secret next to the API key, as settings have. */
const SETTINGS_REACH = 400;

/** A credential next to the secret of the receiver is no echo, whatever its name is. */
function withoutEchoesOfSettings(hits: readonly Hit[]): Hit[] {
  const secrets = hits.filter(({ leak, isEcho }) => leak === 'secret' && !isEcho);
  const isNear = ({ start, end }: Span) =>
    secrets.some((secret) => secret.start < end + SETTINGS_REACH && start < secret.end + SETTINGS_REACH);
  return hits.map((one) => (one.isEcho && secrets.length > 0 && isNear(one) ? { ...one, isEcho: false } : one));
}

/** A value that several readings show counts once, and what the lines of a whole body contain not at all. */
function merged(found: readonly Found[], text: string): Hit[] {
  const groups = new Map<object | null, { leak: LogLeak; start: number; end: number; isEcho: boolean }[]>();
  for (const { value, ...hit } of found.toSorted((a, b) => a.start - b.start)) {
    const others = groups.get(value) ?? [];
    const last = others.at(-1);
    if (last !== undefined && hit.start < last.end) {
      last.end = Math.max(last.end, hit.end);
      last.isEcho ||= hit.isEcho;
    } else {
      others.push(hit);
      groups.set(value, others);
    }
  }
  const hits = [...groups.values()].flat();
  const bodies = hits.flatMap((body) => (body.leak === 'body' ? { body, lines: linesOf(body, text) } : []));
  return hits
    .filter((hit) => {
      if (hit.leak !== 'personal') return true;
      const around = bodies.find(({ lines }) => lines.start <= hit.start && hit.end <= lines.end)?.body;
      if (around === undefined) return true;
      // It is masked with the body.
      [around.start, around.end] = [Math.min(around.start, hit.start), Math.max(around.end, hit.end)];
      return false;
    })
    .toSorted((a, b) => a.start - b.start);
}
