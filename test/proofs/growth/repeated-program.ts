/**
 * The command line with a larger catalogue: each check is there several times, under different ids. Everything else is
 * the product as it is built, so that its commands can be measured.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Where the files of the catalogue are found: two folders below that of package.json, as `dist/bin` is. */
const folderOf = (times: number) => `dist/catalogue-x${times}`;

/** Compiles the command line with a catalogue of `times` copies of each check, and returns its file. */
export async function compileRepeated(times: number): Promise<string> {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  await build({
    entryPoints: { hookproof: 'harness/cli/main.ts' },
    outdir: folderOf(times),
    bundle: true,
    splitting: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: externalIn(dependencies),
    plugins: [repeatSuites(times)],
    logLevel: 'warning',
  });
  return join(folderOf(times), 'hookproof.js');
}

export function removeRepeated(times: number): void {
  rmSync(folderOf(times), { recursive: true, force: true });
}

/** The libraries that the build of the product does not bundle. */
function externalIn(dependencies: Readonly<Record<string, string>>): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  return Object.keys(dependencies).filter((name) => scripts['build:program']?.includes(`--external:${name} `));
}

/** The first copy of a check keeps its id, because some checks have a role in the run. */
const COPY = (times: number) => `
  const copyOf = (scenario, at) => (at === 0 ? scenario : { ...scenario, id: scenario.id + '--' + (at + 1) });
  export const repeated = (suite) => ({
    ...suite,
    scenarios: Array.from({ length: ${times} }, (_, at) => suite.scenarios.map((one) => copyOf(one, at))).flat(),
  });
`;

/** Replaces what the module of the catalogue imports: each suite has its scenarios several times. */
function repeatSuites(times: number): Plugin {
  return {
    name: 'repeat-suites',
    setup(builder) {
      builder.onResolve({ filter: /^\.\/suites\// }, ({ path, importer, resolveDir, pluginData }) =>
        importer.endsWith('scenarios/catalogue.ts') && pluginData !== 'original'
          ? { path: resolve(resolveDir, path), namespace: 'repeated-suite' }
          : undefined,
      );
      builder.onResolve({ filter: /^repeat$/ }, () => ({ path: 'repeat', namespace: 'repeat' }));
      builder.onLoad({ filter: /./, namespace: 'repeat' }, () => ({ contents: COPY(times) }));
      builder.onLoad({ filter: /./, namespace: 'repeated-suite' }, ({ path }) => {
        const name = /export const (\w+Suite)\b/.exec(readFileSync(path, 'utf8'))?.[1];
        if (name === undefined) throw new Error(`${path} exports no suite`);
        const contents = [
          `import { ${name} as once } from ${JSON.stringify(path)};`,
          `import { repeated } from 'repeat';`,
          `export const ${name} = repeated(once);`,
        ].join('\n');
        return { contents, resolveDir: resolve('scenarios') };
      });
    },
  };
}
