/** Which files of the checkout a Docker build sees: .dockerignore by its rules, as far as ours uses them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

interface Rule {
  readonly keeps: boolean;
  readonly pattern: string;
}

function rulesOf(text: string): Rule[] {
  const lines = text.split('\n').map((line) => line.trim());
  const rules = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ keeps: line.startsWith('!'), pattern: line.replace(/^!/, '') }));
  const odd = rules.find(({ keeps, pattern }) => (keeps ? /[*?[\\]/.test(pattern) : pattern !== '**'));
  if (odd !== undefined)
    throw new Error(`"${odd.pattern}" in .dockerignore is a pattern that this reader does not know`);
  return rules;
}

const within = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** The files by their path within `root`, sorted. The last rule that fits decides. */
export function filesOfContext(root: string, ignore: string): string[] {
  const rules = rulesOf(ignore);
  const kept = (path: string) => rules.findLast(({ keeps, pattern }) => !keeps || within(path, pattern))?.keeps ?? true;
  const needed = (folder: string) =>
    kept(folder) || rules.some(({ keeps, pattern }) => keeps && within(pattern, folder));
  const walk = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return needed(path) ? walk(path) : [];
      return kept(path) ? [path] : [];
    });
  return walk('').toSorted();
}
