/**
 * Finds what a log must not contain: credentials, signatures, private keys, whole bodies and personal fields, in every
 * known spelling. A value that hookproof itself sent in the wrong place counts as an echo there.
 */
import { type DecodedText, decodeText, type Span, startOfRun } from '../../contract/decoded-texts.ts';
import { mergeOverlapping, partsIn, SecretFinder } from '../../contract/find-secrets.ts';
import type { JsonValue } from '../../contract/index.ts';
import { digestSpellings } from '../../contract/secret-spellings.ts';
import type { LogLeak } from '../../scenarios/index.ts';
import {
  Echoes,
  type Ends,
  type LogPosition,
  normaliseHeader,
  type Place,
  partsOfRequest,
  type SentPart,
  type SentRequest,
  wasSentBefore,
} from './echoes.ts';
import { isWithin, linesAround, type Search, searchForBody, searchForId } from './printed-bodies.ts';
import { findPrivateKeys } from './private-keys.ts';

/** The credentials of a run. Absent ones are not searched for. */
export interface LogCredentials {
  readonly secret?: string | undefined;
  /** The secret after a rotation. */
  readonly nextSecret?: string | undefined;
  readonly apiKey?: string | undefined;
  /** The private key of the client certificate, in PEM. */
  readonly clientKey?: string | undefined;
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
}

/** A value that was found in a log. Positions refer to the searched text. */
export interface Hit extends Span {
  readonly leak: LogLeak;
  readonly isEcho: boolean;
}

/** Minimum length of a value, or of a part of one. Shorter ones may occur by chance. */
const MIN_VALUE = 8;
/** Minimum length of a credential whose parts are searched for. Parts of a shorter one may be ordinary words. */
const MIN_DIVISIBLE = 16;
/** Matches a letter next to a digit, or a capital letter inside a word. Most words contain neither. */
const RANDOM = /[a-z][A-Z0-9]|\d[A-Za-z]|[A-Z]\d/;

interface Value {
  readonly leak: Exclude<LogLeak, 'sent-signature' | 'secret-part' | 'api-key-part'>;
  readonly text: string;
  readonly echoes: Echoes;
  readonly search: Search | undefined;
  /** Where each log ended when the value was first sent in the signature header. */
  sentAt?: Ends | undefined;
}

/** A credential whose parts are searched for, too: half of it is as harmful as the whole. */
type DivisibleValue = Value & { readonly leak: 'secret' | 'api-key' };

interface MisplacedValue extends Place {
  readonly value: Value;
}

interface Piece extends LogPosition {
  readonly text: string;
}

/** A hit and its value, which is null for a private key that is not one of the credentials. */
interface Found extends Hit {
  start: number;
  end: number;
  readonly value: Value | null;
}

/** The values of a run that must not be in its logs. */
export class LogValues {
  readonly #credentials: LogCredentials;
  readonly #finder = new SecretFinder({ exact: true });
  /** The values. The index of a value is its name in the finder. */
  readonly #values: Value[] = [];
  readonly #known = new Map<string, Value>();
  readonly #divisible: readonly DivisibleValue[];
  /** Values that were sent in the signature header. Such a value may be the valid signature of a later request. */
  readonly #sentSignatures = new Map<string, Ends>();

  constructor(credentials: LogCredentials) {
    this.#credentials = credentials;
    this.#addCredential('secret', credentials.secret);
    this.#addCredential('secret', credentials.nextSecret);
    this.#addCredential('api-key', credentials.apiKey);
    this.#divisible = this.#values.filter((one): one is DivisibleValue => one.text.length >= MIN_DIVISIBLE);
    this.#addCredential('private-key', credentials.clientKey);
  }

