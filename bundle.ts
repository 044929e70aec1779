/**
 * `npm run bundle` compiles the program with its dependencies and its files to bundle/hookproof.cjs. With the flag
 * `--executable`, it also makes a program that needs no Node. The action of a release runs the bundle and installs
 * nothing. Optional packages are not part of it: they are loaded from a node_modules folder next to the file.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { bundledPackages, licenceOf, PROGRAM } from './build.ts';
import { LICENCES, writeExecutable } from './executable.ts';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path));

/** The folders and files that the program reads with `readPackageFile`. */
const FOLDERS = ['recipes', 'scenarios/revisions', 'receiver/inspector/page'];
const FILES = [
  ...['package.json', 'scenarios/fault-dictionary.json', 'scenarios/vectors/valid-bodies.json'],
  ...['fleet.css', 'fleet.js', 'report.css', 'report.js'].map((name) => `harness/report/html/${name}`),
  ...['console.css', 'icon.svg'].map((name) => `harness/console/${name}`),
];

/** Returns the paths of the files that the program reads. */
export function packagedFiles(): string[] {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  );
  return [...FILES, ...inFolders.toSorted()];
}

/** Returns the source of the module that replaces contract/package-file.ts. It contains the files as text. */
function packageFileModule(): string {
  const texts = packagedFiles().map((path): [string, string] => {
    const bytes = read(path);
    const text = bytes.toString();
    if (!Buffer.from(text).equals(bytes)) throw new Error(`${path} is not UTF-8`);
    return [path, text];
  });
  return `const texts = new Map(${JSON.stringify(texts)});
    export function readPackageFile(path) {
      return texts.has(path) ? Buffer.from(texts.get(path)) : null;
    }`;
}

/** Lines to replace, by file: CommonJS has no top-level await, and esbuild does not follow `createRequire`. */
const REWRITES: Readonly<Record<string, readonly [line: string, replacement: string]>> = {
  'harness/cli/main.ts': [
    'process.exitCode = await main(process.argv.slice(2));',
    'void main(process.argv.slice(2)).then((code) => { process.exitCode = code; });',
  ],
  'harness/report/layout.ts': ['const require = createRequire(import.meta.url);', ''],
};

const OPTIONAL = PROGRAM.external.filter(
  (name) => name in JSON.parse(read('package.json').toString()).peerDependencies,
);

const selfContained: Plugin = {
  name: 'self-contained',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\/contract\/package-file\.ts$/ }, () => ({ contents: packageFileModule() }));
    for (const [path, [line, replacement]] of Object.entries(REWRITES)) {
      onLoad({ filter: new RegExp(`/${path.replaceAll('.', '\\.')}$`) }, () => {
        const text = read(path).toString();
        if (!text.includes(line)) throw new Error(`${path} does not contain: ${line}`);
        return { contents: text.replace(line, replacement), loader: 'ts' };
      });
    }
    onResolve({ filter: new RegExp(`^(?:${OPTIONAL.join('|')})$`) }, ({ path }) => ({ path, namespace: 'optional' }));
    onLoad({ filter: /./, namespace: 'optional' }, ({ path }) => ({
      contents: `module.exports = require('node:module').createRequire(__filename)('${path}');`,
    }));
  },
};

/** Writes the bundle and the licences of the packages in it to a folder. Returns the path of the bundle. */
export async function writeBundle(folder = join(ROOT, 'bundle')): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, 'hookproof.cjs');
  const { splitting: _, external: __, ...program } = PROGRAM;
  const { metafile } = await build({
    ...program,
    absWorkingDir: ROOT,
    format: 'cjs',
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
    entryPoints: ['harness/cli/main.ts'],
    outfile,
    plugins: [selfContained],
    metafile: true,
  });
  const licences = bundledPackages(metafile).map(licenceOf);
  writeFileSync(join(folder, LICENCES), licences.join('\n'));
  return outfile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bundle = await writeBundle();
  if (process.argv.includes('--executable')) writeExecutable(bundle);
}
