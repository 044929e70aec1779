/**
 * Checks that every report of a run against a hostile endpoint is valid in its format, and harmless. A new reporter
 * gets a line in {@link RENDERINGS}.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { resultSchema } from '../../../harness/report/index.ts';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { parseXml } from '../../setup/parse-xml.ts';

/** Matches characters that control a display or are invisible, except the line feed. */
const RAW = /[\x00-\x09\x0b-\x1f\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
const WORKFLOW_COMMAND = /^[^\S\r\n\u2028\u2029]*(?:::|##\[)/m;

export interface Rendering {
  /** The name of the reporter, as for `--reporter`. */
  readonly reporter: string;
  /** Returns the violated rules, as sentences. */
  check(text: string): string[] | Promise<string[]>;
}

const validate = new Ajv2020({ strict: false }).compile(resultSchema());

function rawCharacters(text: string): string[] {
  const found = RAW.exec(text);
  return found === null ? [] : [`contains the raw character ${JSON.stringify(found[0])} at ${found.index}`];
}

/** Checks text that is printed on a terminal, in a log or in CI. */
export function checkPrinted(text: string): string[] {
  const command = WORKFLOW_COMMAND.exec(text);
  return [
    ...rawCharacters(text),
    ...(command === null ? [] : [`has a line that CI interprets as a command at ${command.index}`]),
  ];
}

function checkXml(text: string): string[] {
  try {
    parseXml(text);
    return rawCharacters(text);
  } catch (error) {
    return [`is not XML: ${String(error).slice(0, 300)}`];
  }
}

function checkJson(text: string): string[] {
  const valid = validate(JSON.parse(text));
  return [
    ...(valid ? [] : [`does not match its schema: ${JSON.stringify(validate.errors).slice(0, 300)}`]),
    ...rawCharacters(text),
  ];
}

function checkLines(text: string): string[] {
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  const ends = events[0]?.type === 'run-started' && events.at(-1)?.type === 'run-finished';
  return [...(ends ? [] : ['does not begin with run-started and end with run-finished']), ...rawCharacters(text)];
}

export const RENDERINGS: readonly Rendering[] = [
  { reporter: 'human', check: checkPrinted },
  { reporter: 'junit', check: checkXml },
  { reporter: 'json', check: checkJson },
  { reporter: 'ndjson', check: checkLines },
];

export function documentOf(text: string): ResultDocument {
  return JSON.parse(text) as ResultDocument;
}