  /**
   * Registers the values of a request, and the credentials that it contains in the wrong places. `ends` are the current
   * ends of the logs.
   */
  addRequest(request: SentRequest, ends: Ends): void {
    const parts = partsOfRequest(request);
    for (const { value, ...place } of this.findMisplaced(request, parts)) value.echoes.addPlace(place, ends);
    for (const { text, header } of parts) {
      const [name, sent] = header ?? [null, text];
      for (const { value, part } of this.#findParts(sent)) value.echoes.addPart(part, ends);
      if (name === null || normaliseHeader(name) !== normaliseHeader(this.#credentials.signatureHeader)) continue;
      if (!this.#sentSignatures.has(sent.trim())) this.#sentSignatures.set(sent.trim(), ends);
      for (const decoded of decodeText(sent)) {
        for (const { value } of this.#findMatches(decoded)) if (value.leak === 'signature') value.sentAt ??= ends;
      }
    }
    const body = searchForBody(request.body);
    if (body !== undefined) this.#add('body', body.text, body);
    for (const text of personalTextsIn(request.value)) this.#add('personal', text, searchForId(text));
  }

  /** Finds the values in a text that begins at this offset of a log. The text has one character per byte. */
  find(text: string, log: number, offset: number): Hit[] {
    const piece = { text, log, offset };
    const decoded = decodeText(text);
    const wholes = decoded.flatMap((one) => this.#findWholes(one, piece));
    const parts = decoded.flatMap((one) => this.#findPartsIn(one, piece, wholes));
    return withoutEchoesOfSettings(mergeFound([...wholes, ...parts], text));
  }

  /**
   * Lists the kinds of leaks that are searched for. Private keys always are. Parts are searched for only if the
   * credential is long enough and does not consist of words.
   */
  listSought(): ReadonlySet<LogLeak> {
    return new Set<LogLeak>([
      'private-key',
      ...this.#values.map(({ leak, sentAt }) => (sentAt === undefined ? leak : 'sent-signature')),
      ...this.#divisible.flatMap(({ text, leak }) => (RANDOM.test(text) ? (`${leak}-part` as const) : [])),
    ]);
  }

  /** Lists the places where a request contains its own credentials, or credentials that were registered before. */
  findMisplaced(request: SentRequest, parts = partsOfRequest(request)): MisplacedValue[] {
    for (const signature of request.signatures) this.#addSignature(signature);
    return parts.flatMap((part) => decodeText(part.text).flatMap((decoded) => this.#findPlaces(decoded, part)));
  }

  #findPlaces(decoded: DecodedText, part: SentPart): MisplacedValue[] {
    return this.#findMatches(decoded, isCredential).flatMap(({ value, span }) =>
      value.echoes
        .listPlaces(span, decoded, part, this.#credentials.signatureHeader)
        .map((place) => ({ ...place, value })),
    );
  }

  #addCredential(leak: 'secret' | 'api-key' | 'private-key', text: string | undefined): void {
    if (text !== undefined && text.length >= MIN_VALUE) this.#add(leak, text);
  }

  #addSignature(base64: string): void {
    const value = this.#add('signature', base64);
    const sent = [base64, ...digestSpellings(base64)].find((text) => this.#sentSignatures.has(text));
    if (sent !== undefined) value.sentAt ??= this.#sentSignatures.get(sent);
  }

  /** Adds a value. It is found in all its spellings or, with `search`, by its anchor. */
  #add(leak: Value['leak'], text: string, search?: Search): Value {
    const id = `${leak} ${text}`;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const { apiKeyHeader, signatureHeader } = this.#credentials;
    const header = leak === 'api-key' ? apiKeyHeader : leak === 'signature' ? signatureHeader : undefined;
    const value: Value = { leak, text, echoes: new Echoes(text, header), search };
    const name = String(this.#values.push(value) - 1);
    this.#known.set(id, value);
    if (search !== undefined) this.#finder.addSpelling(name, search.anchor);
    else if (leak === 'signature') this.#finder.addSignature(name, text);
    else this.#finder.addSecret(name, text);
    return value;
  }

  #findMatches(
    decoded: DecodedText,
    isWanted: (value: Value) => boolean = () => true,
  ): { readonly value: Value; readonly span: Span }[] {
    return this.#finder.findInDecoded(decoded).flatMap(({ name, ...match }) => {
      const value = this.#values[Number(name)];
      if (value === undefined || !isWanted(value)) return [];
      const span = value.search === undefined ? match : value.search.confirm(decoded.text, match);
      return span === undefined ? [] : [{ value, span }];
    });
  }

  /** Finds parts of the secrets and of the API key, and classifies each as a leak. */
  #findParts(text: string) {
    return this.#divisible.flatMap((value) =>
      partsIn(text, value.text, MIN_VALUE).flatMap((span) => {
        const part = text.slice(span.start, span.end);
        const isHalf = part.length * 2 >= value.text.length;
        if (part.length === value.text.length) return [];
        if (!(isHalf && part.length >= MIN_DIVISIBLE) && !RANDOM.test(part)) return [];
        return [{ value, span, part, leak: isHalf ? value.leak : (`${value.leak}-part` as const) }];
      }),
    );
  }

  #findWholes(decoded: DecodedText, piece: Piece): Found[] {
    const values = this.#findMatches(decoded).map(({ value, span }): Found => {
      const found = decoded.originOf(span);
      const leak = wasSentBefore(value.sentAt, positionOf(found, piece)) ? 'sent-signature' : value.leak;
      return { ...found, leak, value, isEcho: isEcho(value, span, decoded, piece) };
    });
    const keys = findPrivateKeys(decoded.text).map(
      (span): Found => ({ ...decoded.originOf(span), leak: 'private-key', value: null, isEcho: false }),
    );
    return [...values, ...keys];
  }

  #findPartsIn(decoded: DecodedText, piece: Piece, wholes: readonly Found[]): Found[] {
    return this.#findParts(decoded.text).flatMap(({ value, span, part, leak }) => {
      const found = decoded.originOf(span);
      // A hex dump prints the whole value twice, in several lines.
      if (wholes.some((one) => one.value === value && isNear(one, found, DUMP_REACH))) return [];
      const isSent = value.echoes.hasPart(part, positionOf(found, piece));
      return [{ ...found, leak, value, isEcho: isSent || isEcho(value, span, decoded, piece) }];
    });
  }
}

