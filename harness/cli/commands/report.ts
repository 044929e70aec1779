/** `hookproof report`: renders saved runs again, and joins shards. Nothing is sent. */

import { createReadStream } from 'node:fs';
import type { ZodError } from 'zod';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { type ConfigFlags, loadReporters } from '../../config/index.ts';
import { createRedactor, type Reporter, visible, writeReports } from '../../report/index.ts';
import { type ResultDocument, resultDocument } from '../../report/result-document.ts';
import { exitCodeOf, isScored, runVerdict, tally } from '../../report/verdict.ts';
import { outputsHere } from '../conduct.ts';

interface ReportFlags extends Pick<ConfigFlags, 'reporter' | 'outputDir'> {
  readonly merge?: boolean;
  /** False with --no-exit-code. */
  readonly exitCode: boolean;
}

/** Those that can stand one after another. */
const ONE_AFTER_ANOTHER: readonly string[] = ['human', 'github', 'ndjson'];

function refuseFiles(count: number, reporters: readonly Reporter[]): void {
  if (count < 2) return;
  const wrong = reporters.find(({ name, file }) => file !== null || !ONE_AFTER_ANOTHER.includes(name));
  if (wrong === undefined) return;
  throw new HookproofError('REPORT_SEVERAL', `${wrong.name} takes one run, and there are ${count} files`, {
    hint: 'Name one file, or join the shards of one run with --merge.',
  });
}

/** The worst of them, as a run with all of them would exit. */
function worstOf(documents: readonly ResultDocument[]): number {
  const codes = documents.map((document) => exitCodeOf(document));
  return [4, 1, 3].find((code) => codes.some((one) => one === code)) ?? 0;
}

async function merged(runs: readonly SavedRun[]): Promise<SavedRun> {
  const { joinShards } = await import('../../run/index.ts');
  return { name: 'the merged run', document: await joinShards(runs) };
}

export async function reportCommand(files: readonly string[], flags: ReportFlags): Promise<number> {
  const reporters = loadReporters(flags, process.env, process.cwd());
  if (files.filter((file) => file === '-').length > 1) {
    throw new HookproofError('REPORT_STDIN_TWICE', 'standard input is named twice', { hint: 'Write "-" once.' });
  }
  if (flags.merge !== true) refuseFiles(files.length, reporters);
  const saved: SavedRun[] = [];
  for (const file of files) saved.push(await readSavedRun(file));
  const runs = flags.merge === true ? [await merged(saved)] : saved;
  // It was redacted when it was written: no secret is known here.
  const redactor = createRedactor({ values: [] });
  for (const { name, document } of runs) {
    if (runs.length > 1) process.stderr.write(`${name}:\n`);
    const written = await writeReports(document, reporters, { ...outputsHere(), redactor });
    for (const report of written) process.stderr.write(`${report.name} report: ${report.path}\n`);
  }
  return flags.exitCode ? worstOf(runs.map(({ document }) => document)) : 0;
}

/** Reads a result document that anybody may have written: whatever is wrong with it is said, and nothing of it is believed. */

/** A whole run with `--evidence` has a fifth of it. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Problems that are named. */
const MOST_NAMED = 3;

const HOW = 'Write one with `hookproof run --reporter json=run.json`.';

function refused(code: string, message: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError(code, message, { hint, ...(cause !== undefined && { cause }) });
}

async function bytesOf(file: string, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const source = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > MAX_BYTES) {
        throw refused('REPORT_TOO_LARGE', `${name} is larger than 64 MiB`, 'No run of hookproof writes so much.');
      }
      chunks.push(Buffer.from(chunk));
    }
  } catch (error) {
    if (error instanceof HookproofError) throw error;
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw refused('REPORT_UNREADABLE', `${name} cannot be read${code}`, `Check the path. ${HOW}`, error);
  }
  return Buffer.concat(chunks);
}

