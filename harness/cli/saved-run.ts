/** Reads saved runs: JSON reports, which are not trusted, because anyone may have written them. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ZodError } from 'zod';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { isNestedDeeper } from '../../contract/parse-json.ts';
import { visible } from '../../contract/visible.ts';
import { OUTPUT_FILES } from '../config/index.ts';
import { MAX_DOCUMENT_BYTES, readFile, readStream } from '../config/read-file.ts';
import { type ResultDocument, resultDocument } from '../report/result-document.ts';
import { isScored, runVerdict, tally } from '../report/verdict.ts';

export interface SavedRun {
  /** The name of the file in messages. */
  readonly name: string;
  readonly document: ResultDocument;
}

const MAX_LISTED_PROBLEMS = 3;

const HINT = 'Create a JSON report with `hookproof run --reporter json=run.json`.';

/** Returns the path of a run: for a folder, the run.json in it. */
export function runFileIn(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? join(path, OUTPUT_FILES.json) : path;
}

/**
 * Reads one saved run, from a file or the folder that holds its run.json; "-" is standard input.
 *
 * @throws HookproofError REPORT_UNREADABLE, REPORT_TOO_LARGE, REPORT_NOT_JSON, REPORT_OTHER_SCHEMA, REPORT_INVALID
 */
export async function readSavedRun(given: string): Promise<SavedRun> {
  const file = given === '-' ? given : runFileIn(given);
  const name = file === '-' ? 'standard input' : visible(file);
  const value = parsed(await bytesOf(file, name), name);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !('schemaVersion' in value)) {
    throw refused('REPORT_INVALID', `${name} is not a result document: it has no schemaVersion`, HINT);
  }
  if (value.schemaVersion !== 1) {
    const found = visible(JSON.stringify(value.schemaVersion).slice(0, 40));
    const message = `${name} has schemaVersion ${found}; this version of hookproof reads 1`;
    throw refused('REPORT_OTHER_SCHEMA', message, 'Read it with the version of hookproof that wrote it.');
  }
  const checked = resultDocument.safeParse(value);
  if (!checked.success) {
    throw refused('REPORT_INVALID', `${name} is not a result document:${problemList(checked.error)}`, HINT);
  }
  const wrong = inconsistency(checked.data);
  if (wrong !== null) {
    throw refused('REPORT_INVALID', `${name} is inconsistent: ${visible(wrong)}`, `It was changed by hand. ${HINT}`);
  }
  return { name, document: checked.data };
}

async function bytesOf(file: string, name: string): Promise<Buffer> {
  if (file !== '-') {
    const content = await readFile(file, MAX_DOCUMENT_BYTES);
    if ('bytes' in content) return content.bytes;
    throw refused('REPORT_UNREADABLE', `${name} ${content.reason}`, `Check the path. ${HINT}`);
  }
  const bytes = await readStream(process.stdin, MAX_DOCUMENT_BYTES);
  if (bytes !== undefined) return bytes;
  throw refused('REPORT_TOO_LARGE', `${name} is larger than 64 MiB`, 'No run of hookproof writes that much.');
}

/** Maximum nesting depth, well above that of a result document. */
const MAX_DEPTH = 100;

function parsed(bytes: Buffer, name: string): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // A deeper document is not a result document, and parsing it would use about fifty bytes per level.
    return isNestedDeeper(text, MAX_DEPTH) ? null : JSON.parse(text);
  } catch (cause) {
    const lines = /^\s*\{"schemaVersion":1,"type":"/.test(bytes.subarray(0, 200).toString('latin1'));
    const hint = lines ? `It looks like the output of the ndjson reporter. ${HINT}` : HINT;
    throw refused('REPORT_NOT_JSON', `${name} is not valid JSON`, hint, cause);
  }
}

/** Returns the first inconsistency in a document that matches the schema; null if there is none. */
function inconsistency(document: ResultDocument): string | null {
  const { baseline, counts, judged, planned, results, shard, startedAt, strict, verdict } = document;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(startedAt) || Number.isNaN(Date.parse(startedAt))) {
    return 'startedAt is not a time';
  }
  if (document.durationMs > 1e11) return 'durationMs is longer than three years';
  if (shard !== null && shard.index > shard.of) return 'shard.index is larger than shard.of';
  if (judged !== results.length) return `judged is ${judged}, but there are ${results.length} results`;
  if (planned < judged) return 'planned is less than judged';
  if (new Set(results.map(({ id }) => id)).size < results.length) return 'results contains the same check twice';
  const real = tally(results);
  const wrong = (Object.keys(real) as (keyof typeof real)[]).find((key) => real[key] !== counts[key]);
  if (wrong !== undefined) return `counts.${wrong} is ${counts[wrong]}, but the results say ${real[wrong]}`;
  const expected = runVerdict(tally(results.filter((result) => isScored(document, result))), strict);
  if (expected !== verdict) return `verdict is ${verdict}, but the results say ${expected}`;
  if (baseline === null && results.some(({ known }) => known !== null))
    return 'a failure is known, but there is no baseline';
  return null;
}

function problemList({ issues }: ZodError): string {
  const named = issues.slice(0, MAX_LISTED_PROBLEMS).map((issue) => {
    const what =
      issue.code === 'unrecognized_keys'
        ? `has a field that the schema does not know: ${visible((issue.keys[0] ?? '').slice(0, 60))}`
        : visible(issue.message.slice(0, 200));
    return `${pathOf(issue.path)}: ${what}`;
  });
  const more = issues.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].map((line) => `\n  ${line}`).join('');
}

/** Formats a path: `results[3].exchanges[0].response.status`. */
function pathOf(path: readonly PropertyKey[]): string {
  const text = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${visible(String(part).slice(0, 60))}`))
    .join('');
  return text.replace(/^\./, '') || 'the document';
}

function refused(code: string, message: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError(code, message, { hint, ...(cause !== undefined && { cause }) });
}