const isCredential = ({ leak }: Value) => leak === 'secret' || leak === 'api-key' || leak === 'signature';

const PERSONAL = /address$|^(?:customer|account)Id$/i;

/** Returns the wallet addresses and the ids of customers and accounts in a notification. */
function personalTextsIn(value: JsonValue | undefined, name = ''): string[] {
  if (typeof value === 'string') return PERSONAL.test(name) && value.length >= MIN_VALUE ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => personalTextsIn(inner, Array.isArray(value) ? name : key));
}

const positionOf = ({ start }: Span, { log, offset }: Piece): LogPosition => ({ log, offset: offset + start });

/** Returns whether hookproof had already sent the value in the same kind of place as in the log. */
function isEcho({ echoes }: Value, span: Span, decoded: DecodedText, piece: Piece): boolean {
  const found = decoded.originOf(span);
  const position = positionOf(found, piece);
  if (echoes.hasPlaceOf(span, decoded.text, position)) return true;
  if (decoded.depth === 0) return false;
  // The word before an encoded value is in the text itself, outside the encoding.
  return echoes.hasPlaceOf({ start: startOfRun(piece.text, found.start), end: found.end }, piece.text, position);
}

/** Parts within this distance of a whole value belong to the same output. */
const DUMP_REACH = 100;
/**
 * Maximum distance between the secret and the API key in printed settings. No request contains them so close together.
 */
const SETTINGS_REACH = 400;

const isNear = (one: Span, other: Span, reach: number) =>
  one.start < other.end + reach && other.start < one.end + reach;

/** Clears `isEcho` of hits near the receiver's secret: a credential there was printed from the settings. */
function withoutEchoesOfSettings(hits: readonly Hit[]): Hit[] {
  const secrets = hits.filter(({ leak, isEcho }) => leak === 'secret' && !isEcho);
  const isInSettings = (hit: Hit) => secrets.some((secret) => isNear(secret, hit, SETTINGS_REACH));
  return hits.map((hit) => (hit.isEcho && isInSettings(hit) ? { ...hit, isEcho: false } : hit));
}

/** Merges hits of the same value in several decoded texts. Omits personal values in the lines of a whole body. */
function mergeFound(found: readonly Found[], text: string): Found[] {
  const byValue = new Map<Value | null, Found[]>();
  for (const one of found.toSorted((a, b) => a.start - b.start)) {
    const others = byValue.get(one.value);
    if (others === undefined) byValue.set(one.value, [one]);
    else others.push(one);
  }
  const hits = [...byValue.values()].flatMap((ofValue) =>
    mergeOverlapping(ofValue, (one, other) => ({ ...one, isEcho: one.isEcho || other.isEcho })),
  );
  const bodies = hits.filter(({ leak }) => leak === 'body').map((body) => ({ body, lines: linesAround(body, text) }));
  const shown = hits.filter((hit) => {
    const around = hit.leak === 'personal' ? bodies.find(({ lines }) => isWithin(hit, lines))?.body : undefined;
    if (around === undefined) return true;
    // The hit of the body grows, so the personal value is masked together with it.
    [around.start, around.end] = [Math.min(around.start, hit.start), Math.max(around.end, hit.end)];
    return false;
  });
  return shown.toSorted((a, b) => a.start - b.start);
}
