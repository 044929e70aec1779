/**
 * The part of the matrix that `.ci/run` plays: the mutants that a change touches, and a share of all receivers that
 * rotates with the number of commits. The nightly workflow plays the whole matrix.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import type { FaultOutcomes } from '../../../harness/diagnose/fault-dictionary.ts';
import { countCommits } from '../../setup/turn.ts';

/** Number of shares. Every receiver is in exactly one. */
const SHARES = 12;

const DICTIONARY = 'scenarios/fault-dictionary.json';
/** Matches the modules that export tables: mutants with a name, or scenarios with an id. */
const TABLES = /^(?:mutants|scenarios\/suites)\/[a-z0-9-]+\.ts$/;

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();

/** Returns the share of this commit. A shallow clone always has the same one. */
export function currentShare(): number {
  return countCommits() % SHARES;
}

export function isInShare(name: string, share: number): boolean {
  return (createHash('sha256').update(name).digest()[0] ?? 0) % SHARES === share;
}

/**
 * Returns the names and ids in tables whose code has changed since outcomes were last recorded, whether committed or
 * not. A changed comment needs no run.
 */
export async function changedEntries(): Promise<ReadonlySet<string>> {
  // Lines with texts can change without a run.
  const recorded = git('log', '-1', '--format=%H', '-G"outcomes":', '--', DICTIONARY);
  const modules = await Promise.all(
    git('diff', '--name-only', '--diff-filter=d', '--no-renames', recorded)
      .split('\n')
      .filter((file) => TABLES.test(file))
      .map(async (file) => {
        const isNew = git('ls-tree', '--name-only', recorded, '--', file) === '';
        if (!isNew && (await isSameCode(git('show', `${recorded}:${file}`), readFileSync(file, 'utf8')))) return {};
        return import(pathToFileURL(file).href) as Promise<object>;
      }),
  );
  const exported = modules.flatMap((module) => Object.values(module)).flat();
  return new Set(exported.flatMap((entry) => (isEntry(entry) ? [entry.name ?? entry.id ?? ''] : [])));
}

/** Returns whether two TypeScript texts differ at most in comments, whitespace and sentences. */
export async function isSameCode(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [a, b].map((text) => transform(text, { loader: 'ts', minifyWhitespace: true, legalComments: 'none' })),
  );
  return withoutSentences(first?.code ?? '') === withoutSentences(second?.code ?? '');
}

/** Empties every string of three words or more: titles and notes, which no receiver gets or sends. */
function withoutSentences(code: string): string {
  const emptied = code.replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => (text.split(' ').length > 2 ? '""' : text));
  return emptied.replaceAll(/""(?:\+"")+/g, '""');
}

function isEntry(value: unknown): value is { readonly name?: string; readonly id?: string } {
  return typeof value === 'object' && value !== null;
}

/** Returns whether a mutant has changed, or is found by a scenario that has. */
export function isTouched({ name, outcomes }: Pick<FaultOutcomes, 'name' | 'outcomes'>, changed: ReadonlySet<string>) {
  return changed.has(name) || Object.keys(outcomes).some((id) => changed.has(id));
}
