/**
 * What is remembered of the runs against an endpoint: the verdict of the last full run, and the checks that still fail.
 * Kept in the state folder of the user, so that nothing is left in a project.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { currentId, findScenario } from '../../scenarios/index.ts';
import { readFile, utf8Text } from '../config/read-file.ts';
import type { FullRun, ResultDocument } from '../report/result-document.ts';
import { failsTheRun } from '../report/verdict.ts';
import { stateFolder } from '../state-folder.ts';

export interface LastRun {
  readonly schemaVersion: 1;
  /** Null when no full run against this endpoint has ended. */
  readonly full: FullRun | null;
  /** Checks that failed when they last ran and are not in the baseline. */
  readonly failed: readonly string[];
}

const MAX_BYTES = 256 * 1024;
/** Of more endpoints, the ones not used for the longest time are forgotten. */
const MAX_ENDPOINTS = 100;

/** What is remembered of the endpoint; null when nothing is, or when it cannot be read. */
export async function readLastRun(url: string): Promise<LastRun | null> {
  const content = await readFile(pathFor(url), MAX_BYTES);
  if (!('bytes' in content)) return null;
  // Loaded only here: most runs read nothing.
  const { lastRunDocument } = await import('../report/result-document.ts');
  try {
    return lastRunDocument.parse(JSON.parse(utf8Text(content.bytes) ?? ''));
  } catch {
    return null;
  }
}

/**
 * Remembers the run. A partial run replaces only what is known of its checks. A folder that cannot be written to is no
 * error: the next run only remembers less.
 */
export async function rememberRun(document: ResultDocument, url: string): Promise<void> {
  const path = pathFor(url);
  const isWhole = !document.partial && document.counts.inconclusive === 0;
  const before = isWhole ? null : await readLastRun(url);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(updated(before, document)), { mode: 0o600, flag: 'wx' });
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

/** The checks that fail after this run: a check without a verdict fails when it did so before. */
export function stillFailing(before: readonly string[], { results, strict }: ResultDocument): string[] {
  const failing = results.filter((result) => failsTheRun(result.verdict, strict) && result.known === null);
  const judged = new Set(results.filter((result) => result.verdict !== 'inconclusive').map(({ id }) => id));
  return [...new Set([...failing.map(({ id }) => id), ...before.filter((id) => !judged.has(id))])];
}

/**
 * The failed checks that are selected. Those that the catalogue does not have any more are left out: another version
 * may have run them.
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
  const paths = old.flatMap(({ path }) => [path, path.replace(/\.json$/, '.html')]);
  await Promise.all(paths.map((path) => rm(path, { force: true })));
}

/** Where the HTML report of the last run that did not pass is kept. */
export function keptReportPath(url: string): string {
  return pathFor(url, 'html');
}

/** The name is a digest: a URL may contain credentials. */
function pathFor(url: string, kind: 'json' | 'html' = 'json'): string {
  const name = createHash('sha256').update(url).digest('hex').slice(0, 16);
  return join(stateFolder(process.env), 'runs', `${name}.${kind}`);
}
