/** Renders what a check sends as lines to compare: "- " for the plain valid delivery, "+ " for what is sent instead. */
import { diffArrays } from 'diff';
import type { Scenario, Transmission } from '../../scenarios/index.ts';
import { bodyChangeInWords, bodyComparison, changedBytes, counted, truncate, visibleBytes } from '../report/index.ts';
import { type RequestParts, type SampleDelivery, sampleDeliveries } from '../run/index.ts';

/** The capabilities of the output. `columns` is the width of a line. */
export interface SentBytesOptions {
  readonly columns: number;
  readonly unicode: boolean;
}

/** Approximate maximum number of lines for one check. */
const MAX_LINES = 20;
const MAX_HEAD_LINES = 8;
const MAX_PLACES = 3;
/** How many bytes of a body are compared; reports keep the same number. */
const MAX_COMPARED = 4096;

/** Returns the changed bytes of a check's deliveries, in at most about 20 lines; empty if nothing is changed. */
export function sentBytes(scenario: Scenario, options: SentBytesOptions): string[] {
  const labels = new Map<string, string[]>();
  for (const delivery of sampleDeliveries(scenario)) {
    const text = comparison(delivery, options).join('\n');
    labels.set(text, [...(labels.get(text) ?? []), delivery.label]);
  }
  const lines: string[] = [];
  let left = 0;
  for (const [text, [first = '', ...more]] of labels) {
    const name = more.length === 0 ? first : `${first}, and ${counted(more.length, 'more like it', 'more like it')}`;
    const block = named(name, text === '' ? [] : text.split('\n'));
    if (lines.length > 0 && lines.length + block.length > MAX_LINES) left += 1 + more.length;
    else lines.push(...block);
  }
  return left === 0 ? lines : [...lines, `and ${counted(left, 'more delivery', 'more deliveries')}`];
}

/** Puts the name of a delivery before its lines. The only delivery of a check has no name. */
function named(name: string, lines: readonly string[]): readonly string[] {
  if (name === '') return lines;
  return lines.length === 0 ? [`${name}: the plain valid delivery`] : [`${name}:`, ...lines];
}

function comparison(delivery: SampleDelivery, options: SentBytesOptions): string[] {
  const { connection, plain, sent, transmission } = delivery;
  return [
    ...(connection === null ? [] : [`connection: ${connection}`]),
    ...headLines(plain, sent, options),
    ...(transmission === null ? [] : [transmissionInWords(transmission)]),
    ...bodyLines(delivery, options),
  ];
}

/** Returns the changed lines of the request head, each followed by the line that replaces it. */
function headLines(plain: RequestParts, sent: RequestParts, { columns, unicode }: SentBytesOptions): string[] {
  const width = columns - 2;
  const changes = diffArrays(...comparedLines(plain, sent));
  const left = changes.flatMap(({ added, value }) => (added ? value : []));
  const shown = (line: string) => visibleLine(line, spaceIn(unicode));
  const lines: string[] = [];
  for (const line of changes.flatMap(({ removed, value }) => (removed ? value : []))) {
    const at = left.findIndex((other) => nameOf(other) === nameOf(line));
    const [other] = at === -1 ? [] : left.splice(at, 1);
    lines.push(`- ${aroundDifference(shown(line), other && shown(other), width)}`);
    if (other !== undefined) lines.push(`+ ${aroundDifference(shown(other), shown(line), width)}`);
  }
  lines.push(...left.map((line) => `+ ${truncate(shown(line), width)}`));
  const more = lines.length - MAX_HEAD_LINES;
  return more <= 1 ? lines : [...lines.slice(0, MAX_HEAD_LINES), `and ${counted(more, 'more header line')}`];
}

/** Returns the lines of both request heads, without Content-Length if it is correct in both. */
function comparedLines(plain: RequestParts, sent: RequestParts): [plain: string[], sent: string[]] {
  const isLength =
    ({ body }: RequestParts) =>
    (line: string) =>
      line === `Content-Length: ${body.length}`;
  const follows = plain.lines.some(isLength(plain)) && sent.lines.some(isLength(sent));
  const linesOf = (parts: RequestParts) => parts.lines.filter((line) => !follows || !isLength(parts)(line));
  return [linesOf(plain), linesOf(sent)];
}

/** Returns the name of a header line in lower case; empty for a request line. */
function nameOf(line: string): string {
  return /^[^\s:]+(?=:)/.exec(line)?.[0].toLowerCase() ?? '';
}

function spaceIn(unicode: boolean): string {
  return unicode ? '·' : '\\x20';
}

/** Escapes a line, in which each character is one byte, and makes spaces around a value visible. */
function visibleLine(line: string, space: string): string {
  const text = visibleBytes(Buffer.from(line, 'latin1'));
  if (text.endsWith(': ')) return `${text}(empty)`;
  return text.replace(/(?<=: ) +|(?<!:) +$/g, (spaces) => space.repeat(spaces.length));
}

/** Shortens a line so that its first difference from the other line is visible. */
function aroundDifference(line: string, other: string | undefined, width: number): string {
  if (line.length <= width || other === undefined) return truncate(line, width);
  let same = 0;
  while (same < line.length && line[same] === other[same]) same++;
  const start = same > width - 20 ? same - 20 : 0;
  return truncate(start === 0 ? line : `…${line.slice(start)}`, width);
}

function bodyLines(
  { label, plain, sent, otherBody }: SampleDelivery,
  { columns, unicode }: SentBytesOptions,
): string[] {
  if (Buffer.compare(plain.body, sent.body) === 0) return [];
  const [before, after] = [plain.body, sent.body].map((body) => body.subarray(0, MAX_COMPARED));
  if (before === undefined || after === undefined) return [];
  const changes = changedBytes(after, before, otherBody);
  // If there are several deliveries, their ids and times always differ.
  if (changes?.length === 0 && label !== '') return [];
  const words = bodyChangeInWords(
    { bytes: after, length: sent.body.length },
    { bytes: before, length: plain.body.length },
    changes,
  );
  const how = { width: columns, space: spaceIn(unicode), maxPlaces: MAX_PLACES };
  return [`body: ${words}`, ...bodyComparison(after, before, changes?.length === 0 ? null : changes, how)];
}

function transmissionInWords(transmission: Transmission): string {
  switch (transmission.kind) {
    case 'chunked':
      return `the body is sent in ${counted(transmission.pieces, 'chunk')}`;
    case 'pieces':
      return `the body is written in pieces of ${transmission.sizes.join(', ')} bytes, with the last size repeated`;
    case 'expect-continue':
      return 'the body is sent after `100 Continue`, or after one second without it';
    case 'held':
      return 'the second half of the body is held back';
    case 'cut-off':
      return `only ${Math.round(transmission.fraction * 100)} % of the body is sent, and the connection is closed`;
    case 'raw':
      return transmission.label;
  }
}