function parsed(bytes: Buffer, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    const lines = /^\s*\{"schemaVersion":1,"type":"/.test(bytes.subarray(0, 200).toString('latin1'));
    const hint = lines ? `It looks like ndjson, which is for reading along. ${HOW}` : HOW;
    throw refused('REPORT_NOT_JSON', `${name} is not JSON`, hint, cause);
  }
}

/** `results[3].exchanges[0].response.status` */
function pathOf(path: readonly PropertyKey[]): string {
  const text = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${visible(String(part).slice(0, 60))}`))
    .join('');
  return text.replace(/^\./, '') || 'the document';
}

function wordsFor({ issues }: ZodError): string {
  const named = issues.slice(0, MOST_NAMED).map((issue) => {
    const what =
      issue.code === 'unrecognized_keys'
        ? `has a field that is not in the schema: ${visible((issue.keys[0] ?? '').slice(0, 60))}`
        : visible(issue.message.slice(0, 200));
    return `${pathOf(issue.path)}: ${what}`;
  });
  const more = issues.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].map((line) => `\n  ${line}`).join('');
}

/** What contradicts itself in a document that fits the schema; null when nothing does. */
function contradiction(document: ResultDocument): string | null {
  const { baseline, counts, judged, planned, results, shard, startedAt, strict, verdict } = document;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(startedAt) || Number.isNaN(Date.parse(startedAt))) {
    return 'startedAt is no time';
  }
  if (document.durationMs > 1e11) return 'durationMs is longer than three years';
  if (shard !== null && shard.index > shard.of) return 'shard.index is larger than shard.of';
  if (judged !== results.length) return `judged is ${judged}, and there are ${results.length} results`;
  if (planned < judged) return 'planned is less than judged';
  if (new Set(results.map(({ id }) => id)).size < results.length) return 'results has the same check twice';
  const real = tally(results);
  const wrong = (Object.keys(real) as (keyof typeof real)[]).find((key) => real[key] !== counts[key]);
  if (wrong !== undefined) return `counts.${wrong} is ${counts[wrong]}, and results say ${real[wrong]}`;
  const due = runVerdict(tally(results.filter((result) => isScored(document, result))), strict);
  if (due !== verdict) return `verdict is ${verdict}, and results say ${due}`;
  if (baseline === null && results.some(({ known }) => known !== null)) return 'a failure is known, without a baseline';
  return null;
}

export interface SavedRun {
  /** What messages call it. */
  readonly name: string;
  readonly document: ResultDocument;
}

/**
 * One saved run; "-" is standard input.
 *
 * @throws HookproofError REPORT_UNREADABLE, REPORT_TOO_LARGE, REPORT_NOT_JSON, REPORT_OTHER_SCHEMA, REPORT_INVALID
 */
export async function readSavedRun(file: string): Promise<SavedRun> {
  const name = file === '-' ? 'standard input' : visible(file);
  const value = parsed(await bytesOf(file, name), name);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !('schemaVersion' in value)) {
    throw refused('REPORT_INVALID', `${name} is no result document: it has no schemaVersion`, HOW);
  }
  if (value.schemaVersion !== 1) {
    const found = visible(JSON.stringify(value.schemaVersion).slice(0, 40));
    throw refused(
      'REPORT_OTHER_SCHEMA',
      `${name} has schemaVersion ${found}; this version of hookproof reads 1`,
      'Read it with the version of hookproof that wrote it.',
    );
  }
  const checked = resultDocument.safeParse(value);
  if (!checked.success) {
    throw refused('REPORT_INVALID', `${name} is no result document:${wordsFor(checked.error)}`, HOW);
  }
  const wrong = contradiction(checked.data);
  if (wrong !== null) {
    throw refused('REPORT_INVALID', `${name} contradicts itself: ${visible(wrong)}`, `It was changed by hand. ${HOW}`);
  }
  return { name, document: checked.data };
}
