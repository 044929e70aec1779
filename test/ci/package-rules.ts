/** What may be in the package, what has to be, and how large it may get. Pure. */

export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

/** Bytes of the package as it is downloaded, and of everything in it. Raise them when there is a reason, and not before. */
const LARGEST = { packed: 3_000_000, unpacked: 12_000_000 };

const BELONGS =
  /^(?:dist\/|contract\/|receiver\/|docs\/|scenarios\/(?:vectors|revisions)\/|scenarios\/fault-(?:dictionary|texts)\.json$|README\.md$|LICENSE$|package\.json$)/;
const NEVER =
  /\.test\.|(?:^|\/)(?:test|tests|node_modules|coverage)\/|\.(?:pem|key|env|tgz|map|tsbuildinfo)$|^docs\/.*\.ts$/;

const NEEDED = [
  'dist/bin/hookproof.js',
  'dist/harness/index.js',
  'dist/harness/index.d.ts',
  'scenarios/fault-dictionary.json',
  'scenarios/fault-texts.json',
  'scenarios/revisions/1.json',
  'README.md',
  'LICENSE',
];

/** What is wrong with the content of a package; empty when it is as it should be. */
export function wrongWith(files: readonly PackedFile[], packed: number): string[] {
  const paths = files.map(({ path }) => path);
  const unpacked = files.reduce((sum, { size }) => sum + size, 0);
  return [
    ...paths.filter((path) => !BELONGS.test(path) || NEVER.test(path)).map((path) => `${path} does not belong into it`),
    ...NEEDED.filter((path) => !paths.includes(path)).map((path) => `it lacks ${path}`),
    ...(packed > LARGEST.packed ? [`it has ${packed} bytes, and ${LARGEST.packed} are allowed`] : []),
    ...(unpacked > LARGEST.unpacked ? [`it unpacks to ${unpacked} bytes, and ${LARGEST.unpacked} are allowed`] : []),
  ];
}
