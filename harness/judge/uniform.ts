/**
 * Determines whether the answers to several rejected deliveries differ. A difference helps an attacker who guesses
 * credentials. Pure.
 */
import type { Answer } from '../transport/index.ts';
import type { ProbeEvidence } from './evidence.ts';

/** Headers, in lower case, that may differ between answers. All others must be equal. */
const VOLATILE_NAMES = [
  'date|age|expires|connection|keep-alive|etag|server-timing|set-cookie|via',
  'x-request-id|x-correlation-id|x-trace-id|traceparent|x-amz.*|cf-.*|x-envoy-.*|fly-request-id|x-vercel-id',
  'x-runtime|x-timer|x-response-time|x-ratelimit-.*|ratelimit.*',
];
const VOLATILE = new RegExp(`^(?:${VOLATILE_NAMES.join('|')})$`);

interface ComparedAnswer {
  readonly status: number;
  readonly phrase: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/**
 * Replaces long tokens, times and durations, which differ between requests. The text has one character per byte, so
 * each of the two micro signs is two characters.
 */
function withoutTimes(text: string): string {
  return text.replace(/[0-9a-fA-F-]{16,}|\d[\d.:TZ-]{5,}|\d+\.\d+|\d+(?=\s*(?:m|u|\xc2\xb5|\xce\xbc)?s\b)/g, '#');
}

/** Replaces times and all other numbers, such as counters. */
function withoutNumbers(text: string): string {
  return withoutTimes(text).replace(/\d+/g, '#');
}

function comparedPartsOf(answer: Answer): ComparedAnswer {
  const headers = answer.headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !VOLATILE.test(name))
    .map(([name, value]) => (name === 'content-length' ? name : `${name}: ${value}`));
  return {
    status: answer.status,
    phrase: answer.reasonPhrase,
    headers: headers.toSorted(),
    body: Buffer.from(answer.body).toString('latin1'),
  };
}

/** Matches words made of the characters of ids, nonces and times. */
const WORD = /[\w+/=.:-]+/g;

/** Replaces the words that differ within a group. If even the number of words differs, removes the whole text. */
function withoutChangedWords(groups: readonly (readonly string[])[]): (text: string) => string {
  const words = groups.map((texts) => texts.map((text) => Array.from(text.matchAll(WORD), ([word]) => word)));
  if (words.some((group) => group.some(({ length }) => length !== group[0]?.length))) return () => '';
  const isSteady = (at: number) => words.every((group) => group.every((text) => text[at] === group[0]?.[at]));
  return (text) => {
    let at = 0;
    return text.replace(WORD, (word) => (isSteady(at++) ? word : '#'));
  };
}

/**
 * Returns a function that reduces a text to the part to compare. `groups` contains the texts for each delivery.
 * Repeated deliveries show which part is constant. If the first delivery was not repeated, numbers are ignored, because
 * they may depend on the request.
 */
function steadyReading(groups: readonly (readonly string[])[]): (text: string) => string {
  if (groups[0]?.length === 1) return withoutNumbers;
  const steady = [withoutTimes, withoutNumbers].find((reduce) =>
    groups.every(([first = '', ...others]) => others.every((other) => reduce(other) === reduce(first))),
  );
  return steady ?? withoutChangedWords(groups);
}

function nameOf(line: string): string | undefined {
  return line.split(':')[0];
}

/** Returns the names of the headers that differ between the answers to one repeated delivery. */
function unsteadyNames([first, ...repeats]: readonly ComparedAnswer[]): readonly (string | undefined)[] {
  const changed = repeats.flatMap(({ headers }) => [
    ...headers.filter((line) => first?.headers.includes(line) !== true),
    ...(first?.headers.filter((line) => !headers.includes(line)) ?? []),
  ]);
  return changed.map(nameOf);
}

const PART_WORDS = { status: 'statuses', phrase: 'reason phrases', headers: 'headers', body: 'bodies' } as const;
type Part = keyof typeof PART_WORDS;
const PARTS = Object.keys(PART_WORDS) as Part[];

/** The first part in which two answers differ. `text` says which answers these are. */
export interface Difference {
  readonly part: Part;
  readonly text: string;
}

/** Returns whether two answers have the same status and the same text, apart from ids, times and numbers. */
export function isAlike(one: Answer, other: Answer): boolean {
  const [a, b] = [comparedPartsOf(one), comparedPartsOf(other)];
  return a.status === b.status && withoutNumbers(a.body) === withoutNumbers(b.body);
}

/**
 * Returns the first difference between the answers to probes without valid credentials, or null. Statuses are compared
 * first. Probes with the same label are the same delivery.
 */
export function differenceBetween(probes: readonly ProbeEvidence[]): Difference | null {
  const [first, ...others] = probes.flatMap(({ label, attempt, expect }) =>
    attempt.answer === null || expect.authentic ? [] : [{ label, answer: comparedPartsOf(attempt.answer) }],
  );
  if (first === undefined) return null;
  const sent = [first, ...others];
  const groups = [...new Set(sent.map(({ label }) => label))].map((of) =>
    sent.filter(({ label }) => label === of).map(({ answer }) => answer),
  );
  const unsteady = new Set(groups.flatMap(unsteadyNames));
  const reading = (part: 'phrase' | 'body') =>
    steadyReading(groups.map((group) => group.map((answer) => answer[part])));
  const phraseOf = reading('phrase');
  const bodyOf = reading('body');
  const partsOf = ({ status, phrase, headers, body }: ComparedAnswer) => ({
    status: `${status}`,
    phrase: phraseOf(phrase),
    headers: headers.filter((line) => !unsteady.has(nameOf(line))).join('\n'),
    body: bodyOf(body),
  });
  const reference = partsOf(first.answer);
  const compared = others.map(({ label, answer }) => ({ label, parts: partsOf(answer) }));
  for (const part of PARTS) {
    const other = compared.find(({ parts }) => parts[part] !== reference[part]);
    if (other === undefined) continue;
    return { part, text: `the answers to "${first.label}" and "${other.label}" have different ${PART_WORDS[part]}` };
  }
  return null;
}
