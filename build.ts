/**
 * Compiles the program and the modules of `exports` to dist, after tsc has written their types there. Shared code goes
 * into chunks. Packages that npm does not install with hookproof are bundled: dist/third-party-licences.txt contains
 * their licences, and dist/bundled.json their paths in the lock file.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const { dependencies, peerDependencies } = readManifest('.');
/** A dependency, because its types are part of ours. It is bundled: without its unused code, it loads 25 ms faster. */
const BUNDLED_DEPENDENCY = 'zod';

/** Replaces `require` of Node's own modules in CommonJS packages, because ES modules have no `require`. */
const builtins: Plugin = {
  name: 'builtins',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }));
  },
};

/** How the program is compiled. */
export const PROGRAM = {
  entryPoints: { 'bin/hookproof': 'harness/cli/main.ts' },
  bundle: true,
  splitting: true,
  minifyWhitespace: true,
  legalComments: 'eof',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => name !== BUNDLED_DEPENDENCY),
  plugins: [builtins],
  logLevel: 'warning',
} satisfies BuildOptions;

const MODULES = ['harness', 'contract', 'receiver', 'harness/sender', 'harness/vitest', 'scenarios', 'certs'];

async function compile(): Promise<void> {
  const modules = Object.fromEntries(MODULES.map((name) => [`${name}/index`, `${name}/index.ts`]));
  const { metafile } = await build({
    ...PROGRAM,
    entryPoints: { ...modules, ...PROGRAM.entryPoints },
    outdir: 'dist',
    chunkNames: 'chunks/[hash]',
    metafile: true,
  });
  const bundled = bundledPackages(metafile);
  writeFileSync('dist/bundled.json', JSON.stringify(bundled));
  writeFileSync('dist/third-party-licences.txt', bundled.map(licenceOf).join('\n'));
}

/** Returns the folders of the packages that are in the output, sorted. */
export function bundledPackages({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  const folders = used.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
}

export function licenceOf(folder: string): string {
  const { name, version, license } = readManifest(folder);
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copyright|notice)/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `=== ${name} ${version}, ${license}\n\n${texts.join('\n\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await compile();
