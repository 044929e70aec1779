/** Looks for what an answer must not hold. Specification: Authentication (secrets stay out of what is shown). */
import type { Leak } from '../../scenarios/index.ts';
import type { Answer, Partner } from '../sender/index.ts';

/** Shorter credentials stand in an answer by chance, so finding them proves nothing. */
const SHORTEST_SEARCHED = 8;

const STACK_TRACES = [
  /\n\s+at .{1,200}:\d+:\d+\)?/, // JavaScript
  /&nbsp; &nbsp;at .{1,200}:\d+:\d+/, // JavaScript, by Express's default error page
  /Traceback \(most recent call last\)/, // Python
  /\bat [\w.$]{3,200}\([\w]+\.(?:java|kt|scala):\d+\)/, // Java
  /\bgoroutine \d+ \[/, // Go
  /\.php(?:\(\d+\)|:\d+|<\/b> on line)/, // PHP
  /\.rb:\d+:in [`']/, // Ruby
  /\bat [\w.`<>]{3,200}\(.{0,200}\) in .{1,200}:line \d+/, // .NET
];

const PARSER_DETAILS = [
  /Unexpected (?:token|end of JSON|non-whitespace)/i,
  /Expecting (?:value|property name|',' delimiter)/,
  /invalid character .{1,10} (?:looking for|after)/,
  /com\.fasterxml\.jackson|com\.google\.gson|System\.Text\.Json|Newtonsoft|JSON::ParserError|simplejson|JSONDecodeError|SyntaxError/,
];

/** Every spelling of the right digest: whoever reads one of them can sign this body. */
function spellings(signature: string): string[] {
  const digest = Buffer.from(signature, 'base64');
  return [signature, signature.replace(/=+$/, ''), digest.toString('base64url'), digest.toString('hex')];
}

/**
 * Finds leaks in an answer. `sent` are the header values of the request: an answer that repeats a right signature which the request itself
 * carried tells its sender nothing new.
 */
export function findLeaks(
  answer: Answer,
  partner: Partner,
  rightSignature: string | null,
  sent: readonly string[],
): Leak[] {
  const body = Buffer.from(answer.body).toString('latin1');
  const text = `${answer.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${body}`;
  const folded = text.toLowerCase();
  const holds = (value: string | undefined) =>
    value !== undefined && value.length >= SHORTEST_SEARCHED && text.includes(value);
  const leaks: Leak[] = [];
  if (holds(partner.signing?.secret)) leaks.push('secret');
  if (holds(partner.apiKey?.value)) leaks.push('api-key');
  if (rightSignature !== null && !sent.includes(rightSignature)) {
    const given = spellings(rightSignature).some(
      (value) => text.includes(value) || folded.includes(value.toLowerCase()),
    );
    if (given) leaks.push('signature');
  }
  if (STACK_TRACES.some((pattern) => pattern.test(text))) leaks.push('stack-trace');
  if (PARSER_DETAILS.some((pattern) => pattern.test(text))) leaks.push('parser-detail');
  return leaks;
}
