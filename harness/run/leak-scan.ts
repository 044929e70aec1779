/** Looks for what an answer must not hold. Specification: Authentication (secrets stay out of what is shown). */
import type { Leak } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import type { Answer } from '../transport/index.ts';
import { findInsides } from './leak-patterns.ts';

/** Shorter credentials stand in an answer by chance, so finding them proves nothing. */
const SHORTEST_SEARCHED = 8;

/** Bytes as programs print them: in Base64 and hexadecimal, and as the list of numbers that JSON makes of a buffer. */
function printed(bytes: Buffer): string[] {
  const base64 = bytes.toString('base64');
  return [base64, base64.replace(/=+$/, ''), bytes.toString('base64url'), bytes.toString('hex'), bytes.join(',')];
}

/** Every spelling of the right digest, and of its Base64 text: whoever reads one of them can sign this body. */
function spellingsOfSignature(signature: string): string[] {
  return [...printed(Buffer.from(signature, 'base64')), ...printed(Buffer.from(signature, 'ascii'))];
}

function spellingsOfCredential(value: string | undefined): string[] {
  if (value === undefined || value.length < SHORTEST_SEARCHED) return [];
  return [value, ...printed(Buffer.from(value, 'utf8'))];
}

const credentials = new WeakMap<Partner, { secret: string[]; key: string[] }>();

function credentialsOf(partner: Partner): { secret: string[]; key: string[] } {
  const known = credentials.get(partner);
  if (known !== undefined) return known;
  const made = {
    secret: spellingsOfCredential(partner.signing?.secret),
    key: spellingsOfCredential(partner.apiKey?.value),
  };
  credentials.set(partner, made);
  return made;
}

const ESCAPES = /\\u00([0-9a-f]{2})|%([0-9a-f]{2})|&#x([0-9a-f]{1,4});|&#(\d{1,4});|\\(\/)|&(equals|sol|plus);/gi;
const NAMED: Readonly<Record<string, string>> = { equals: '=', sol: '/', plus: '+' };

/** Escapes of JSON, URLs and HTML undone: they stand in Base64 as soon as an answer is written by a library. */
function unescaped(text: string): string {
  return text.replace(ESCAPES, (_all, ...[json, url, hex, decimal, slash, named]: (string | undefined)[]) => {
    if (slash !== undefined) return slash;
    if (named !== undefined) return NAMED[named.toLowerCase()] ?? '';
    const code = decimal === undefined ? Number.parseInt(json ?? url ?? hex ?? '', 16) : Number(decimal);
    return String.fromCharCode(code);
  });
}

/** Lists of numbers without spaces, and hexadecimal pairs put together, as they stand in dumps of buffers. */
function withoutGaps(text: string): string {
  return text.replace(/(?<=\d),\s+(?=\d)/g, ',').replace(/(?<=\b[0-9a-f]{2}) (?=[0-9a-f]{2}\b)/gi, '');
}

/** The text, and how it reads without escapes and gaps. */
function readings(text: string): string {
  const plain = /[\\%&]/.test(text) ? unescaped(text) : text;
  return [...new Set([text, plain, withoutGaps(plain)])].join('\n');
}

/**
 * Finds leaks in an answer. `sent` are the values of the request: an answer that repeats one of them which holds a right signature or the
 * secret tells its sender nothing new. The API key is a leak even then: the answer takes it to places where it does not belong.
 */
export function findLeaks(
  answer: Answer,
  partner: Partner,
  rightSignature: string | null,
  sent: readonly string[],
): Leak[] {
  const body = Buffer.from(answer.body).toString('latin1');
  const lines = answer.headers.map(([name, value]) => `${name}: ${value}`);
  const text = `${answer.reasonPhrase}\n${lines.join('\n')}\n\n${body}`;
  const read = readings(text);
  const folded = read.toLowerCase();
  const { secret, key } = credentialsOf(partner);

  const toldAnew = (spellings: readonly string[]): boolean => {
    const lower = spellings.map((spelling) => spelling.toLowerCase());
    if (!lower.some((spelling) => folded.includes(spelling))) return false;
    // Servers trim header values and take lists apart, so a part of a value is an echo as well.
    const echoes = sent
      .flatMap((value) => [value, ...value.split(/[\s,]+/)])
      .map((value) => value.toLowerCase())
      .filter((value) => lower.some((spelling) => value.includes(spelling)));
    const rest = echoes.reduce((left, echo) => left.replaceAll(echo, ''), folded);
    return lower.some((spelling) => rest.includes(spelling));
  };

  const leaks: Leak[] = [];
  if (toldAnew(secret)) leaks.push('secret');
  if ((key[0] !== undefined && read.includes(key[0])) || toldAnew(key.slice(1))) leaks.push('api-key');
  if (rightSignature !== null && toldAnew(spellingsOfSignature(rightSignature))) leaks.push('signature');
  return [...leaks, ...findInsides(text)];
}
