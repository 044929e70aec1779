/**
 * Counts the words to avoid in every tracked text file.
 *
 *     tsx test/prose-check.ts            prints the counts by folder and word
 *     tsx test/prose-check.ts --list     prints each place
 *     tsx test/prose-check.ts --check    prints each place, and fails when there is one
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What to look for, and what to write instead. Identifiers are split into words before they are matched. */
const WORDS: readonly { name: string; pattern: RegExp; instead: string }[] = [
  { name: 'mend', pattern: /\bmend(?:s|ed|ing)?\b/gi, instead: 'fix' },
  { name: 'was due', pattern: /\bwas due\b|\b(?:answer|status|\d\d\d) is due\b/gi, instead: 'expected' },
  { name: 'in place of', pattern: /\bin place of\b/gi, instead: 'instead of' },
  { name: 'stands in', pattern: /\b(?:stands?|stood) (?:above|below|under|in|beside)\b/gi, instead: 'is' },
  { name: 'is told', pattern: /\b(?:is|are|was|were|be) told\b|\btold of\b/gi, instead: 'report, print, log' },
  { name: 'speaks against', pattern: /\bspeaks? (?:against|for)\b/gi, instead: 'blocks' },
  { name: 'nobody', pattern: /\bnobody\b/gi, instead: 'name the actor' },
  { name: 'whoever', pattern: /\bwho(?:so)?ever\b/gi, instead: 'name the actor' },
  {
    name: 'of its own',
    pattern: /\b(?:file|one|folder|thing|word|place) of (?:its|their|our|his) own\b/gi,
    instead: 'its own X, a separate X',
  },
  { name: 'written again', pattern: /\bwritten again\b/gi, instead: 're-serialised' },
  { name: 'made anew', pattern: /\banew\b/gi, instead: 'regenerated' },
  { name: 'is no X', pattern: /\b(?:that|which|it) (?:is|are|was) no (?!longer|more\b)/gi, instead: 'is not X' },
  { name: 'had to be', pattern: /\bhad to be (?:refused|rejected)\b/gi, instead: 'must be rejected' },
  { name: 'were right', pattern: /\b(?:was|were) right\b/gi, instead: 'valid' },
  {
    name: 'authority',
    pattern: /\b(?:an?|the|this|its|every|public|private|extra|trusted) authorit(?:y|ies)\b(?!-| key)/gi,
    instead: 'CA',
  },
  { name: 'house', pattern: /\bhouses?\b/gi, instead: 'architecture' },
  { name: 'room', pattern: /\b(?:a|the|each|small|inner) rooms?\b/gi, instead: 'module' },
  { name: 'door', pattern: /(?<!back)\bdoors?\b/gi, instead: 'entry point' },
  { name: 'floors', pattern: /\bfloors\b/gi, instead: 'modules' },
  { name: 'beside', pattern: /\bbesides?\b/gi, instead: 'in addition to, next to' },
  { name: 'put up with', pattern: /\bput up with\b/gi, instead: 'tolerate' },
  { name: 'nothing listens', pattern: /\bnothing listens\b/gi, instead: 'nothing is listening on' },
  { name: 'is proved', pattern: /\bneither for nor against\b/gi, instead: 'no conclusion' },
  { name: 'for the occasion', pattern: /\bfor the occasion\b/gi, instead: 'for this run' },
  { name: 'gate', pattern: /\b(?:the|a|shut) gate\b/gi, instead: 'preflight' },
  { name: 'soloist', pattern: /\bsoloists?\b/gi, instead: 'exclusive' },
  { name: 'crowd', pattern: /\bcrowds?\b/gi, instead: 'concurrent' },
  { name: 'shipment', pattern: /\bshipments?\b/gi, instead: 'sent delivery' },
  { name: 'slip', pattern: /\bslips?\b/gi, instead: 'signing mistake' },
  { name: 'MOST_X', pattern: /\b(?:MOST|LEAST|LONGEST|SHORTEST|FEWEST)_[A-Z]/g, instead: 'MAX_, MIN_' },
];

/** Legitimate uses: the start of a path ('' for every file), and the part of a line that is not looked at. */
const ALLOWED: readonly (readonly [path: string, text: string])[] = [
  ['', ':authority'],
  ['', 'isPublicAuthority'],
  ['certs/facts/', 'authority information access'],
  ['', 'forged-beside-right'],
];

/** Data that other programs wrote, pages generated from texts that are checked themselves, and this list. */
const SKIPPED = [
  /^(?:package-lock\.json|test\/prose-check\.ts|CHANGELOG\.md)$/,
  /^scenarios\/(?:vectors\/|revisions\/|fault-(?:dictionary|texts)\.json)/,
  /^docs\/(?:reference\/|kill-matrix|tls-matrix|hostile-endpoints|third-party|durability|diagnosis)/,
  /\.(?:png|svg|ico|gif|woff2?|pem|der|bin)$/,
];

interface Hit {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  readonly text: string;
}

function hitsIn(path: string, source: string): Hit[] {
  return source.split('\n').flatMap((text, at) => {
    const hit = (name: string): Hit => ({ path, line: at + 1, name, text: text.trim() });
    const allowed = ALLOWED.filter(([start]) => path.startsWith(start));
    const rest = allowed.reduce((line, [, part]) => line.replaceAll(part, ''), text);
    const words = rest.replace(/([a-z])(?=[A-Z])/g, '$1 ');
    return WORDS.flatMap(({ name, pattern }) => Array.from(words.matchAll(pattern), () => hit(name)));
  });
}

function trackedFiles(): string[] {
  return execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\0')
    .filter((path) => path !== '' && !SKIPPED.some((pattern) => pattern.test(path)));
}

/** A table: a row for each word, a column for each top-level folder. */
function table(hits: readonly Hit[]): string {
  const folderOf = ({ path }: Hit) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '(root)');
  const folders = [...new Set(hits.map(folderOf))].toSorted();
  const names = WORDS.map(({ name }) => name).filter((name) => hits.some((hit) => hit.name === name));
  const row = (name: string, of: readonly Hit[]) => [
    name,
    ...folders.map((folder) => String(of.filter((hit) => folderOf(hit) === folder).length)),
    String(of.length),
  ];
  const rows = [
    ['', ...folders, 'all'],
    ...names.map((name) =>
      row(
        name,
        hits.filter((hit) => hit.name === name),
      ),
    ),
    row('all', hits),
  ];
  return rows
    .map(([first = '', ...rest]) => first.padEnd(18) + rest.map((cell) => cell.padStart(11)).join(''))
    .join('\n');
}

const [mode] = process.argv.slice(2);
const hits = trackedFiles().flatMap((path) => hitsIn(path, readFileSync(path, 'utf8')));
if (mode !== undefined) {
  const insteadOf = (name: string) => WORDS.find((word) => word.name === name)?.instead;
  for (const { path, line, name, text } of hits) {
    console.log(`${path}:${line}: ${name} (${insteadOf(name)}): ${text.slice(0, 160)}`);
  }
}
console.log(hits.length === 0 ? 'prose: no listed word' : table(hits));
if (mode === '--check' && hits.length > 0) process.exitCode = 1;
