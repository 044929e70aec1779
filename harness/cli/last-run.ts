/**
 * Stores the verdict of the last full run against an endpoint, and the checks that still fail. The files are in the
 * user's state folder, so that none are left in a project.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { currentId, findScenario } from '../../scenarios/index.ts';
import { readFile, utf8Text } from '../config/read-file.ts';
import { type Redactor, redactDocument } from '../report/index.ts';
import type { FullRun, ResultDocument } from '../report/result-document.ts';
import { failsTheRun, idsStillToRepeat, isComparable } from '../report/verdict.ts';
import { stateFolder } from '../state-folder.ts';

export interface LastRun {
  readonly schemaVersion: 1;
  /** The last full run; null if no full run against this endpoint was completed. */
  readonly full: FullRun | null;
  /** Checks that failed when they last ran and are not in the baseline. */
  readonly failed: readonly string[];
}

const MAX_BYTES = 256 * 1024;
/** Maximum size in bytes of a stored run, which has no exchanges. */
const MAX_COMPARED_BYTES = 8 * 1024 * 1024;
/** Maximum number of endpoints; beyond it, the least recently used ones are deleted. */
const MAX_ENDPOINTS = 100;

/** Reads the stored data about the endpoint; null if none is readable. */
export function readLastRun(url: string): Promise<LastRun | null> {
  return readStored(pathFor(url), MAX_BYTES, ({ lastRunDocument }) => lastRunDocument);
}

/** Reads the full run to compare the endpoint's next run with; null if none is readable. */
export function readComparedRun(url: string): Promise<ResultDocument | null> {
  return readStored(pathFor(url, 'run'), MAX_COMPARED_BYTES, ({ resultDocument }) => resultDocument);
}

async function readStored<T>(
  path: string,
  maxBytes: number,
  schemaIn: (documents: typeof import('../report/result-document.ts')) => { parse(value: unknown): T },
): Promise<T | null> {
  const content = await readFile(path, maxBytes);
  if (!('bytes' in content)) return null;
  // Loaded only here, because most runs read no stored run.
  const schema = schemaIn(await import('../report/result-document.ts'));
  try {
    return schema.parse(JSON.parse(utf8Text(content.bytes) ?? ''));
  } catch {
    return null;
  }
}

/**
 * Stores the run. A partial run replaces only the outcomes of its checks. Errors, such as a folder that is not
 * writable, are ignored.
 */
export async function rememberRun(document: ResultDocument, url: string): Promise<void> {
  const path = pathFor(url);
  const isWhole = !document.partial && document.counts.inconclusive === 0;
  const before = isWhole ? null : await readLastRun(url);
  await replace(path, updated(before, document));
}

/**
 * Stores a full run, to compare the next one with. If it has too few verdicts, the previous run is kept.
 */
export async function keepComparedRun(document: ResultDocument, url: string, redactor: Redactor): Promise<void> {
  if (!isComparable(document)) return;
  const results = document.results.map((result) => ({ ...result, why: '', fix: '', exchanges: [], reproduce: null }));
  await replace(pathFor(url, 'run'), redactDocument({ ...document, results }, redactor));
}

async function replace(path: string, value: LastRun | ResultDocument): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
    await forgetOldest(folder);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

function updated(before: LastRun | null, document: ResultDocument): LastRun {
  const { counts, startedAt, tool, verdict } = document;
  const failed = stillFailing(before?.failed ?? [], document);
  if (document.partial) return { schemaVersion: 1, full: before?.full ?? null, failed };
  return { schemaVersion: 1, full: { startedAt, version: tool.version, verdict, counts }, failed };
}

/**
 * Returns the checks that fail after this run, and those that they observe. A check without a verdict still fails if it
 * failed before.
 */
export function stillFailing(before: readonly string[], { results, strict }: ResultDocument): string[] {
  const failing = results.filter((result) => failsTheRun(result.verdict, strict) && result.known === null);
  return idsStillToRepeat(before, results, failing);
}

/**
 * Returns the failed checks that are selected, without those that this version's catalogue does not have: another
 * version may have stored them.
 */
export function narrowedTo(failed: readonly string[], selected: readonly string[]): string[] {
  const wanted = selected.map(currentId);
  const known = new Set(failed.flatMap((id) => findScenario(id)?.id ?? []));
  return [...known].filter((id) => wanted.length === 0 || wanted.includes(id));
}

async function forgetOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  if (names.length <= MAX_ENDPOINTS) return;
  const files = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), usedMs: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = files.toSorted((one, other) => other.usedMs - one.usedMs).slice(MAX_ENDPOINTS);
  const paths = old.flatMap(({ path }) => ['.json', '.html', '.run'].map((kind) => path.replace(/\.json$/, kind)));
  await Promise.all(paths.map((path) => rm(path, { force: true })));
}

/** Returns the path of the HTML report of the last run that did not pass. */
export function keptReportPath(url: string): string {
  return pathFor(url, 'html');
}

/** Returns the path of a stored file. Its name is a digest, because a URL may contain credentials. */
function pathFor(url: string, kind: 'json' | 'html' | 'run' = 'json'): string {
  const name = createHash('sha256').update(url).digest('hex').slice(0, 16);
  return join(stateFolder(process.env), 'runs', `${name}.${kind}`);
}
