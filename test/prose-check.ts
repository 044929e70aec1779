/**
 * Compares docs/glossary.md with the repository: each term is used and has one definition, and the words that it
 * replaces are not used. No comment or paragraph begins with a fragment.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const GLOSSARY = 'docs/glossary.md';
const MAX_TERMS = 30;
const PRODUCT = /^(?:contract|receiver|scenarios|harness|certs|mutants)\/.*\.ts$/;
/** Data that other programs wrote, generated tables, and history. */
const SKIPPED = [
  /^(?:package-lock\.json|CHANGELOG\.md|docs\/glossary\.md)$/,
  /^(?:scenarios\/(?:vectors|revisions)|docs\/reference)\/|^scenarios\/fault-|^docs\/kill-matrix/,
  /\.(?:png|svg|ico|gif|woff2?|pem|der|bin)$/,
];

/** Beginnings of comments and paragraphs without a subject. */
const FRAGMENTS = ['So (?:many|much)', 'Of (?:the|an?|its|those|all|each)', 'Those (?:that|of)', 'The same', 'Also'];
/** Matches a fragment at the beginning of a doc comment, of the first line of a `//` comment, or of a paragraph. */
const BEGINNING = new RegExp(
  `(?:/\\*\\*\\s+(?:\\* )?|(?<=^(?!\\s*//).*\\n\\s*)// |(?<=\\n\\n(?:[-*] )?))(?:${FRAGMENTS.join('|')})\\b.*`,
  'gm',
);

const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  .split('\0')
  .filter((path) => path !== '' && existsSync(path) && !SKIPPED.some((pattern) => pattern.test(path)))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

const hasWord = (text: string, word: string) =>
  new RegExp(`\\b${word}s?\\b`, 'i').test(text.replace(/([a-z])(?=[A-Z])/g, '$1 '));

/**
 * Returns the problems of a row, which consists of the term, its meaning, the type and the file that define it, and the
 * words that it replaces.
 */
function faultsOf([term = '', meaning = '', definition = '', not = '']: readonly string[]): string[] {
  const [, name, file = ''] = /^(?:`(\w+)` in )?\[.*\]\(\.\.\/(.+)\)$/.exec(definition) ?? [];
  const declaration = new RegExp(`^(?:export )?(?:interface|type|class|const|(?:async )?function) ${name}\\b`, 'm');
  const declaring = files
    .filter(({ path, text }) => PRODUCT.test(path) && declaration.test(text))
    .map(({ path }) => path);
  const uses = files.some(({ text }) => hasWord(text, term));
  const replaced = not.split(', ').filter((word) => word !== '');
  return [
    ...(meaning === '' || !existsSync(join(file)) ? [`"${term}" has no meaning, or its file does not exist`] : []),
    ...(name === undefined || declaring.join() === file ? [] : [`\`${name}\` is declared in: ${declaring.join(', ')}`]),
    ...(uses ? [] : [`"${term}" is used nowhere`]),
    ...replaced.flatMap((word) =>
      files.filter(({ text }) => hasWord(text, word)).map(({ path }) => `${path}: "${word}" instead of "${term}"`),
    ),
  ];
}

const rows = readFileSync(GLOSSARY, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| **'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('**', '')),
  );
const faults = rows.flatMap((row) => faultsOf(row).map((fault) => `${GLOSSARY}: ${fault}`));
if (rows.length > MAX_TERMS) faults.push(`${GLOSSARY}: ${rows.length} terms; at most ${MAX_TERMS} are allowed`);
for (const { path, text } of files) {
  for (const found of text.match(BEGINNING) ?? [])
    faults.push(`${path}: a sentence without a subject: ${found.trim()}`);
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
